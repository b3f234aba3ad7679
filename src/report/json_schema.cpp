#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "report/json.h"
#include "report/layout_schema.h"
#include "report/output_keys.h"
#include "report/semantics.h"
#include "report/view_schema.h"

namespace shard {
namespace {

using Json = nlohmann::ordered_json;

Json type_json(std::string_view type) {
  const auto bar = type.find('|');
  if (bar == std::string_view::npos) return type;
  return Json::array({type.substr(0, bar), type.substr(bar + 1)});
}

/// The schema node at `path` below `root`, made on the way: objects by name, lists by `[]`.
Json& node_at(Json& root, std::string_view path) {
  Json* node = &root;
  while (!path.empty()) {
    if (path.starts_with("[]")) {
      path.remove_prefix(2);
      node = &(*node)["items"];
    } else {
      if (path.starts_with('.')) path.remove_prefix(1);
      const std::size_t end = std::min(path.find('.'), path.find('['));
      const std::string key(path.substr(0, end));
      path.remove_prefix(std::min(end, path.size()));
      if (!node->contains("properties")) {
        // All members at once: an ordered object moves its members when it grows.
        if (!node->contains("type")) (*node)["type"] = "object";
        (*node)["properties"] = Json::object();
        (*node)["required"] = Json::array();
        (*node)["additionalProperties"] = false;
      }
      Json& properties = (*node)["properties"];
      if (!properties.contains(key)) (*node)["required"].push_back(key);
      node = &properties[key];
    }
  }
  return *node;
}

void add_keys(Json& root, const std::string& prefix, std::span<const OutputKey> rows) {
  for (const OutputKey& row : rows) {
    Json& node = node_at(root, prefix + row.path);
    node["type"] = type_json(row.type);
    if (*row.help != '\0') node["description"] = row.help;
  }
}

/// Takes a key that is not always there out of those that an object must have.
void make_optional(Json& object, std::string_view key) {
  Json kept = Json::array();
  for (const Json& one : object["required"]) {
    if (one != key) kept.push_back(one);
  }
  object["required"] = std::move(kept);
}

/// Arrays of answers of `explain` below `prefix`.
void add_answers(Json& root, const std::string& prefix) {
  add_keys(root, prefix, output_keys::array);
  add_keys(root, prefix, output_keys::answer);
}

Json document_schema(const std::string& command) {
  Json schema;
  schema["title"] = "shard-plan " + command + " --format json";
  add_keys(schema, "", output_keys::head);
  schema["properties"]["schema"]["const"] = json_schema_number;
  schema["properties"]["command"]["const"] = command;
  return schema;
}

Json explain_schema() {
  Json explain = document_schema("explain");
  add_keys(explain, "", output_keys::explain);
  add_keys(explain, "", output_keys::delta);
  add_answers(explain, "arrays[].");
  add_keys(explain, "collectives[].", output_keys::collective_answer);
  add_keys(explain, "collectives[].", output_keys::asked_collective);
  add_answers(explain, "lines[].arrays[].");
  add_keys(explain, "lines[].collectives[].", output_keys::collective_answer);
  add_keys(explain, "lines[].findings[].", output_keys::finding);
  return explain;
}

/// Of a plan, or of the table.
std::vector<Json> findings_schemas() {
  Json of_plan = document_schema("findings");
  add_keys(of_plan, "", output_keys::findings);
  add_keys(of_plan, "findings[].", output_keys::finding);
  Json list;
  list["title"] = "shard-plan findings --list --format json";
  add_keys(list, "", output_keys::kind);
  list["properties"]["schema"]["const"] = json_schema_number;
  list["properties"]["command"]["const"] = "findings";
  return {of_plan, list};
}

}  // namespace

std::string json_output_schema() {
  constexpr int indent = 2;
  Json plan = document_schema("plan");
  add_keys(plan, "", output_keys::plan);
  add_keys(plan, "", output_keys::delta);
  add_keys(plan, "state.arrays[].", output_keys::array);
  add_keys(plan, "functions[].", output_keys::function);
  add_keys(plan, "functions[].values[].", output_keys::array);
  add_keys(plan, "functions[].outputs[].", output_keys::array);
  Json show = document_schema("show");
  add_keys(show, "arrays[].", output_keys::array);
  add_keys(show, "arrays[].", output_keys::piece);
  add_keys(show, "arrays[].", output_keys::shown);
  add_keys(show, "", output_keys::show);
  show["properties"]["arrays"]["type"] = "array";
  make_optional(show, "mesh_devices");
  for (const char* key : {"uneven", "indices"}) {
    make_optional(show["properties"]["arrays"]["items"], key);
  }
  for (const char* key : {"slice", "host", "chip", "core"}) {
    make_optional(show["properties"]["mesh_devices"]["items"], key);
  }
  Json run = document_schema("run");
  add_keys(run, "", output_keys::run);
  add_keys(run, "functions[].outputs[].", output_keys::array);
  Json schema;
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "What shard-plan writes with --format json";
  schema["oneOf"] = Json::array({plan, show, run, explain_schema()});
  for (Json& one : findings_schemas()) schema["oneOf"].push_back(std::move(one));
  for (const std::string& text : view_schemas()) schema["oneOf"].push_back(Json::parse(text));
  for (const std::string& text : layout_schemas()) {
    schema["oneOf"].push_back(Json::parse(text));
  }
  return schema.dump(indent) + '\n';
}

}  // namespace shard
