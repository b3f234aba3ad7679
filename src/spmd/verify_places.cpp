#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "spmd/liveness.h"
#include "spmd/memory.h"
#include "spmd/places.h"
#include "spmd/verify.h"

namespace shard::spmd {
namespace {

constexpr std::int64_t alignment = 64;

/// An instruction, or the end of a loop.
struct Event {
  const Instruction* instruction = nullptr;
  bool is_loop_end = false;
};

class PlaceCheck {
 public:
  PlaceCheck(const Program& program, Findings& findings) : program_(program), findings_(findings) {}

  void run() {
    if (!has_starts()) return;
    liveness_ = find_lives(program_);
    note_events();
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) check_offset(id_at<BufferId>(i));
    check_shared_places();
    check_overlaps();
    check_donations();
    if (findings_.is_empty()) check_memory();  // its figures follow from the places
  }

 private:
  const Life& life(BufferId id) const { return liveness_.lives[index_of(id)]; }
  bool is_view(BufferId id) const { return program_.buffer(id).stacked_of != BufferId::none; }

  /// Every chain of `over` and `slice of` ends.
  bool has_starts() {
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      BufferId id = id_at<BufferId>(i);
      std::size_t steps = 0;
      while (id != BufferId::none && steps <= program_.buffers.size()) {
        const Buffer& buffer = program_.buffer(id);
        id = buffer.alias_of != BufferId::none ? buffer.alias_of : buffer.stacked_of;
        ++steps;
      }
      if (id == BufferId::none) continue;
      findings_.at(id_at<BufferId>(i), "its place is over itself");
      return false;
    }
    return true;
  }

  void note_events() {
    events_.resize(static_cast<std::size_t>(liveness_.end) + 1);
    is_invariant_.resize(program_.buffers.size());
    for (std::size_t body = 0; body < program_.bodies.size(); ++body) {
      const auto& list = program_.bodies[body].instructions;
      for (std::size_t i = 0; i < list.size(); ++i) {
        const Life& moments = liveness_.moments[body][i];
        events_[static_cast<std::size_t>(moments.last)] = {&list[i], moments.last != moments.first};
        events_[static_cast<std::size_t>(moments.first)] = {&list[i], false};
        if (list[i].kind == Instruction::Kind::loop) note_invariants(list[i]);
      }
    }
  }

  /// Invariants read the operand's bytes, which live to the loop's end anyway.
  void note_invariants(const Instruction& loop) {
    const Body& body = program_.bodies[static_cast<std::size_t>(loop.body)];
    const LoopShape shape = loop_shape(loop);
    for (std::size_t i = shape.carries + shape.stacked; i < body.parameters.size(); ++i)
      is_invariant_[index_of(body.parameters[i])] = true;
  }

  void check_offset(BufferId id) {
    const Buffer& buffer = program_.buffer(id);
    const BufferId base = buffer.alias_of != BufferId::none ? buffer.alias_of : buffer.stacked_of;
    if (base == BufferId::none) {
      if (buffer.offset.count() < 0 || buffer.offset.count() % alignment != 0)
        findings_.at(
            id, fmt::format("its place {} is no multiple of {}", buffer.offset.count(), alignment));
      return;
    }
    if (buffer.offset != program_.buffer(base).offset)
      findings_.at(
          id, fmt::format("it is at {}, but {}, whose place it has, at {}", buffer.offset.count(),
                          text_of(base), program_.buffer(base).offset.count()));
    if (buffer.alias_of != BufferId::none &&
        bytes_of(buffer.type) != bytes_of(program_.buffer(base).type))
      findings_.at(id, "it has not as many bytes as " + text_of(base) + ", whose place it has");
  }

  /// Buffers with one place follow each other; two may meet where one is written over the other.
  void check_shared_places() {
    std::map<BufferId, std::vector<BufferId>> groups;
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      const BufferId id = id_at<BufferId>(i);
      if (!is_invariant_[i]) groups[root_of(program_, id)].push_back(id);
    }
    for (auto& [root, members] : groups) {
      if (members.size() < 2) continue;
      std::stable_sort(members.begin(), members.end(), [&](BufferId a, BufferId b) {
        return std::pair(life(a).first, life(a).last) < std::pair(life(b).first, life(b).last);
      });
      BufferId holder = members.front();
      for (std::size_t i = 1; i < members.size(); ++i) {
        const bool is_over =
            life(members[i]).first > life(holder).last ||
            (life(members[i]).first == life(holder).last && may_follow(holder, members[i]));
        if (!is_over)
          findings_.at(members[i], fmt::format("it is written over {}, which is still wanted",
                                               text_of(holder)));
        if (life(members[i]).last >= life(holder).last) holder = members[i];
      }
    }
  }

  /// `after` is written at the moment when `before` is read last.
  bool may_follow(BufferId before, BufferId after) const {
    const Event& event = events_[static_cast<std::size_t>(life(after).first)];
    if (event.instruction == nullptr) return false;
    const Instruction& instruction = *event.instruction;
    const auto is_pair = [&](const std::vector<BufferId>& sources,
                             const std::vector<BufferId>& targets, const ReusePair& pair) {
      return sources[static_cast<std::size_t>(pair.operand)] == before &&
             targets[static_cast<std::size_t>(pair.result)] == after;
    };
    const bool is_loop = instruction.kind == Instruction::Kind::loop;
    if (is_loop && event.is_loop_end) {
      const Body& body = program_.bodies[static_cast<std::size_t>(instruction.body)];
      for (int i = 0; i < static_cast<int>(loop_shape(instruction).carries); ++i) {
        if (is_pair(body.results, instruction.results, {i, i})) return true;
      }
      return false;
    }
    for (const ReusePair& pair : reuse_pairs(program_, instruction)) {
      const std::vector<BufferId>& targets =
          is_loop ? program_.bodies[static_cast<std::size_t>(instruction.body)].parameters
                  : instruction.results;
      if (is_pair(instruction.operands, targets, pair)) return true;
    }
    return false;
  }

  /// Places that are needed at the same time have no byte in common.
  void check_overlaps() {
    const std::vector<Life> places = place_lives(liveness_, roots_of(program_));
    std::vector<BufferId> roots;
    for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
      const BufferId id = id_at<BufferId>(i);
      if (root_of(program_, id) == id && !is_view(id) &&
          bytes_of(program_.buffer(id).type) > Bytes())
        roots.push_back(id);
    }
    std::vector<BufferId> ends = roots;
    const auto place = [&](BufferId id) { return places[index_of(id)]; };
    std::stable_sort(roots.begin(), roots.end(),
                     [&](BufferId a, BufferId b) { return place(a).first < place(b).first; });
    std::stable_sort(ends.begin(), ends.end(),
                     [&](BufferId a, BufferId b) { return place(a).last < place(b).last; });
    std::map<std::int64_t, BufferId> active;  // by offset
    std::size_t ended = 0;
    for (const BufferId id : roots) {
      while (place(ends[ended]).last < place(id).first) {
        const auto found = active.find(program_.buffer(ends[ended]).offset.count());
        if (found != active.end() && found->second == ends[ended]) active.erase(found);
        ++ended;
      }
      insert(active, id);
    }
  }

  void insert(std::map<std::int64_t, BufferId>& active, BufferId id) {
    const std::int64_t start = program_.buffer(id).offset.count();
    const std::int64_t stop = start + bytes_of(program_.buffer(id).type).count();
    const auto next = active.lower_bound(start);
    if (next != active.end() && next->first < stop) return report_overlap(id, next->second);
    if (next != active.begin()) {
      const BufferId before = std::prev(next)->second;
      const Buffer& other = program_.buffer(before);
      if ((other.offset + bytes_of(other.type)).count() > start) return report_overlap(id, before);
    }
    active.emplace(start, id);
  }

  void report_overlap(BufferId id, BufferId other) {
    findings_.at(id, fmt::format("it shares bytes with {} while both are wanted", text_of(other)));
  }

  void check_donations() {
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
      const ProgramOutput& output = program_.outputs[i];
      if (output.donates < 0) continue;
      const BufferId input = program_.inputs[static_cast<std::size_t>(output.donates)].buffer;
      if (root_of(program_, output.buffer) != input)
        findings_.add(fmt::format("output {}: {} is not at the place of input {} ({})", i,
                                  text_of(output.buffer), output.donates, text_of(input)));
    }
  }

  void check_memory() {
    const MemoryPlan expected = measure_memory(program_, liveness_);
    const MemoryPlan& stated = program_.memory;
    const auto compare = [&](const char* what, std::int64_t found, std::int64_t wanted) {
      if (found != wanted)
        findings_.add(fmt::format("memory: {} {}, expected {}", what, found, wanted));
    };
    compare("peak", stated.peak.count(), expected.peak.count());
    compare("live", stated.peak_live.count(), expected.peak_live.count());
    compare("instruction", stated.peak_instruction, expected.peak_instruction);
    if (stated.live_at_peak != expected.live_at_peak)
      findings_.add("memory: the buffers live at the peak are others");
    if (stated.by_category != expected.by_category)
      findings_.add("memory: the bytes by category are others");
  }

  const Program& program_;
  Findings& findings_;
  Liveness liveness_;
  std::vector<Event> events_;       ///< by moment
  std::vector<bool> is_invariant_;  ///< by buffer: an invariant parameter of a loop's body
};

}  // namespace

void check_places(const Program& program, Findings& findings) {
  PlaceCheck(program, findings).run();
}

}  // namespace shard::spmd
