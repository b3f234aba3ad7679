// `einsum`: one or two inputs whose dims are letters, as numpy has it.

#include <algorithm>
#include <cctype>

#include "model/op_arguments.h"

namespace shard {
namespace {

using Positions = std::vector<std::int64_t>;

struct Equation {
  std::vector<std::string> inputs;
  std::string result;
};

/// Without blanks, cut at the commas and the arrow; no arrow gives no result.
Equation cut(const std::string& written) {
  std::string text;
  std::copy_if(written.begin(), written.end(), std::back_inserter(text),
               [](char c) { return c != ' '; });
  Equation equation;
  const std::size_t arrow = text.find("->");
  if (arrow != text.npos) equation.result = text.substr(arrow + 2);
  std::string sources = text.substr(0, arrow);
  for (std::size_t start = 0; start <= sources.size();) {
    const std::size_t end = std::min(sources.find(',', start), sources.size());
    equation.inputs.push_back(sources.substr(start, end - start));
    start = end + 1;
  }
  return equation;
}

bool has(const std::string& letters, char letter) { return letters.find(letter) != letters.npos; }

std::int64_t place_in(const std::string& letters, char letter) {
  return static_cast<std::int64_t>(letters.find(letter));
}

bool is_distinct(const std::string& letters) {
  std::string sorted = letters;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

class Einsum {
 public:
  Einsum(const OpArguments& op, Equation equation) : op_(op), equation_(std::move(equation)) {
    for (std::size_t k = 0; k < op.input_count(); ++k) values_.push_back(op.input(k));
  }

  ValueId run() {
    if (!is_right()) return ValueId::none;
    for (std::size_t k = 0; k < values_.size(); ++k) sum_alone(k);
    if (values_.size() == 2) multiply();
    return in_order(values_.front(), equation_.inputs.front());
  }

 private:
  ValueId mistake(const std::string& what) const {
    return op_.fail("bad-equation", "equation '" + op_.word("equation", "") + "': " + what,
                    "a letter for each dim, as in \"bld,df->blf\"");
  }

  bool is_right() const {
    if (equation_.inputs.size() != values_.size()) {
      mistake("it has " + std::to_string(equation_.inputs.size()) + " inputs, the layer has " +
              std::to_string(values_.size()));
      return false;
    }
    std::string all;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      if (!fits(k)) return false;
      all += equation_.inputs[k];
    }
    for (const char letter : equation_.result) {
      if (has(all, letter)) continue;
      mistake(std::string("'") + letter + "' of the result is in no input");
      return false;
    }
    if (!is_distinct(equation_.result)) {
      mistake("the result has a letter twice");
      return false;
    }
    return sizes_agree();
  }

  bool fits(std::size_t k) const {
    const std::string& letters = equation_.inputs[k];
    const bool are_letters = std::all_of(letters.begin(), letters.end(), [](char c) {
      return std::isalpha(static_cast<unsigned char>(c)) != 0;
    });
    if (!are_letters) {
      mistake("'" + letters + "' is not made of letters");
      return false;
    }
    if (!is_distinct(letters)) {
      mistake("'" + letters + "' has a letter twice");
      return false;
    }
    if (op_.type(values_[k]).shape.size() == letters.size()) return true;
    mistake("'" + letters + "' has " + std::to_string(letters.size()) + " dims, the input is " +
            op_.lowering.described(values_[k]));
    return false;
  }

  bool sizes_agree() const {
    if (values_.size() != 2) return true;
    for (const char letter : equation_.inputs[0]) {
      if (!has(equation_.inputs[1], letter)) continue;
      const std::int64_t left = size(0, letter), right = size(1, letter);
      if (left == right) continue;
      mistake(std::string("'") + letter + "' is " + std::to_string(left) + " in " +
              op_.lowering.described(values_[0]) + " and " + std::to_string(right) + " in " +
              op_.lowering.described(values_[1]));
      return false;
    }
    return true;
  }

  std::int64_t size(std::size_t k, char letter) const {
    return op_.type(values_[k])
        .shape[static_cast<std::size_t>(place_in(equation_.inputs[k], letter))];
  }

  /// Dims of an input that neither the other nor the result has.
  void sum_alone(std::size_t k) {
    std::string& letters = equation_.inputs[k];
    const std::string other = values_.size() == 2 ? equation_.inputs[1 - k] : "";
    Positions dims;
    std::string kept;
    for (const char letter : letters) {
      const bool stays = has(equation_.result, letter) || has(other, letter);
      if (stays) {
        kept += letter;
      } else {
        dims.push_back(place_in(letters, letter));
      }
    }
    if (dims.empty()) return;
    values_[k] = op_.lowering.emit(Op::reduce_sum, {values_[k]}, Attributes{{"dims", dims}});
    letters = kept;
  }

  void multiply() {
    const std::string left = equation_.inputs[0], right = equation_.inputs[1];
    Positions left_batch, right_batch, left_sum, right_sum;
    std::string batch, rest;
    for (const char letter : left) {
      const bool is_shared = has(right, letter), is_kept = has(equation_.result, letter);
      if (!is_shared) {
        rest += letter;
        continue;
      }
      (is_kept ? left_batch : left_sum).push_back(place_in(left, letter));
      (is_kept ? right_batch : right_sum).push_back(place_in(right, letter));
      if (is_kept) batch += letter;
    }
    for (const char letter : right) {
      if (!has(left, letter)) rest += letter;
    }
    const DType dtype = promoted(op_.type(values_[0]).dtype, op_.type(values_[1]).dtype);
    const ValueId a = op_.lowering.converted(values_[0], dtype);
    const ValueId b = op_.lowering.converted(values_[1], dtype);
    values_ = {op_.lowering.emit(Op::dot, {a, b},
                                 dot_attributes(std::move(left_batch), std::move(right_batch),
                                                std::move(left_sum), std::move(right_sum)))};
    equation_.inputs = {batch + rest};
  }

  ValueId in_order(ValueId value, const std::string& letters) const {
    Positions order;
    for (const char letter : equation_.result) order.push_back(place_in(letters, letter));
    if (value == ValueId::none || std::is_sorted(order.begin(), order.end())) return value;
    return op_.lowering.emit(Op::transpose, {value}, Attributes{{"order", std::move(order)}});
  }

  const OpArguments& op_;
  Equation equation_;
  std::vector<ValueId> values_;
};

}  // namespace

ValueId lower_einsum(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  const std::string written = op.word("equation", "");
  if (written.find("->") == written.npos) {
    return op.fail("bad-equation", "equation '" + written + "' has no result",
                   "write it behind an arrow: \"bld,df->blf\"");
  }
  return op.named(Einsum(op, cut(written)).run());
}

}  // namespace shard
