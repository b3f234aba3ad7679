#include "report/view_schema.h"

namespace shard {
namespace {

constexpr const char* by_rule_schema =
    R"json({"title": "shard-plan plan --by-rule --format json", "type": "object", "properties": {
"schema": {"type": "integer"}, "command": {"type": "string", "const": "plan --by-rule"}, "semantics": {
"type": "string"}, "model": {"type": "string"}, "rules": {"type": "string",
"description": "the file they were read from"}, "by_rule": {"type": "array",
"description": "without rules, then with one rule more each time", "items": {"type": "object",
"properties": {"rule": {"type": ["integer", "null"],
"description": "number of the last one, from 1; null: none yet"}, "words": {"type": "string"},
"at": {"type": ["object", "null"], "properties": {"file": {"type": "string"}, "line": {
"type": "integer"}, "column": {"type": "integer"}}, "required": ["file", "line", "column"],
"additionalProperties": false}, "refused": {"type": ["string", "null"],
"description": "id of the first mistake where there is no plan"}, "collectives_per_step": {
"type": ["integer", "null"], "description": "executions; null: not known"},
"wire_bytes_per_step": {"type": ["integer", "null"], "description": "per device"},
"state_bytes_per_device": {"type": ["integer", "null"]}, "peak_bytes_per_device": {"type": [
"integer", "null"]}, "changes": {"type": "array",
"description": "against the last step that has a plan, in words", "items": {
"type": "string"}}}, "required": ["rule", "words", "at", "refused", "collectives_per_step",
"wire_bytes_per_step", "state_bytes_per_device", "peak_bytes_per_device", "changes"],
"additionalProperties": false}}}, "required": ["schema", "command", "semantics", "model",
"rules", "by_rule"], "additionalProperties": false})json";

constexpr const char* trace_schema =
    R"json({"title": "02-trace.json of --dump-stages --format json", "type": "object",
"properties": {"schema": {"type": "integer"}, "command": {"type": "string", "const": "trace"},
"function": {"type": "string", "description": "train_step or apply"}, "rules": {
"type": "array", "items": {"type": "object", "properties": {"rule": {"type": "string"}, "at": {
"type": ["object", "null"], "properties": {"file": {"type": "string"}, "line": {
"type": "integer"}, "column": {"type": "integer"}}, "required": ["file", "line", "column"],
"additionalProperties": false}, "events": {"type": "array", "items": {"type": "object",
"properties": {"axes": {"type": "string", "description": "logical axes"}, "dim": {
"type": "integer"}, "first_array": {"type": "string"}, "arrays": {"type": "integer",
"description": "with these axes"}, "lost": {"type": ["string", "null"],
"description": "why the rule does not decide the dim; null: it does"}}, "required": ["axes",
"dim", "first_array", "arrays", "lost"], "additionalProperties": false}}}, "required": ["rule",
"at", "events"], "additionalProperties": false}}, "propagation": {"type": "array",
"description": "dims that grew, in order", "items": {"type": "object", "properties": {"step": {
"type": "integer"}, "priority": {"type": "integer", "description": "of ops, 0 to 4"}, "value": {
"type": "string"}, "dim": {"type": "integer"}, "mesh_axes": {"type": "string"}, "along": {
"type": "string", "description": "label of the factor; may be empty"}, "through": {
"type": "string", "description": "the op"}, "from": {"type": "string"}}, "required": ["step",
"priority", "value", "dim", "mesh_axes", "along", "through", "from"],
"additionalProperties": false}}, "stayed_apart": {"type": "array",
"description": "axes that wanted to come and could not", "items": {"type": "object",
"properties": {"value": {"type": "string"}, "dim": {"type": "integer"}, "mesh_axes": {
"type": "string"}, "along": {"type": "string"}, "at_op": {"type": "string"}, "from": {
"type": "string"}, "why": {"type": "string"}}, "required": ["value", "dim", "mesh_axes",
"along", "at_op", "from", "why"], "additionalProperties": false}}}, "required": ["schema",
"command", "function", "rules", "propagation", "stayed_apart"],
"additionalProperties": false})json";

}  // namespace

std::vector<std::string> view_schemas() { return {by_rule_schema, trace_schema}; }

}  // namespace shard
