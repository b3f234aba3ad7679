#pragma once
// The key tables: one row per key of each file and node. They drive reading (what is refused, what
// a key takes), the "valid keys" hints and the JSON Schema.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shard {

/// How the value of a key is written. One row of `value_kinds()` each.
enum class ValueKind {
  anything,
  text,
  identifier,
  word,
  words,
  flag,
  number,
  whole,
  count,
  names,
  files,
  spec,
  axis,
  type,
  dtype,
  dims,
  expression,
  initializer,
  optimizer,
  optimizers,
  schedules,
  step_scales,
  wholes,
  loss,
  targets,
  labels,
  rotary,
  layers,
  blocks,
  sizes,
  size_sets,
  types,
  outputs,
  specs,
  block_arguments,
  settings,
  table,
  word_or_table,
  mesh,
  rules,
  part_rules,
  arrays,
  step_size,
  path_rules,
  rule_sets,
  word_or_ids,
  devices,
  finding_levels,
  bytes,
  jobs,
  job_rules,
  job_sizes,
  forbidden_collectives,
  required_specs,
  integer,
  integers,
  shape,
  padding,
  pairs,
  spec_or_specs,
  count_,
};

/// Which nodes a kind takes; bits.
enum NodeShapes : unsigned {
  takes_null = 1,  ///< null means something; elsewhere it is the same as leaving the key out
  takes_scalar = 2,
  takes_list = 4,
  takes_map = 8,
};

struct ValueKindRow {
  ValueKind kind;
  std::string_view expected;  ///< "a number": ends the sentence "found ..., expected ..."
  unsigned shapes;
  std::string_view schema;  ///< a JSON Schema as JSON text
};

/// All rows, in enum order.
std::span<const ValueKindRow> value_kinds();
const ValueKindRow& row_of(ValueKind kind);

struct KeyTable;

struct KeyRow {
  std::string_view name = {};
  ValueKind kind = ValueKind::anything;
  std::string_view help = {};  ///< one line
  bool is_required = false;
  std::string_view default_value = {};  ///< as it would be written; empty: none
  std::string_view unit = {};           ///< of a number; empty: none
  std::string_view not_yet = {};        ///< what to do instead; empty: the key is supported
  std::span<const std::string_view> choices = {};        ///< the words it takes; empty: any
  std::span<const std::string_view> later_choices = {};  ///< words that are not supported yet
  const KeyTable* table = nullptr;                       ///< of `table` and `word_or_table`
};

/// The keys of one file or node.
struct KeyTable {
  std::string_view name;  ///< in the schema's `$defs`, and the word itself for a layer
  std::string_view what;  ///< in messages: "a model file", "layer 'dense'"
  std::string_view help = {};
  std::span<const KeyRow> rows = {};
  std::string_view main_key = {};  ///< `dense: hidden` is short for `dense: {features: hidden}`
  std::string_view not_yet = {};   ///< of a whole layer, optimizer ...; empty: supported
  bool is_open = false;            ///< further keys are arguments of the user's own

  const KeyRow* find(std::string_view key) const;
  /// Names of the keys that are supported, in table order.
  std::vector<std::string> valid_keys() const;
};

/// Names of the tables that are supported, in order.
std::vector<std::string> valid_names(std::span<const KeyTable> tables);
const KeyTable* find_table(std::span<const KeyTable> tables, std::string_view name);

const KeyTable& model_table();
const KeyTable& rules_table();
/// The keys that a rule set of a rules file takes.
const KeyTable& rule_set_table();
const KeyTable& block_table();

/// Layers whose keys are known here. Other words are ops or blocks of the file: see
/// `generic_layer_table`.
std::span<const KeyTable> layer_tables();
const KeyTable& generic_layer_table();
/// Those of them that have an inside: norms, attention, experts ...
std::span<const KeyTable> named_block_tables();
/// Those that are ops with keys of their own: reshape, slice, sort, conv ...
std::span<const KeyTable> op_layer_tables();
/// Those that stand in manual regions.
std::span<const KeyTable> collective_tables();
/// The keys that a call of a block of the file takes beside the block's arguments.
const KeyTable& block_call_table();

/// The keys of a model file that is a list of arrays: some of `model_table`.
const KeyTable& arrays_table();
std::span<const KeyTable> initializer_tables();
/// Optimizers and the transformations they are chains of, by their names in optax.
std::span<const KeyTable> optimizer_tables();
/// Learning rates that change with the step, by their names in optax.
std::span<const KeyTable> schedule_tables();
std::span<const KeyTable> loss_tables();

// Of a job file.
const KeyTable& jobs_table();
const KeyTable& job_table();
const KeyTable& layered_rules_table();
const KeyTable& policy_table();
const KeyTable& replication_table();
const KeyTable& forbidden_collective_table();
const KeyTable& required_spec_table();

// Of a lock file.
const KeyTable& lock_table();
const KeyTable& lock_section_table();

}  // namespace shard
