#pragma once
// Rows that members send each other, as many as the data say (JAX's ragged_all_to_all): experts
// over devices, each token's row to the device of its expert.
//
//   operand[lead.., n, rest..], output[lead.., m, rest..] and four lists [lead.., k] of integers:
//   input_offsets, send_sizes, output_offsets, recv_sizes  to [lead.., m, rest..]
//
// The leading dims `dims`, major first, count the members; k is a multiple of their number, and the
// i-th k/members entries of a member are about what it exchanges with member i. Of its entries for
// member i it sends send_sizes rows of its operand from input_offsets on to the rows of i's result
// from output_offsets on; i's recv_sizes say how many come. Rows to which nothing is sent are those
// of `output`. What the data must keep to: every slice lies in its array, send_sizes and recv_sizes
// agree, and no row is sent twice or written twice. So a member sends at most its whole operand.
//
// Two members with n = 3, m = 4, k = 2 (an example of JAX's documentation):
//   operand [1,2,2] [3,4,0], output zeros, input_offsets [0,1] [0,1], send_sizes [1,2] [1,1],
//   output_offsets [0,0] [1,2], recv_sizes [1,1] [2,1]  to  [1,3,0,0] [2,2,4,0]

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace shard {

/// The operands in their order.
enum class RaggedOperand : std::uint8_t {
  operand,
  output,
  input_offsets,
  send_sizes,
  output_offsets,
  recv_sizes,
  count_
};
constexpr std::size_t ragged_operands = static_cast<std::size_t>(RaggedOperand::count_);
/// The first that is a list.
constexpr std::size_t ragged_lists_begin = static_cast<std::size_t>(RaggedOperand::input_offsets);
std::string_view ragged_operand_name(std::size_t operand);

/// Empty where the six types, behind `leads` leading dims that all of them have, fit each other and
/// an exchange of this many members; else a sentence that says what does not fit.
std::string ragged_exchange_mistake(std::span<const TensorType> operands, int leads,
                                    std::int64_t members);

ShapeResult ragged_all_to_all_shape(std::span<const TensorType> operands,
                                    const Attributes& attributes);
/// The members' dims are permutation factors; rows and entries must be whole, what is behind the
/// rows passes through.
FactorRule ragged_all_to_all_rule(std::span<const TensorType> operands,
                                  std::span<const TensorType> results,
                                  const Attributes& attributes);
/// Rows go back to where they came from; those of `output` that were written have no slope.
std::vector<ValueId> ragged_all_to_all_derivative(const DerivativeInput& input);

}  // namespace shard
