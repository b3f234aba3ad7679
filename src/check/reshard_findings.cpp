// Reshards that nobody asked for, and those that make every device hold everything.
#include <algorithm>
#include <map>
#include <string>

#include "check/array_names.h"
#include "check/finders.h"
#include "check/fix_trials.h"
#include "spmd/words.h"

namespace shard {
namespace {

/// Reshards that differ in the numbers of their layers only.
struct ReshardGroup {
  std::size_t first = 0;  ///< position of the first of them
  std::int64_t count = 0;
  std::int64_t layers = 0;
  Bytes wire;
};

std::string group_key(const Graph& graph, const Reshard& one) {
  return number_pattern(op_name(graph, one.why)) + '\n' +
         number_pattern(tensor_name(graph, one.value)) + '\n' + one.why.from_spec + '\n' +
         one.why.to_spec + '\n' + std::string(name(one.why.kind));
}

std::vector<ReshardGroup> groups_of(const Graph& graph, const std::vector<Reshard>& reshards,
                                    const FixTrials::Is& is_bad) {
  std::map<std::string, std::size_t> known;
  std::vector<ReshardGroup> groups;
  for (std::size_t i = 0; i < reshards.size(); ++i) {
    if (!is_bad(reshards[i])) continue;
    const auto [place, is_new] = known.try_emplace(group_key(graph, reshards[i]), groups.size());
    if (is_new) groups.push_back({i, 0, 0, Bytes(0)});
    ReshardGroup& group = groups[place->second];
    group.count += reshards[i].count;
    ++group.layers;
    group.wire += reshards[i].wire;
  }
  return groups;
}

/// `all_gather over fsdp, all_to_all over model`
std::string moves_text(const Mesh& mesh, const Reshard& reshard) {
  std::string text;
  for (const ReshardMove& move : reshard.moves) {
    std::string axes;
    for (const AxisRef& axis : move.axes) axes += (axes.empty() ? "" : ",") + to_string(mesh, axis);
    text += (text.empty() ? "" : ", ") + std::string(name(move.kind)) + " over " + axes;
  }
  return text;
}

/// `dot of Dense_0 wants its operand x as P(None, 'fsdp')`.
std::string wish_text(const Graph& graph, const Reshard& reshard) {
  const std::string op = op_name(graph, reshard.why);
  const std::string tensor = tensor_name(graph, reshard.value);
  const std::string to = " as " + reshard.why.to_spec;
  switch (reshard.why.kind) {
    case CollectiveReason::Kind::result:
      return op + " makes " + tensor + " as " + reshard.why.from_spec + ", it is wanted" + to;
    case CollectiveReason::Kind::carry:
      return op + " carries " + tensor + to + ", it is " + reshard.why.from_spec;
    case CollectiveReason::Kind::constraint:
      return "a constraint wants " + tensor + to + ", it is " + reshard.why.from_spec;
    case CollectiveReason::Kind::output:
      return "the result wants " + tensor + to + ", it is " + reshard.why.from_spec;
    default:
      return op + " wants its operand " + tensor + to + ", it is " + reshard.why.from_spec;
  }
}

Location place_of(const Graph& graph, const Reshard& reshard) {
  return reshard.why.node == NodeId::none ? Location{} : graph.node(reshard.why.node).at;
}

std::string times_text(const ReshardGroup& group) {
  const std::string times = with_commas(group.count) + (group.count == 1 ? " time" : " times");
  return times + " per step, " + with_commas(group.wire) + " B on the wire";
}

using MessageOf = std::string (*)(const ShardedGraph& sharded, const Reshard& reshard,
                                  const ReshardGroup& group);

std::vector<Finding> find_reshards(const PlanFacts& facts, const FindingKind& kind,
                                   const FixTrials::Is& is_bad, MessageOf message) {
  if (!facts.model.has_program) return {};
  FixTrials trials(facts, is_bad);
  const Graph& graph = facts.sharded.graph;
  std::vector<Finding> found;
  for (const ReshardGroup& group : groups_of(graph, trials.reshards(), is_bad)) {
    const Reshard& reshard = trials.reshards()[group.first];
    found.push_back({kind.severity, std::string(kind.id), place_of(graph, reshard),
                     message(facts.sharded, reshard, group), trials.fix(group.first), group.wire});
  }
  return found;
}

std::string alike_text(const ReshardGroup& group) {
  return group.layers > 1 ? " (the first of " + with_commas(group.layers) + " alike)" : "";
}

}  // namespace

std::vector<Finding> find_implicit_reshards(const PlanFacts& facts, const FindingKind& kind) {
  return find_reshards(
      facts, kind, [](const Reshard& one) { return !one.is_asked_for; },
      [](const ShardedGraph& sharded, const Reshard& reshard, const ReshardGroup& group) {
        return wish_text(sharded.graph, reshard) +
               ", and nothing asks for that: " + moves_text(sharded.mesh, reshard) + ", " +
               times_text(group) + alike_text(group);
      });
}

std::vector<Finding> find_full_remats(const PlanFacts& facts, const FindingKind& kind) {
  return find_reshards(
      facts, kind, [](const Reshard& one) { return one.is_full_remat; },
      [](const ShardedGraph& sharded, const Reshard& reshard, const ReshardGroup& group) {
        return wish_text(sharded.graph, reshard) + ": every device gets all of it, " +
               with_commas(reshard.whole) +
               " B, and cuts its piece out: " + moves_text(sharded.mesh, reshard) + ", " +
               times_text(group) + alike_text(group);
      });
}

}  // namespace shard
