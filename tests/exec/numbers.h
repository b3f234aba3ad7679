#pragma once
// Arrays of numbers for kernel tests: made, computed in plain loops, compared.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/host_tensor.h"
#include "exec/kernel.h"
#include "exec/simd.h"

namespace shard::test {

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

/// Numbers in [-1, 1), the same for the same seed.
std::vector<float> random_floats(std::size_t count, std::uint64_t seed);

/// The product in double, rounded once.
std::vector<float> plain_product(const GemmSizes& sizes, MatrixView a, MatrixView b);

/// Largest distance relative to the largest magnitude of `expected`.
double largest_difference(const std::vector<float>& actual, const std::vector<float>& expected);

/// An array of `type` with these numbers.
HostTensor tensor(const TensorType& type, const std::vector<double>& numbers);
/// Random numbers: floats in [-1, 1), integers from -5 to 5 (0 to 10 for unsigned).
HostTensor random_tensor(const TensorType& type, std::uint64_t seed);
/// One random array of the type for each member of a group.
std::vector<HostTensor> random_operands(const TensorType& type, int members);
std::vector<double> numbers_of(const HostTensor& tensor);

/// Runs the table's kernel on whole arrays. Results get the types of the op's shape rule.
std::vector<HostTensor> run_kernel(Op op, const std::vector<HostTensor>& operands,
                                   const Attributes& attributes = {});
/// Runs the reference's row on the same.
std::vector<HostTensor> run_reference_op(Op op, const std::vector<HostTensor>& operands,
                                         const Attributes& attributes = {});
/// Why the table has no kernel for this; fails the test when it has one.
std::string refusal(Op op, const std::vector<TensorType>& operands,
                    const Attributes& attributes = {});

/// Largest distance of two arrays relative to the largest magnitude of the second; 1 where one has
/// a NaN or an infinity that the other has not.
double distance(const HostTensor& actual, const HostTensor& expected);

/// Rounding of one operation in this dtype, relative to the largest magnitude.
double epsilon(DType dtype);

}  // namespace shard::test
