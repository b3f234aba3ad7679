#pragma once
// Calls of code that is not ours, known by a row of factors that the model's file declares:
//   custom_call: {call: flash, factors: "b q d, b k d, b k d -> b q d", whole: k}
//   custom_call: {call: split, factors: "b (h d) -> b h d", sizes: [h=8]}
// They are propagated, partitioned and counted by that row alone. With attribute `as`, the name of
// an op whose attributes follow from the row, what they compute is known too.

#include <optional>
#include <string>
#include <variant>

#include "ops/op.h"

namespace shard {

/// The factors of a dim, major first; of an array's dims.
using CallDim = std::vector<std::size_t>;
using CallArray = std::vector<CallDim>;

struct CallRow {
  std::vector<std::string> names;  ///< of the factors, in the order in which they are written
  std::vector<CallArray> operands, results;
};

/// The row, or what is wrong with it ("factor 'd' is written twice in one array").
std::variant<CallRow, std::string> read_call_row(const std::string& text);

/// Attributes `call`, `row`; `reduced`, `whole`, `neighbours` (names, separated by spaces) and
/// `reduction` ("sum", "max", "min", "prod"); `new_names` and `new_sizes`, of factors that only
/// results have or that share their dims; `dtypes` of the results; `flops` per point; `as`, empty
/// for what is not known.
ShapeResult custom_call_shape(std::span<const TensorType> operands, const Attributes& attributes);
FactorRule custom_call_rule(std::span<const TensorType> operands,
                            std::span<const TensorType> results, const Attributes& attributes);
double custom_call_flops(std::span<const TensorType> operands, std::span<const TensorType> results,
                         const Attributes& attributes);
/// Declared sizes of factors that share their dims are those of the device's part.
Attributes custom_call_form(const LocalSite& site);
/// That of its meaning; empty without one.
std::vector<ValueId> custom_call_derivative(const DerivativeInput& input);

/// What a call stands for: an op of ours with the attributes that the row gives it.
struct CallMeaning {
  Op op = Op::add;
  Attributes attributes;
};
/// On arrays of which these are the results. Nothing without `as`, or where the row is none of that
/// op's.
std::optional<CallMeaning> meaning_of_call(const Attributes& attributes,
                                           std::span<const TensorType> results);

/// Words for `as`: elementwise ops without attributes, dot, transpose, reshape and reductions.
std::vector<std::string> call_meanings();

}  // namespace shard
