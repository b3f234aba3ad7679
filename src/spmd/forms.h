#pragma once
// The forms in which values exist while a graph is lowered.

#include <string>
#include <vector>

#include "spmd/program.h"

namespace shard::spmd {

using ReasonOf = CollectiveReason::Kind;

/// A value as it exists somewhere in the program: split like this, in that buffer. What is
/// unreduced is combined by `reduction` when somebody needs it whole.
struct Form {
  Sharding sharding;
  BufferId buffer = BufferId::none;
  NodeId node = NodeId::none;           ///< what made it; none for parameters
  ReasonOf reason = ReasonOf::operand;  ///< of bringing it to the value's own sharding
  Reduction reduction = Reduction::sum;
  std::string label;  ///< of the dims that are summed over
};

/// A constraint is no value of its own where `constraints_are_names`: its result is its operand,
/// which then is wanted split in another way.
class Forms {
 public:
  Forms(const Graph& graph, bool constraints_are_names);

  /// The value that this one is but for constraints.
  ValueId origin(ValueId value) const { return origins_[index_of(value)]; }
  /// In the order in which they were made.
  const std::vector<Form>& of(ValueId value) const { return forms_[index_of(origin(value))]; }
  void add(ValueId value, Form form) { forms_[index_of(origin(value))].push_back(std::move(form)); }
  /// nullptr: it does not exist like this.
  const Form* find(ValueId value, const Sharding& sharding) const;

  /// Whether the value is made from nothing, so that it can be made again wherever it is wanted
  /// otherwise: nothing has to be sent.
  bool is_source(ValueId value) const;
  /// How many operands and results read it, under whatever name.
  int readers(ValueId value) const { return readers_[index_of(origin(value))]; }
  /// The node that alone reads it, and once; none where that is a region's result.
  NodeId only_reader(ValueId value) const {
    return readers(value) == 1 ? last_reader_[index_of(origin(value))] : NodeId::none;
  }

 private:
  const Graph& graph_;
  std::vector<ValueId> origins_;          ///< by value
  std::vector<std::vector<Form>> forms_;  ///< by origin
  std::vector<int> readers_;              ///< by origin
  std::vector<NodeId> last_reader_;       ///< by origin; none: no node reads it
};

}  // namespace shard::spmd
