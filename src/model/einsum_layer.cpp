// `einsum`: inputs whose dims are letters, as numpy has it. A letter twice in an input is its
// diagonal; then the letters that one input alone has are summed, and the inputs are multiplied two
// at a time.

#include <algorithm>

#include "model/equation.h"
#include "model/op_arguments.h"
#include "ops/composed.h"

namespace shard {
namespace {

using Positions = std::vector<std::int64_t>;

std::int64_t place_in(const std::string& letters, char letter) {
  return static_cast<std::int64_t>(letters.find(letter));
}

class Einsum {
 public:
  Einsum(const OpArguments& op, Equation equation, std::vector<ValueId> values, LetterSizes sizes)
      : op_(op),
        equation_(std::move(equation)),
        values_(std::move(values)),
        sizes_(std::move(sizes)) {}

  ValueId run() {
    for (std::size_t k = 0; k < values_.size(); ++k) {
      take_diagonals(k);
      drop_repeated_ones(k);
    }
    while (values_.size() > 1) {
      for (std::size_t k = 0; k < values_.size(); ++k) sum_alone(k);
      const auto [left, right] = next_product(equation_, sizes_);
      multiply(left, right);
    }
    sum_alone(0);
    return in_order(values_.front(), equation_.inputs.front());
  }

 private:
  /// Elements off the diagonal are zeroed and the later of the two dims is summed, which moves
  /// nothing between devices.
  void take_diagonals(std::size_t k) {
    std::string& letters = equation_.inputs[k];
    for (std::size_t dim = 0; dim < letters.size();) {
      const std::size_t first = letters.find(letters[dim]);
      if (first == dim) {
        ++dim;
        continue;
      }
      take_diagonal(values_[k], static_cast<std::int64_t>(first), static_cast<std::int64_t>(dim));
      letters.erase(dim, 1);
    }
  }

  void take_diagonal(ValueId& x, std::int64_t first, std::int64_t second) {
    GraphBuilder& builder = op_.lowering.builder;
    const TensorType type = op_.type(x);
    const std::vector<std::string> labels = op_.labels(x);
    const ValueId is_on = builder.emit(Op::eq, {iota(builder, type.shape, first, DType::i32),
                                                iota(builder, type.shape, second, DType::i32)});
    x = selected(builder, is_on, x, filled(builder, 0, type));
    op_.set_labels(x, labels);
    x = op_.lowering.emit(Op::reduce_sum, {x}, Attributes{{"dims", Positions{second}}});
  }

  /// A dim of size 1 whose letter is longer elsewhere is the same for every position there.
  void drop_repeated_ones(std::size_t k) {
    std::string& letters = equation_.inputs[k];
    const Shape shape = op_.type(values_[k]).shape;
    const std::vector<std::string> labels = op_.labels(values_[k]);
    Shape kept_shape;
    std::string kept;
    std::vector<std::string> kept_labels;
    for (std::size_t dim = 0; dim < letters.size(); ++dim) {
      if (shape[dim] == 1 && sizes_.at(letters[dim]) > 1) continue;
      kept += letters[dim];
      kept_shape.push_back(shape[dim]);
      kept_labels.push_back(labels[dim]);
    }
    if (kept == letters) return;
    values_[k] = reshaped(op_.lowering.builder, values_[k], kept_shape);
    op_.set_labels(values_[k], kept_labels);
    letters = kept;
  }

  /// Dims of an input that neither another nor the result has.
  void sum_alone(std::size_t k) {
    std::string others = equation_.result;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (i != k) others += equation_.inputs[i];
    }
    Positions dims;
    std::string kept;
    for (const char letter : equation_.inputs[k]) {
      if (has_letter(others, letter)) {
        kept += letter;
      } else {
        dims.push_back(place_in(equation_.inputs[k], letter));
      }
    }
    if (dims.empty()) return;
    values_[k] = op_.lowering.emit(Op::reduce_sum, {values_[k]}, Attributes{{"dims", dims}});
    equation_.inputs[k] = kept;
  }

  /// The two change sides where that gives the letters of the result in their order.
  void multiply(std::size_t left, std::size_t right) {
    const bool is_last = values_.size() == 2;
    if (is_last && product_letters(equation_, left, right) != equation_.result &&
        product_letters(equation_, right, left) == equation_.result) {
      std::swap(left, right);
    }
    std::string letters = product_letters(equation_, left, right);
    const ValueId product = dot_of(left, right, letters);
    for (const std::size_t gone : {std::max(left, right), std::min(left, right)}) {
      values_.erase(values_.begin() + static_cast<std::ptrdiff_t>(gone));
      equation_.inputs.erase(equation_.inputs.begin() + static_cast<std::ptrdiff_t>(gone));
    }
    values_.push_back(product);
    equation_.inputs.push_back(std::move(letters));
  }

  ValueId dot_of(std::size_t left, std::size_t right, const std::string& kept) const {
    const std::string &a = equation_.inputs[left], &b = equation_.inputs[right];
    Positions left_batch, right_batch, left_sum, right_sum;
    for (const char letter : a) {
      if (!has_letter(b, letter)) continue;
      const bool is_kept = has_letter(kept, letter);
      (is_kept ? left_batch : left_sum).push_back(place_in(a, letter));
      (is_kept ? right_batch : right_sum).push_back(place_in(b, letter));
    }
    const DType dtype = promoted(op_.type(values_[left]).dtype, op_.type(values_[right]).dtype);
    return op_.lowering.emit(Op::dot,
                             {op_.lowering.converted(values_[left], dtype),
                              op_.lowering.converted(values_[right], dtype)},
                             dot_attributes(std::move(left_batch), std::move(right_batch),
                                            std::move(left_sum), std::move(right_sum)));
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
  LetterSizes sizes_;
};

}  // namespace

ValueId lower_einsum(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  std::vector<ValueId> values;
  std::vector<Shape> shapes;
  std::string described;
  for (std::size_t k = 0; k < op.input_count(); ++k) {
    values.push_back(op.input(k));
    shapes.push_back(op.type(values.back()).shape);
    described += (k == 0 ? "" : ", ") + lowering.described(values.back());
  }
  const std::string written = op.word("equation", "");
  auto read = read_equation(written, shapes);
  if (const std::string* mistake = std::get_if<std::string>(&read)) {
    return op.fail("bad-equation", "equation '" + written + "' of " + described + ": " + *mistake,
                   "a letter for each dim and ... for dims without one, as in "
                   "\"...ld,df->...lf\"");
  }
  Equation& equation = std::get<Equation>(read);
  LetterSizes sizes = letter_sizes(equation, shapes);
  return op.named(Einsum(op, std::move(equation), std::move(values), std::move(sizes)).run());
}

}  // namespace shard
