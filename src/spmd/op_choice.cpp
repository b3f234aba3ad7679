#include "spmd/op_choice.h"

#include <algorithm>

#include "base/dtype.h"
#include "spmd/local_op.h"

namespace shard::spmd {
namespace {

/// What a device computes while it sends a byte: 197 TFLOP/s over 100 GB/s of a TPU v5e, rounded.
constexpr double flops_per_byte = 2000;

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

/// A device's own work, in the bytes that it could send meanwhile.
std::int64_t work_of(const Node& node, const FactorRule& rule, const CommonFactors& common) {
  double flops = def(node.op).flops_per_point;
  for (std::size_t factor = 0; factor < rule.factors.size(); ++factor) {
    flops *= static_cast<double>(rule.factors[factor].size) /
             static_cast<double>(product(common.factors[factor]));
  }
  return static_cast<std::int64_t>(flops / flops_per_byte);
}

}  // namespace

Sharding OpWay::operand(std::size_t position) const {
  Sharding sharding = with_axes(common.tensors[position]);
  if (!has_sums.empty() && has_sums[position] != 0) sharding.unreduced = sums;
  return sharding;
}

Sharding OpWay::result(std::size_t position) const {
  Sharding sharding = with_axes(common.tensors[position]);
  sharding.unreduced = common.reduced;
  sharding.unreduced.insert(sharding.unreduced.end(), sums.begin(), sums.end());
  sharding.unreduced = in_mesh_order(sharding.unreduced);
  return sharding;
}

PartsSite parts_site(const Graph& graph, const Node& node, const CommonFactors& common) {
  return {graph, node, types_of(graph, node.operands), types_of(graph, node.results), common};
}

OpChoice::Tensors OpChoice::tensors(const Node& node) const {
  Tensors tensors;
  for (const std::vector<ValueId>* values : {&node.operands, &node.results}) {
    for (const ValueId value : *values) {
      tensors.shapes.push_back(graph_.value(value).type.shape);
      tensors.axes.push_back(axes_of(declared(value)));
    }
  }
  return tensors;
}

FactorRule OpChoice::rule_of_way(const Node& node, const FactorRule& rule, const PartsForm* form) {
  return form == nullptr ? rule_of_parts(rule) : form->rule(rule, node);
}

OpWay OpChoice::compatible(const Node& node, const FactorRule& rule) const {
  const Tensors all = tensors(node);
  OpWay plain{choose_common_factors(rule_of_parts(rule), all.shapes, all.axes)};
  const PartsForm* const form = parts_form(node.op);
  if (form == nullptr) return plain;
  CommonFactors common = choose_common_factors(form->rule(rule, node), all.shapes, all.axes);
  if (common.tensors == plain.common.tensors) return plain;
  std::optional<OpWay> parts = in_parts(node, *form, std::move(common));
  if (!parts) return plain;
  return parts->exchanged + sent_around(node, *parts) < sent_around(node, plain) ? *parts : plain;
}

/// Nothing where the form does not fit these axes.
std::optional<OpWay> OpChoice::in_parts(const Node& node, const PartsForm& form,
                                        CommonFactors common) const {
  OpWay way{std::move(common)};
  const PartsSite site = parts_site(graph_, node, way.common);
  if (!fits(form, site)) return std::nullopt;
  way.form = &form;
  way.exchanged = exchanged_bytes(write_.program, write_.current_body(), form, site);
  return way;
}

/// Bytes for bringing operands to the op and results to their values' own shardings, as Shardy
/// does.
Bytes OpChoice::sent_around(const Node& node, const OpWay& way) const {
  Bytes sent;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const ValueId operand = node.operands[i];
    const Sharding wanted = way.operand(i);
    if (forms_.find(operand, wanted) != nullptr || forms_.is_source(operand)) continue;
    sent += reshard_bytes(write_.program.mesh, graph_.value(operand).type,
                          forms_.of(operand).front().sharding, wanted);
  }
  for (std::size_t i = 0; i < node.results.size(); ++i) {
    const Sharding natural = with_axes(way.common.tensors[node.operands.size() + i]);
    const TensorType& type = graph_.value(node.results[i]).type;
    if (!way.common.reduced.empty()) {
      const Bytes local = bytes_of({type.dtype, local_shape(type.shape, natural)});
      sent += wire_bytes(CollectiveKind::all_reduce, local, product(way.common.reduced));
    }
    sent += reshard_bytes(write_.program.mesh, type, natural, declared(node.results[i]));
  }
  return sent;
}

/// All ways that leave some tensor as it is, plainly and in parts.
std::vector<OpWay> OpChoice::candidates(const Node& node, const FactorRule& rule) const {
  const Tensors all = tensors(node);
  std::vector<OpWay> ways;
  for (CommonFactors& common : candidate_factors(rule_of_parts(rule), all.shapes, all.axes))
    ways.push_back({std::move(common)});
  const PartsForm* const form = parts_form(node.op);
  if (form == nullptr) return ways;
  const std::size_t plain = ways.size();
  for (CommonFactors& common : candidate_factors(form->rule(rule, node), all.shapes, all.axes)) {
    const bool is_plain =
        std::any_of(ways.begin(), ways.begin() + static_cast<std::ptrdiff_t>(plain),
                    [&](const OpWay& way) { return way.common.tensors == common.tensors; });
    if (is_plain) continue;
    if (std::optional<OpWay> way = in_parts(node, *form, std::move(common)))
      ways.push_back(std::move(*way));
  }
  return ways;
}

OpWay OpChoice::cheapest(const Node& node, const FactorRule& rule) {
  OpWay best = compatible(node, rule);
  std::vector<OpWay> ways = ways_with_sums(node, rule_of_parts(rule));
  const bool is_settled = best.exchanged == Bytes(0) && moves_nothing(node, best.common);
  if (is_settled && ways.empty()) return best;
  std::optional<std::int64_t> least = cost_of(node, rule, best);
  if (!is_settled) {
    for (OpWay& way : candidates(node, rule)) {
      const std::optional<std::int64_t> cost = cost_of(node, rule, way);
      if (!cost || (least && *cost >= *least)) continue;
      least = cost;
      best = std::move(way);
    }
  }
  // What is still a sum may meet another one, so of equal ways it is better.
  for (OpWay& way : ways) {
    const std::optional<std::int64_t> cost = cost_of(node, rule, way);
    if (!cost || (least && *cost > *least)) continue;
    least = cost;
    best = std::move(way);
  }
  return best;
}

bool OpChoice::moves_nothing(const Node& node, const CommonFactors& common) const {
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (forms_.find(node.operands[i], with_axes(common.tensors[i])) == nullptr) return false;
  }
  return true;
}

std::vector<OpWay> OpChoice::ways_with_sums(const Node& node, const FactorRule& rule) const {
  std::vector<OpWay> ways;
  if (node.results.size() != 1) return ways;
  for (const SumOperands set : linear_operands(node.op)) {
    if (const std::optional<OpWay> pattern = summing(node, set))
      add_summing_ways(node, rule, *pattern, ways);
  }
  return ways;
}

/// Which operands of the set are sums over which common axes; all of them have to be. A carry that
/// starts as zeros is whatever it is added to.
std::optional<OpWay> OpChoice::summing(const Node& node, SumOperands set) const {
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
  return is_sum && info(graph_.value(value).type.dtype).is_float ? &form : nullptr;
}

/// All ways to split the op over other axes than those of the sums.
void OpChoice::add_summing_ways(const Node& node, const FactorRule& rule, const OpWay& pattern,
                                std::vector<OpWay>& ways) const {
  Tensors all = tensors(node);
  for (std::size_t i = 0; i < all.axes.size(); ++i) {
    const bool is_sum = i < pattern.has_sums.size() && pattern.has_sums[i] != 0;
    const Form* const form = is_sum ? unreduced_form(node.operands[i]) : nullptr;
    all.axes[i] =
        axes_beside(form != nullptr ? axes_of(form->sharding) : all.axes[i], pattern.sums);
  }
  for (CommonFactors& common : candidate_factors(rule, all.shapes, all.axes)) {
    const Axes used = flattened(common.factors);
    const bool is_disjoint = std::none_of(used.begin(), used.end(), [&](const AxisRef& axis) {
      return overlaps_any(axis, pattern.sums);
    });
    // The carry stays as it is.
    const bool fits =
        !pattern.accumulator || common.tensors.back() == axes_of(declared(node.results.front()));
    if (!is_disjoint || !fits) continue;
    ways.push_back(pattern);
    ways.back().common = std::move(common);
  }
}

std::optional<OpWay> OpChoice::again(const Node& node, const FactorRule& rule,
                                     const Sharding& wanted, Bytes limit) {
  Tensors all = tensors(node);
  all.axes.back() = axes_of(wanted);
  std::optional<OpWay> best;
  const std::int64_t times = loops_.times();
  std::int64_t least = times * limit.count();
  for (CommonFactors& common : candidate_factors(rule_of_parts(rule), all.shapes, all.axes)) {
    if (common.tensors.back() != all.axes.back() || !common.reduced.empty()) continue;
    OpWay way{std::move(common)};
    const std::optional<std::int64_t> bytes = operand_cost(node, way);
    const std::int64_t cost = bytes.value_or(least) + times * work_of(node, rule, way.common);
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
/// iteration, or once where they are reduced behind the loop.
std::optional<std::int64_t> OpChoice::cost_of(const Node& node, const FactorRule& rule,
                                              const OpWay& way) {
  const std::optional<std::int64_t> operands = operand_cost(node, way);
  if (!operands) return std::nullopt;
  std::int64_t results = 0;
  for (std::size_t i = 0; i < node.results.size(); ++i) {
    const ValueId value = node.results[i];
    const ReshardPlan* const plan = reshards_.way(
        graph_.value(value).type, way.result(node.operands.size() + i), declared(value));
    if (plan != nullptr) results += plan->wire.count();
  }
  const std::int64_t times = loops_.times();
  return *operands + times * (way.exchanged.count() + work_of(node, rule, way.common)) +
         (way.accumulator ? 1 : times) * results;
}

std::optional<std::int64_t> OpChoice::bytes_to(ValueId value, const Sharding& wanted) {
  std::optional<std::int64_t> least;
  for (const Form& form : forms_.of(value)) {
    const ReshardPlan* const plan = reshards_.way(graph_.value(value).type, form.sharding, wanted);
    if (plan != nullptr && (!least || plan->wire.count() < *least)) least = plan->wire.count();
  }
  return least;
}

}  // namespace shard::spmd
