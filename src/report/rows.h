#pragma once
// The facts that tables and JSON have in common: one row per array and per collective, unfolded.

#include <cstdint>
#include <string>
#include <vector>

#include "report/plan.h"
#include "report/why.h"
#include "shard/pieces.h"

namespace shard {

/// An array of a function: a leaf of the state, an input, a named value or a result.
struct ArrayRow {
  std::string name;
  std::int64_t instances = 1;  ///< arrays it stands for: in a folded plan `B_{3..996}/W2` is 994
  Role role = Role::input;
  TensorType type;
  Sharding sharding;
  std::string spec;  ///< effective, as Python prints it
  Shape local;
  UnevenCut cut = UnevenCut::flat;  ///< of dims that do not divide
  Bytes bytes;                      ///< of one device
  std::int64_t copies = 1;          ///< how many devices hold each piece
  Clauses why;
  Location at;
  bool is_result = false;  ///< of `output_rows`
  int follows = -1;        ///< row of `state_rows` whose sharding this optimizer slot has; -1: none
};

/// One row per array: those that stand for several are written out.
std::vector<ArrayRow> unfolded(const std::vector<ArrayRow>& rows);

/// The leaves of the state that the main function takes, in TrainState order.
std::vector<ArrayRow> state_rows(const Plan& plan);

/// The tree of the optimizer in which a row that follows a parameter stands: `opt_state/0/mu`;
/// empty when its path does not end like the parameter's.
std::string optimizer_tree(const ArrayRow& slot, const ArrayRow& parameter);

/// Data inputs, then the named values of the forward pass in order of execution.
std::vector<ArrayRow> value_rows(const PlannedFunction& function);

/// The results of a function that are not state.
std::vector<ArrayRow> output_rows(const PlannedFunction& function);

/// One collective instruction; in a folded plan it may stand for several.
struct CollectiveRow {
  std::int64_t number = 0;      ///< of the first it stands for: from 1 in order of the rows
  std::int64_t instances = 1;   ///< instructions it stands for
  std::int64_t loop_times = 1;  ///< how often a loop runs it
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string axes;  ///< `model`, `data,model`
  std::int64_t group = 1;
  std::int64_t count = 1;  ///< executions per step, of all instances
  Bytes payload;           ///< of each
  Bytes wire_each;         ///< bytes one device sends in one execution
  Bytes wire;              ///< of all executions, per device
  Phase phase = Phase::forward;
  Clauses why;
  Location at;
  std::vector<AxisRef> mesh_axes;
  TensorType type;  ///< of its (first) operand on one device
  CollectiveReason reason;
  bool is_implicit = false;                  ///< a reshard that nothing asks for
  const Instruction* instruction = nullptr;  ///< of the function's program
};

/// The wire bytes that the plan says of it are an upper bound.
bool may_send_less(CollectiveKind kind);

/// All collectives of the function; those that look alike stand together, in order of the first.
std::vector<CollectiveRow> collective_rows(const PlannedFunction& function);

/// Positions of the rows that make one line of the table.
std::vector<std::vector<std::size_t>> collective_groups(const std::vector<CollectiveRow>& rows);

/// Wire bytes of one device and step over each set of axes, in order of the mesh.
struct AxisWire {
  std::vector<int> mesh_axes;
  std::string axes;
  Bytes wire;
  bool is_bound = false;  ///< some of them may send less
};
std::vector<AxisWire> wire_per_axis(const PlannedFunction& function);

/// An array that is live when most bytes are; in a folded plan of several iterations.
struct LiveRow {
  std::string name;
  Category category = Category::activation;
  std::int64_t instances = 1;
  Bytes bytes;  ///< of each
};

/// Largest first, as the plan has them.
std::vector<LiveRow> live_rows(const Program& program);

std::string_view name_of(CollectiveKind kind);
std::string_view name_of(Phase phase);
std::string_view name_of(Category category);
std::string_view name_of(Role role);

/// `data,model`
std::string axes_text(const Mesh& mesh, const std::vector<AxisRef>& axes);

}  // namespace shard
