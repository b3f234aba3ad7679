#pragma once
// The ops as functions of values and numbers: shared by layers (`scale: 2`) and by the
// expressions of `let`.

#include <vector>

#include "model/lowering.h"

namespace shard {

/// An argument: an array of the graph or a plain number.
struct Operand {
  bool is_number = false;
  double number = 0;
  ValueId value = ValueId::none;

  static Operand array(ValueId value) { return {false, 0, value}; }
  static Operand scalar(double number) { return {true, number, ValueId::none}; }
};

/// An elementwise op. Numbers become attributes of `scale` and `shift` where that is exact, scalar
/// constants elsewhere. Errors: `wrong-input-count`, `not-an-array`, those of `Lowering::emit`.
ValueId apply_op(Lowering& lowering, Op op, const std::vector<Operand>& operands,
                 const Location& at);

/// A reduction over dims named by label or position; no dims means all.
ValueId reduce(Lowering& lowering, Op op, ValueId input, const std::vector<std::string>& dims,
               bool keep_dims, const Location& at);

/// Dims in the order named; no dims means reversed.
ValueId transpose(Lowering& lowering, ValueId input, const std::vector<std::string>& dims,
                  const Location& at);

/// Evaluates an expression. Errors beside those above: `unknown-op`, `not-yet`, `unknown-argument`,
/// `bad-argument`, those of `Scope::find`.
Operand evaluate(Lowering& lowering, const Scope& scope, const Expression& expression);

}  // namespace shard
