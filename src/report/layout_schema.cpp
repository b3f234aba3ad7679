#include "report/layout_schema.h"

namespace shard {
namespace {

constexpr const char* compare_schema =
    R"json({"title": "shard-plan compare --format json", "type": "object", "properties": {"schema": {
"type": "integer"}, "command": {"type": "string", "const": "compare"}, "semantics": {
"type": "string"}, "model": {"type": "string"}, "meshes": {"type": "array", "items": {
"type": "object", "properties": {"mesh": {"type": ["string", "null"],
"description": "null: each set on its own"}, "sets": {"type": "array",
"description": "the base first", "items": {"type": "object", "properties": {"title": {
"type": "string"}, "rules": {"type": "string"}, "mesh": {"type": "string",
"description": "as --mesh takes it"}, "devices": {"type": "integer"},
"state_bytes_per_device": {"type": "integer"}, "bytes_by_role": {"type": "array", "items": {
"type": "object", "properties": {"role": {"type": "string"}, "bytes_per_device": {
"type": "integer"}}, "required": ["role", "bytes_per_device"],
"additionalProperties": false}}, "replicated_bytes_per_device": {"type": "integer",
"description": "that other devices hold too"}, "wire_bytes_per_step": {"type": ["integer",
"null"], "description": "null: not known"}, "collectives": {"type": ["array", "null"],
"description": "null: not known, the model is a list of arrays", "items": {"type": "object",
"properties": {"kind": {"type": "string",
"description": "all_reduce, all_gather, reduce_scatter, all_to_all, collective_permute, collective_broadcast or ragged_all_to_all"},
"mesh_axes": {"type": "string"}, "count_per_step": {"type": "integer"}, "payload_bytes": {
"type": "integer", "description": "of each"}, "wire_bytes_per_step": {"type": "integer",
"description": "of all, per device"}, "link": {"type": ["string", "null"],
"description": "inside node, ICI or DCN; null: the rules do not name the hardware"}},
"required": ["kind", "mesh_axes", "count_per_step", "payload_bytes", "wire_bytes_per_step",
"link"], "additionalProperties": false}}, "peak_bytes": {"type": ["integer", "null"],
"description": "null: not known"}, "errors": {"type": "integer"}, "warnings": {
"type": "integer"}, "fits": {"type": ["boolean", "null"],
"description": "null: not asked, or not known"}, "step_seconds": {"type": ["object", "null"],
"properties": {"mean": {"type": "number"}, "deviation": {"type": "number"}, "median": {
"type": "number"}, "minimum": {"type": "number"}, "runs": {"type": "integer"},
"steps_per_run": {"type": "integer"}}, "required": ["mean", "deviation", "median", "minimum",
"runs", "steps_per_run"], "additionalProperties": false}, "against_base": {"type": "object",
"properties": {"is_change": {"type": "boolean",
"description": "a spec, a type or a collective differs"}, "arrays": {"type": "array",
"items": {"type": "object", "properties": {"arrays": {"type": "array", "items": {
"type": "string"}}, "with_slots": {"type": "array",
"description": "optimizer slots that changed like them", "items": {"type": "string"}},
"before": {"type": ["object", "null"], "properties": {"type": {"type": "string"}, "spec": {
"type": "string", "description": "effective PartitionSpec"}, "bytes_per_device": {"type": [
"integer", "null"], "description": "null: the type is not known"}}, "required": ["type",
"spec", "bytes_per_device"], "additionalProperties": false}, "after": {"type": ["object",
"null"], "properties": {"type": {"type": "string"}, "spec": {"type": "string",
"description": "effective PartitionSpec"}, "bytes_per_device": {"type": ["integer", "null"],
"description": "null: the type is not known"}}, "required": ["type", "spec",
"bytes_per_device"], "additionalProperties": false}, "more_bytes_per_device": {
"type": "integer", "description": "of all of them"}}, "required": ["arrays", "with_slots",
"before", "after", "more_bytes_per_device"], "additionalProperties": false}}, "collectives": {
"type": "array", "items": {"type": "object", "properties": {"kind": {"type": "string"},
"mesh_axes": {"type": "string"}, "before": {"type": "array", "items": {"type": "object",
"properties": {"count_per_step": {"type": "integer"}, "payload_bytes": {"type": "integer"}},
"required": ["count_per_step", "payload_bytes"], "additionalProperties": false}}, "after": {
"type": "array", "items": {"type": "object", "properties": {"count_per_step": {
"type": "integer"}, "payload_bytes": {"type": "integer"}}, "required": ["count_per_step",
"payload_bytes"], "additionalProperties": false}}}, "required": ["kind", "mesh_axes",
"before", "after"], "additionalProperties": false}}}, "required": ["is_change", "arrays",
"collectives"], "additionalProperties": false}}, "required": ["title", "rules", "mesh",
"devices", "state_bytes_per_device", "bytes_by_role", "replicated_bytes_per_device",
"wire_bytes_per_step", "collectives", "peak_bytes", "errors", "warnings", "fits",
"step_seconds", "against_base"], "additionalProperties": false}}}, "required": ["mesh",
"sets"], "additionalProperties": false}}, "failures": {"type": "array",
"description": "why the exit code is 1", "items": {"type": "string"}}, "ok": {
"type": "boolean"}}, "required": ["schema", "command", "semantics", "model", "meshes",
"failures", "ok"], "additionalProperties": false})json";

constexpr const char* check_schema =
    R"json({"title": "shard-plan check --format json", "type": "object", "properties": {"schema": {
"type": "integer"}, "command": {"type": "string", "const": "check"}, "semantics": {
"type": "string"}, "against": {"type": "string",
"description": "a lock file or a revision; empty: policies alone"}, "outcomes": {
"type": "array", "description": "one per job and mesh", "items": {"type": "object",
"properties": {"job": {"type": "string", "description": "as in the lock file"}, "model": {
"type": "string"}, "rules": {"type": "string"}, "mesh": {"type": "string"}, "verdict": {
"type": "string", "description": "ok, failed or broken (could not be planned)"},
"state_bytes_per_device": {"type": ["integer", "null"]}, "state_bytes_per_device_before": {
"type": ["integer", "null"]}, "peak_bytes": {"type": ["integer", "null"]}, "causes": {
"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string",
"description": "changed, new, gone, collectives, peak, not-in-lock, not-checked, a policy's key or a finding's id"},
"subject": {"type": "string"}, "text": {"type": "string"}, "amount": {"type": "string"},
"fix": {"type": "string"}, "at": {"type": ["object", "null"], "properties": {"file": {
"type": "string"}, "line": {"type": "integer"}, "column": {"type": "integer"}}, "required": [
"file", "line", "column"], "additionalProperties": false}, "related": {"type": ["object",
"null"], "properties": {"file": {"type": "string"}, "line": {"type": "integer"}, "column": {
"type": "integer"}}, "required": ["file", "line", "column"], "additionalProperties": false}},
"required": ["id", "subject", "text", "amount", "fix", "at", "related"],
"additionalProperties": false}}, "mistakes": {"type": "array",
"description": "why it could not be planned", "items": {"type": "object", "properties": {
"id": {"type": "string"}, "message": {"type": "string"}, "fix": {"type": "string"}, "at": {
"type": ["object", "null"], "properties": {"file": {"type": "string"}, "line": {
"type": "integer"}, "column": {"type": "integer"}}, "required": ["file", "line", "column"],
"additionalProperties": false}}, "required": ["id", "message", "fix", "at"],
"additionalProperties": false}}}, "required": ["job", "model", "rules", "mesh", "verdict",
"state_bytes_per_device", "state_bytes_per_device_before", "peak_bytes", "causes",
"mistakes"], "additionalProperties": false}}, "ok": {"type": "boolean"}}, "required": [
"schema", "command", "semantics", "against", "outcomes", "ok"], "additionalProperties": false})json";

}  // namespace

std::vector<std::string> layout_schemas() { return {compare_schema, check_schema}; }

}  // namespace shard
