// Ops that move elements along a dim that is padded behind its end: slice, pad, concatenate,
// reverse and dynamic_update_slice. What padding holds must not get in front of elements, so most
// become a pad that cuts it.

#include <algorithm>
#include <array>

#include "ops/composed.h"
#include "shard/padded_ops.h"

namespace shard {
namespace {

using Numbers = std::vector<std::int64_t>;

Attributes pad_attributes(Numbers low, Numbers high) {
  const std::size_t rank = low.size();
  return {{"low", std::move(low)}, {"high", std::move(high)}, {"interior", Numbers(rank, 0)}};
}

bool has_step_one(const PaddedNode& node, std::size_t, std::size_t) {
  const Numbers& steps = node.node.attributes.integers("stride");
  return std::all_of(steps.begin(), steps.end(), [](std::int64_t step) { return step == 1; });
}

std::optional<double> nothing_ignored(const PaddedNode&, std::size_t, std::size_t) { return {}; }

bool is_whole_dim(const PaddedNode& node, std::size_t dim) {
  return node.operands[0].shape[dim] == node.results[0].shape[dim];
}

bool cuts_padded_dim(const PaddedNode& node, const TensorType& x, const TensorType& result) {
  for (std::size_t dim = 0; dim < x.shape.size(); ++dim) {
    const bool is_padded = x.shape[dim] != node.operands[0].shape[dim] ||
                           result.shape[dim] != node.results[0].shape[dim];
    if (is_padded && !is_whole_dim(node, dim)) return true;
  }
  return false;
}

/// A whole dim is taken to its padded end, one element after the other: in one of a single element
/// a longer step has nothing to leave out.
void take_whole_dims(const PaddedNode& node, const TensorType& x, Attributes& attributes) {
  Numbers limits = attributes.integers("limit"), steps = attributes.integers("stride");
  for (std::size_t dim = 0; dim < limits.size(); ++dim) {
    if (!is_whole_dim(node, dim)) continue;
    limits[dim] = x.shape[dim];
    steps[dim] = 1;
  }
  attributes.set("limit", std::move(limits));
  attributes.set("stride", std::move(steps));
}

/// Elements before `start` are cut off, and there is room up to the padded result's end.
void rewrite_slice(Builder& b, const PaddedNode& node, const TensorType& result, Node& made) {
  const TensorType x = b.type(made.operands[0]);
  if (x == node.operands[0] && result == node.results[0]) return;
  if (!cuts_padded_dim(node, x, result)) {
    return take_whole_dims(node, x, made.attributes);
  }
  Numbers low = node.node.attributes.integers("start"), high = low;
  for (std::size_t dim = 0; dim < low.size(); ++dim) {
    low[dim] = -low[dim];
    high[dim] = result.shape[dim] - low[dim] - x.shape[dim];
  }
  made.op = Op::pad;
  made.operands.push_back(scalar(b, 0, x.dtype));
  made.attributes = pad_attributes(std::move(low), std::move(high));
}

/// The value of a constant that the array is padded with.
std::optional<double> pad_value(const PaddedNode& node) {
  const NodeId producer = node.graph.value(node.node.operands[1]).producer;
  if (producer == NodeId::none) return std::nullopt;
  const Node& made_by = node.graph.node(producer);
  if (made_by.op != Op::constant) return std::nullopt;
  return made_by.attributes.number("value");
}

bool has_constant_value(const PaddedNode& node, std::size_t, std::size_t) {
  return pad_value(node).has_value();
}

std::optional<double> ignored_by_pad(const PaddedNode& node, std::size_t operand, std::size_t dim) {
  const auto number = [&](const char* key) { return node.node.attributes.integers(key)[dim]; };
  const bool is_same = number("low") == 0 && number("high") == 0 && number("interior") == 0;
  return operand != 0 || is_same ? std::nullopt : pad_value(node);
}

Attributes padded_pad(const PaddedNode& node, std::span<const TensorType> operands,
                      std::span<const TensorType> results) {
  Attributes attributes = node.node.attributes;
  const Numbers &low = attributes.integers("low"), &interior = attributes.integers("interior");
  Numbers high;
  for (std::size_t dim = 0; dim < low.size(); ++dim) {
    const std::int64_t size = operands[0].shape[dim];
    const std::int64_t spread = size == 0 ? 0 : (size - 1) * (interior[dim] + 1) + 1;
    high.push_back(results[0].shape[dim] - low[dim] - spread);
  }
  attributes.set("high", std::move(high));
  return attributes;
}

/// Reversed padding comes first, and is cut off.
void rewrite_reverse(Builder& b, const PaddedNode& node, const TensorType& result, Node& made) {
  Numbers low(result.shape.size(), 0), high = low;
  for (const std::int64_t dim : node.node.attributes.integers("dims")) {
    const auto d = static_cast<std::size_t>(dim);
    high[d] = result.shape[d] - node.results[0].shape[d];
    low[d] = -high[d];
  }
  if (low == high) return;
  const ValueId reversed = b.emit(Op::reverse, made.operands, made.attributes);
  made.op = Op::pad;
  made.operands = {reversed, scalar(b, 0, result.dtype)};
  made.attributes = pad_attributes(std::move(low), std::move(high));
}

/// Each array is brought to its place in the whole result; the last that begins at or before a
/// position has its element.
void rewrite_concatenate(Builder& b, const PaddedNode& node, const TensorType& result, Node& made) {
  const std::int64_t dim = node.node.attributes.integer("dim");
  const auto d = static_cast<std::size_t>(dim);
  bool is_padded = result.shape[d] != node.results[0].shape[d];
  for (std::size_t i = 0; i < made.operands.size(); ++i) {
    is_padded = is_padded || b.type(made.operands[i]).shape[d] != node.operands[i].shape[d];
  }
  if (!is_padded) return;
  const ValueId zero = scalar(b, 0, result.dtype);
  const ValueId at = iota(b, {result.shape[d]}, 0, DType::i32);
  std::vector<ValueId> before;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < made.operands.size(); ++i) {
    Numbers low(result.shape.size(), 0), high = low;
    low[d] = offset;
    high[d] = result.shape[d] - offset - b.type(made.operands[i]).shape[d];
    const Attributes to_place = pad_attributes(std::move(low), std::move(high));
    if (made.operands.size() == 1) {
      made.op = Op::pad;
      made.operands.push_back(zero);
      made.attributes = to_place;
      return;
    }
    const ValueId placed = b.emit(Op::pad, {made.operands[i], zero}, to_place);
    if (i > 0) {
      const ValueId begin = scalar(b, static_cast<double>(offset), DType::i32);
      const ValueId is_there = broadcast_to(b, b.emit(Op::ge, {at, begin}), result.shape, {dim});
      before = {is_there, placed, before.back()};
      if (i + 1 < made.operands.size()) before = {selected(b, before[0], before[1], before[2])};
    } else {
      before = {placed};
    }
    offset += node.operands[i].shape[d];
  }
  made.op = Op::select;
  made.operands = std::move(before);
  made.attributes = {};
}

/// Starts are where the update fits in the array without padding.
void rewrite_update(Builder& b, const PaddedNode& node, const TensorType& result, Node& made) {
  for (std::size_t dim = 0; dim < result.shape.size(); ++dim) {
    if (result.shape[dim] == node.results[0].shape[dim]) continue;
    ValueId& start = made.operands[2 + dim];
    const DType dtype = b.type(start).dtype;
    const std::int64_t most = node.operands[0].shape[dim] - node.operands[1].shape[dim];
    start = b.emit(Op::clamp,
                   {scalar(b, 0, dtype), start, scalar(b, static_cast<double>(most), dtype)});
  }
}

bool no_dim(const PaddedNode&, std::size_t, std::size_t) { return false; }
bool any_dim(const PaddedNode&, std::size_t, std::size_t) { return true; }

constexpr std::array<PaddedOp, 5> rows_of_moves = {{
    {Op::slice, has_step_one, nothing_ignored, nullptr, rewrite_slice},
    {Op::pad, has_constant_value, ignored_by_pad, padded_pad, nullptr},
    {Op::concatenate, any_dim, nothing_ignored, nullptr, rewrite_concatenate},
    {Op::dynamic_update_slice, no_dim, nothing_ignored, nullptr, rewrite_update},
    {Op::reverse, any_dim, nothing_ignored, nullptr, rewrite_reverse},
}};

}  // namespace

std::span<const PaddedOp> padded_moves() { return rows_of_moves; }

}  // namespace shard
