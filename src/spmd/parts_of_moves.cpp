// Ops that move elements, on dims that are split: slice, pad, concatenate, reverse, ppermute,
// ragged_all_to_all, dynamic_slice.

#include <algorithm>
#include <array>
#include <cmath>

#include "spmd/local_op.h"
#include "spmd/parts_form.h"

namespace shard::spmd {
namespace {

using Numbers = std::vector<std::int64_t>;

std::int64_t whole_size(const TensorType& type, std::size_t dim) { return type.shape[dim]; }

/// Every factor that the op moves elements along can be split.
FactorRule movable_rule(FactorRule rule, const Node&) {
  for (Factor& factor : rule.factors) {
    factor.needs_neighbours = false;
    if (factor.kind == FactorKind::need_replication && factor.size > 1) {
      factor.kind = FactorKind::permutation;
    }
  }
  return rule;
}

bool is_all(const Numbers& numbers, std::int64_t value) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [&](std::int64_t number) { return number == value; });
}

std::vector<BufferId> emit_slice(PartsBuilder& build, const PartsSite& site,
                                 const std::vector<BufferId>& operands) {
  BufferId x = operands[0];
  Numbers start = site.attributes().integers("start"),
          stride = site.attributes().integers("stride");
  for (std::size_t dim = 0; dim < start.size(); ++dim) {
    const Axes& axes = site.operand_axes(0, static_cast<std::int64_t>(dim));
    if (axes.empty() || whole_size(site.operands[0], dim) == whole_size(site.results[0], dim)) {
      continue;
    }
    const std::int64_t part = whole_size(site.results[0], dim) / product(axes);
    x = build.fetch(x, axes, static_cast<int>(dim),
                    {start[dim], stride[dim] * part, (part - 1) * stride[dim] + 1});
    start[dim] = 0;
  }
  const Shape result = site.local_result(0).shape;
  Numbers limit;
  for (std::size_t dim = 0; dim < start.size(); ++dim) {
    limit.push_back(start[dim] + (result[dim] - 1) * stride[dim] + 1);
  }
  if (build.type(x).shape == result && is_all(stride, 1)) return {x};
  return {build.emit(Op::slice, {x}, {{"start", start}, {"limit", limit}, {"stride", stride}})};
}

bool slice_fits(const PartsSite& site) { return element_count(site.results[0].shape) > 0; }

/// Dims that are cut: any split of the array, none of the slice.
FactorRule piece_rule(FactorRule rule, const Node&) {
  for (std::size_t dim = 0; dim < rule.operands[0].size(); ++dim) {
    const auto own = static_cast<std::size_t>(rule.operands[0][dim].front());
    if (rule.factors[own].kind == FactorKind::pass_through) continue;
    rule.factors[own].kind = FactorKind::pass_through;
    rule.factors[own].needs_neighbours = false;
    rule.results[0][dim] = {static_cast<int>(rule.factors.size())};
    rule.factors.push_back({rule.factors[own].size, FactorKind::need_replication, true, false});
  }
  return rule;
}

/// The part that one device has of what a slice takes.
struct SlicePiece {
  Axes axes;                ///< of the dims that are cut
  std::int64_t source = 0;  ///< the number, along them, of the device that has all; -1: none has
  Numbers start, limit, stride;

  explicit SlicePiece(const PartsSite& site)
      : start(site.attributes().integers("start")),
        limit(site.attributes().integers("limit")),
        stride(site.attributes().integers("stride")) {
    for (std::size_t dim = 0; dim < start.size(); ++dim) {
      const Axes& split = site.operand_axes(0, static_cast<std::int64_t>(dim));
      const std::int64_t parts = product(split), part = whole_size(site.operands[0], dim) / parts;
      if (whole_size(site.operands[0], dim) == whole_size(site.results[0], dim)) {
        limit[dim] = part;
        continue;
      }
      axes.insert(axes.end(), split.begin(), split.end());
      const std::int64_t owner = start[dim] / part;
      const bool has_all = (limit[dim] - 1) / part == owner;
      source = has_all && source >= 0 ? source * parts + owner : -1;
      start[dim] -= owner * part;
      limit[dim] -= owner * part;
    }
  }
};

bool piece_fits(const PartsSite& site) {
  if (element_count(site.results[0].shape) == 0) return false;
  const SlicePiece piece(site);
  return !piece.axes.empty() && piece.source >= 0;
}

/// Everybody cuts what the owner cuts, of its own part.
std::vector<BufferId> emit_piece(PartsBuilder& build, const PartsSite& site,
                                 const std::vector<BufferId>& operands) {
  const SlicePiece piece(site);
  const BufferId cut =
      build.emit(Op::slice, {operands[0]},
                 {{"start", piece.start}, {"limit", piece.limit}, {"stride", piece.stride}});
  return {build.broadcast(cut, piece.axes, piece.source)};
}

/// One dim of a pad: where the elements of the padded array come from.
struct PaddedDim {
  std::int64_t low = 0, high = 0, step = 1;

  PaddedDim(const Attributes& attributes, std::size_t dim)
      : low(attributes.integers("low")[dim]),
        high(attributes.integers("high")[dim]),
        step(attributes.integers("interior")[dim] + 1) {}
  bool is_plain() const { return low == 0 && high == 0 && step == 1; }

  /// The elements that lie within a part of the result.
  PartWindow window(std::int64_t part) const {
    const std::int64_t first = floor_quotient(-low, step);
    const std::int64_t last = floor_quotient(part - 1 - low, step);
    return {first, part / step, last - first + 1};
  }
  /// How many places before its first element the part begins; negative.
  std::int64_t local_low() const { return low + floor_quotient(-low, step) * step; }
};

bool pad_fits(const PartsSite& site) {
  if (element_count(site.results[0].shape) == 0) return false;
  const Shape local = site.local_result(0).shape;
  for (std::size_t dim = 0; dim < local.size(); ++dim) {
    const PaddedDim padded(site.attributes(), dim);
    const bool is_split = !site.result_axes(0, static_cast<std::int64_t>(dim)).empty();
    if (is_split && local[dim] % padded.step != 0) return false;
  }
  return true;
}

/// The operand is a constant zero, as which fetched windows are filled.
bool is_zero(const PartsSite& site, std::size_t operand) {
  const NodeId producer = site.graph.value(site.node.operands[operand]).producer;
  if (producer == NodeId::none) return false;
  const Node& node = site.graph.node(producer);
  if (node.op != Op::constant) return false;
  const double value = node.attributes.number("value");
  return value == 0 && !std::signbit(value);
}

/// `value` in the places of the padded dim that no element has.
BufferId outside_filled(PartsBuilder& build, const PartsSite& site, std::size_t dim, BufferId x,
                        BufferId value) {
  const PaddedDim padded(site.attributes(), dim);
  const Shape shape = build.type(x).shape;
  const std::int64_t end = padded.low + (whole_size(site.operands[0], dim) - 1) * padded.step + 1;
  const BufferId at = build.positions(site.result_axes(0, static_cast<std::int64_t>(dim)),
                                      {0, shape[dim], shape[dim]});
  const BufferId is_behind = build.emit(Op::ge, {at, build.number(padded.low)});
  const BufferId is_before = build.emit(Op::lt, {at, build.number(end)});
  const BufferId is_inside = build.emit(Op::bitwise_and, {is_behind, is_before});
  return build.emit(Op::select, {build.along(is_inside, shape, static_cast<int>(dim)), x, value});
}

std::vector<BufferId> emit_pad(PartsBuilder& build, const PartsSite& site,
                               const std::vector<BufferId>& operands) {
  BufferId x = operands[0];
  const Shape local = site.local_result(0).shape;
  Numbers low = site.attributes().integers("low"), high = site.attributes().integers("high"),
          interior = site.attributes().integers("interior");
  std::vector<std::size_t> fetched_dims;
  for (std::size_t dim = 0; dim < low.size(); ++dim) {
    const PaddedDim padded(site.attributes(), dim);
    const Axes& axes = site.result_axes(0, static_cast<std::int64_t>(dim));
    if (axes.empty() || padded.is_plain()) continue;
    const PartWindow window = padded.window(local[dim]);
    x = build.fetch(x, axes, static_cast<int>(dim), window);
    low[dim] = padded.local_low();
    high[dim] = local[dim] - low[dim] - ((window.size - 1) * padded.step + 1);
    fetched_dims.push_back(dim);
  }
  if (!is_all(low, 0) || !is_all(high, 0) || !is_all(interior, 0)) {
    x = build.emit(Op::pad, {x, operands[1]},
                   {{"low", low}, {"high", high}, {"interior", interior}});
  }
  if (is_zero(site, 1)) return {x};
  for (const std::size_t dim : fetched_dims) {
    x = outside_filled(build, site, dim, x, operands[1]);
  }
  return {x};
}

/// Each device puts what it fetches of each operand where it belongs.
std::vector<BufferId> emit_concatenate(PartsBuilder& build, const PartsSite& site,
                                       const std::vector<BufferId>& operands) {
  const std::int64_t dim = site.attributes().integer("dim");
  const auto d = static_cast<std::size_t>(dim);
  const Axes& axes = site.result_axes(0, dim);
  if (axes.empty()) return {build.emit(Op::concatenate, operands, site.attributes())};
  const Shape local = site.local_result(0).shape;
  const BufferId at = build.positions(axes, {0, local[d], local[d]});
  BufferId result = BufferId::none;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const BufferId part =
        build.fetch(operands[i], axes, static_cast<int>(dim), {-offset, local[d], local[d]});
    if (i == 0) {
      result = part;
    } else {
      const BufferId is_there = build.emit(Op::ge, {at, build.number(offset)});
      result = build.emit(Op::select,
                          {build.along(is_there, local, static_cast<int>(dim)), part, result});
    }
    offset += whole_size(site.operands[i], d);
  }
  return {result};
}

std::vector<BufferId> emit_reverse(PartsBuilder& build, const PartsSite& site,
                                   const std::vector<BufferId>& operands) {
  BufferId x = operands[0];
  for (const std::int64_t dim : site.attributes().integers("dims")) {
    const Axes& axes = site.operand_axes(0, dim);
    if (axes.empty()) continue;
    const std::int64_t part = build.type(x).shape[static_cast<std::size_t>(dim)];
    x = build.fetch(x, axes, static_cast<int>(dim), {(product(axes) - 1) * part, -part, part});
  }
  return {build.emit(Op::reverse, {x}, site.attributes())};
}

/// A device has one place of the dim.
bool ppermute_fits(const PartsSite& site) {
  const auto& source = site.attributes().integers("source");
  const Axes& axes = site.operand_axes(0, site.attributes().integer("dim"));
  return static_cast<std::int64_t>(source.size()) == product(axes);
}

std::vector<BufferId> emit_ppermute(PartsBuilder& build, const PartsSite& site,
                                    const std::vector<BufferId>& operands) {
  const auto& source = site.attributes().integers("source");
  const Axes& axes = site.operand_axes(0, site.attributes().integer("dim"));
  return {build.send(operands[0], axes, std::vector<int>(source.begin(), source.end()),
                     CollectiveReason::Kind::asked)};
}

/// Members can be on devices of their own; rows and entries stay whole.
FactorRule members_apart(FactorRule rule, const Node&) {
  for (Factor& factor : rule.factors) factor.needs_neighbours = false;
  return rule;
}

Axes member_axes(const PartsSite& site) {
  Axes axes;
  for (const std::int64_t dim : site.attributes().integers("dims")) {
    const Axes& split = site.operand_axes(0, dim);
    axes.insert(axes.end(), split.begin(), split.end());
  }
  return axes;
}

/// A device has one member.
bool ragged_fits(const PartsSite& site) {
  for (const std::int64_t dim : site.attributes().integers("dims")) {
    const std::int64_t size = whole_size(site.operands[0], static_cast<std::size_t>(dim));
    if (size != product(site.operand_axes(0, dim))) return false;
  }
  return !member_axes(site).empty();
}

std::vector<BufferId> emit_ragged(PartsBuilder& build, const PartsSite& site,
                                  const std::vector<BufferId>& operands) {
  return {build.ragged_all_to_all(operands, member_axes(site))};
}

/// Dims that are cut: any split of the array, none of the slice; a sum over the parts.
FactorRule dynamic_slice_parts(FactorRule rule, const Node&) {
  for (std::size_t dim = 0; dim < rule.operands[0].size(); ++dim) {
    const auto own = static_cast<std::size_t>(rule.operands[0][dim].front());
    if (rule.factors[own].kind != FactorKind::need_replication) continue;
    rule.factors[own].kind = FactorKind::reduction;
    rule.results[0][dim] = {static_cast<int>(rule.factors.size())};
    rule.factors.push_back({rule.factors[own].size, FactorKind::need_replication, true, false});
  }
  rule.reduction = Reduction::sum;
  return rule;
}

/// The rows that the device has of those at `start` and behind it, and zeros.
BufferId looked_up(PartsBuilder& build, const PartsSite& site, BufferId x, std::int64_t dim,
                   BufferId start) {
  const auto d = static_cast<std::size_t>(dim);
  const std::int64_t whole = whole_size(site.operands[0], d);
  const std::int64_t size = site.attributes().integers("sizes")[d];
  const DType dtype = build.type(start).dtype;
  const BufferId first = build.constant(0, dtype);
  const BufferId most = build.constant(static_cast<double>(whole - size), dtype);
  const BufferId begin = build.emit(Op::clamp, {first, start, most});
  const BufferId behind = build.emit(
      Op::iota, {},
      {{"shape", Shape{size}}, {"dim", std::int64_t{0}}, {"dtype", std::string(info(dtype).name)}});
  const BufferId at = build.emit(Op::add, {behind, begin});
  Shape sizes = build.type(x).shape;
  sizes[d] = 1;
  Numbers window;
  for (std::int64_t other = 0; other < build.type(x).rank(); ++other) {
    if (other != dim) window.push_back(other);
  }
  const DimPart part = part_along(build.mesh(), site.operand_axes(0, dim));
  Attributes rows{{"window_dims", window},
                  {"collapsed_dims", Numbers{dim}},
                  {"batch_dims", Numbers{}},
                  {"index_batch_dims", Numbers{}},
                  {"start_dims", Numbers{dim}},
                  {"index_vector_dim", std::int64_t{1}},
                  {"slice_sizes", sizes},
                  {"mode", std::string("clip")},
                  {"part_dims", Numbers(part.sizes.size(), dim)},
                  {"part_strides", part.strides},
                  {"part_sizes", part.sizes}};
  return build.emit(Op::gather, {x, at}, std::move(rows));
}

std::vector<BufferId> emit_dynamic_slice(PartsBuilder& build, const PartsSite& site,
                                         const std::vector<BufferId>& operands) {
  BufferId x = operands[0];
  Numbers sizes = site.attributes().integers("sizes");
  std::vector<BufferId> starts(operands.begin() + 1, operands.end());
  std::vector<std::int64_t> split;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    const auto number = static_cast<std::int64_t>(dim);
    if (site.operand_axes(0, number).empty()) continue;
    if (sizes[dim] != whole_size(site.operands[0], dim)) split.push_back(number);
    sizes[dim] = build.type(x).shape[dim];  // whole for now
  }
  if (sizes != build.type(x).shape) {
    std::vector<BufferId> all{x};
    all.insert(all.end(), starts.begin(), starts.end());
    x = build.emit(Op::dynamic_slice, all, {{"sizes", sizes}});
  }
  for (const std::int64_t dim : split) {
    x = looked_up(build, site, x, dim, starts[static_cast<std::size_t>(dim)]);
  }
  return {x};
}

constexpr std::array<PartsForm, 8> forms_of_moves = {{
    {Op::slice, movable_rule, slice_fits, emit_slice},
    {Op::slice, piece_rule, piece_fits, emit_piece},
    {Op::pad, movable_rule, pad_fits, emit_pad},
    {Op::concatenate, movable_rule, nullptr, emit_concatenate},
    {Op::reverse, movable_rule, nullptr, emit_reverse},
    {Op::ppermute, movable_rule, ppermute_fits, emit_ppermute, true},
    {Op::ragged_all_to_all, members_apart, ragged_fits, emit_ragged, true},
    {Op::dynamic_slice, dynamic_slice_parts, nullptr, emit_dynamic_slice},
}};

}  // namespace

std::span<const PartsForm> move_forms() { return forms_of_moves; }

}  // namespace shard::spmd
