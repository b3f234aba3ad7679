#include "property/op_cases.h"

#include <cmath>
#include <random>

#include "exec/element.h"
#include "ops/index_dims.h"
#include "ops/window_dims.h"

namespace shard::test {
namespace {

using Dims = std::vector<std::int64_t>;

TensorType real(Shape shape) { return {DType::f32, std::move(shape)}; }
TensorType whole(Shape shape) { return {DType::i32, std::move(shape)}; }
TensorType complex(Shape shape) { return {DType::c64, std::move(shape)}; }
TensorType truth(Shape shape) { return {DType::boolean, std::move(shape)}; }

Attributes indexed(Dims window, Dims collapsed, Dims batch, Dims start, std::int64_t vector,
                   const char* mode) {
  IndexDims dims;
  dims.window = std::move(window);
  dims.collapsed = std::move(collapsed);
  dims.index_batch = batch;
  dims.batch = std::move(batch);
  dims.start = std::move(start);
  dims.vector = vector;
  Attributes attributes = dims.attributes();
  attributes.set("mode", std::string(mode));
  return attributes;
}

void add_elementwise(std::vector<OpCase>& cases) {
  const Shape shape = {8, 16};
  for (const OpDef& row : op_table()) {
    // Not those that are slow in the reference or not defined from 0.1 to 0.9.
    const bool is_left_out = row.op == Op::acosh || row.op == Op::polygamma || row.op == Op::lgamma;
    if (row.op < Op::expm1 || row.op > Op::atan2 || is_left_out) continue;
    cases.push_back(
        {row.op, std::vector(static_cast<std::size_t>(row.operand_count), real(shape)), {}});
  }
  for (const Op op : {Op::eq, Op::ne, Op::lt, Op::le, Op::gt, Op::ge}) {
    cases.push_back({op, {real(shape), real({})}, {}});
  }
  for (const Op op : {Op::bitwise_and, Op::bitwise_or, Op::bitwise_xor}) {
    cases.push_back({op, {truth(shape), truth(shape)}, {}});
    cases.push_back({op, {whole(shape), whole(shape)}, {}});
  }
  cases.push_back({Op::select, {truth(shape), real(shape), real({})}, {}});
  cases.push_back({Op::clamp, {real({}), real(shape), real(shape)}, {}});
}

void add_moves(std::vector<OpCase>& cases) {
  for (const Shape& to :
       {Shape{8, 2, 8}, Shape{2, 4, 16}, Shape{128}, Shape{16, 8}, Shape{1, 8, 16}}) {
    cases.push_back({Op::reshape, {real({8, 16})}, {{"shape", to}}});
    cases.push_back({Op::reshape, {real(to)}, {{"shape", Shape{8, 16}}}});
  }
  cases.push_back({Op::slice,
                   {real({8, 16})},
                   {{"start", Dims{0, 4}}, {"limit", Dims{8, 12}}, {"stride", Dims{1, 1}}}});
  cases.push_back({Op::slice,
                   {real({8, 16})},
                   {{"start", Dims{1, 0}}, {"limit", Dims{8, 16}}, {"stride", Dims{3, 2}}}});
  cases.push_back(
      {Op::concatenate, {real({8, 8}), real({8, 16}), real({8, 8})}, {{"dim", std::int64_t{1}}}});
  cases.push_back({Op::pad,
                   {real({8, 16}), real({})},
                   {{"low", Dims{0, 3}}, {"high", Dims{0, 5}}, {"interior", Dims{0, 0}}}});
  cases.push_back({Op::pad,
                   {real({8, 16}), real({})},
                   {{"low", Dims{-1, 0}}, {"high", Dims{2, 0}}, {"interior", Dims{1, 0}}}});
  // As many elements as before, and yet each is moved.
  cases.push_back({Op::pad,
                   {real({8, 4}), real({})},
                   {{"low", Dims{0, 0}}, {"high", Dims{0, -3}}, {"interior", Dims{0, 1}}}});
  cases.push_back({Op::reverse, {real({8, 16})}, {{"dims", Dims{1}}}});
  cases.push_back({Op::ppermute,
                   {real({8, 16})},
                   {{"dim", std::int64_t{0}}, {"source", Dims{3, -1, 0, 1, 2, 7, -1, 4}}}});
  for (std::int64_t dim : {0, 1}) {
    cases.push_back(
        {Op::iota, {}, {{"shape", Shape{8, 16}}, {"dim", dim}, {"dtype", std::string("f32")}}});
  }
  cases.push_back(
      {Op::dynamic_slice, {real({8, 16}), whole({}), whole({})}, {{"sizes", Dims{8, 6}}}});
  cases.push_back(
      {Op::dynamic_update_slice, {real({8, 16}), real({8, 6}), whole({}), whole({})}, {}, 12});
  cases.push_back(
      {Op::dynamic_update_slice, {real({8, 16}), real({2, 8}), whole({}), whole({})}, {}, 12});
}

void add_lookups(std::vector<OpCase>& cases) {
  for (const char* mode : {"clip", "fill"}) {
    // Rows of a table, elements along a dim, windows of one and of several elements.
    const Attributes rows = indexed({2}, {0}, {}, {0}, 2, mode);
    const Attributes along = indexed({}, {1}, {0}, {1}, 2, mode);
    const Attributes single = indexed({1, 2}, {}, {}, {0}, 1, mode);
    const Attributes wide = indexed({1, 2}, {}, {}, {0, 1}, 1, mode);
    const auto gather = [&](TensorType x, TensorType at, Attributes attributes, Dims sizes) {
      attributes.set("slice_sizes", std::move(sizes));
      attributes.set("fill", 0.5);
      cases.push_back({Op::gather, {std::move(x), std::move(at)}, std::move(attributes), 18});
    };
    gather(real({16, 8}), whole({8, 4}), rows, {1, 8});
    gather(real({8, 16}), whole({8, 4}), along, {1, 1});
    gather(real({16, 8}), whole({8, 1}), single, {1, 8});
    gather(real({16, 8}), whole({8, 2}), wide, {3, 4});
    for (const Op op :
         {Op::scatter_add, Op::scatter_set, Op::scatter_max, Op::scatter_min, Op::scatter_mul}) {
      cases.push_back({op, {real({16, 8}), whole({8, 4}), real({8, 4, 8})}, rows, 18});
      cases.push_back({op, {real({8, 16}), whole({8, 4}), real({8, 4})}, along, 18});
      cases.push_back({op, {real({16, 8}), whole({8, 1}), real({8, 1, 8})}, single, 18});
    }
  }
}

/// Counts are drawn from -2 on: those below 1 are of groups without rows.
void add_grouped(std::vector<OpCase>& cases) {
  cases.push_back({Op::ragged_dot, {real({16, 8}), real({4, 8, 16}), whole({4})}, {}, 6});
  cases.push_back({Op::ragged_dot, {real({16, 8}), real({8, 8, 4}), whole({8})}, {}, 6});
  cases.push_back({Op::ragged_outer,
                   {real({16, 8}), real({16, 4}), whole({4})},
                   {{"groups", std::int64_t{4}}},
                   6});
}

void add_lines(std::vector<OpCase>& cases) {
  for (std::int64_t dim : {0, 1}) {
    const Attributes line = {{"dim", dim}, {"reverse", std::int64_t{dim}}};
    for (const Op op : {Op::cumsum, Op::cumprod, Op::cummax, Op::cummin, Op::cumlogsumexp}) {
      cases.push_back({op, {real({8, 16})}, line});
    }
    cases.push_back({Op::linear_recurrence, {real({8, 16}), real({8, 16})}, line});
    cases.push_back(
        {Op::sort, {real({8, 16}), whole({8, 16})}, {{"dim", dim}, {"keys", std::int64_t{1}}}});
    cases.push_back({Op::argmax, {real({8, 16})}, {{"dim", dim}}});
    cases.push_back({Op::argmin, {real({8, 16})}, {{"dim", dim}}});
    cases.push_back({Op::reduce_and, {truth({8, 16})}, {{"dims", Dims{dim}}}});
    cases.push_back({Op::reduce_or, {truth({8, 16})}, {{"dims", Dims{dim}}}});
  }
  cases.push_back({Op::top_k, {real({8, 16})}, {{"k", std::int64_t{4}}}});
  cases.push_back({Op::top_k, {real({8, 16})}, {{"k", std::int64_t{16}}}});
}

Attributes windows_of(Dims sizes, Dims strides, Dims low, Dims high) {
  const Dims ones(sizes.size(), 1);
  return {{"window", std::move(sizes)}, {"strides", std::move(strides)},
          {"low", std::move(low)},      {"high", std::move(high)},
          {"dilation", ones},           {"base_dilation", ones}};
}

void add_windows(std::vector<OpCase>& cases) {
  for (const Op op : {Op::reduce_window_sum, Op::reduce_window_max, Op::reduce_window_min}) {
    cases.push_back({op, {real({8, 16})}, windows_of({1, 2}, {1, 2}, {0, 0}, {0, 0})});
    cases.push_back({op, {real({8, 16})}, windows_of({1, 3}, {1, 1}, {0, 1}, {0, 1})});
    cases.push_back({op, {real({8, 16})}, windows_of({1, 1}, {1, 2}, {0, 0}, {0, 0})});
  }
  for (const std::int64_t largest : {0, 1}) {
    Attributes attributes = windows_of({1, 3}, {1, 2}, {0, 1}, {0, 0});
    attributes.set("largest", largest);
    cases.push_back({Op::select_and_scatter_add, {real({8, 16}), real({8, 8})}, attributes});
    attributes = windows_of({1, 2}, {1, 2}, {0, 0}, {0, 0});
    attributes.set("largest", largest);
    cases.push_back({Op::select_and_scatter_add, {real({8, 16}), real({8, 8})}, attributes});
  }
  const auto convolve = [&](Shape x, Shape kernel, std::int64_t groups, std::int64_t batches) {
    const ConvolutionDims dims{{0, 3, 1, 2}, {3, 2, 0, 1}, {0, 3, 1, 2}, groups, batches};
    cases.push_back({Op::convolution,
                     {real(std::move(x)), real(std::move(kernel))},
                     convolution_attributes(dims, {{}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}})});
  };
  convolve({8, 8, 8, 8}, {3, 3, 8, 16}, 1, 1);
  convolve({8, 8, 8, 8}, {3, 3, 2, 16}, 4, 1);
  convolve({8, 8, 8, 8}, {3, 3, 8, 16}, 1, 2);
  convolve({8, 4, 4, 8}, {4, 4, 8, 16}, 1,
           1);  // the windows leave no room for a factor of the kernel
  cases.push_back(
      {Op::random_bits,
       {whole({})},
       {{"shape", Shape{8, 16}}, {"counts", Shape{8, 16}}, {"stream", std::int64_t{3}}}});
  for (const Shape& counts : {Shape{8, 16}, Shape{1, 16}, Shape{8, 1}}) {
    cases.push_back({Op::dropout,
                     {real({8, 16}), whole({})},
                     {{"rate", 0.4}, {"stream", std::int64_t{7}}, {"counts", counts}}});
  }
  cases.push_back({Op::reduce_precision,
                   {real({8, 16})},
                   {{"exponent_bits", std::int64_t{8}}, {"mantissa_bits", std::int64_t{7}}}});
  cases.push_back({Op::bitcast, {whole({8, 16})}, {{"dtype", std::string("u32")}}});
  cases.push_back({Op::optimization_barrier, {real({8, 16})}, {}});
}

void add_complex(std::vector<OpCase>& cases) {
  const TensorType pair = complex({8, 16});
  for (const Op op :
       {Op::negate, Op::square, Op::exp, Op::abs, Op::real, Op::imag, Op::conjugate}) {
    cases.push_back({op, {pair}, {}});
  }
  for (const Op op : {Op::add, Op::subtract, Op::multiply, Op::divide, Op::eq}) {
    cases.push_back({op, {pair, pair}, {}});
  }
  cases.push_back({Op::multiply, {complex({}), pair}, {}});
  cases.push_back({Op::make_complex, {real({8, 16}), real({8, 16})}, {}});
  cases.push_back({Op::make_complex, {real({8, 16}), real({})}, {}});
  cases.push_back({Op::convert, {pair}, {{"dtype", std::string("f32")}}});
  cases.push_back({Op::convert, {real({8, 16})}, {{"dtype", std::string("c64")}}});
  cases.push_back({Op::select, {truth({8, 16}), pair, complex({})}, {}});
  cases.push_back(
      {Op::dot, {complex({8, 16}), complex({16, 4})}, dot_attributes({}, {}, {1}, {0})});
  cases.push_back(
      {Op::dot, {complex({4, 8, 16}), complex({4, 8, 2})}, dot_attributes({0}, {0}, {1}, {1})});
  for (std::int64_t dim : {0, 1}) {
    cases.push_back({Op::reduce_sum, {pair}, {{"dims", Dims{dim}}}});
    cases.push_back({Op::reduce_prod, {pair}, {{"dims", Dims{dim}}}});
    cases.push_back({Op::cumsum, {pair}, {{"dim", dim}, {"reverse", std::int64_t{0}}}});
  }
  cases.push_back({Op::transpose, {pair}, {{"order", Dims{1, 0}}}});
  cases.push_back({Op::reshape, {pair}, {{"shape", Shape{8, 2, 8}}}});
  cases.push_back({Op::broadcast, {complex({16})}, {{"shape", Shape{8, 16}}, {"dims", Dims{1}}}});
  cases.push_back({Op::concatenate, {pair, pair}, {{"dim", std::int64_t{1}}}});
  cases.push_back({Op::pad,
                   {pair, complex({})},
                   {{"low", Dims{0, 3}}, {"high", Dims{0, 5}}, {"interior", Dims{0, 0}}}});
  const Attributes rows = indexed({2}, {0}, {}, {0}, 2, "clip");
  Attributes looked_up = rows;
  looked_up.set("slice_sizes", Dims{1, 8});
  cases.push_back({Op::gather, {complex({16, 8}), whole({8, 4})}, looked_up, 18});
  for (const Op op : {Op::scatter_add, Op::scatter_set}) {
    cases.push_back({op, {complex({16, 8}), whole({8, 4}), complex({8, 4, 8})}, rows, 18});
  }
}

/// Calls that stand for an op of ours.
void add_calls(std::vector<OpCase>& cases) {
  const auto call = [&](const char* row, const char* as, const char* reduced, const char* by,
                        std::vector<TensorType> operands, const char* names = "", Dims sizes = {}) {
    cases.push_back({Op::custom_call,
                     std::move(operands),
                     {{"call", std::string("f")},
                      {"row", std::string(row)},
                      {"reduced", std::string(reduced)},
                      {"reduction", std::string(by)},
                      {"whole", std::string()},
                      {"neighbours", std::string()},
                      {"dtypes", std::string("f32")},
                      {"flops", 2.0},
                      {"as", std::string(as)},
                      {"new_names", std::string(names)},
                      {"new_sizes", std::move(sizes)}}});
  };
  call("m k, k n -> m n", "dot", "k", "sum", {real({8, 16}), real({16, 4})});
  call("b m k, b n k -> b m n", "dot", "k", "sum", {real({4, 8, 16}), real({4, 2, 16})});
  call("a b -> a", "reduce_max", "b", "max", {real({8, 16})});
  call("a b -> b a", "transpose", "", "sum", {real({8, 16})});
  call("a (b c) -> a b c", "reshape", "", "sum", {real({8, 16})}, "b", {4});
  call("(a b) c -> a (b c)", "reshape", "", "sum", {real({8, 16})}, "a", {2});
  call("a b c -> (a b c)", "reshape", "", "sum", {real({4, 2, 8})});
  call("a (b c), (b c) d -> a d", "dot", "b c", "sum", {real({8, 16}), real({16, 4})}, "c", {8});
  call("a b, -> a b", "multiply", "", "sum", {real({8, 16}), real({})});
}

void add_transforms(std::vector<OpCase>& cases) {
  const auto transform = [&](const char* kind, TensorType type, Dims lengths) {
    cases.push_back({Op::fft,
                     {std::move(type)},
                     {{"kind", std::string(kind)}, {"lengths", std::move(lengths)}}});
  };
  transform("fft", complex({8, 16}), {16});
  transform("ifft", complex({4, 8, 16}), {8, 16});
  transform("fft", complex({8, 7}), {7});
  transform("rfft", real({8, 16}), {16});
  transform("rfft", real({4, 8, 15}), {8, 15});
  transform("irfft", complex({8, 9}), {16});
  transform("irfft", complex({4, 8, 8}), {8, 15});
}

}  // namespace

std::vector<OpCase> op_cases() {
  std::vector<OpCase> cases;
  add_elementwise(cases);
  add_moves(cases);
  add_lookups(cases);
  add_grouped(cases);
  add_lines(cases);
  add_windows(cases);
  add_complex(cases);
  add_calls(cases);
  add_transforms(cases);
  return cases;
}

HostTensor drawn_values(const TensorType& type, std::int64_t limit, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<double> numbers(number_count(type));
  for (double& x : numbers) {
    const double unit = static_cast<double>(rng() >> 11) * 0x1p-53;
    if (is_inexact(type.dtype)) {
      x = 0.1 + 0.8 * unit;
    } else {
      x = type.dtype == DType::boolean ? static_cast<double>(unit < 0.6)
                                       : std::floor(unit * static_cast<double>(limit + 2)) - 2;
    }
  }
  HostTensor made = zeros(type);
  from_doubles(numbers.data(), type.dtype, made.bytes.data(), numbers.size());
  return made;
}

}  // namespace shard::test
