#pragma once
// Kernels: the second table over ops. A row makes, from the local types and attributes of one
// instruction, a function that computes on plain memory. Everything that can be decided beforehand
// (forms, strides, dtypes) is decided when the kernel is made, so running it costs a call.

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/tensor_type.h"
#include "exec/scratch.h"
#include "ops/op.h"

namespace shard {

/// One instruction: what is computed on which local types.
struct KernelSite {
  Op op = Op::constant;
  Attributes attributes;
  std::vector<TensorType> operands;
  std::vector<TensorType> results;
};

/// The places of one execution on one device. A result may be the very place of an operand of an
/// elementwise op; other overlaps are not allowed.
struct KernelCall {
  std::span<const std::byte* const> operands;
  std::span<std::byte* const> results;
  Scratch& scratch;  ///< of the worker; released after the call
  int device = 0;    ///< position in the mesh
  /// Bytes from this device's memory to that of the device whose turn comes next, often with the
  /// same instruction; 0: none is known.
  std::ptrdiff_t next = 0;
};

using Kernel = std::function<void(const KernelCall&)>;

/// A kernel, or a sentence why there is none for these dtypes ("relu of bool").
using KernelResult = std::variant<Kernel, std::string>;
using KernelMaker = KernelResult (*)(const KernelSite& site);

struct KernelRow {
  Op op;
  KernelMaker make;         ///< nullptr: not computed but walked (`repeat`)
  bool takes_long = false;  ///< per element: so long that memory takes the results meanwhile
};

/// All rows, in enum order.
std::span<const KernelRow> kernel_table();

/// Copies `bytes` from the operand to the result; nothing when they are one place.
Kernel copy_kernel(std::size_t bytes);

/// Fills `count` elements with copies of the first `size` bytes of `pattern`.
void fill_elements(std::byte* to, const std::byte* pattern, std::size_t size, std::size_t count);

/// "dot of f32[4,8] and i32[8,2]": how refusals name a site.
std::string describe(const KernelSite& site);

// The makers, by the file they live in.
KernelResult make_dot(const KernelSite& site);         // dot_kernel.cpp
KernelResult make_ragged_dot(const KernelSite& site);  // ragged_kernels.cpp
KernelResult make_ragged_outer(const KernelSite& site);
KernelResult make_elementwise(const KernelSite& site);  // elementwise_kernels.cpp
KernelResult make_convert(const KernelSite& site);
KernelResult make_reduction(const KernelSite& site);  // reduction_kernels.cpp
KernelResult make_constrain(const KernelSite& site);  // structure_kernels.cpp
KernelResult make_transpose(const KernelSite& site);
KernelResult make_broadcast(const KernelSite& site);
KernelResult make_constant(const KernelSite& site);
KernelResult make_update(const KernelSite& site);     // update_kernels.cpp
KernelResult make_predicate(const KernelSite& site);  // predicate_kernels.cpp
KernelResult make_select(const KernelSite& site);
KernelResult make_clamp(const KernelSite& site);
KernelResult make_bits(const KernelSite& site);             // bit_kernels.cpp
KernelResult make_truth_reduction(const KernelSite& site);  // reduction_kernels.cpp
KernelResult make_cumulative(const KernelSite& site);       // line_kernels.cpp
KernelResult make_linear_recurrence(const KernelSite& site);
KernelResult make_arg_extremum(const KernelSite& site);
KernelResult make_sort(const KernelSite& site);
KernelResult make_top_k(const KernelSite& site);
KernelResult make_iota(const KernelSite& site);  // slice_kernels.cpp
KernelResult make_reshape(const KernelSite& site);
KernelResult make_slice(const KernelSite& site);
KernelResult make_concatenate(const KernelSite& site);
KernelResult make_pad(const KernelSite& site);
KernelResult make_reverse(const KernelSite& site);
KernelResult make_ppermute(const KernelSite& site);
KernelResult make_ragged_all_to_all(const KernelSite& site);  // ragged_kernel.cpp
KernelResult make_dynamic_slice(const KernelSite& site);
KernelResult make_dynamic_update_slice(const KernelSite& site);
KernelResult make_gather(const KernelSite& site);  // index_kernels.cpp
KernelResult make_scatter(const KernelSite& site);
KernelResult make_convolution(const KernelSite& site);  // window_kernels.cpp
KernelResult make_reduce_window(const KernelSite& site);
KernelResult make_select_and_scatter_add(const KernelSite& site);
KernelResult make_random_bits(const KernelSite& site);  // random_kernels.cpp
KernelResult make_dropout(const KernelSite& site);
KernelResult make_reduce_precision(const KernelSite& site);
KernelResult make_bitcast(const KernelSite& site);
/// Elementwise with complex numbers among the operands or results.
KernelResult make_complex_elementwise(const KernelSite& site);  // complex_kernels.cpp
KernelResult make_custom_call(const KernelSite& site);          // custom_kernel.cpp
KernelResult make_fft(const KernelSite& site);                  // fft_kernel.cpp

bool has_complex(const KernelSite& site);
/// The same site with an inner dim of two real numbers for each complex one, for kernels that move
/// or add elements.
KernelSite in_pairs(KernelSite site);

}  // namespace shard
