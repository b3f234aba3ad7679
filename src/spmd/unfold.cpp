#include "spmd/unfold.h"

#include <algorithm>

#include "spmd/memory.h"
#include "spmd/merge.h"
#include "spmd/written_out.h"

namespace shard {
namespace {

using spmd::Block;
using spmd::BufferFacts;
using spmd::Instance;
using spmd::Life;
using spmd::WrittenOut;

Bytes highest_byte(const WrittenOut& whole) {
  std::vector<Block> blocks;
  std::vector<Bytes> used;
  for (const Instance& one : whole.buffer_order) {
    if (!whole.folded->buffers[one.thing].is_owner) continue;
    const Bytes bytes = whole.buffers[one.thing].bytes;
    blocks.push_back({spmd::aligned_bytes(bytes), whole.place(one)});
    used.push_back(bytes);
  }
  const std::vector<std::int64_t> offsets = spmd::pack(blocks);
  Bytes highest;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    highest = std::max(highest, Bytes(offsets[i]) + used[i]);
  return highest;
}

int busiest_moment(const WrittenOut& whole) {
  std::vector<Block> places;
  for (const Instance& one : whole.buffer_order) {
    if (whole.folded->buffers[one.thing].is_root)
      places.push_back({whole.buffers[one.thing].bytes.count(), whole.place(one)});
  }
  return spmd::busiest_moment(places, whole.end);
}

void find_instruction(const WrittenOut& whole, int moment, MemoryPlan& memory) {
  for (const Instance& one : whole.step_order) {
    const spmd::LongStep& step = whole.steps[one.thing];
    if (step.begin.at(one.number) > moment || moment > step.end.at(one.number)) continue;
    memory.peak_instruction = whole.folded->steps[one.thing].position;
    memory.peak_instance = one.number;
  }
}

struct LiveBuffer {
  BufferId id = BufferId::none;
  InstanceRun run;
};

/// The buffers that have their places at the moment, neighbours together; largest first.
std::vector<LiveBuffer> live_at(const WrittenOut& whole, int moment) {
  std::vector<LiveBuffer> live;
  for (std::size_t thing = 0; thing < whole.buffers.size(); ++thing) {
    const BufferId id = id_at<BufferId>(thing);
    const std::int64_t instances = whole.folded->by_buffer.iteration(thing).count();
    for (std::int64_t i = 0; i < instances; ++i) {
      const Life held = whole.held({thing, i});
      if (moment < held.first || held.last < moment) continue;
      const bool goes_on = !live.empty() && live.back().id == id &&
                           live.back().run.first + live.back().run.count == i;
      if (goes_on) {
        ++live.back().run.count;
      } else {
        live.push_back({id, {i, 1}});
      }
    }
  }
  std::stable_sort(live.begin(), live.end(), [&](const LiveBuffer& a, const LiveBuffer& b) {
    return whole.buffers[index_of(a.id)].bytes > whole.buffers[index_of(b.id)].bytes;
  });
  return live;
}

MemoryPlan plan_of(const WrittenOut& whole) {
  MemoryPlan memory;
  memory.peak = highest_byte(whole);
  const int moment = busiest_moment(whole);
  find_instruction(whole, moment, memory);
  spmd::BytesByCategory by_category;
  for (const auto& [id, run] : live_at(whole, moment)) {
    const Bytes bytes = run.count * whole.buffers[index_of(id)].bytes;
    memory.live_at_peak.push_back(id);
    memory.live_instances.push_back(run);
    memory.peak_live += bytes;
    by_category.add(whole.folded->program->buffer(id).category, bytes);
  }
  memory.by_category = by_category.list();
  return memory;
}

/// The merged collectives of the main body.
std::vector<MergeCount> merged_in_main(const WrittenOut& whole) {
  spmd::MergeKeys keys(*whole.folded->program);
  std::vector<std::optional<spmd::Combiner::Collective>> collectives;
  for (const spmd::StepFacts& step : whole.folded->steps)
    collectives.push_back(keys.of(*step.instruction));
  spmd::Combiner combiner;
  std::vector<MergeCount> merged;
  std::vector<int> needs;
  for (const Instance& one : whole.step_order) {
    needs.clear();
    for (const spmd::Line& need : whole.steps[one.thing].needs)
      needs.push_back(static_cast<int>(need.at(one.number)));
    const auto& collective = collectives[one.thing];
    const int number = combiner.add(needs, collective ? &*collective : nullptr);
    if (number < 0) continue;
    if (static_cast<std::size_t>(number) == merged.size()) {
      const Collective& first = *whole.folded->steps[one.thing].instruction->collective;
      merged.push_back({first.kind, first.axes, 0, 1});
    }
    ++merged[static_cast<std::size_t>(number)].members;
  }
  return merged;
}

std::vector<MergeCount> merged_in(const WrittenOut& whole) {
  std::vector<MergeCount> counts;
  for (const MergeCount& one : merged_in_main(whole)) add_merged(counts, one);
  std::vector<MergedCollective> in_loops;
  spmd::merge_loops(*whole.folded->program, 0, 1, in_loops);
  for (const MergeCount& one : count_merged(in_loops)) add_merged(counts, one);
  return counts;
}

using FactsOfOne = spmd::FoldFacts (*)(const FoldedFunction& function);

std::vector<spmd::FoldFacts> facts_of(const FoldedFunction& folded,
                                      std::span<const FoldedFunction> widened,
                                      FactsOfOne facts_of_one) {
  std::vector<spmd::FoldFacts> facts;
  facts.reserve(widened.size() + 1);
  facts.push_back(facts_of_one(folded));
  for (const FoldedFunction& wide : widened) facts.push_back(facts_of_one(wide));
  return facts;
}

}  // namespace

struct Unfolded::Parts {
  std::vector<spmd::FoldFacts> facts;  // what `whole` points into
  spmd::WrittenOut whole;
};

MemoryPlan Unfolded::memory() const { return plan_of(parts_->whole); }

std::vector<std::string> Unfolded::buffer_names() const {
  std::vector<std::string> names;
  for (const spmd::LongBuffer& buffer : parts_->whole.buffers) names.push_back(buffer.name);
  return names;
}

std::optional<Unfolded> unfold(const FoldedFunction& folded,
                               std::span<const FoldedFunction> widened,
                               std::span<const Iteration> folds) {
  auto parts = std::make_shared<Unfolded::Parts>();
  parts->facts = facts_of(folded, widened, spmd::fold_facts);
  auto whole = spmd::write_out(parts->facts, folds);
  if (!whole) return std::nullopt;
  parts->whole = std::move(*whole);
  return Unfolded(std::move(parts));
}

std::optional<std::vector<MergeCount>> merged_unfolded(const FoldedFunction& folded,
                                                       std::span<const FoldedFunction> widened,
                                                       std::span<const Iteration> folds) {
  const std::vector<spmd::FoldFacts> facts = facts_of(folded, widened, spmd::step_facts);
  const auto whole = spmd::write_out_steps(facts, folds);
  if (!whole) return std::nullopt;
  return merged_in(*whole);
}

}  // namespace shard
