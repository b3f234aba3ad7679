#include "model/expressions.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "base/nearest.h"
#include "model/composer.h"
#include "model/expression_calls.h"
#include "model/layer_kinds.h"

namespace shard {
namespace {

ValueId with_value(Lowering& lowering, Op op, ValueId array, double value) {
  return lowering.emit(op, {array}, Attributes{{"value", value}});
}

/// array OP number, for the ops that have a form with a number; the others take a constant.
ValueId array_and_number(Lowering& lowering, Op op, ValueId array, double number) {
  if (op == Op::add) return with_value(lowering, Op::shift, array, number);
  if (op == Op::subtract) return with_value(lowering, Op::shift, array, -number);
  if (op == Op::multiply) return with_value(lowering, Op::scale, array, number);
  return lowering.emit(op, {array, lowering.number(number, lowering.type(array).dtype)});
}

ValueId number_and_array(Lowering& lowering, Op op, double number, ValueId array) {
  if (op == Op::add || op == Op::multiply) return array_and_number(lowering, op, array, number);
  if (op == Op::subtract) {
    return with_value(lowering, Op::shift, lowering.emit(Op::negate, {array}), number);
  }
  return lowering.emit(op, {lowering.number(number, lowering.type(array).dtype), array});
}

/// Numbers become constants in the dtype of an array beside them. A condition is no such array.
ValueId ternary(Lowering& lowering, Op op, const std::vector<Operand>& operands,
                const Location& at) {
  const Operand* like = nullptr;
  for (std::size_t i = op == Op::select ? 1 : 0; i < operands.size(); ++i) {
    if (!operands[i].is_number && like == nullptr) like = &operands[i];
  }
  if (like == nullptr || (op == Op::select && operands[0].is_number)) {
    lowering.diagnostics.error("not-an-array", at,
                               std::string(def(op).name) + " needs an array, found a number");
    return ValueId::none;
  }
  std::vector<ValueId> values;
  for (const Operand& operand : operands) {
    const bool is_spoiled = !operand.is_number && operand.value == ValueId::none;
    if (is_spoiled || like->value == ValueId::none) return ValueId::none;
    values.push_back(operand.is_number
                         ? lowering.number(operand.number, lowering.type(like->value).dtype)
                         : operand.value);
  }
  return lowering.emit(op, values);
}

ValueId binary(Lowering& lowering, Op op, const Operand& left, const Operand& right) {
  if (!left.is_number && !right.is_number) {
    return lowering.emit_binary(op, left.value, right.value);
  }
  const ValueId array = left.is_number ? right.value : left.value;
  if (array == ValueId::none) return array;
  return left.is_number ? number_and_array(lowering, op, left.number, array)
                        : array_and_number(lowering, op, array, right.number);
}

Operand spoiled() { return Operand::array(ValueId::none); }

/// Layers that are an op and whose calls `CallReader` builds itself.
bool is_built_here(const LayerKind& kind) {
  constexpr std::array<LowerLayer, 5> built = {lower_dot, lower_elementwise, lower_reduction,
                                               lower_transpose, lower_convert};
  return std::find(built.begin(), built.end(), kind.lower) != built.end();
}

/// Arguments of one call of an expression, by position and by key.
class CallReader {
 public:
  CallReader(Lowering& lowering, const Scope& scope, const Expression& call)
      : lowering_(lowering), scope_(scope), call_(call) {
    for (const Expression& argument : call.arguments) {
      operands_.push_back(evaluate(lowering, scope, argument));
    }
  }

  Operand run() {
    const auto op = op_named(call_.text);
    const LayerKind* kind = layer_kind(call_.text);
    const bool is_softmax =
        kind != nullptr && (kind->lower == lower_softmax || kind->lower == lower_log_softmax);
    if (is_softmax) return softmax(kind->lower == lower_log_softmax, kind->keys);
    if (kind != nullptr && is_callable_layer(call_.text)) {
      return Operand::array(call_layer(lowering_, scope_, call_, *kind, operands_));
    }
    if (!op || kind == nullptr || !is_built_here(*kind)) return unknown();
    if (!read_keywords(kind->keys)) return spoiled();
    if (kind->lower == lower_dot) return product();
    if (kind->lower == lower_elementwise) {
      if (number_) operands_.push_back(Operand::scalar(*number_));
      return Operand::array(apply_op(lowering_, *op, operands_, call_.at));
    }
    const auto input = one_array();
    if (!input) return spoiled();
    if (kind->lower == lower_reduction) {
      return Operand::array(reduce(lowering_, *op, *input, dims_, keep_dims_, call_.at));
    }
    if (kind->lower == lower_transpose) {
      return Operand::array(transpose(lowering_, *input, dims_, call_.at));
    }
    if (kind->lower == lower_convert && dtype_) {
      return Operand::array(lowering_.converted(*input, *dtype_));
    }
    lowering_.diagnostics.error("missing-argument", call_.at, call_.text + " needs dtype",
                                "write convert(x, dtype=bf16)");
    return spoiled();
  }

 private:
  Operand unknown() {
    if (is_later_layer(call_.text)) {
      lowering_.diagnostics.error("not-yet", call_.at,
                                  "'" + call_.text + "' is not built by this version");
      return spoiled();
    }
    std::vector<std::string> known;
    for (const LayerKind& kind : layer_kinds()) {
      const bool is_softmax = kind.lower == lower_softmax || kind.lower == lower_log_softmax;
      const bool is_op = op_named(kind.word) && is_built_here(kind);
      if (is_op || is_softmax || is_callable_layer(kind.word)) known.emplace_back(kind.word);
    }
    lowering_.diagnostics.error("unknown-op", call_.at, "there is no op '" + call_.text + "'",
                                did_you_mean(call_.text, known, "ops"));
    return spoiled();
  }

  Operand product() {
    const auto is_number = [](const Operand& operand) { return operand.is_number; };
    if (operands_.size() != 2 || std::any_of(operands_.begin(), operands_.end(), is_number)) {
      lowering_.diagnostics.error("wrong-input-count", call_.at, "dot takes two arrays",
                                  "write dot(x, y) or x @ y");
      return spoiled();
    }
    return Operand::array(lowering_.matrix_product(operands_[0].value, operands_[1].value));
  }

  /// Over the dims named, or the last one.
  Operand softmax(bool is_log, unsigned keys) {
    if (!read_keywords(keys)) return spoiled();
    const auto input = one_array();
    if (!input || *input == ValueId::none) return spoiled();
    auto dims = lowering_.dim_positions(*input, dims_, call_.at);
    const TensorType& type = lowering_.type(*input);
    if (!dims) return spoiled();
    if (type.rank() == 0 || !info(type.dtype).is_float) {
      lowering_.diagnostics.error(type.rank() == 0 ? "rank-mismatch" : "dtype-mismatch", call_.at,
                                  call_.text + " needs an array of floating-point numbers, found " +
                                      lowering_.described(*input));
      return spoiled();
    }
    if (dims->empty()) dims->push_back(type.rank() - 1);
    Composer compose(lowering_.builder);
    return Operand::array(is_log ? compose.log_softmax(*input, *dims)
                                 : compose.softmax(*input, *dims));
  }

  std::optional<ValueId> one_array() {
    if (operands_.size() == 1 && !operands_.front().is_number) return operands_.front().value;
    lowering_.diagnostics.error("wrong-input-count", call_.at, call_.text + " takes one array",
                                "write " + call_.text + "(x, ...)");
    return std::nullopt;
  }

  bool read_keywords(unsigned keys) {
    bool is_good = true;
    for (const KeywordArgument& keyword : call_.keywords) is_good &= read_keyword(keyword, keys);
    return is_good;
  }

  bool read_keyword(const KeywordArgument& keyword, unsigned keys) {
    const Expression& value = keyword.value.front();
    const bool is_word =
        value.kind == Expression::Kind::name || value.kind == Expression::Kind::string;
    if (keyword.key == "axes" && (keys & key_dims) != 0) return read_dims(value);
    if (keyword.key == "value" && (keys & key_number) != 0 &&
        value.kind == Expression::Kind::number) {
      number_ = value.number;
      return true;
    }
    if (keyword.key == "keep_dims" && (keys & key_keep_dims) != 0 && is_word &&
        (value.text == "true" || value.text == "false")) {
      keep_dims_ = value.text == "true";
      return true;
    }
    if (keyword.key == "dtype" && call_.text == "convert" && is_word && dtype_named(value.text)) {
      dtype_ = dtype_named(value.text);
      return true;
    }
    return refused(keyword, keys);
  }

  bool refused(const KeywordArgument& keyword, unsigned keys) {
    std::vector<std::string> known;
    if ((keys & key_dims) != 0) known.emplace_back("axes");
    if ((keys & key_keep_dims) != 0) known.emplace_back("keep_dims");
    if ((keys & key_number) != 0) known.emplace_back("value");
    if (call_.text == "convert") known.emplace_back("dtype");
    const bool is_known = std::find(known.begin(), known.end(), keyword.key) != known.end();
    if (is_known) {
      lowering_.diagnostics.error("bad-argument", keyword.at,
                                  "'" + keyword.key + "' of " + call_.text + " cannot be that",
                                  "axes=[embed], keep_dims=true, value=0.5, dtype=bf16");
    } else {
      lowering_.diagnostics.error("unknown-argument", keyword.at,
                                  call_.text + " takes no '" + keyword.key + "'",
                                  did_you_mean(keyword.key, known));
    }
    return false;
  }

  /// A list of labels and positions, or one of them.
  bool read_dims(const Expression& value) {
    const std::vector<Expression> one{value};
    const bool is_list = value.kind == Expression::Kind::list;
    for (const Expression& item : is_list ? value.arguments : one) {
      if (item.kind == Expression::Kind::number && item.number == std::floor(item.number)) {
        dims_.push_back(std::to_string(static_cast<std::int64_t>(item.number)));
      } else if (item.kind == Expression::Kind::unary && item.arguments.size() == 1 &&
                 item.arguments.front().kind == Expression::Kind::number) {
        dims_.push_back("-" +
                        std::to_string(static_cast<std::int64_t>(item.arguments.front().number)));
      } else {
        dims_.push_back(item.text);
      }
    }
    return true;
  }

  Lowering& lowering_;
  const Scope& scope_;
  const Expression& call_;
  std::vector<Operand> operands_;
  std::vector<std::string> dims_;
  std::optional<double> number_;
  std::optional<DType> dtype_;
  bool keep_dims_ = false;
};

struct BinaryWord {
  std::string_view text;
  Op op;
  double (*fold)(double, double);
};

constexpr std::array<BinaryWord, 4> binary_words = {{
    {"+", Op::add, [](double a, double b) { return a + b; }},
    {"-", Op::subtract, [](double a, double b) { return a - b; }},
    {"*", Op::multiply, [](double a, double b) { return a * b; }},
    {"/", Op::divide, [](double a, double b) { return a / b; }},
}};

Operand evaluate_binary(Lowering& lowering, const Scope& scope, const Expression& expression) {
  const Operand left = evaluate(lowering, scope, expression.arguments[0]);
  const Operand right = evaluate(lowering, scope, expression.arguments[1]);
  lowering.builder.origin.at = expression.at;
  for (const BinaryWord& word : binary_words) {
    if (word.text != expression.text) continue;
    if (left.is_number && right.is_number) {
      return Operand::scalar(word.fold(left.number, right.number));
    }
    return Operand::array(binary(lowering, word.op, left, right));
  }
  SHARD_CHECK(expression.text == "@", "the operators are + - * / @");
  if (left.is_number || right.is_number) {
    lowering.diagnostics.error("not-an-array", expression.at, "@ takes two arrays, found a number",
                               "use * for a number");
    return spoiled();
  }
  return Operand::array(lowering.matrix_product(left.value, right.value));
}

Operand evaluate_unary(Lowering& lowering, const Scope& scope, const Expression& expression) {
  const Operand operand = evaluate(lowering, scope, expression.arguments[0]);
  lowering.builder.origin.at = expression.at;
  if (operand.is_number) return Operand::scalar(-operand.number);
  return Operand::array(lowering.emit(Op::negate, {operand.value}));
}

}  // namespace

ValueId apply_op(Lowering& lowering, Op op, const std::vector<Operand>& operands,
                 const Location& at) {
  const OpDef& row = def(op);
  const bool takes_value = op == Op::scale || op == Op::shift;
  const auto wanted = static_cast<std::size_t>(row.operand_count) + (takes_value ? 1 : 0);
  const std::string name(row.name);
  if (operands.size() != wanted) {
    lowering.diagnostics.error(
        "wrong-input-count", at,
        name + " takes " + std::to_string(wanted) + " operands, found " +
            std::to_string(operands.size()),
        wanted == 2 ? "a second value (of: [a, b]) or a number (value: 2)" : "");
    return ValueId::none;
  }
  const auto is_array = [](const Operand& operand) { return !operand.is_number; };
  if (std::none_of(operands.begin(), operands.end(), is_array) ||
      (takes_value && (operands[0].is_number || !operands[1].is_number))) {
    lowering.diagnostics.error("not-an-array", at,
                               takes_value ? name + " takes an array and a number"
                                           : name + " needs an array, found a number");
    return ValueId::none;
  }
  if (takes_value) return with_value(lowering, op, operands[0].value, operands[1].number);
  if (wanted == 1) return lowering.emit(op, {operands[0].value});
  if (wanted == 3) return ternary(lowering, op, operands, at);
  return binary(lowering, op, operands[0], operands[1]);
}

ValueId reduce(Lowering& lowering, Op op, ValueId input, const std::vector<std::string>& dims,
               bool keep_dims, const Location& at) {
  if (input == ValueId::none) return input;
  auto positions = lowering.dim_positions(input, dims, at);
  if (!positions) return ValueId::none;
  Shape shape = lowering.type(input).shape;
  if (dims.empty()) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      positions->push_back(static_cast<std::int64_t>(i));
    }
  }
  std::sort(positions->begin(), positions->end());
  const ValueId reduced = lowering.emit(op, {input}, Attributes{{"dims", *positions}});
  if (!keep_dims) return reduced;
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (std::binary_search(positions->begin(), positions->end(), static_cast<std::int64_t>(i))) {
      shape[i] = 1;
    } else {
      kept.push_back(static_cast<std::int64_t>(i));
    }
  }
  return lowering.emit(Op::broadcast, {reduced},
                       Attributes{{"shape", std::move(shape)}, {"dims", std::move(kept)}});
}

ValueId transpose(Lowering& lowering, ValueId input, const std::vector<std::string>& dims,
                  const Location& at) {
  if (input == ValueId::none) return input;
  auto order = lowering.dim_positions(input, dims, at);
  if (!order) return ValueId::none;
  if (dims.empty()) {
    for (int dim = lowering.type(input).rank() - 1; dim >= 0; --dim) order->push_back(dim);
  }
  return lowering.emit(Op::transpose, {input}, Attributes{{"order", std::move(*order)}});
}

Operand evaluate(Lowering& lowering, const Scope& scope, const Expression& expression) {
  lowering.builder.origin.at = expression.at;
  switch (expression.kind) {
    case Expression::Kind::number:
      return Operand::scalar(expression.number);
    case Expression::Kind::name:
      return Operand::array(scope.find(expression.text, expression.at, lowering.diagnostics));
    case Expression::Kind::unary:
      return evaluate_unary(lowering, scope, expression);
    case Expression::Kind::binary:
      return evaluate_binary(lowering, scope, expression);
    case Expression::Kind::call:
      return CallReader(lowering, scope, expression).run();
    case Expression::Kind::list:
    case Expression::Kind::string:
      break;
  }
  lowering.diagnostics.error("not-an-array", expression.at, "a list or a text is not an array",
                             "lists and texts are for arguments with a key: axes=[embed]");
  return spoiled();
}

}  // namespace shard
