#include "ops/custom_call.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <sstream>

#include "ops/rule_builder.h"
#include "ops/shape_mistakes.h"

namespace shard {
namespace {

using Types = std::span<const TensorType>;
using Dims = std::vector<std::int64_t>;
using CallSide = std::vector<CallArray>;

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

bool has_factor(const CallArray& array, std::size_t factor) {
  return std::any_of(array.begin(), array.end(), [&](const CallDim& dim) {
    return std::find(dim.begin(), dim.end(), factor) != dim.end();
  });
}

bool has_factor(const CallSide& side, std::size_t factor) {
  return std::any_of(side.begin(), side.end(),
                     [&](const CallArray& array) { return has_factor(array, factor); });
}

/// Some dim of the side is this factor and no other.
bool has_alone(const CallSide& side, std::size_t factor) {
  return std::any_of(side.begin(), side.end(), [&](const CallArray& array) {
    return std::find(array.begin(), array.end(), CallDim{factor}) != array.end();
  });
}

bool has_shared_dims(const CallRow& row) {
  const auto is_shared = [](const CallArray& array) {
    return std::any_of(array.begin(), array.end(),
                       [](const CallDim& dim) { return dim.size() > 1; });
  };
  return std::any_of(row.operands.begin(), row.operands.end(), is_shared) ||
         std::any_of(row.results.begin(), row.results.end(), is_shared);
}

/// Names and brackets.
std::vector<std::string> tokens_in(const std::string& text) {
  std::string apart;
  for (const char c : text) {
    if (c == '(' || c == ')') {
      apart += std::string(" ") + c + ' ';
    } else {
      apart += c;
    }
  }
  return words_in(apart);
}

/// Reads one array of the row; a sentence when something is wrong.
std::string read_array(const std::string& text, CallRow& row, CallArray& dims) {
  bool is_open = false;
  for (const std::string& name : tokens_in(text)) {
    if (name == "(") {
      if (is_open) return "a '(' stands inside another";
      is_open = true;
      dims.emplace_back();
      continue;
    }
    if (name == ")") {
      if (!is_open) return "a ')' has no '('";
      if (dims.back().empty()) return "there is no factor between '(' and ')'";
      is_open = false;
      continue;
    }
    const bool is_word = std::all_of(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    if (!is_word) return "'" + name + "' is no name of a factor";
    const std::size_t factor = place_of(row.names, name);
    if (factor == row.names.size()) row.names.push_back(name);
    if (has_factor(dims, factor)) return "factor '" + name + "' is written twice in one array";
    if (!is_open) dims.emplace_back();
    dims.back().push_back(factor);
  }
  return is_open ? "a '(' is not closed" : "";
}

/// Reads one side of the row; a sentence when something is wrong.
std::string read_side(const std::string& text, CallRow& row, CallSide& side) {
  for (const std::string& array : pieces_between(text, ',')) {
    std::string mistake = read_array(array, row, side.emplace_back());
    if (!mistake.empty()) return mistake;
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
      : sizes(row.names.size(), -1), row_(row) {
    const std::vector<std::string> names = words_in(attributes.text("new_names"));
    const Dims& declared = attributes.integers("new_sizes");
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::size_t factor = place_of(row.names, names[i]);
      if (factor == row.names.size() || has_alone(row.operands, factor)) {
        mistake = "factor '" + names[i] + "' gets its size from an operand or is nowhere";
        return;
      }
      sizes[factor] = declared[i];
    }
    for (std::size_t k = 0; k < operands.size() && mistake.empty(); ++k) see(operands, k);
    if (has_shared_dims(row) && mistake.empty()) see_shared(operands);
  }

 private:
  void see(Types operands, std::size_t k) {
    const CallArray& array = row_.operands[k];
    if (array.size() != operands[k].shape.size()) {
      mistake = "operand " + std::to_string(k) + " is " + to_string(operands[k]) +
                ", its row has " +
                count_text(array.size(), has_shared_dims(row_) ? "dim" : "factor");
      return;
    }
    for (std::size_t dim = 0; dim < array.size(); ++dim) {
      if (array[dim].size() > 1) continue;
      std::int64_t& size = sizes[array[dim].front()];
      const std::int64_t found = operands[k].shape[dim];
      if (size >= 0 && size != found) {
        mistake = "factor '" + row_.names[array[dim].front()] + "' has sizes " +
                  std::to_string(size) + " and " + std::to_string(found);
        return;
      }
      size = found;
    }
  }

  std::string dim_text(const CallDim& dim) const {
    std::string text;
    for (const std::size_t factor : dim) text += (text.empty() ? "" : " ") + row_.names[factor];
    return "(" + text + ")";
  }

  /// The one factor of the dim that has no size yet; nothing where there are several.
  std::optional<std::size_t> only_unknown(const CallDim& dim) const {
    std::optional<std::size_t> found;
    for (const std::size_t factor : dim) {
      if (sizes[factor] >= 0) continue;
      if (found) return std::nullopt;
      found = factor;
    }
    return found;
  }

  std::int64_t known_product(const CallDim& dim) const {
    std::int64_t product = 1;
    for (const std::size_t factor : dim) product *= std::max<std::int64_t>(1, sizes[factor]);
    return product;
  }

  template <class Visit>
  void each_shared(Types operands, const Visit& visit) const {
    for (std::size_t k = 0; k < operands.size(); ++k) {
      for (std::size_t dim = 0; dim < row_.operands[k].size(); ++dim) {
        if (row_.operands[k][dim].size() > 1) visit(row_.operands[k][dim], operands[k].shape[dim]);
      }
    }
  }

  /// What is left of a dim is the size of its only factor without one, as long as that says more.
  void see_shared(Types operands) {
    for (bool is_new = true; is_new;) {
      is_new = false;
      each_shared(operands, [&](const CallDim& dim, std::int64_t size) {
        const std::optional<std::size_t> factor = only_unknown(dim);
        if (!factor || size % known_product(dim) != 0) return;
        sizes[*factor] = size / known_product(dim);
        is_new = true;
      });
    }
    each_shared(operands, [&](const CallDim& dim, std::int64_t size) {
      if (!mistake.empty()) return;
      const auto unknown = std::find_if(dim.begin(), dim.end(),
                                        [&](std::size_t factor) { return sizes[factor] < 0; });
      if (unknown == dim.end() && known_product(dim) == size) return;
      if (unknown != dim.end() && size % known_product(dim) == 0) {
        mistake = "the sizes of factors in " + dim_text(dim) + " of " + std::to_string(size) +
                  " are not known: say that of '" + row_.names[*unknown] + "'";
      } else {
        mistake = dim_text(dim) + " of " + std::to_string(known_product(dim)) +
                  " does not fit a dim of " + std::to_string(size);
      }
    });
  }

  const CallRow& row_;
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
        std::any_of(row.results.begin(), row.results.end(),
                    [&](const CallArray& result) { return !has_factor(result, factor); });
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

std::string meaning_mistake(Types operands, Types results, const Attributes& attributes) {
  const std::string& as = attributes.text("as");
  if (as.empty()) return "";
  const std::optional<CallMeaning> meaning = meaning_of_call(attributes, results);
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
    for (const CallDim& dim : row.results[k]) {
      result.shape.push_back(1);
      for (const std::size_t factor : dim) {
        if (factors.sizes[factor] < 0) {
          return "factor '" + row.names[factor] + "' is in no operand: say its size";
        }
        result.shape.back() *= factors.sizes[factor];
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
  }
  for (std::size_t k = 0; k < row.operands.size(); ++k) {
    for (std::size_t dim = 0; dim < row.operands[k].size(); ++dim) {
      rule.on_operand(k, static_cast<std::int64_t>(dim), row.operands[k][dim]);
    }
  }
  for (std::size_t k = 0; k < row.results.size(); ++k) {
    for (std::size_t dim = 0; dim < row.results[k].size(); ++dim) {
      rule.on_result(k, static_cast<std::int64_t>(dim), row.results[k][dim]);
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

Attributes custom_call_form(const LocalSite& site) {
  const auto read = read_call_row(site.attributes.text("row"));
  const CallRow& row = row_in(read);
  Attributes local = site.attributes;
  const std::vector<std::string> names = words_in(local.text("new_names"));
  if (names.empty() || !has_shared_dims(row)) return local;
  std::vector<TensorType> whole(site.operands.begin(), site.operands.end());
  for (std::size_t k = 0; k < whole.size(); ++k) {
    for (std::size_t dim = 0; dim < whole[k].shape.size(); ++dim) {
      whole[k].shape[dim] *= site.operand_parts[k][dim].count();
    }
  }
  std::vector<std::int64_t> sizes = FactorSizes(row, whole, site.attributes).sizes;
  const auto take_parts = [&](const CallArray& array, const std::vector<DimPart>& parts) {
    for (std::size_t dim = 0; dim < array.size(); ++dim) {
      std::int64_t count = parts[dim].count();
      for (const std::size_t factor : array[dim]) {
        const auto name = std::find(names.begin(), names.end(), row.names[factor]);
        const std::int64_t own = std::gcd(count, sizes[factor]);
        count /= own;
        if (name == names.end()) continue;
        std::vector<std::int64_t> made = local.integers("new_sizes");
        made[static_cast<std::size_t>(name - names.begin())] = sizes[factor] / own;
        local.set("new_sizes", std::move(made));
      }
    }
  };
  for (std::size_t k = 0; k < row.operands.size(); ++k) {
    take_parts(row.operands[k], site.operand_parts[k]);
  }
  return local;
}

}  // namespace shard
