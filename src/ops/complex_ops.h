#pragma once
// Fourier transforms: which kinds there are, and what they cost.

#include <optional>
#include <string_view>

#include "ops/op.h"

namespace shard {

/// A kind of transform: between complex numbers, or with real ones on one side, of whose last dim
/// only the first half of the (conjugate symmetric) transform is kept.
struct FftKind {
  std::string_view name;  ///< `rfft`
  bool is_inverse;        ///< by exp(+i ..), divided by the number of points
  bool takes_real;
  bool gives_real;
};
std::span<const FftKind> fft_kinds();
std::optional<FftKind> fft_kind(std::string_view name);

/// Points of the transform: the product of its lengths.
std::int64_t fft_points(const Attributes& attributes);

/// 5 n log2(n) for a complex transform of n points, half of it with real numbers on one side.
double fft_flops(std::span<const TensorType> operands, std::span<const TensorType> results,
                 const Attributes& attributes);

}  // namespace shard
