// Complex numbers and Fourier transforms: everything about the ops but their kernels.

#include "ops/complex_ops.h"

#include <array>
#include <cmath>

#include "ops/composed.h"
#include "ops/derivatives.h"
#include "ops/factor_rules.h"
#include "ops/rule_builder.h"
#include "ops/shape_mistakes.h"
#include "ops/shape_rules.h"

namespace shard {
namespace {

using Types = std::span<const TensorType>;

constexpr std::array<FftKind, 4> kinds = {{
    {"fft", false, false, false},
    {"ifft", true, false, false},
    {"rfft", false, true, false},
    {"irfft", true, false, true},
}};

std::string part_mistake(const TensorType& type, DType wanted) {
  if (type.dtype == wanted) return "";
  return "needs " + dtype_word(wanted) + ", not " + dtype_word(type.dtype);
}

/// Of the last dim, as far as the transform of real numbers keeps it.
std::int64_t half_of(std::int64_t length) { return length / 2 + 1; }

/// The size that a transformed dim has on the side of the complex numbers.
std::int64_t complex_size(const FftKind& kind, const std::vector<std::int64_t>& lengths,
                          std::size_t dim) {
  const bool is_half = (kind.takes_real || kind.gives_real) && dim + 1 == lengths.size();
  return is_half ? half_of(lengths[dim]) : lengths[dim];
}

std::string lengths_mistake(const FftKind& kind, const TensorType& type,
                            const std::vector<std::int64_t>& lengths) {
  if (lengths.empty() || lengths.size() > type.shape.size()) {
    return "there is no transform over " + std::to_string(lengths.size()) + " of " +
           std::to_string(type.rank()) + " dims";
  }
  const std::size_t first = type.shape.size() - lengths.size();
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 1) return "there is no transform of length " + std::to_string(lengths[i]);
    const std::int64_t wanted = kind.takes_real ? lengths[i] : complex_size(kind, lengths, i);
    if (type.shape[first + i] == wanted) continue;
    return "dim " + std::to_string(first + i) + " has " + std::to_string(type.shape[first + i]) +
           " elements, a transform of length " + std::to_string(lengths[i]) + " takes " +
           std::to_string(wanted);
  }
  return "";
}

ValueId complex_of(Builder& builder, ValueId x) { return as_dtype(builder, x, DType::c64); }

Attributes transform(std::string_view kind, const Attributes& like) {
  return {{"kind", std::string(kind)}, {"lengths", like.integers("lengths")}};
}

/// 1 for the elements of a half transform that stand for themselves, 2 for those that stand for
/// their mirror image too.
ValueId mirror_counts(Builder& builder, const TensorType& half, std::int64_t length) {
  const auto last = static_cast<std::int64_t>(half.shape.size()) - 1;
  const ValueId places = iota(builder, half.shape, last, DType::f32);
  const auto is_at = [&](std::int64_t place) {
    const ValueId wanted = scalar(builder, static_cast<double>(place), DType::f32);
    return builder.emit(Op::equal_mask, {places, wanted});
  };
  ValueId alone = is_at(0);
  if (length > 1 && length % 2 == 0) {
    alone = builder.emit(Op::add, {alone, is_at(length / 2)});
  }
  return builder.emit(Op::shift, {builder.emit(Op::negate, {alone})}, Attributes{{"value", 2.0}});
}

/// x of real numbers: the real part of the transform of what came back, filled up with zeros.
ValueId rfft_cotangent(const DerivativeInput& input) {
  Builder& b = input.builder;
  const TensorType half = b.type(input.cotangents[0]);
  const std::int64_t length = input.attributes.integers("lengths").back();
  const std::vector<std::int64_t> none(half.shape.size(), 0);
  std::vector<std::int64_t> high = none;
  high.back() = length - half.shape.back();
  const ValueId padded = b.emit(Op::pad, {input.cotangents[0], scalar(b, 0, DType::c64)},
                                Attributes{{"low", none}, {"high", high}, {"interior", none}});
  return b.emit(Op::real, {b.emit(Op::fft, {padded}, transform("fft", input.attributes))});
}

ValueId irfft_cotangent(const DerivativeInput& input) {
  Builder& b = input.builder;
  const ValueId half = b.emit(Op::fft, {input.cotangents[0]}, transform("rfft", input.attributes));
  const std::int64_t length = input.attributes.integers("lengths").back();
  const ValueId counts =
      b.emit(Op::scale, {mirror_counts(b, b.type(half), length)},
             Attributes{{"value", 1.0 / static_cast<double>(fft_points(input.attributes))}});
  return b.emit(Op::multiply, {b.emit(Op::conjugate, {half}), complex_of(b, counts)});
}

}  // namespace

std::span<const FftKind> fft_kinds() { return kinds; }

std::optional<FftKind> fft_kind(std::string_view name) {
  for (const FftKind& kind : kinds) {
    if (kind.name == name) return kind;
  }
  return std::nullopt;
}

std::int64_t fft_points(const Attributes& attributes) {
  return element_count(attributes.integers("lengths"));
}

double fft_flops(Types operands, Types results, const Attributes& attributes) {
  const bool is_half = operands[0].dtype != results[0].dtype;
  const TensorType& full = operands[0].dtype == DType::c64 ? results[0] : operands[0];
  const double points = static_cast<double>(fft_points(attributes));
  return (is_half ? 2.5 : 5.0) * static_cast<double>(element_count(full.shape)) * std::log2(points);
}

std::string complex_mistake(Types operands) {
  for (const TensorType& type : operands) {
    if (info(type.dtype).is_complex) return "needs real numbers, not " + dtype_word(type.dtype);
  }
  return "";
}

ShapeResult magnitude_shape(Types operands, const Attributes& attributes) {
  ShapeResult same = number_elementwise_shape(operands, attributes);
  if (!info(operands[0].dtype).is_complex) return same;
  return one_result({DType::f32, operands[0].shape});
}

ShapeResult make_complex_shape(Types operands, const Attributes& attributes) {
  for (const TensorType& type : operands) {
    if (std::string mistake = part_mistake(type, DType::f32); !mistake.empty()) return mistake;
  }
  ShapeResult parts = number_elementwise_shape(operands, attributes);
  if (std::holds_alternative<std::string>(parts)) return parts;
  return one_result({DType::c64, std::get<std::vector<TensorType>>(parts).front().shape});
}

ShapeResult complex_part_shape(Types operands, const Attributes&) {
  if (std::string mistake = part_mistake(operands[0], DType::c64); !mistake.empty()) {
    return mistake;
  }
  return one_result({DType::f32, operands[0].shape});
}

ShapeResult conjugate_shape(Types operands, const Attributes&) {
  if (std::string mistake = part_mistake(operands[0], DType::c64); !mistake.empty()) {
    return mistake;
  }
  return one_result(operands[0]);
}

ShapeResult fft_shape(Types operands, const Attributes& attributes) {
  const std::optional<FftKind> kind = fft_kind(attributes.text("kind"));
  if (!kind) return "there is no transform '" + attributes.text("kind") + "'";
  std::string mistake = part_mistake(operands[0], kind->takes_real ? DType::f32 : DType::c64);
  const std::vector<std::int64_t>& lengths = attributes.integers("lengths");
  if (mistake.empty()) mistake = lengths_mistake(*kind, operands[0], lengths);
  if (!mistake.empty()) return mistake;
  TensorType result{kind->gives_real ? DType::f32 : DType::c64, operands[0].shape};
  if (kind->takes_real) result.shape.back() = half_of(lengths.back());
  if (kind->gives_real) result.shape.back() = lengths.back();
  return one_result(std::move(result));
}

FactorRule fft_rule(Types operands, Types results, const Attributes& attributes) {
  RuleBuilder rule(operands, results);
  const std::size_t rank = operands[0].shape.size();
  const std::size_t plain = rank - attributes.integers("lengths").size();
  for (std::size_t i = 0; i < rank; ++i) {
    const auto dim = static_cast<std::int64_t>(i);
    const std::int64_t size = operands[0].shape[i];
    rule.add(size, i < plain ? FactorKind::pass_through : FactorKind::need_replication);
    if (size != results[0].shape[i]) rule.block();
    rule.on_operand(0, dim).on_result(0, dim);
  }
  return rule.take();
}

std::vector<ValueId> complex_magnitude_derivative(const DerivativeInput& input) {
  // d|x| = Re(conj(x) dx) / |x|; nothing at 0.
  Builder& b = input.builder;
  const ValueId x = input.operands[0], y = input.results[0];
  const ValueId is_zero = b.emit(Op::equal_mask, {y, scalar(b, 0, b.type(y).dtype)});
  const ValueId share = b.emit(Op::divide, {input.cotangents[0], b.emit(Op::add, {y, is_zero})});
  return {b.emit(Op::multiply, {complex_of(b, share), b.emit(Op::conjugate, {x})})};
}

std::vector<ValueId> make_complex_derivative(const DerivativeInput& input) {
  Builder& b = input.builder;
  const ValueId g = input.cotangents[0];
  std::vector<ValueId> out(2, ValueId::none);
  const auto fitted = [&](ValueId cotangent, ValueId operand) {
    const bool was_spread = b.type(operand).rank() != b.type(cotangent).rank();
    if (!was_spread) return cotangent;
    std::vector<std::int64_t> dims;
    for (int dim = 0; dim < b.type(cotangent).rank(); ++dim) dims.push_back(dim);
    return reduced(b, Op::reduce_sum, cotangent, dims);
  };
  if (input.wants(0)) out[0] = fitted(b.emit(Op::real, {g}), input.operands[0]);
  if (input.wants(1)) {
    out[1] = fitted(b.emit(Op::negate, {b.emit(Op::imag, {g})}), input.operands[1]);
  }
  return out;
}

std::vector<ValueId> real_derivative(const DerivativeInput& input) {
  return {complex_of(input.builder, input.cotangents[0])};
}

std::vector<ValueId> imag_derivative(const DerivativeInput& input) {
  // Re(c dx) = g Im(dx) for c = -g i.
  Builder& b = input.builder;
  const ValueId turned = b.emit(Op::negate, {input.cotangents[0]});
  return {b.emit(Op::make_complex, {scalar(b, 0, DType::f32), turned})};
}

std::vector<ValueId> conjugate_derivative(const DerivativeInput& input) {
  return {input.builder.emit(Op::conjugate, {input.cotangents[0]})};
}

std::vector<ValueId> fft_derivative(const DerivativeInput& input) {
  const FftKind kind = *fft_kind(input.attributes.text("kind"));
  if (kind.takes_real) return {rfft_cotangent(input)};
  if (kind.gives_real) return {irfft_cotangent(input)};
  // The matrix of the transform is symmetric.
  return {input.builder.emit(Op::fft, {input.cotangents[0]}, input.attributes)};
}

}  // namespace shard
