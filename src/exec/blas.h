#pragma once
// OpenBLAS, opened when the first product with many rows is prepared and never linked. Only the
// pthread flavour is used, with one thread per call: the serial flavour gives silently wrong
// results when several threads call it.

#include <optional>
#include <span>
#include <string>

#include "exec/simd.h"

namespace shard {

class Blas {
 public:
  /// Opens the first of `candidates` that exists and is the pthread flavour; nothing when there is
  /// none. Throws `Error` `serial-blas` when one is the serial flavour and none before it serves.
  static std::optional<Blas> open(std::span<const std::string> candidates);

  /// C[m,n] = A B, all row-major; a transposed operand is a view with row stride 1.
  void multiply(const GemmSizes& sizes, MatrixView a, MatrixView b, float* c) const;

  /// `OpenBLAS 0.3.21 pthread, SkylakeX kernels`.
  const std::string& description() const { return description_; }

 private:
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                         float, float*, int);
  Sgemm sgemm_ = nullptr;
  std::string description_;
};

/// The system's, opened at the first call; nullptr when there is none that serves.
const Blas* system_blas();

/// The system's where its products with many rows are not slower than `blocked_gemm`, so not from
/// AVX2 on: a decoder's products take 7% less time without it there, and 8% less on AVX-512.
const Blas* preferred_blas();

}  // namespace shard
