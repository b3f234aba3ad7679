#pragma once
// Kernels of the table compared with the reference's rows.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "exec/numbers.h"

namespace shard::test {

/// The kernel's results are within `roundings` of the dtype of the reference's; 0: exactly equal.
inline void check_row(Op op, const std::vector<HostTensor>& operands,
                      const Attributes& attributes = {}, double roundings = 0) {
  CAPTURE(def(op).name);
  CAPTURE(to_string(attributes));
  const auto actual = run_kernel(op, operands, attributes);
  const auto expected = run_reference_op(op, operands, attributes);
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    CAPTURE(to_string(actual[i].type));
    if (roundings == 0) {
      CHECK(actual[i] == expected[i]);
    } else {
      CHECK(distance(actual[i], expected[i]) <= roundings * epsilon(actual[i].type.dtype));
    }
  }
}

/// i32 numbers of this shape.
inline HostTensor indices(const Shape& shape, const std::vector<double>& numbers) {
  return tensor({DType::i32, shape}, numbers);
}

}  // namespace shard::test
