#include "model/iterations.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace shard {
namespace {

/// The parts of the function that only loops see: region parameters.
void note_region_parameters(const Graph& graph, std::vector<Iteration>& of_values) {
  for (const Node& node : graph.nodes) {
    if (node.region == RegionId::none) continue;
    for (const ValueId parameter : graph.region(node.region).parameters) {
      of_values[index_of(parameter)] = node.iteration;
    }
  }
}

}  // namespace

std::vector<Iteration> iterations_of_values(const Graph& graph) {
  std::vector<Iteration> of_values(graph.values.size());
  for (const Node& node : graph.nodes) {
    for (const ValueId result : node.results) of_values[index_of(result)] = node.iteration;
  }
  for (const GraphInput& input : graph.inputs) {
    of_values[index_of(input.value)] = input.iteration;
  }
  note_region_parameters(graph, of_values);
  return of_values;
}

Iteration iteration_of(const Graph& graph, ValueId value) {
  const NodeId producer = graph.value(value).producer;
  if (producer != NodeId::none) return graph.node(producer).iteration;
  const auto is_it = [&](const GraphInput& input) { return input.value == value; };
  const std::size_t likely = index_of(value);
  if (likely < graph.inputs.size() && is_it(graph.inputs[likely]))
    return graph.inputs[likely].iteration;
  const auto input = std::find_if(graph.inputs.begin(), graph.inputs.end(), is_it);
  return input == graph.inputs.end() ? Iteration{} : input->iteration;
}

ValueId counterpart(const Graph& graph, ValueId value, const Iteration& iteration) {
  const ByIteration values(iterations_of_values(graph));
  const auto found =
      values.find(iteration.repeat, iteration.first, values.ordinal(index_of(value)));
  return found ? id_at<ValueId>(*found) : ValueId::none;
}

ByIteration::ByIteration(std::vector<Iteration> of_things) : of_things_(std::move(of_things)) {
  ordinals_.reserve(of_things_.size());
  for (std::size_t thing = 0; thing < of_things_.size(); ++thing) {
    std::vector<std::size_t>& group = groups_[{of_things_[thing].repeat, of_things_[thing].first}];
    ordinals_.push_back(group.size());
    group.push_back(thing);
  }
}

int ByIteration::rank(std::size_t thing) const {
  const Iteration& own = of_things_[thing];
  const auto begin = groups_.lower_bound({own.repeat, std::numeric_limits<std::int64_t>::min()});
  return static_cast<int>(std::distance(begin, groups_.find({own.repeat, own.first})));
}

std::size_t ByIteration::count(int repeat, std::int64_t first) const {
  const auto group = groups_.find({repeat, first});
  return group == groups_.end() ? 0 : group->second.size();
}

std::optional<std::size_t> ByIteration::find(int repeat, std::int64_t first,
                                             std::size_t ordinal) const {
  const auto group = groups_.find({repeat, first});
  if (group == groups_.end() || ordinal >= group->second.size()) return std::nullopt;
  return group->second[ordinal];
}

namespace {

/// Every iteration has as many things as its neighbours, so that a thing that has a counterpart is
/// the counterpart's counterpart too.
bool are_alike(const ByIteration& folded, const ByIteration& widened, const Iteration& fold) {
  const std::size_t count = folded.count(fold.repeat, fold.first);
  return folded.count(fold.repeat, fold.first - 1) == count &&
         folded.count(fold.repeat, fold.last + 1) == count &&
         widened.count(fold.repeat, fold.first + 1) == count &&
         widened.size() == folded.size() + count;
}

bool find_neighbours(const ByIteration& folded, std::span<const ByIteration> widened,
                     std::span<const Iteration> folds, std::size_t thing, Counterparts& found) {
  const Iteration& own = folded.iteration(thing);
  const auto fold = std::find(folds.begin(), folds.end(), own);
  if (fold == folds.end()) return true;
  found.stands_for = static_cast<int>(fold - folds.begin());
  found.instances = own.count();
  const std::size_t ordinal = folded.ordinal(thing);
  const auto before = folded.find(own.repeat, own.first - 1, ordinal);
  const auto after = folded.find(own.repeat, own.last + 1, ordinal);
  const ByIteration& wide = widened[static_cast<std::size_t>(found.stands_for)];
  const auto twin = wide.find(own.repeat, own.first + 1, ordinal);
  if (!before || !after || !twin) return false;
  found.before = *before;
  found.after = *after;
  found.twin = *twin;
  return true;
}

}  // namespace

std::optional<std::vector<Counterparts>> find_counterparts(const ByIteration& folded,
                                                           std::span<const ByIteration> widened,
                                                           std::span<const Iteration> folds) {
  for (std::size_t i = 0; i < folds.size(); ++i) {
    if (!are_alike(folded, widened[i], folds[i])) return std::nullopt;
  }
  std::vector<Counterparts> all(folded.size());
  for (std::size_t thing = 0; thing < folded.size(); ++thing) {
    const Iteration& own = folded.iteration(thing);
    for (const ByIteration& wide : widened) {
      const auto same = wide.find(own.repeat, own.first, folded.ordinal(thing));
      if (!same) return std::nullopt;
      all[thing].widened.push_back(*same);
    }
    if (!find_neighbours(folded, widened, folds, thing, all[thing])) return std::nullopt;
  }
  return all;
}

}  // namespace shard
