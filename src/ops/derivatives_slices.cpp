// Derivatives of ops that move elements: the cotangents are moved back.

#include "ops/composed.h"
#include "ops/derivatives.h"

namespace shard {
namespace {

using Dims = std::vector<std::int64_t>;

Attributes pad_attributes(Dims low, Dims high, Dims interior) {
  return Attributes{
      {"low", std::move(low)}, {"high", std::move(high)}, {"interior", std::move(interior)}};
}

ValueId zero_like(Builder& b, ValueId x) { return scalar(b, 0, b.type(x).dtype); }

Dims negated(Dims numbers) {
  for (std::int64_t& number : numbers) number = -number;
  return numbers;
}

std::vector<ValueId> starts_after(const DerivativeInput& input, std::size_t arrays) {
  return {input.operands.begin() + static_cast<std::ptrdiff_t>(arrays), input.operands.end()};
}

/// An op over an array, perhaps a second one, and the starts.
ValueId emit_at(Builder& b, Op op, std::vector<ValueId> arrays, const std::vector<ValueId>& starts,
                Attributes attributes = {}) {
  arrays.insert(arrays.end(), starts.begin(), starts.end());
  return b.emit(op, arrays, std::move(attributes));
}

}  // namespace

std::vector<ValueId> reshape_derivative(const DerivativeInput& input) {
  const Shape shape = input.builder.type(input.operands[0]).shape;
  return {reshaped(input.builder, input.cotangents[0], shape)};
}

std::vector<ValueId> slice_derivative(const DerivativeInput& input) {
  // Zeros between the elements of a strided slice, and around it.
  Builder& b = input.builder;
  const Shape shape = b.type(input.operands[0]).shape;
  const Shape sliced_shape = b.type(input.cotangents[0]).shape;
  const Dims &start = input.attributes.integers("start"),
             &stride = input.attributes.integers("stride");
  Dims high, interior;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    const std::int64_t count = sliced_shape[dim];
    const std::int64_t covered = count == 0 ? 0 : (count - 1) * stride[dim] + 1;
    high.push_back(shape[dim] - start[dim] - covered);
    interior.push_back(stride[dim] - 1);
  }
  const ValueId g = input.cotangents[0];
  return {b.emit(Op::pad, {g, zero_like(b, g)},
                 pad_attributes(start, std::move(high), std::move(interior)))};
}

std::vector<ValueId> concatenate_derivative(const DerivativeInput& input) {
  Builder& b = input.builder;
  const std::int64_t dim = input.attributes.integer("dim");
  std::vector<ValueId> out;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < input.operands.size(); ++i) {
    const std::int64_t size = b.type(input.operands[i]).shape[static_cast<std::size_t>(dim)];
    out.push_back(input.wants(i) ? sliced(b, input.cotangents[0], dim, start, start + size)
                                 : ValueId::none);
    start += size;
  }
  return out;
}

std::vector<ValueId> pad_derivative(const DerivativeInput& input) {
  // Padding by the negated amounts cuts what was added and has zeros where something was cut; what
  // lies between is skipped. The padding's own cotangent is what the array does not take.
  Builder& b = input.builder;
  const ValueId g = input.cotangents[0];
  const Dims &low = input.attributes.integers("low"), &high = input.attributes.integers("high"),
             &interior = input.attributes.integers("interior");
  const ValueId cut = b.emit(Op::pad, {g, zero_like(b, g)},
                             pad_attributes(negated(low), negated(high), Dims(low.size(), 0)));
  Dims stride = interior;
  for (std::int64_t& step : stride) ++step;
  const ValueId mine = b.emit(
      Op::slice, {cut},
      Attributes{{"start", Dims(low.size(), 0)}, {"limit", b.type(cut).shape}, {"stride", stride}});
  std::vector<ValueId> out = {mine, ValueId::none};
  if (!input.wants(1)) return out;
  Dims all;
  for (std::size_t dim = 0; dim < low.size(); ++dim) all.push_back(static_cast<std::int64_t>(dim));
  out[1] = b.emit(Op::subtract,
                  {reduced(b, Op::reduce_sum, g, all), reduced(b, Op::reduce_sum, mine, all)});
  return out;
}

std::vector<ValueId> reverse_derivative(const DerivativeInput& input) {
  return {input.builder.emit(Op::reverse, {input.cotangents[0]}, input.attributes)};
}

/// Back along the same ways; what was sent nowhere has no slope.
std::vector<ValueId> ppermute_derivative(const DerivativeInput& input) {
  const std::vector<std::int64_t>& source = input.attributes.integers("source");
  std::vector<std::int64_t> back(source.size(), -1);
  for (std::size_t to = 0; to < source.size(); ++to) {
    if (source[to] >= 0) back[static_cast<std::size_t>(source[to])] = static_cast<std::int64_t>(to);
  }
  Attributes attributes = input.attributes;
  attributes.set("source", std::move(back));
  return {input.builder.emit(Op::ppermute, {input.cotangents[0]}, std::move(attributes))};
}

std::vector<ValueId> dynamic_slice_derivative(const DerivativeInput& input) {
  Builder& b = input.builder;
  std::vector<ValueId> out(input.operands.size(), ValueId::none);
  if (!input.wants(0)) return out;
  const ValueId zeros = filled(b, 0, b.type(input.operands[0]));
  out[0] =
      emit_at(b, Op::dynamic_update_slice, {zeros, input.cotangents[0]}, starts_after(input, 1));
  return out;
}

std::vector<ValueId> dynamic_update_slice_derivative(const DerivativeInput& input) {
  Builder& b = input.builder;
  const ValueId g = input.cotangents[0];
  const std::vector<ValueId> starts = starts_after(input, 2);
  const TensorType update = b.type(input.operands[1]);
  std::vector<ValueId> out(input.operands.size(), ValueId::none);
  if (input.wants(0)) {
    out[0] = emit_at(b, Op::dynamic_update_slice, {g, filled(b, 0, update)}, starts);
  }
  if (input.wants(1)) {
    out[1] = emit_at(b, Op::dynamic_slice, {g}, starts, Attributes{{"sizes", update.shape}});
  }
  return out;
}

}  // namespace shard
