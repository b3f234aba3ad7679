#pragma once
// The derivative of a `repeat`: a loop in the other direction.
//
// Its body is the backward of the forward body. What that needs of the forward body is brought in
// as cheaply as it can be: slices of stacked operands and invariants are passed again, constants
// are made again, everything else (the carries and inner values that are really used) becomes a
// further stacked output of the forward loop.
//   carries    cotangents of the carries, sums of the cotangents of the invariants
//   stacked    cotangents of the stacked outputs, saved values, stacked operands
//   outputs    cotangents of the slices

#include <unordered_map>
#include <unordered_set>

#include "model/differentiate.h"

namespace shard {

class LoopDerivative {
 public:
  LoopDerivative(Differentiator& owner, NodeId loop);
  void run();

 private:
  enum class Kind { carry, slice, invariant };
  struct Operand {
    ValueId outer;      ///< where the backward loop stands
    ValueId parameter;  ///< inside its body
  };

  Kind kind_of(std::size_t parameter) const;
  Graph& graph() { return owner_.builder().graph(); }
  ValueId add_parameter(TensorType type, ValueId like);
  void open_carries();
  void bring_in_guard();
  void seed_cotangents();
  void close_body();
  void bring_in_forward_values();
  ValueId brought_in(ValueId forward);
  ValueId saved(ValueId forward);
  ValueId made_again(NodeId constant);
  void add_loop();

  Differentiator& owner_;
  NodeId forward_;
  Region body_;  ///< a copy: the forward body as it was
  std::vector<ValueId> operands_;
  std::vector<ValueId> results_;
  Attributes attributes_;
  std::size_t carries_;
  std::size_t stacked_;
  RegionId backward_ = RegionId::none;
  std::vector<Operand> carry_operands_;
  std::vector<Operand> stacked_operands_;
  std::vector<Operand> invariant_operands_;
  std::vector<ValueId> body_results_;
  std::vector<ValueId> primals_;  ///< per body result the forward operand it is a cotangent of
  std::unordered_map<ValueId, ValueId> brought_in_;
  std::unordered_map<ValueId, ValueId> constrained_;  ///< forward value to its constrained self
};

}  // namespace shard
