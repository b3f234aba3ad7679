#include "ops/custom_call.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "ops/rule_builder.h"
#include "ops/shape_mistakes.h"

namespace shard {
namespace {

using Types = std::span<const TensorType>;
using Dims = std::vector<std::int64_t>;
using CallSide = std::vector<std::vector<std::size_t>>;

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> pieces_between(const std::string& text, char separator) {
  std::vector<std::string> pieces(1);
  for (const char c : text) {
    if (c == separator) {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

std::size_t place_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

bool is_among(const std::string& names, const std::string& name) {
  const std::vector<std::string> words = words_in(names);
  return std::find(words.begin(), words.end(), name) != words.end();
}

bool has_factor(const CallSide& side, std::size_t factor) {
  return std::any_of(side.begin(), side.end(), [&](const std::vector<std::size_t>& dims) {
    return std::find(dims.begin(), dims.end(), factor) != dims.end();
  });
}

/// Reads one side of the row; a sentence when something is wrong.
std::string read_side(const std::string& text, CallRow& row, CallSide& side) {
  for (const std::string& array : pieces_between(text, ',')) {
    std::vector<std::size_t>& dims = side.emplace_back();
    for (const std::string& name : words_in(array)) {
      const bool is_word = std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_';
      });
      if (!is_word) return "'" + name + "' is no name of a factor";
      const std::size_t factor = place_of(row.names, name);
      if (factor == row.names.size()) row.names.push_back(name);
      if (std::find(dims.begin(), dims.end(), factor) != dims.end()) {
        return "factor '" + name + "' is written twice in one array";
      }
      dims.push_back(factor);
    }
  }
  return "";
}

const CallRow& row_in(const std::variant<CallRow, std::string>& read) {
  return std::get<CallRow>(read);
}

std::string count_text(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// Sizes of the factors; -1 where only a result has one that is not declared.
struct FactorSizes {
  std::vector<std::int64_t> sizes;
  std::string mistake;

  FactorSizes(const CallRow& row, Types operands, const Attributes& attributes)
      : sizes(row.names.size(), -1) {
    const std::vector<std::string> names = words_in(attributes.text("new_names"));
    const Dims& declared = attributes.integers("new_sizes");
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::size_t factor = place_of(row.names, names[i]);
      if (factor == row.names.size() || has_factor(row.operands, factor)) {
        mistake = "factor '" + names[i] + "' gets its size from an operand or is nowhere";
        return;
      }
      sizes[factor] = declared[i];
    }
    for (std::size_t k = 0; k < operands.size() && mistake.empty(); ++k) see(row, operands, k);
  }

 private:
  void see(const CallRow& row, Types operands, std::size_t k) {
    if (row.operands[k].size() != operands[k].shape.size()) {
      mistake = "operand " + std::to_string(k) + " is " + to_string(operands[k]) +
                ", its row has " + count_text(row.operands[k].size(), "factor");
      return;
    }
    for (std::size_t dim = 0; dim < row.operands[k].size(); ++dim) {
      std::int64_t& size = sizes[row.operands[k][dim]];
      const std::int64_t found = operands[k].shape[dim];
      if (size >= 0 && size != found) {
        mistake = "factor '" + row.names[row.operands[k][dim]] + "' has sizes " +
                  std::to_string(size) + " and " + std::to_string(found);
        return;
      }
      size = found;
    }
  }
};

std::string kinds_mistake(const CallRow& row, const Attributes& attributes) {
  for (const char* key : {"reduced", "whole", "neighbours"}) {
    for (const std::string& name : words_in(attributes.text(key))) {
      const std::size_t factor = place_of(row.names, name);
      if (factor == row.names.size()) return "there is no factor '" + name + "'";
      const bool is_reduced = std::string_view(key) == "reduced";
      if (is_reduced && has_factor(row.results, factor)) {
        return "factor '" + name + "' is reduced, and yet in a result";
      }
    }
  }
  for (std::size_t factor = 0; factor < row.names.size(); ++factor) {
    const std::string& name = row.names[factor];
    const bool is_gone =
        std::any_of(row.results.begin(), row.results.end(), [&](const auto& result) {
          return std::find(result.begin(), result.end(), factor) == result.end();
        });
    const bool is_told =
        is_among(attributes.text("reduced"), name) || is_among(attributes.text("whole"), name);
    if (is_gone && !is_told && has_factor(row.operands, factor)) {
      return "factor '" + name +
             "' is not in every result: say how it is reduced, or that it is whole";
    }
  }
  return "";
}

constexpr std::array<std::pair<std::string_view, Reduction>, 4> reductions = {{
    {"sum", Reduction::sum},
    {"max", Reduction::max},
    {"min", Reduction::min},
    {"prod", Reduction::prod},
}};

FactorKind kind_of_factor(const CallRow& row, const Attributes& attributes, std::size_t factor) {
  const std::string& name = row.names[factor];
  if (is_among(attributes.text("reduced"), name)) return FactorKind::reduction;
  const bool is_new = !has_factor(row.operands, factor);
  if (is_new || is_among(attributes.text("whole"), name)) return FactorKind::need_replication;
  if (is_among(attributes.text("neighbours"), name)) return FactorKind::permutation;
  return FactorKind::pass_through;
}

// What the row says of the op that a call stands for.

using MeaningReader = std::optional<Attributes> (*)(const CallRow& row);

std::optional<Attributes> pointwise_meaning(const CallRow& row) {
  for (const std::vector<std::size_t>& operand : row.operands) {
    if (!operand.empty() && operand != row.results.front()) return std::nullopt;
  }
  return Attributes{};
}

std::int64_t dim_of(const std::vector<std::size_t>& dims, std::size_t factor) {
  const auto found = std::find(dims.begin(), dims.end(), factor);
  return found == dims.end() ? -1 : found - dims.begin();
}

std::optional<Attributes> transpose_meaning(const CallRow& row) {
  Dims order;
  for (const std::size_t factor : row.results.front()) {
    order.push_back(dim_of(row.operands.front(), factor));
    if (order.back() < 0) return std::nullopt;
  }
  if (order.size() != row.operands.front().size()) return std::nullopt;
  return Attributes{{"order", std::move(order)}};
}

std::optional<Attributes> reduction_meaning(const CallRow& row) {
  Dims dims;
  std::vector<std::size_t> kept;
  for (std::size_t dim = 0; dim < row.operands.front().size(); ++dim) {
    const std::size_t factor = row.operands.front()[dim];
    if (dim_of(row.results.front(), factor) < 0) {
      dims.push_back(static_cast<std::int64_t>(dim));
    } else {
      kept.push_back(factor);
    }
  }
  if (kept != row.results.front()) return std::nullopt;
  return Attributes{{"dims", std::move(dims)}};
}

std::optional<Attributes> dot_meaning(const CallRow& row) {
  const std::vector<std::size_t>&lhs = row.operands[0], &rhs = row.operands[1];
  const std::vector<std::size_t>& out = row.results.front();
  Dims lhs_batch, rhs_batch, lhs_contract, rhs_contract;
  std::vector<std::size_t> batch, free;
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
  for (const std::size_t factor : rhs) {
    if (dim_of(lhs, factor) < 0) free.push_back(factor);
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
constexpr std::array<MeaningRow, 6> meaning_rows = {{
    {Op::dot, dot_meaning},
    {Op::transpose, transpose_meaning},
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

std::string meaning_mistake(Types operands, Types results, const Attributes& attributes) {
  const std::string& as = attributes.text("as");
  if (as.empty()) return "";
  const std::optional<CallMeaning> meaning = meaning_of_call(attributes);
  if (!meaning) return "its row is none of " + as;
  const ShapeResult made = def(meaning->op).shape_rule(operands, meaning->attributes);
  if (const auto* mistake = std::get_if<std::string>(&made)) return as + ": " + *mistake;
  const auto& types = std::get<std::vector<TensorType>>(made);
  const bool is_same = std::equal(types.begin(), types.end(), results.begin(), results.end());
  return is_same ? "" : as + " gives " + to_string(types.front());
}

}  // namespace

std::variant<CallRow, std::string> read_call_row(const std::string& text) {
  const std::size_t arrow = text.find("->");
  if (arrow == text.npos) return "there is no '->' between operands and results";
  CallRow row;
  std::string mistake = read_side(text.substr(0, arrow), row, row.operands);
  if (mistake.empty()) mistake = read_side(text.substr(arrow + 2), row, row.results);
  if (!mistake.empty()) return mistake;
  return row;
}

ShapeResult custom_call_shape(Types operands, const Attributes& attributes) {
  const auto read = read_call_row(attributes.text("row"));
  if (const auto* mistake = std::get_if<std::string>(&read)) return *mistake;
  const CallRow& row = row_in(read);
  if (row.operands.size() != operands.size()) {
    return "its row has " + count_text(row.operands.size(), "operand") + ", found " +
           std::to_string(operands.size());
  }
  if (std::string mistake = kinds_mistake(row, attributes); !mistake.empty()) return mistake;
  const FactorSizes factors(row, operands, attributes);
  if (!factors.mistake.empty()) return factors.mistake;
  const std::vector<std::string> dtypes = words_in(attributes.text("dtypes"));
  if (dtypes.size() != row.results.size()) {
    return count_text(dtypes.size(), "dtype") + " for " + count_text(row.results.size(), "result");
  }
  std::vector<TensorType> results;
  for (std::size_t k = 0; k < row.results.size(); ++k) {
    const std::optional<DType> dtype = dtype_named(dtypes[k]);
    if (!dtype) return "there is no dtype '" + dtypes[k] + "'";
    TensorType& result = results.emplace_back(TensorType{*dtype, {}});
    for (const std::size_t factor : row.results[k]) {
      result.shape.push_back(factors.sizes[factor]);
      if (factors.sizes[factor] < 0) {
        return "factor '" + row.names[factor] + "' is in no operand: say its size";
      }
    }
  }
  if (std::string mistake = meaning_mistake(operands, results, attributes); !mistake.empty()) {
    return mistake;
  }
  return results;
}

FactorRule custom_call_rule(Types operands, Types results, const Attributes& attributes) {
  const auto read = read_call_row(attributes.text("row"));
  const CallRow& row = row_in(read);
  RuleBuilder rule(operands, results);
  const FactorSizes factors(row, operands, attributes);
  for (std::size_t factor = 0; factor < row.names.size(); ++factor) {
    rule.add(factors.sizes[factor], kind_of_factor(row, attributes, factor));
    for (std::size_t k = 0; k < row.operands.size(); ++k) {
      const std::int64_t dim = dim_of(row.operands[k], factor);
      if (dim >= 0) rule.on_operand(k, dim);
    }
    for (std::size_t k = 0; k < row.results.size(); ++k) {
      const std::int64_t dim = dim_of(row.results[k], factor);
      if (dim >= 0) rule.on_result(k, dim);
    }
  }
  for (const auto& [word, reduction] : reductions) {
    if (attributes.text("reduction") == word) rule.combine(reduction);
  }
  return rule.take();
}

double custom_call_flops(Types operands, Types results, const Attributes& attributes) {
  return attributes.number("flops") *
         static_cast<double>(factor_points(custom_call_rule(operands, results, attributes)));
}

std::vector<ValueId> custom_call_derivative(const DerivativeInput& input) {
  const std::optional<CallMeaning> meaning = meaning_of_call(input.attributes);
  if (!meaning || def(meaning->op).derivative == nullptr) return {};
  return def(meaning->op)
      .derivative({input.builder, meaning->attributes, input.operands, input.results,
                   input.cotangents, input.wanted});
}

std::optional<CallMeaning> meaning_of_call(const Attributes& attributes) {
  const std::optional<Op> op = op_named(attributes.text("as"));
  if (!op) return std::nullopt;
  const auto read = read_call_row(attributes.text("row"));
  const CallRow& row = row_in(read);
  const MeaningReader reader = meaning_reader(def(*op));
  const bool fits = reader != nullptr && row.results.size() == 1 &&
                    row.operands.size() == static_cast<std::size_t>(def(*op).operand_count);
  if (!fits) return std::nullopt;
  std::optional<Attributes> read_attributes = reader(row);
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
