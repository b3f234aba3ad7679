// Ops along a dim that is split: each part answers for itself, and what the parts say of themselves
// goes round: one position and value (argmax), a few candidates (top_k), a total (cumsum).

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ops/neutral.h"
#include "spmd/parts_form.h"

namespace shard::spmd {
namespace {

FactorRule& without_line(FactorRule& rule, int factor) {
  rule.factors[static_cast<std::size_t>(factor)].kind = FactorKind::pass_through;
  rule.factors[static_cast<std::size_t>(factor)].is_blocked = false;
  return rule;
}

int line_factor(const FactorRule& rule, std::int64_t dim) {
  return rule.operands[0][static_cast<std::size_t>(dim)].front();
}

// argmax and argmin

FactorRule arg_extremum_parts(FactorRule rule, const Node& node) {
  const int line = line_factor(rule, node.attributes.integer("dim"));
  return without_line(rule, line);
}

/// Both are the same number, or both are NaN: the extremum of numbers with a NaN is NaN.
BufferId is_extremum(PartsBuilder& build, BufferId own, BufferId best) {
  const BufferId is_equal = build.emit(Op::eq, {own, best});
  if (!info(build.type(own).dtype).is_float) return is_equal;
  return build.emit(Op::bitwise_or, {is_equal, build.emit(Op::ne, {own, own})});
}

/// The first position of the best: parts that have none of the best give a position behind all.
std::vector<BufferId> emit_arg_extremum(PartsBuilder& build, const PartsSite& site,
                                        const std::vector<BufferId>& operands) {
  const std::int64_t dim = site.attributes().integer("dim");
  const Axes& axes = site.operand_axes(0, dim);
  const BufferId own_at = build.emit(site.node.op, {operands[0]}, site.attributes());
  if (axes.empty()) return {own_at};
  const bool is_max = site.node.op == Op::argmax;
  const BufferId own =
      build.emit(is_max ? Op::reduce_max : Op::reduce_min, {operands[0]}, {{"dims", Shape{dim}}});
  const std::int64_t part = build.type(operands[0]).shape[static_cast<std::size_t>(dim)];
  const BufferId begin = build.emit(Op::multiply, {build.part_number(axes), build.number(part)});
  const BufferId at = build.emit(Op::add, {own_at, begin});
  const BufferId best = build.all_reduce(own, axes, is_max ? Reduction::max : Reduction::min);
  const BufferId behind = build.number(std::numeric_limits<std::int32_t>::max());
  const BufferId offered = build.emit(Op::select, {is_extremum(build, own, best), at, behind});
  return {build.all_reduce(offered, axes, Reduction::min)};
}

bool arg_extremum_fits(const PartsSite& site) {
  return site.operands[0].dtype != DType::boolean &&
         site.operands[0].shape[static_cast<std::size_t>(site.attributes().integer("dim"))] <
             std::numeric_limits<std::int32_t>::max();
}

// top_k

/// The line of the results is one of its own, and whole.
FactorRule top_k_parts(FactorRule rule, const Node& node) {
  const std::size_t last = rule.operands[0].size() - 1;
  const int line = line_factor(rule, static_cast<std::int64_t>(last));
  const auto own = static_cast<int>(rule.factors.size());
  rule.factors.push_back({node.attributes.integer("k"), FactorKind::need_replication, true, false});
  for (TensorFactors& result : rule.results) result[last] = {own};
  return without_line(rule, line);
}

bool top_k_fits(const PartsSite& site) { return site.attributes().integer("k") > 0; }

/// result[.., j] = x[.., at[.., j]].
BufferId looked_up_along_last(PartsBuilder& build, BufferId x, BufferId at) {
  const std::int64_t last = build.type(x).rank() - 1;
  Shape before;
  for (std::int64_t dim = 0; dim < last; ++dim) before.push_back(dim);
  return build.emit(Op::gather, {x, at},
                    {{"window_dims", Shape{}},
                     {"collapsed_dims", Shape{last}},
                     {"batch_dims", before},
                     {"index_batch_dims", before},
                     {"start_dims", Shape{last}},
                     {"index_vector_dim", last + 1},
                     {"slice_sizes", Shape(static_cast<std::size_t>(last) + 1, 1)},
                     {"mode", std::string("clip")}});
}

/// The largest of the largest: candidates stand in the order of the parts, so that of equal ones
/// the first is taken.
std::vector<BufferId> emit_top_k(PartsBuilder& build, const PartsSite& site,
                                 const std::vector<BufferId>& operands) {
  const int last = site.operands[0].rank() - 1;
  const Axes& axes = site.operand_axes(0, last);
  if (axes.empty()) return build.emit_all(Op::top_k, operands, site.attributes());
  const std::int64_t part = build.type(operands[0]).shape.back();
  const std::int64_t k = site.attributes().integer("k");
  const std::vector<BufferId> own = build.emit_all(Op::top_k, operands, {{"k", std::min(k, part)}});
  const BufferId begin = build.emit(Op::multiply, {build.part_number(axes), build.number(part)});
  const BufferId at = build.emit(Op::add, {own[1], begin});
  const BufferId values = build.all_gather(own[0], axes, last);
  const BufferId places = build.all_gather(at, axes, last);
  const std::vector<BufferId> best = build.emit_all(Op::top_k, {values}, site.attributes());
  return {best[0], looked_up_along_last(build, places, best[1])};
}

// cumulative ops

FactorRule cumulative_parts(FactorRule rule, const Node&) { return rule; }

/// log(exp(a) + exp(b)), of equal infinities too.
BufferId log_sum_exp(PartsBuilder& build, BufferId a, BufferId b) {
  const DType dtype = build.type(a).dtype;
  const BufferId distance = build.emit(Op::abs, {build.emit(Op::subtract, {a, b})});
  const BufferId smaller = build.emit(Op::exp, {build.emit(Op::negate, {distance})});
  const BufferId larger = build.emit(Op::maximum, {a, b});
  const BufferId sum = build.emit(Op::add, {larger, build.emit(Op::log1p, {smaller})});
  const BufferId doubled = build.emit(Op::add, {a, build.constant(std::log(2.0), dtype)});
  return build.emit(Op::select, {build.emit(Op::eq, {a, b}), doubled, sum});
}

template <Op op>
BufferId combined_by(PartsBuilder& build, BufferId before, BufferId own) {
  return build.emit(op, {before, own});
}

struct CumulativeOp {
  Op op;
  Reduction reduction;  ///< whose neutral number nothing so far is
  BufferId (*combine)(PartsBuilder& build, BufferId before, BufferId own);
};

constexpr std::array<CumulativeOp, 5> cumulative_ops = {{
    {Op::cumsum, Reduction::sum, combined_by<Op::add>},
    {Op::cumprod, Reduction::prod, combined_by<Op::multiply>},
    {Op::cummax, Reduction::max, combined_by<Op::maximum>},
    {Op::cummin, Reduction::min, combined_by<Op::minimum>},
    {Op::cumlogsumexp, Reduction::max, log_sum_exp},
}};

/// Where a line begins and how long the device's part of it is.
struct SplitLine {
  int dim = 0;
  bool is_reverse = false;
  const Axes* axes = nullptr;
  Shape local;

  SplitLine(const PartsSite& site, PartsBuilder& build, BufferId operand)
      : dim(static_cast<int>(site.attributes().integer("dim"))),
        is_reverse(site.attributes().integer("reverse") != 0),
        axes(&site.operand_axes(0, dim)),
        local(build.type(operand).shape) {}

  std::int64_t length() const { return local[static_cast<std::size_t>(dim)]; }

  /// The last element of the part in the line's direction, of every part.
  BufferId totals(PartsBuilder& build, BufferId x) const {
    const std::int64_t at = is_reverse ? 0 : length() - 1;
    return build.all_gather(build.slice(x, dim, at, at + 1), *axes, dim);
  }

  /// What the parts before the device's own have, given per part what there is up to its end:
  /// `nothing` for the first part.
  BufferId before(PartsBuilder& build, BufferId up_to, double nothing) const {
    const TensorType type = build.type(up_to);
    Shape low(type.shape.size(), 0), high = low;
    low[static_cast<std::size_t>(dim)] = is_reverse ? -1 : 1;
    high[static_cast<std::size_t>(dim)] = is_reverse ? 1 : -1;
    const BufferId moved =
        build.emit(Op::pad, {up_to, build.constant(nothing, type.dtype)},
                   {{"low", low}, {"high", high}, {"interior", Shape(low.size(), 0)}});
    const BufferId own = build.all_slice(moved, *axes, dim);
    Shape dims;
    for (std::size_t i = 0; i < local.size(); ++i) dims.push_back(static_cast<std::int64_t>(i));
    return build.emit(Op::broadcast, {own}, {{"shape", local}, {"dims", dims}});
  }
};

bool cumulative_fits(const PartsSite& site) {
  const DType dtype = site.operands[0].dtype;
  return element_count(site.operands[0].shape) > 0 && dtype != DType::f8_e4m3fn;
}

std::vector<BufferId> emit_cumulative(PartsBuilder& build, const PartsSite& site,
                                      const std::vector<BufferId>& operands) {
  const SplitLine line(site, build, operands[0]);
  const BufferId own = build.emit(site.node.op, {operands[0]}, site.attributes());
  if (line.axes->empty()) return {own};
  const CumulativeOp* row = cumulative_ops.data();
  while (row->op != site.node.op) ++row;
  const BufferId up_to = build.emit(site.node.op, {line.totals(build, own)}, site.attributes());
  const double nothing = neutral_of(row->reduction, site.operands[0].dtype);
  return {row->combine(build, line.before(build, up_to, nothing), own)};
}

/// A part makes a h + b of the h before it, and so do all parts up to one.
std::vector<BufferId> emit_recurrence(PartsBuilder& build, const PartsSite& site,
                                      const std::vector<BufferId>& operands) {
  const SplitLine line(site, build, operands[0]);
  const BufferId own = build.emit(Op::linear_recurrence, operands, site.attributes());
  if (line.axes->empty()) return {own};
  const BufferId factors = build.emit(Op::cumprod, {operands[0]}, site.attributes());
  const BufferId up_to =
      build.emit(Op::linear_recurrence, {line.totals(build, factors), line.totals(build, own)},
                 site.attributes());
  const BufferId grown = build.emit(Op::multiply, {factors, line.before(build, up_to, 0)});
  return {build.emit(Op::add, {grown, own})};
}

constexpr std::array<PartsForm, 9> forms_of_lines = {{
    {Op::argmax, arg_extremum_parts, arg_extremum_fits, emit_arg_extremum},
    {Op::argmin, arg_extremum_parts, arg_extremum_fits, emit_arg_extremum},
    {Op::top_k, top_k_parts, top_k_fits, emit_top_k},
    {Op::cumsum, cumulative_parts, cumulative_fits, emit_cumulative},
    {Op::cumprod, cumulative_parts, cumulative_fits, emit_cumulative},
    {Op::cummax, cumulative_parts, cumulative_fits, emit_cumulative},
    {Op::cummin, cumulative_parts, cumulative_fits, emit_cumulative},
    {Op::cumlogsumexp, cumulative_parts, cumulative_fits, emit_cumulative},
    {Op::linear_recurrence, cumulative_parts, cumulative_fits, emit_recurrence},
}};

}  // namespace

std::span<const PartsForm> line_forms() { return forms_of_lines; }

}  // namespace shard::spmd
