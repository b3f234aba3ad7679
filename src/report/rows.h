#pragma once
// The facts that tables and JSON have in common: one row per array and per collective, unfolded.

#include <cstdint>
#include <string>
#include <vector>

#include "report/plan.h"
#include "report/why.h"

namespace shard {

/// An array of a function: a leaf of the state, an input, a named value or a result.
struct ArrayRow {
  std::string name;
  Role role = Role::input;
  TensorType type;
  Sharding sharding;
  std::string spec;  ///< effective, as Python prints it
  Shape local;
  Bytes bytes;              ///< of one device
  std::int64_t copies = 1;  ///< how many devices hold each piece
  Clauses why;
  Location at;
  bool is_result = false;  ///< of `output_rows`
  int follows = -1;        ///< row of `state_rows` whose sharding this optimizer slot has; -1: none
};

/// The leaves of the state that the main function takes, in TrainState order.
std::vector<ArrayRow> state_rows(const Plan& plan);

/// The tree of the optimizer in which a row that follows a parameter stands: `opt_state/0/mu`;
/// empty when its path does not end like the parameter's.
std::string optimizer_tree(const ArrayRow& slot, const ArrayRow& parameter);

/// Data inputs, then the named values of the forward pass in order of execution.
std::vector<ArrayRow> value_rows(const PlannedFunction& function);

/// The results of a function that are not state.
std::vector<ArrayRow> output_rows(const PlannedFunction& function);

/// One collective instruction. `number` counts from 1 in the order of `collective_rows`.
struct CollectiveRow {
  int number = 0;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string axes;  ///< `model`, `data,model`
  std::int64_t group = 1;
  std::int64_t count = 1;  ///< executions per step
  Bytes payload;           ///< of each
  Bytes wire_each;         ///< bytes one device sends in one execution
  Bytes wire;              ///< of all executions, per device
  Phase phase = Phase::forward;
  Clauses why;
  Location at;
};

/// All collectives of the function; those that look alike stand together, in order of the first.
std::vector<CollectiveRow> collective_rows(const PlannedFunction& function);

/// Positions of the rows that make one line of the table.
std::vector<std::vector<std::size_t>> collective_groups(const std::vector<CollectiveRow>& rows);

/// Wire bytes of one device and step over each set of axes, in order of the mesh.
struct AxisWire {
  std::vector<int> mesh_axes;
  std::string axes;
  Bytes wire;
};
std::vector<AxisWire> wire_per_axis(const PlannedFunction& function);

std::string_view name_of(CollectiveKind kind);
std::string_view name_of(Phase phase);
std::string_view name_of(Category category);
std::string_view name_of(Role role);

/// `data,model`
std::string axes_text(const Mesh& mesh, const std::vector<AxisRef>& axes);

}  // namespace shard
