#include "exec/watch_list.h"

#include <limits>
#include <map>
#include <set>
#include <string>

#include "exec/element.h"
#include "exec/reference.h"
#include "spmd/lowering.h"

namespace shard {
namespace {

/// The specs that collectives say of the buffers they read and write; buffers
/// of partial sums.
struct SaidOfBuffers {
  std::map<BufferId, std::string> specs;
  std::set<BufferId> partial;

  explicit SaidOfBuffers(const Program& program) {
    for (const Body& body : program.bodies) {
      for (const Instruction& instruction : body.instructions) {
        if (instruction.collective) hear(instruction);
      }
    }
  }

  void hear(const Instruction& instruction) {
    const Collective& collective = *instruction.collective;
    const BufferId from = instruction.operands[0], to = instruction.results[0];
    if (collective.reduction != Reduction::none) partial.insert(from);
    if (!collective.why.from_spec.empty()) specs[from] = collective.why.from_spec;
    if (!collective.why.to_spec.empty()) specs[to] = collective.why.to_spec;
  }

  bool allow(const Program& program, BufferId id, const Sharding& declared) const {
    const std::string& name = program.buffer(id).name;
    if (partial.contains(id) || name.ends_with(":partial")) return false;
    const auto said = specs.find(id);
    return said == specs.end() || said->second == spec_text(program.mesh, declared);
  }
};

/// The buffers of a program that can be watched, in the order in which they are
/// written.
class WatchList {
 public:
  WatchList(const Program& program, const Graph& graph, const Graph& stored,
            const std::vector<Sharding>& shardings)
      : program_(program), graph_(graph), stored_(stored), shardings_(shardings), said_(program) {
    add_body(0);
  }

  std::vector<Watched> list;

 private:
  /// A loop's body comes once for each iteration, before what the loop leaves.
  void add_body(int body) {
    const std::vector<Instruction>& code =
        program_.bodies[static_cast<std::size_t>(body)].instructions;
    for (std::size_t position = 0; position < code.size(); ++position) {
      const Instruction& instruction = code[position];
      if (instruction.kind == Instruction::Kind::loop) {
        for (std::int64_t i = 0; i < instruction.attributes.integer("times"); ++i) {
          iterations_.push_back(i);
          add_body(instruction.body);
          iterations_.pop_back();
        }
      }
      for (const BufferId id : instruction.results) {
        if (!is_watched(instruction, id)) continue;
        list.push_back(
            {id, body, static_cast<int>(position), {program_.buffer(id).value, iterations_}, 0, 0});
      }
    }
  }

  bool is_watched(const Instruction& instruction, BufferId id) const {
    const bool is_exact = !is_inexact(program_.buffer(id).type.dtype);
    if (instruction.phase == Phase::update && !is_exact) return false;
    const ValueId value = program_.buffer(id).value;
    if (value == ValueId::none || index_of(value) >= graph_.values.size()) return false;
    const Sharding& declared = shardings_[index_of(value)];
    if (program_.buffer(id).type != spmd::local_type(stored_.value(value).type, declared)) {
      return false;
    }
    return declared.unreduced.empty() && said_.allow(program_, id, declared);
  }

  const Program& program_;
  const Graph& graph_;
  const Graph& stored_;
  const std::vector<Sharding>& shardings_;
  SaidOfBuffers said_;
  std::vector<std::int64_t> iterations_;
};

}  // namespace

std::vector<Watched> watched_buffers(const Program& program, const Graph& graph,
                                     const Graph& stored, const std::vector<Sharding>& shardings) {
  return std::move(WatchList(program, graph, stored, shardings).list);
}

/// The reference's values of what is watched; sets their `output`, and leaves
/// out what the reference does not make.
std::vector<HostTensor> watched_values(const Graph& graph, const std::vector<HostTensor>& inputs,
                                       std::vector<Watched>& watched) {
  constexpr std::size_t not_made = std::numeric_limits<std::size_t>::max();
  std::map<Making, std::size_t> output_of;
  for (const Watched& one : watched) output_of[one.made] = not_made;
  std::vector<HostTensor> values;
  watch_reference(graph, inputs,
                  [&](ValueId value, const std::vector<std::int64_t>& iterations,
                      const std::vector<double>& numbers) {
                    const auto wanted = output_of.find({value, iterations});
                    if (wanted == output_of.end()) return;
                    wanted->second = values.size();
                    values.push_back(zeros(graph.value(value).type));
                    from_doubles(numbers.data(), values.back().type.dtype,
                                 values.back().bytes.data(), numbers.size());
                  });
  std::erase_if(watched, [&](Watched& one) {
    one.output = output_of.at(one.made);
    return one.output == not_made;
  });
  return values;
}

}  // namespace shard
