#include "exec/numbers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "exec/element.h"
#include "exec/reference_ops.h"

namespace shard::test {
namespace {

std::vector<TensorType> types_of(const std::vector<HostTensor>& tensors) {
  std::vector<TensorType> types;
  for (const HostTensor& tensor : tensors) types.push_back(tensor.type);
  return types;
}

std::vector<TensorType> result_types(Op op, const std::vector<TensorType>& operands,
                                     const Attributes& attributes) {
  const ShapeResult shapes = def(op).shape_rule(operands, attributes);
  if (const std::string* mistake = std::get_if<std::string>(&shapes)) FAIL(*mistake);
  return std::get<std::vector<TensorType>>(shapes);
}

}  // namespace

std::vector<float> random_floats(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<float> numbers(count);
  for (float& x : numbers) x = static_cast<float>(static_cast<double>(rng() >> 11) * 0x1p-52 - 1);
  return numbers;
}

std::vector<float> plain_product(const GemmSizes& sizes, MatrixView a, MatrixView b) {
  std::vector<float> c;
  for (std::int64_t i = 0; i < sizes.m; ++i) {
    for (std::int64_t j = 0; j < sizes.n; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < sizes.k; ++k) {
        sum += double{a.data[i * a.row_stride + k * a.column_stride]} *
               double{b.data[k * b.row_stride + j * b.column_stride]};
      }
      c.push_back(static_cast<float>(sum));
    }
  }
  return c;
}

double largest_difference(const std::vector<float>& actual, const std::vector<float>& expected) {
  double largest = 0, scale = 1e-30;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::fabs(double{actual[i]} - double{expected[i]}));
    scale = std::max(scale, std::fabs(double{expected[i]}));
    if (!std::isfinite(actual[i])) return 1;
  }
  return largest / scale;
}

HostTensor tensor(const TensorType& type, const std::vector<double>& numbers) {
  HostTensor made = zeros(type);
  REQUIRE(numbers.size() == number_count(type));
  from_doubles(numbers.data(), type.dtype, made.bytes.data(), numbers.size());
  return made;
}

HostTensor random_tensor(const TensorType& type, std::uint64_t seed) {
  std::vector<double> numbers;
  for (const float x : random_floats(number_count(type), seed)) {
    const double integer = std::round(5.0 * double{x}) + (type.dtype == DType::u32 ? 5 : 0);
    numbers.push_back(is_inexact(type.dtype) ? double{x} : integer);
  }
  return tensor(type, numbers);
}

std::vector<HostTensor> random_operands(const TensorType& type, int members) {
  std::vector<HostTensor> operands;
  for (int m = 0; m < members; ++m) {
    operands.push_back(random_tensor(type, static_cast<std::uint64_t>(m)));
  }
  return operands;
}

std::vector<double> numbers_of(const HostTensor& tensor) {
  std::vector<double> numbers(number_count(tensor.type));
  to_doubles(tensor.type.dtype, tensor.bytes.data(), numbers.data(), numbers.size());
  return numbers;
}

std::vector<HostTensor> run_kernel(Op op, const std::vector<HostTensor>& operands,
                                   const Attributes& attributes) {
  const std::vector<TensorType> types = types_of(operands);
  const KernelSite site{op, attributes, types, result_types(op, types, attributes)};
  const KernelResult made = kernel_table()[static_cast<std::size_t>(op)].make(site);
  if (const std::string* refused = std::get_if<std::string>(&made)) FAIL(*refused);
  std::vector<HostTensor> results;
  for (const TensorType& type : site.results) results.push_back(zeros(type));
  std::vector<const std::byte*> from;
  std::vector<std::byte*> to;
  for (const HostTensor& operand : operands) from.push_back(operand.bytes.data());
  for (HostTensor& result : results) to.push_back(result.bytes.data());
  Scratch scratch;
  std::get<Kernel>(made)({from, to, scratch, 0});
  return results;
}

std::vector<HostTensor> run_reference_op(Op op, const std::vector<HostTensor>& operands,
                                         const Attributes& attributes) {
  std::vector<std::shared_ptr<const DoubleArray>> arrays;
  for (const HostTensor& operand : operands) {
    arrays.push_back(
        std::make_shared<const DoubleArray>(DoubleArray{operand.type, numbers_of(operand)}));
  }
  std::vector<DoubleArray> results;
  for (const TensorType& type : result_types(op, types_of(operands), attributes)) {
    results.push_back({type, std::vector<double>(number_count(type), 0.0)});
  }
  evaluate(op, {attributes, arrays, results});
  std::vector<HostTensor> tensors;
  for (const DoubleArray& result : results) tensors.push_back(tensor(result.type, result.values));
  return tensors;
}

std::string refusal(Op op, const std::vector<TensorType>& operands, const Attributes& attributes) {
  const KernelSite site{op, attributes, operands, {operands.front()}};
  const KernelResult made = kernel_table()[static_cast<std::size_t>(op)].make(site);
  REQUIRE(std::holds_alternative<std::string>(made));
  return std::get<std::string>(made);
}

double distance(const HostTensor& actual, const HostTensor& expected) {
  REQUIRE(actual.type == expected.type);
  const std::vector<double> a = numbers_of(actual), e = numbers_of(expected);
  double largest = 0, scale = 1e-30;
  for (std::size_t i = 0; i < e.size(); ++i) {
    const bool is_same = a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i]));
    if (is_same && !std::isfinite(e[i])) continue;
    if (!std::isfinite(a[i]) || !std::isfinite(e[i])) return 1;
    largest = std::max(largest, std::fabs(a[i] - e[i]));
    scale = std::max(scale, std::fabs(e[i]));
  }
  return largest / scale;
}

double epsilon(DType dtype) {
  if (dtype == DType::f32 || dtype == DType::c64) return 0x1p-23;
  if (dtype == DType::bf16) return 0x1p-8;
  if (dtype == DType::f16) return 0x1p-11;
  return dtype == DType::f64 ? 0x1p-52 : 0;
}

}  // namespace shard::test
