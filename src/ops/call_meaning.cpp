// What a call stands for: an op of ours, where the call's row of factors is one of that op's.

#include <algorithm>
#include <array>

#include "ops/builder.h"
#include "ops/custom_call.h"

namespace shard {
namespace {

using Types = std::span<const TensorType>;
using Dims = std::vector<std::int64_t>;

using MeaningReader = std::optional<Attributes> (*)(const CallRow& row, Types results);

std::optional<Attributes> pointwise_meaning(const CallRow& row, Types) {
  for (const CallArray& operand : row.operands) {
    if (!operand.empty() && operand != row.results.front()) return std::nullopt;
  }
  return Attributes{};
}

std::int64_t dim_of(const CallArray& array, const CallDim& dim) {
  const auto found = std::find(array.begin(), array.end(), dim);
  return found == array.end() ? -1 : found - array.begin();
}

std::optional<Attributes> transpose_meaning(const CallRow& row, Types) {
  Dims order;
  for (const CallDim& dim : row.results.front()) {
    order.push_back(dim_of(row.operands.front(), dim));
    if (order.back() < 0) return std::nullopt;
  }
  if (order.size() != row.operands.front().size()) return std::nullopt;
  return Attributes{{"order", std::move(order)}};
}

CallDim all_factors(const CallArray& array) {
  CallDim all;
  for (const CallDim& dim : array) all.insert(all.end(), dim.begin(), dim.end());
  return all;
}

/// The same factors in the same order.
std::optional<Attributes> reshape_meaning(const CallRow& row, Types results) {
  if (all_factors(row.operands.front()) != all_factors(row.results.front())) return std::nullopt;
  return Attributes{{"shape", results.front().shape}};
}

std::optional<Attributes> reduction_meaning(const CallRow& row, Types) {
  Dims dims;
  CallArray kept;
  for (std::size_t dim = 0; dim < row.operands.front().size(); ++dim) {
    const CallDim& factors = row.operands.front()[dim];
    if (dim_of(row.results.front(), factors) < 0) {
      dims.push_back(static_cast<std::int64_t>(dim));
    } else {
      kept.push_back(factors);
    }
  }
  if (kept != row.results.front()) return std::nullopt;
  return Attributes{{"dims", std::move(dims)}};
}

std::optional<Attributes> dot_meaning(const CallRow& row, Types) {
  const CallArray &lhs = row.operands[0], &rhs = row.operands[1], &out = row.results.front();
  Dims lhs_batch, rhs_batch, lhs_contract, rhs_contract;
  CallArray batch, free;
  for (std::size_t dim = 0; dim < lhs.size(); ++dim) {
    const std::int64_t other = dim_of(rhs, lhs[dim]);
    const bool is_kept = dim_of(out, lhs[dim]) >= 0;
    if (other < 0) {
      free.push_back(lhs[dim]);
      continue;
    }
    (is_kept ? lhs_batch : lhs_contract).push_back(static_cast<std::int64_t>(dim));
    (is_kept ? rhs_batch : rhs_contract).push_back(other);
    if (is_kept) batch.push_back(lhs[dim]);
  }
  for (const CallDim& factors : rhs) {
    if (dim_of(lhs, factors) < 0) free.push_back(factors);
  }
  batch.insert(batch.end(), free.begin(), free.end());
  if (batch != out) return std::nullopt;
  return dot_attributes(std::move(lhs_batch), std::move(rhs_batch), std::move(lhs_contract),
                        std::move(rhs_contract));
}

struct MeaningRow {
  Op op;
  MeaningReader read;
};
constexpr std::array<MeaningRow, 7> meaning_rows = {{
    {Op::dot, dot_meaning},
    {Op::transpose, transpose_meaning},
    {Op::reshape, reshape_meaning},
    {Op::reduce_sum, reduction_meaning},
    {Op::reduce_max, reduction_meaning},
    {Op::reduce_min, reduction_meaning},
    {Op::reduce_prod, reduction_meaning},
}};

/// Elementwise ops that need no attributes.
bool is_plain_elementwise(const OpDef& row) {
  constexpr std::array<Op, 8> with_more = {Op::scale,     Op::shift,           Op::convert,
                                           Op::dropout,   Op::bitcast,         Op::polygamma,
                                           Op::constrain, Op::reduce_precision};
  return row.is_elementwise && row.operand_count > 0 &&
         std::find(with_more.begin(), with_more.end(), row.op) == with_more.end();
}

MeaningReader meaning_reader(const OpDef& row) {
  for (const MeaningRow& one : meaning_rows) {
    if (one.op == row.op) return one.read;
  }
  return is_plain_elementwise(row) ? pointwise_meaning : nullptr;
}

}  // namespace

std::vector<ValueId> custom_call_derivative(const DerivativeInput& input) {
  const std::vector<TensorType> results = {input.builder.type(input.results.front())};
  const std::optional<CallMeaning> meaning = meaning_of_call(input.attributes, results);
  if (!meaning || def(meaning->op).derivative == nullptr) return {};
  return def(meaning->op)
      .derivative({input.builder, meaning->attributes, input.operands, input.results,
                   input.cotangents, input.wanted});
}

std::optional<CallMeaning> meaning_of_call(const Attributes& attributes, Types results) {
  const std::optional<Op> op = op_named(attributes.text("as"));
  if (!op) return std::nullopt;
  const auto read = read_call_row(attributes.text("row"));
  const CallRow& row = std::get<CallRow>(read);
  const MeaningReader reader = meaning_reader(def(*op));
  const bool fits = reader != nullptr && row.results.size() == 1 &&
                    row.operands.size() == static_cast<std::size_t>(def(*op).operand_count);
  if (!fits) return std::nullopt;
  std::optional<Attributes> read_attributes = reader(row, results);
  if (!read_attributes) return std::nullopt;
  return CallMeaning{*op, std::move(*read_attributes)};
}

std::vector<std::string> call_meanings() {
  std::vector<std::string> words;
  for (const OpDef& row : op_table()) {
    if (meaning_reader(row) != nullptr) words.emplace_back(row.name);
  }
  return words;
}

}  // namespace shard
