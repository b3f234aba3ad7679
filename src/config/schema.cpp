#include <nlohmann/json.hpp>

#include "base/dtype.h"
#include "config/jobs_config.h"
#include "config/keys.h"
#include "config/load.h"

namespace shard {
namespace {

using Json = nlohmann::ordered_json;

Json word_list(std::span<const std::string_view> choices) {
  Json list = Json::array();
  for (const std::string_view word : choices) list.push_back(word);
  return list;
}

Json table_names(std::span<const KeyTable> tables) {
  Json list = Json::array();
  for (const KeyTable& table : tables) {
    if (table.not_yet.empty()) list.push_back(table.name);
  }
  return list;
}

Json reference(std::string_view definition) {
  return {{"$ref", "#/$defs/" + std::string(definition)}};
}

Json value_schema(const KeyRow& row) {
  if (row.kind == ValueKind::table) return reference(row.table->name);
  if (row.kind == ValueKind::word_or_table && row.table != nullptr) {
    return {{"anyOf", {{{"enum", word_list(row.choices)}}, reference(row.table->name)}}};
  }
  if (row.kind == ValueKind::word_or_table) {
    const Json word = {{"enum", word_list(row.choices)}};
    return {{"anyOf", {word, {{"type", "object"}, {"additionalProperties", word}}}}};
  }
  if (row.kind == ValueKind::word) return {{"enum", word_list(row.choices)}};
  if (row.kind == ValueKind::word_or_ids) {
    const Json ids = {{"type", "array"}, {"items", {{"type", "integer"}, {"minimum", 0}}}};
    return {{"anyOf", {{{"enum", word_list(row.choices)}}, ids}}};
  }
  if (row.kind == ValueKind::words) {
    const Json word = {{"enum", word_list(row.choices)}};
    return {{"anyOf", {word, {{"type", "array"}, {"items", word}}}}};
  }
  return Json::parse(row_of(row.kind).schema);
}

Json key_schema(const KeyRow& row) {
  Json schema = value_schema(row);
  std::string help(row.help);
  if (!row.unit.empty()) help += " (" + std::string(row.unit) + ")";
  if (!row.default_value.empty()) help += "; default " + std::string(row.default_value);
  schema["description"] = help;
  return schema;
}

Json table_schema(const KeyTable& table) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const KeyRow& row : table.rows) {
    if (!row.not_yet.empty()) continue;
    properties[std::string(row.name)] = key_schema(row);
    if (row.is_required) required.push_back(row.name);
  }
  Json schema = {{"type", "object"}, {"description", table.help}, {"properties", properties}};
  if (!required.empty()) schema["required"] = required;
  schema["additionalProperties"] = table.is_open;
  return schema;
}

// `dense: hidden` or `dense: {features: hidden}`.
Json argument_schema(const KeyTable& table) {
  Json forms = Json::array();
  const KeyRow* main = table.find(table.main_key);
  bool takes_nothing = true;
  for (const KeyRow& row : table.rows) takes_nothing = takes_nothing && !row.is_required;
  if (main != nullptr) forms.push_back(value_schema(*main));
  if (takes_nothing) forms.push_back({{"type", "null"}});
  forms.push_back(table_schema(table));
  return {{"description", table.help}, {"anyOf", forms}};
}

Json calls_schema(std::span<const KeyTable> tables) {
  Json properties = Json::object();
  for (const KeyTable& table : tables) {
    if (table.not_yet.empty()) properties[std::string(table.name)] = argument_schema(table);
  }
  const Json map = {{"type", "object"},
                    {"properties", properties},
                    {"minProperties", 1},
                    {"maxProperties", 1},
                    {"additionalProperties", false}};
  return {{"anyOf", {{{"enum", table_names(tables)}}, map}}};
}

// Ops and blocks of the file are not known here, so other words are allowed.
Json layer_schema() {
  Json schema = calls_schema(layer_tables());
  schema["anyOf"][0] = {{"type", "string"}};
  schema["anyOf"][1]["additionalProperties"] = true;
  return schema;
}

Json block_schema() {
  const Json list = Json::parse(row_of(ValueKind::layers).schema);
  return {{"anyOf", {list, table_schema(block_table())}}};
}

Json dtype_schema() {
  Json list = Json::array();
  for (const DTypeInfo& row : shard::dtype_table()) list.push_back(row.name);
  for (const DTypeInfo& row : shard::dtype_table()) {
    if (row.name != row.numpy_name) list.push_back(row.numpy_name);
  }
  return {{"enum", list}};
}

const char* const simple_definitions = R"({
  "size": {"description": "a number, another size, or a product such as heads * head_dim",
           "anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]},
  "count": {"description": "a number or a size's name",
            "anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]},
  "spec": {"description": "a list is logical axes; P(...) and the texts of XLA and Shardy are mesh axes; null is unannotated",
           "anyOf": [{"type": "null"},
                     {"type": "string", "pattern": "^(P\\(.*\\)|None|\\{.*\\}|(#sdy\\.sharding)?<.*>)$"},
                     {"type": "array", "items": {"type": ["string", "null"]}}]},
  "type": {"description": "f32[batch@data, embed], bf16[embed=4096]; a list of dims is f32",
           "anyOf": [{"type": "string", "pattern": "^[a-z0-9]+\\[.*\\]$"},
                     {"type": "array", "items": {"type": "string"}}]},
  "array_type": {"description": "bf16[4096, 1024], bf16[embed=4096, mlp=1024], f32[4096@fsdp]",
                 "anyOf": [{"type": "string", "pattern": "^[a-z0-9]+\\[.*\\]$"},
                           {"type": "array", "items": {"type": ["string", "integer"]}}]},
  "dims": {"description": "labels or positions",
           "anyOf": [{"type": ["string", "integer"]},
                     {"type": "array", "items": {"type": ["string", "integer"]}}]}
})";

const char* const rule_definitions = R"({
  "rule": {"description": "[logical axis, mesh axes]: a name, a list, UNCONSTRAINED or null",
           "type": "array", "minItems": 2, "maxItems": 2,
           "prefixItems": [{"type": "string"},
                           {"anyOf": [{"type": ["string", "null"]},
                                      {"type": "array", "items": {"type": "string"}}]}]},
  "path_rule": {"description": "[glob of array paths, spec]",
                "type": "array", "minItems": 2, "maxItems": 2,
                "prefixItems": [{"type": "string"}, {"$ref": "#/$defs/spec"}]},
  "part_rules": {"type": "object",
                 "propertyNames": {"enum": ["inputs", "params", "activations", "gradients",
                                            "optimizer", "outputs"]},
                 "additionalProperties": {"type": "array", "items": {"$ref": "#/$defs/rule"}}}
})";

/// A list of arrays has no keys of a program.
Json without_program_keys() {
  Json properties = Json::object();
  for (const KeyRow& row : model_table().rows) {
    if (arrays_table().find(row.name) == nullptr) properties[std::string(row.name)] = false;
  }
  return {{"properties", properties}};
}

Json file_schema(const KeyTable& table) {
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "shard-plan: " + std::string(table.what)}};
  schema.update(table_schema(table));
  return schema;
}

}  // namespace

std::string model_schema() {
  Json schema = file_schema(model_table());
  // What `base` brings need not be repeated.
  schema.erase("required");
  Json definitions = Json::parse(simple_definitions);
  definitions["dtype"] = dtype_schema();
  for (const KeyRow& row : model_table().rows) {
    if (row.table != nullptr) definitions[std::string(row.table->name)] = table_schema(*row.table);
  }
  definitions["initializer"] = calls_schema(initializer_tables());
  definitions["optimizer"] = calls_schema(optimizer_tables());
  definitions["schedule"] = calls_schema(schedule_tables());
  definitions["path_rule"] = Json::parse(rule_definitions)["path_rule"];
  definitions["loss"] = calls_schema(loss_tables());
  definitions["layer"] = layer_schema();
  definitions["block"] = block_schema();
  for (const char* form : {"arrays", "from"}) {
    schema["dependentSchemas"][form] = without_program_keys();
  }
  schema["$defs"] = definitions;
  return schema.dump(2) + "\n";
}

std::string rules_schema() {
  Json schema = file_schema(rules_table());
  schema.erase("required");
  Json definitions = Json::parse(rule_definitions);
  definitions["spec"] = Json::parse(simple_definitions)["spec"];
  definitions["rule_set"] = table_schema(rule_set_table());
  schema["$defs"] = definitions;
  return schema.dump(2) + "\n";
}

std::string jobs_schema() {
  Json schema = file_schema(jobs_table());
  Json definitions = Json::object();
  for (const KeyTable* table :
       {&job_table(), &layered_rules_table(), &policy_table(), &replication_table(),
        &forbidden_collective_table(), &required_spec_table()}) {
    definitions[std::string(table->name)] = table_schema(*table);
  }
  definitions["spec"] = Json::parse(simple_definitions)["spec"];
  schema["$defs"] = definitions;
  return schema.dump(2) + "\n";
}

}  // namespace shard
