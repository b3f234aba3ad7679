#pragma once
// The hot float32 loops, compiled once per instruction set (Highway) and picked at run time, so
// that one binary runs on any x86-64 and uses what it finds. Plain pointers, no shapes.
//
// `out` may be exactly an input (in place); other overlaps are not allowed.

#include <cstddef>
#include <cstdint>

namespace shard {

using UnaryLoop = void (*)(const float* x, float* out, std::size_t count, float value);
using BinaryLoop = void (*)(const float* a, const float* b, float* out, std::size_t count);
/// `accumulator[i] = accumulator[i] op x[i]`.
using FoldLoop = void (*)(const float* x, float* accumulator, std::size_t count);
/// All of `x` combined, in an order that depends on `count` alone.
using ReduceLoop = float (*)(const float* x, std::size_t count);
/// `out[j][i] = in[0][i] op in[1][i] op ... in[members-1][i]` for every member j, in that order;
/// out[j] may be in[j].
using StreamsLoop = void (*)(const float* const* in, float* const* out, int members,
                             std::size_t count);

struct ElementwiseLoops {
  UnaryLoop relu, negate, abs, square, sqrt, rsqrt, scale, shift;
  UnaryLoop exp, sigmoid, silu, tanh, gelu;  ///< in double lanes, rounded once
  BinaryLoop add, subtract, multiply, divide, maximum, minimum, relu_grad, equal_mask;
  void (*fill)(std::uint32_t bits, std::uint32_t* out, std::size_t count);  ///< of any dtype
};
const ElementwiseLoops& elementwise_loops();

/// Truth values are bytes: 0 and 1, and for `select` 0 and all others.
template <class T>
using CompareLoop = void (*)(const T* a, const T* b, bool* out, std::size_t count);
template <class T>
struct CompareLoops {
  CompareLoop<T> eq, ne, lt, le;
};
/// `out` may be `on_true` or `on_false`.
using SelectLoop = void (*)(const std::uint8_t* condition, const std::uint32_t* on_true,
                            const std::uint32_t* on_false, std::uint32_t* out, std::size_t count);
struct PredicateLoops {
  CompareLoops<float> f32;
  CompareLoops<std::int32_t> i32;
  SelectLoop select[4];  ///< + 2 where `on_true` is one element for all, + 1 where `on_false` is
};
const PredicateLoops& predicate_loops();

struct ReductionLoops {
  FoldLoop fold_sum, fold_max, fold_min, fold_prod;
  ReduceLoop reduce_sum, reduce_max, reduce_min, reduce_prod;
  StreamsLoop streams_sum, streams_max, streams_min, streams_prod;
};
const ReductionLoops& reduction_loops();

/// What Adam needs per step: the rests are 1 - b1 and 1 - b2, the corrections 1 - b1^t and 1 -
/// b2^t, each rounded once (float32's own 1 - 0.999 is off by 1e-5 of itself).
struct AdamNumbers {
  float learning_rate = 0, b1 = 0, b2 = 0, rest_of_b1 = 0, rest_of_b2 = 0, eps = 0, eps_root = 0;
  float weight_decay = 0;  ///< decoupled; 0 for plain Adam
  float mu_correction = 1, inverse_nu_correction = 1;
};
/// Operands and results of one update; results may be the operands' places.
struct AdamArrays {
  const float *param, *mu, *nu, *gradient;
  float *new_param, *new_mu, *new_nu;
};
struct MomentumArrays {
  const float *param, *trace, *gradient;
  float *new_param, *new_trace;
};
struct MomentumNumbers {
  float learning_rate = 0, decay = 0;
  bool is_nesterov = false;
};
struct UpdateLoops {
  void (*sgd)(const float* param, const float* gradient, float* new_param, float learning_rate,
              std::size_t count);
  void (*momentum)(const MomentumArrays& arrays, const MomentumNumbers& numbers, std::size_t count);
  void (*adam)(const AdamArrays& arrays, const AdamNumbers& numbers, std::size_t count);
};
const UpdateLoops& update_loops();

/// A matrix read as element (row, column) = data[row * row_stride + column * column_stride].
struct MatrixView {
  const float* data = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;
};

/// C[m,n] = A[m,k] B; C is row-major and contiguous. Edges of any size are handled.
struct GemmSizes {
  std::int64_t m = 0, n = 0, k = 0;
  /// Elements from what is read of an operand to what is asked for meanwhile: where the operands of
  /// a product that follows lie, of small operands. 0: a little later in the same operand.
  std::int64_t ahead = 0;
};
struct GemmLoops {
  /// Few rows: B[k,n] row-major, streamed once. Any A.
  void (*few_rows)(const GemmSizes& sizes, MatrixView a, const float* b, float* c);
  /// Few rows, B transposed: B[n,k] row-major, streamed once; A row-major with unit column stride.
  void (*few_rows_transposed)(const GemmSizes& sizes, MatrixView a, const float* b, float* c);
  /// Few contracted elements: B[k,n] row-major stays in cache, C is streamed once. Any A.
  void (*few_terms)(const GemmSizes& sizes, MatrixView a, const float* b, float* c);
};
const GemmLoops& gemm_loops();

/// The same where a side is so short that sums stay in registers.
struct NarrowGemmLoops {
  /// Few columns: B[k,n] row-major. Any A.
  void (*few_columns)(const GemmSizes& sizes, MatrixView a, const float* b, float* c);
  /// Few contracted elements, B transposed: B[n,k] row-major; A row-major with unit column stride.
  void (*few_terms_transposed)(const GemmSizes& sizes, MatrixView a, const float* b, float* c);
};
const NarrowGemmLoops& narrow_gemm_loops();

}  // namespace shard
