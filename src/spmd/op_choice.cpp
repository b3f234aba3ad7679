#include "spmd/op_choice.h"

#include <algorithm>

#include "base/dtype.h"

namespace shard::spmd {
namespace {

bool overlaps_any(const AxisRef& axis, const Axes& others) {
  return std::any_of(others.begin(), others.end(),
                     [&](const AxisRef& other) { return overlaps(axis, other); });
}

Axes flattened(const AxesPerDim& dims) {
  Axes all;
  for (const Axes& axes : dims) all.insert(all.end(), axes.begin(), axes.end());
  return all;
}

AxesPerDim axes_beside(AxesPerDim dims, const Axes& sums) {
  for (Axes& axes : dims) axes = cut(std::move(axes), sums);
  return dims;
}

}  // namespace

const Way& OpChoice::compatible(NodeId id) {
  const OpKind& kind = kinds_.of(id);
  if (kind.parts == nullptr) return kind.plain;
  if (kind.parts->is_asked()) return kind.parts;
  const Node& node = graph_.node(id);
  const Bytes in_parts = kind.parts->exchanged + sent_around(node, *kind.parts);
  return in_parts < sent_around(node, *kind.plain) ? kind.parts : kind.plain;
}

/// Bytes for bringing operands to the op and results to their values' own shardings, as Shardy
/// does.
Bytes OpChoice::sent_around(const Node& node, const OpWay& way) {
  Bytes sent;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const ValueId operand = node.operands[i];
    const Sharding& wanted = way.operand(i);
    if (forms_.find(operand, wanted) != nullptr || forms_.is_source(operand)) continue;
    sent += Bytes(reshards_.cost(reshards_.compatible(
        graph_.value(operand).type, forms_.of(operand).front().sharding, wanted)));
  }
  for (std::size_t i = 0; i < node.results.size(); ++i) {
    const Sharding& made = way.result(node.operands.size() + i);
    if (made == declared(node.results[i]) && way.common.reduced.empty()) continue;
    Sharding natural = made;
    natural.unreduced.clear();
    const TensorType& type = graph_.value(node.results[i]).type;
    if (!way.common.reduced.empty()) {
      const Bytes local = bytes_of({type.dtype, local_shape(type.shape, natural)});
      sent += wire_bytes(CollectiveKind::all_reduce, local, product(way.common.reduced));
    }
    sent += Bytes(reshards_.cost(reshards_.compatible(type, natural, declared(node.results[i]))));
  }
  return sent;
}

Way OpChoice::cheapest(NodeId id) {
  const Node& node = graph_.node(id);
  Way best = compatible(id);
  if (best->is_asked()) return best;
  std::vector<Way> ways = ways_with_sums(id);
  const bool moves_little = best->exchanged == Bytes(0) && moves_nothing(node, *best);
  if (moves_little && ways.empty() && !reshards_.is_limited()) return best;
  std::optional<std::int64_t> least = cost_of(node, *best);
  const bool is_settled = moves_little && (!least || *least < ReshardChoice::beyond_memory);
  if (!is_settled) {
    for (const Way& way : kinds_.candidates(id)) {
      const std::optional<std::int64_t> cost = cost_of(node, *way);
      if (!cost || (least && *cost >= *least)) continue;
      least = cost;
      best = way;
    }
  }
  // What is still a sum may meet another one, so of equal ways it is better.
  for (const Way& way : ways) {
    const std::optional<std::int64_t> cost = cost_of(node, *way);
    if (!cost || (least && *cost > *least)) continue;
    least = cost;
    best = way;
  }
  return best;
}

bool OpChoice::moves_nothing(const Node& node, const OpWay& way) const {
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (forms_.find(node.operands[i], way.operand(i)) == nullptr) return false;
  }
  return true;
}

std::vector<Way> OpChoice::ways_with_sums(NodeId id) {
  const Node& node = graph_.node(id);
  std::vector<Way> ways;
  if (node.results.size() != 1) return ways;
  for (const SumOperands set : linear_operands(node.op)) {
    if (const std::optional<OpWay> pattern = summing(node, set))
      add_summing_ways(id, *pattern, ways);
  }
  return ways;
}

/// Whether some operand of the set is a sum.
bool OpChoice::has_term(const Node& node, SumOperands set) const {
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (has_operand(set, i) && unreduced_form(node.operands[i]) != nullptr) return true;
  }
  return false;
}

/// Which operands of the set are sums over which common axes; all of them have to be. A carry that
/// starts as zeros is whatever it is added to.
std::optional<OpWay> OpChoice::summing(const Node& node, SumOperands set) const {
  if (!has_term(node, set)) return std::nullopt;
  OpWay pattern;
  bool has_terms = false;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    pattern.has_sums.push_back(has_operand(set, i) ? 1 : 0);
    if (!has_operand(set, i)) continue;
    const ValueId operand = node.operands[i];
    const std::optional<std::size_t> carry =
        node.op == Op::add ? loops_.accumulator_of(operand, node.results.front()) : std::nullopt;
    if (carry && !pattern.accumulator) {
      pattern.accumulator = carry;
      continue;
    }
    const Form* const form = unreduced_form(operand);
    if (form == nullptr) return std::nullopt;
    if (!has_terms) pattern.sums = form->sharding.unreduced;
    const Axes& sums = form->sharding.unreduced;
    std::erase_if(pattern.sums, [&](const AxisRef& axis) {
      return std::find(sums.begin(), sums.end(), axis) == sums.end();
    });
    has_terms = true;
  }
  if (pattern.accumulator) {
    const Axes used = flattened(axes_of(declared(node.results.front())));
    std::erase_if(pattern.sums, [&](const AxisRef& axis) { return overlaps_any(axis, used); });
  }
  if (!has_terms || pattern.sums.empty()) return std::nullopt;
  return pattern;
}

/// Of a value that nobody else reads and nobody has reduced.
const Form* OpChoice::unreduced_form(ValueId value) const {
  const std::vector<Form>& forms = forms_.of(value);
  if (forms.size() != 1 || forms_.readers(value) != 1) return nullptr;
  const Form& form = forms.front();
  const bool is_sum = form.reduction == Reduction::sum && !form.sharding.unreduced.empty();
  return is_sum && is_inexact(graph_.value(value).type.dtype) ? &form : nullptr;
}

/// All ways to split the op over other axes than those of the sums.
void OpChoice::add_summing_ways(NodeId id, const OpWay& pattern, std::vector<Way>& ways) {
  const Node& node = graph_.node(id);
  const OpKind& kind = kinds_.of(id);
  OpTensors all = kind.tensors;
  for (std::size_t i = 0; i < all.axes.size(); ++i) {
    const bool is_sum = i < pattern.has_sums.size() && pattern.has_sums[i] != 0;
    const Form* const form = is_sum ? unreduced_form(node.operands[i]) : nullptr;
    all.axes[i] =
        axes_beside(form != nullptr ? axes_of(form->sharding) : all.axes[i], pattern.sums);
  }
  for (CommonFactors& common : candidate_factors(kind.plain_rule, all.shapes, all.axes)) {
    const Axes used = flattened(common.factors);
    const bool is_disjoint = std::none_of(used.begin(), used.end(), [&](const AxisRef& axis) {
      return overlaps_any(axis, pattern.sums);
    });
    // The carry stays as it is.
    const bool fits =
        !pattern.accumulator || common.tensors.back() == axes_of(declared(node.results.front()));
    if (!is_disjoint || !fits) continue;
    OpWay way = pattern;
    way.common = std::move(common);
    ways.push_back(make_way(std::move(way), graph_, node, kind.rule));
  }
}

Way OpChoice::again(NodeId id, const Sharding& wanted, Bytes limit) {
  const Node& node = graph_.node(id);
  const OpKind& kind = kinds_.of(id);
  OpTensors all = kind.tensors;
  all.axes.back() = axes_of(wanted);
  Way best;
  const std::int64_t times = loops_.times();
  std::int64_t least = times * limit.count();
  for (CommonFactors& common : candidate_factors(kind.plain_rule, all.shapes, all.axes)) {
    if (common.tensors.back() != all.axes.back() || !common.reduced.empty()) continue;
    Way way = make_way({std::move(common)}, graph_, node, kind.rule);
    const std::optional<std::int64_t> bytes = operand_cost(node, *way);
    const std::int64_t cost = bytes.value_or(least) + times * way->work;
    if (cost >= least) continue;
    least = cost;
    best = std::move(way);
  }
  return best;
}

/// Bytes sent for what the op needs; in a loop of all iterations, but for what none of them
/// changes. Nothing for what is not possible.
std::optional<std::int64_t> OpChoice::operand_cost(const Node& node, const OpWay& way) {
  std::int64_t once = 0, every_time = 0;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const bool is_accumulator =
        way.accumulator && loops_.accumulator_of(node.operands[i], node.results.front());
    if (is_accumulator || forms_.is_source(node.operands[i])) continue;
    const std::optional<std::int64_t> bytes = bytes_to(node.operands[i], way.operand(i));
    if (!bytes) return std::nullopt;
    (loops_.invariant_of(node.operands[i]) ? once : every_time) += *bytes;
  }
  return once + loops_.times() * every_time;
}

/// That, the op's own work, and bringing its results to where they are declared to be: in every
/// iteration, or once where they are reduced behind the loop. What is only added to other sums pays
/// its share of the one reduction.
std::optional<std::int64_t> OpChoice::cost_of(const Node& node, const OpWay& way) {
  const std::optional<std::int64_t> operands = operand_cost(node, way);
  if (!operands) return std::nullopt;
  std::int64_t results = 0;
  for (std::size_t i = 0; i < node.results.size(); ++i) {
    const ValueId value = node.results[i];
    const Sharding& natural = way.result(node.operands.size() + i);
    if (natural == declared(value)) continue;
    const ReshardPlan* const plan =
        reshards_.way(graph_.value(value).type, natural, declared(value));
    if (plan == nullptr) continue;
    const bool is_new_sum = !way.common.reduced.empty() && way.sums.empty();
    const std::int64_t terms = is_new_sum ? terms_beside(value, natural.unreduced) : 1;
    results += (reshards_.cost(*plan) + terms - 1) / terms;
  }
  const std::int64_t times = loops_.times();
  return *operands + times * (way.exchanged.count() + way.work) +
         (way.accumulator ? 1 : times) * results;
}

std::optional<std::int64_t> OpChoice::bytes_to(ValueId value, const Sharding& wanted) {
  if (forms_.find(value, wanted) != nullptr) return 0;
  std::optional<std::int64_t> least;
  for (const Form& form : forms_.of(value)) {
    const ReshardPlan* const plan = reshards_.way(graph_.value(value).type, form.sharding, wanted);
    if (plan != nullptr && (!least || reshards_.cost(*plan) < *least)) {
      least = reshards_.cost(*plan);
    }
  }
  return least;
}

/// How many terms, this one with them, of the additions that it goes into are sums over these axes,
/// as far as that is known or likely; more than `most_terms` are not looked for.
std::int64_t OpChoice::terms_beside(ValueId value, const Axes& sums) {
  constexpr std::size_t most_terms = 16;
  const auto is_addition = [&](NodeId id) {
    return id != NodeId::none && graph_.node(id).op == Op::add;
  };
  ValueId total = value;
  for (std::size_t i = 0; i < most_terms && is_addition(forms_.only_reader(total)); ++i)
    total = graph_.node(forms_.only_reader(total)).results.front();
  std::int64_t terms = 1;
  std::vector<ValueId> open{total};
  for (std::size_t i = 0; i < open.size() && i < 2 * most_terms; ++i) {
    const ValueId term = forms_.origin(open[i]);
    const NodeId producer = graph_.value(term).producer;
    if (term == forms_.origin(value) || producer == NodeId::none) continue;
    if (is_addition(producer) && (term == total || forms_.readers(term) == 1)) {
      const std::vector<ValueId>& operands = graph_.node(producer).operands;
      open.insert(open.end(), operands.begin(), operands.end());
    } else if (forms_.readers(term) == 1 && may_be_sum(term, sums)) {
      ++terms;
    }
  }
  return terms;
}

/// What exists is a sum over these axes, or what does not yet would be one on the axes on which
/// Shardy settles.
bool OpChoice::may_be_sum(ValueId value, const Axes& sums) {
  if (!forms_.of(value).empty()) {
    const Form* const form = unreduced_form(value);
    return form != nullptr && form->sharding.unreduced == sums;
  }
  const NodeId producer = graph_.value(value).producer;
  const Node& node = graph_.node(producer);
  if (node.region != RegionId::none || def(node.op).factor_rule == nullptr) return false;
  return kinds_.of(producer).plain->common.reduced == sums;
}

}  // namespace shard::spmd
