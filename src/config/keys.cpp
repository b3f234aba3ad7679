#include "config/keys.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace shard {
namespace {

// Readers of YAML 1.1 take `1e-3` and `4_096` for texts, so the schema lets both through.
constexpr std::string_view number_schema =
    R"({"type": ["number", "string"], "pattern": "^-?[0-9_]*[.]?[0-9_]*([eE][-+]?[0-9]+)?$"})";
constexpr std::string_view whole_schema =
    R"({"type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9][0-9_]*(e[0-9]+)?$"})";

constexpr std::array<ValueKindRow, static_cast<std::size_t>(ValueKind::count_)> kinds = {{
    {ValueKind::anything, "anything", takes_null | takes_scalar | takes_list | takes_map, "true"},
    {ValueKind::text, "a text", takes_scalar, R"({"type": ["string", "number"]})"},
    {ValueKind::identifier, "a name", takes_scalar,
     R"({"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"})"},
    {ValueKind::word, "a word", takes_scalar, R"({"type": "string"})"},
    {ValueKind::words, "a word or a list of words", takes_scalar | takes_list,
     R"({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})"},
    {ValueKind::flag, "true or false", takes_scalar, R"({"type": "boolean"})"},
    {ValueKind::number, "a number", takes_scalar, number_schema},
    {ValueKind::whole, "a whole number", takes_scalar, whole_schema},
    {ValueKind::count, "a number or a size's name", takes_scalar, R"({"$ref": "#/$defs/count"})"},
    {ValueKind::names, "a name or a list of names", takes_scalar | takes_list,
     R"({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})"},
    {ValueKind::files, "a file or a list of files", takes_scalar | takes_list,
     R"({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})"},
    {ValueKind::spec, "a list of logical axes, P(...) of mesh axes, \"{devices=...}\", or null",
     takes_null | takes_scalar | takes_list, R"({"$ref": "#/$defs/spec"})"},
    {ValueKind::axis, "the name of an axis, or null", takes_null | takes_scalar,
     R"({"type": ["string", "null"]})"},
    {ValueKind::type, "a type such as f32[batch, embed], or a list of dims",
     takes_scalar | takes_list, R"({"$ref": "#/$defs/type"})"},
    {ValueKind::dtype, "an element type such as bf16", takes_scalar,
     R"({"$ref": "#/$defs/dtype"})"},
    {ValueKind::dims, "a dim or a list of dims (labels or positions)", takes_scalar | takes_list,
     R"({"$ref": "#/$defs/dims"})"},
    {ValueKind::expression, "an expression such as h = relu(x)", takes_scalar,
     R"({"type": "string"})"},
    {ValueKind::initializer, "an initializer: a word or a one-key map", takes_scalar | takes_map,
     R"({"$ref": "#/$defs/initializer"})"},
    {ValueKind::optimizer, "an optimizer: a word or a one-key map", takes_scalar | takes_map,
     R"({"$ref": "#/$defs/optimizer"})"},
    {ValueKind::optimizers, "a list of optimizers and transformations", takes_list,
     R"({"type": "array", "items": {"$ref": "#/$defs/optimizer"}})"},
    {ValueKind::schedules, "a list of schedules", takes_list,
     R"({"type": "array", "items": {"$ref": "#/$defs/schedule"}})"},
    {ValueKind::step_scales, "a map of steps to factors", takes_map,
     R"({"type": "object", "additionalProperties": {"type": "number"}})"},
    {ValueKind::wholes, "a list of whole numbers", takes_list,
     R"({"type": "array", "items": {"type": "integer", "minimum": 0}})"},
    {ValueKind::loss, "a loss: a word or a one-key map", takes_scalar | takes_map,
     R"({"$ref": "#/$defs/loss"})"},
    {ValueKind::targets, "an input's name, or shift(INPUT)", takes_scalar, R"({"type": "string"})"},
    {ValueKind::labels, "a map of the block's labels to others", takes_map,
     R"({"type": "object", "additionalProperties": {"type": "string"}})"},
    {ValueKind::rotary, "the base of the frequencies, or {base: 10000}", takes_scalar | takes_map,
     R"({"anyOf": [{"type": "number"}, {"type": "object", "properties": {"base": {"type": "number"}},)"
     R"( "additionalProperties": false}]})"},
    {ValueKind::layers, "a list of layers", takes_list,
     R"({"type": "array", "items": {"$ref": "#/$defs/layer"}})"},
    {ValueKind::blocks, "a map of blocks by name", takes_map,
     R"({"type": "object", "additionalProperties": {"$ref": "#/$defs/block"}})"},
    {ValueKind::sizes, "a map of sizes by name", takes_map,
     R"({"type": "object", "additionalProperties": {"$ref": "#/$defs/size"}})"},
    {ValueKind::size_sets, "a map of size sets by name", takes_map,
     R"({"type": "object", "additionalProperties":)"
     R"( {"type": "object", "additionalProperties": {"$ref": "#/$defs/size"}}})"},
    {ValueKind::types, "a map of types by name", takes_map,
     R"({"type": "object", "additionalProperties": {"$ref": "#/$defs/type"}})"},
    {ValueKind::outputs, "a map of types by name, or a list of names",
     takes_scalar | takes_list | takes_map,
     R"({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}},)"
     R"( {"type": "object", "additionalProperties":)"
     R"( {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/type"}]}}]})"},
    {ValueKind::specs, "a map of specs by parameter name", takes_map,
     R"({"type": "object", "additionalProperties": {"$ref": "#/$defs/spec"}})"},
    {ValueKind::block_arguments, "a map of arguments with their defaults", takes_map,
     R"({"type": "object", "additionalProperties":)"
     R"( {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/count"}]}})"},
    {ValueKind::settings, "a map of dotted paths to values", takes_map, R"({"type": "object"})"},
    {ValueKind::table, "a map", takes_map, R"({"type": "object"})"},
    {ValueKind::word_or_table, "a word or a map", takes_scalar | takes_map,
     R"({"type": ["string", "object"]})"},
    {ValueKind::mesh, "a map of mesh axes to their sizes", takes_map,
     R"({"type": "object", "additionalProperties": {"type": ["integer", "string"], "minimum": -1}})"},
    {ValueKind::rules, "a list of pairs [logical axis, mesh axes]", takes_list,
     R"({"type": "array", "items": {"$ref": "#/$defs/rule"}})"},
    {ValueKind::part_rules, "a map of rules by part", takes_map,
     R"({"$ref": "#/$defs/part_rules"})"},
    {ValueKind::arrays, "a map of types by array name", takes_map,
     R"({"type": "object", "additionalProperties": {"$ref": "#/$defs/array_type"}})"},
    {ValueKind::step_size, "a number, a schedule or the word schedule", takes_scalar | takes_map,
     R"({"anyOf": [{"type": "number"}, {"$ref": "#/$defs/schedule"}, {"const": "schedule"}]})"},
    {ValueKind::path_rules, "a list of pairs [glob, spec]", takes_list,
     R"({"type": "array", "items": {"$ref": "#/$defs/path_rule"}})"},
    {ValueKind::rule_sets, "a map of rule sets by name", takes_map,
     R"({"type": "object", "additionalProperties": {"$ref": "#/$defs/rule_set"}})"},
    {ValueKind::word_or_ids, "a word or a list of device ids", takes_scalar | takes_list,
     R"({"type": ["string", "array"]})"},
    {ValueKind::devices, "a device set such as cpu-8", takes_scalar,
     R"({"type": ["string", "integer"]})"},
    {ValueKind::finding_levels, "a map of findings to their levels", takes_map,
     R"({"type": "object", "additionalProperties":)"
     R"( {"enum": ["off", "note", "warn", "warning", "error"]}})"},
    {ValueKind::bytes, "a number of bytes such as 16 GiB", takes_scalar,
     R"({"type": ["integer", "string"], "minimum": 0})"},
    {ValueKind::jobs, "a list of jobs", takes_list,
     R"({"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/job"}})"},
    {ValueKind::job_rules, "a rules file, a list of them, or {files, merge}",
     takes_scalar | takes_list | takes_map,
     R"({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}},)"
     R"( {"$ref": "#/$defs/layered_rules"}]})"},
    {ValueKind::job_sizes, "a size set's name, or a map of sizes", takes_scalar | takes_map,
     R"({"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties":)"
     R"( {"type": ["integer", "string"]}}]})"},
    {ValueKind::forbidden_collectives, "a list of {kind, axis}", takes_list,
     R"({"type": "array", "items": {"$ref": "#/$defs/forbidden_collective"}})"},
    {ValueKind::required_specs, "a list of {path, spec}", takes_list,
     R"({"type": "array", "items": {"$ref": "#/$defs/required_spec"}})"},
    {ValueKind::integer, "a whole number", takes_scalar, R"({"type": "integer"})"},
    {ValueKind::integers, "a whole number or a list of them", takes_scalar | takes_list,
     R"({"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]})"},
    {ValueKind::shape, "a list of dims such as [batch, heads, head_dim=8]", takes_list,
     R"({"type": "array", "items": {"type": ["string", "integer"]}})"},
    {ValueKind::padding, "same, valid, or a list of [before, behind]", takes_scalar | takes_list,
     R"({"anyOf": [{"enum": ["same", "valid"]}, {"type": "array", "items":)"
     R"( {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "integer"}}}]})"},
    {ValueKind::pairs, "a list of pairs of whole numbers", takes_list,
     R"({"type": "array", "items":)"
     R"( {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "integer"}}})"},
    {ValueKind::spec_or_specs, "a spec for all, or a list of specs of mesh axes",
     takes_scalar | takes_list,
     R"({"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/spec"}}]})"},
}};

constexpr bool rows_in_enum_order() {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].kind != static_cast<ValueKind>(i)) return false;
  }
  return true;
}
static_assert(rows_in_enum_order(), "the table lists every ValueKind once, in enum order");

}  // namespace

std::span<const ValueKindRow> value_kinds() { return kinds; }

const ValueKindRow& row_of(ValueKind kind) {
  SHARD_CHECK(static_cast<std::size_t>(kind) < kinds.size(), "a ValueKind is a row of the table");
  return kinds[static_cast<std::size_t>(kind)];
}

const KeyRow* KeyTable::find(std::string_view key) const {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const KeyRow& row) { return row.name == key; });
  return found == rows.end() ? nullptr : &*found;
}

std::vector<std::string> KeyTable::valid_keys() const {
  std::vector<std::string> names;
  for (const KeyRow& row : rows) {
    if (row.not_yet.empty()) names.emplace_back(row.name);
  }
  return names;
}

std::vector<std::string> valid_names(std::span<const KeyTable> tables) {
  std::vector<std::string> names;
  for (const KeyTable& table : tables) {
    if (table.not_yet.empty()) names.emplace_back(table.name);
  }
  return names;
}

const KeyTable* find_table(std::span<const KeyTable> tables, std::string_view name) {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const KeyTable& table) { return table.name == name; });
  return found == tables.end() ? nullptr : &*found;
}

}  // namespace shard
