#include "shard/folding.h"

#include <algorithm>
#include <cstdlib>

#include "model/iterations.h"
#include "model/range_names.h"

namespace shard {
namespace {

std::vector<Iteration> iterations_of_outputs(const Graph& graph) {
  std::vector<Iteration> of_outputs;
  for (const GraphOutput& output : graph.outputs) of_outputs.push_back(output.iteration);
  return of_outputs;
}

/// A sharded graph with its values and outputs by iteration.
struct Side {
  explicit Side(const ShardedGraph& sharded)
      : graph(&sharded),
        values(iterations_of_values(sharded.graph)),
        outputs(iterations_of_outputs(sharded.graph)) {}

  const ShardedGraph* graph;
  ByIteration values;
  ByIteration outputs;
};

/// `other` seen from `value` is what `like` is seen from `same`: the same value outside of the
/// repeat, or in it as many iterations away, at most one.
bool are_seen_alike(const Side& a, std::size_t value, ValueId other, const Side& b,
                    std::size_t same, ValueId like) {
  if (other == ValueId::none || like == ValueId::none) return other == like;
  const std::size_t one = index_of(other), two = index_of(like);
  const Iteration &at = a.values.iteration(one), &as = b.values.iteration(two);
  if (at.repeat != as.repeat || a.values.ordinal(one) != b.values.ordinal(two)) return false;
  if (at.repeat != a.values.iteration(value).repeat) return at.first == as.first;
  const int distance = a.values.rank(one) - a.values.rank(value);
  return std::abs(distance) <= 1 && distance == b.values.rank(two) - b.values.rank(same);
}

bool are_alike(const Side& a, std::size_t value, const Reason& one, const Side& b, std::size_t same,
               const Reason& other) {
  return one.kind == other.kind && one.rule == other.rule && one.logical == other.logical &&
         one.other_dim == other.other_dim && (one.output < 0) == (other.output < 0) &&
         one.at == other.at && one.label == other.label && one.axes == other.axes &&
         are_seen_alike(a, value, one.from, b, same, other.from);
}

bool have_like_reasons(const Side& a, std::size_t value, const Side& b, std::size_t same) {
  const ValueReasons &of_a = a.graph->reasons[value], &of_b = b.graph->reasons[same];
  const auto alike = [&](const Reason& one, const Reason& other) {
    return are_alike(a, value, one, b, same, other);
  };
  const auto alike_in_dim = [&](const std::vector<Reason>& one, const std::vector<Reason>& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(), alike);
  };
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), alike_in_dim);
}

bool are_values_alike(const Side& a, std::size_t value, const Side& b, std::size_t same) {
  const GraphValue &one = a.graph->graph.values[value], &other = b.graph->graph.values[same];
  return one.type == other.type && one.labels == other.labels &&
         a.graph->shardings[value] == b.graph->shardings[same] &&
         differ_in_numbers_only(one.name, other.name) && have_like_reasons(a, value, b, same);
}

bool are_outputs_alike(const Side& a, std::size_t output, const Side& b, std::size_t same) {
  return a.graph->output_shardings[output] == b.graph->output_shardings[same] &&
         differ_in_numbers_only(a.graph->graph.outputs[output].path,
                                b.graph->graph.outputs[same].path);
}

using Alike = bool (*)(const Side& a, std::size_t thing, const Side& b, std::size_t same);

/// All things of one kind are alike wherever their counterparts are.
bool go_on(const Side& folded, std::span<const Side> widened, std::span<const Iteration> folds,
           ByIteration Side::*things, Alike alike) {
  std::vector<ByIteration> lists;
  for (const Side& wide : widened) lists.push_back(wide.*things);
  const auto found = find_counterparts(folded.*things, lists, folds);
  if (!found) return false;
  for (std::size_t thing = 0; thing < found->size(); ++thing) {
    const Counterparts& where = (*found)[thing];
    for (std::size_t w = 0; w < widened.size(); ++w) {
      if (!alike(folded, thing, widened[w], where.widened[w])) return false;
    }
    if (where.stands_for < 0) continue;
    const Side& wide = widened[static_cast<std::size_t>(where.stands_for)];
    const bool goes_on = alike(folded, thing, folded, where.before) &&
                         alike(folded, thing, folded, where.after) &&
                         alike(folded, thing, wide, where.twin);
    if (!goes_on) return false;
  }
  return true;
}

}  // namespace

bool goes_on_evenly(const ShardedGraph& folded, std::span<const ShardedGraph* const> widened,
                    std::span<const Iteration> folds) {
  const Side own(folded);
  std::vector<Side> sides;
  for (const ShardedGraph* wide : widened) sides.emplace_back(*wide);
  return go_on(own, sides, folds, &Side::values, are_values_alike) &&
         go_on(own, sides, folds, &Side::outputs, are_outputs_alike);
}

}  // namespace shard
