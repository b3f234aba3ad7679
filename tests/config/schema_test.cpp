#include <doctest/doctest.h>

#include <algorithm>

#include "config/keys.h"
#include "config/load.h"
#include "text/read.h"
#include "text/write_yaml.h"

namespace shard {
namespace {

std::vector<std::string> keys_of(const TextNode& map) {
  std::vector<std::string> keys;
  for (const TextEntry& entry : map.entries) keys.push_back(entry.key);
  return keys;
}

// The node at a path of keys and indices; fails the test when there is none.
const TextNode& at(const TextNode& root, const std::vector<std::string>& path) {
  const TextNode* node = &root;
  for (const std::string& step : path) {
    CAPTURE(step);
    const TextNode* next =
        node->is_sequence() ? &node->items.at(std::stoul(step)) : node->find(step);
    REQUIRE(next != nullptr);
    node = next;
  }
  return *node;
}

std::string shown(const TextNode& root, const std::vector<std::string>& path) {
  return write_yaml_flow(at(root, path));
}

// Every "$ref" in the tree, in order.
void collect_references(const TextNode& node, std::vector<std::string>& found) {
  for (const TextNode& item : node.items) collect_references(item, found);
  for (const TextEntry& entry : node.entries) {
    if (entry.key == "$ref") found.push_back(entry.value.scalar);
    collect_references(entry.value, found);
  }
}

void check_references(const TextNode& schema) {
  std::vector<std::string> references;
  collect_references(schema, references);
  const std::vector<std::string> defined = keys_of(*schema.find("$defs"));
  for (const std::string& reference : references) {
    CAPTURE(reference);
    REQUIRE(reference.starts_with("#/$defs/"));
    CHECK(std::find(defined.begin(), defined.end(), reference.substr(8)) != defined.end());
  }
}

}  // namespace

TEST_CASE("the schemas name their draft and close their keys") {
  CHECK(model_schema().starts_with(R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "shard-plan: a model file",
  "type": "object",
  "description": "a model as one device would run it",
  "properties": {
)"));
  const TextNode rules = read_json("rules", rules_schema());
  CHECK(shown(rules, {"title"}) == "\"shard-plan: a rules file\"");
  CHECK(shown(rules, {"additionalProperties"}) == "false");
}

TEST_CASE("the schemas have the supported keys of the tables and no others") {
  const TextNode model = read_json("model", model_schema());
  CHECK(keys_of(at(model, {"properties"})) == model_table().valid_keys());
  const TextNode rules = read_json("rules", rules_schema());
  CHECK(keys_of(at(rules, {"properties"})) == rules_table().valid_keys());
  const TextNode& layers = at(model, {"$defs", "layer", "anyOf", "1", "properties"});
  CHECK(keys_of(layers) == valid_names(layer_tables()));
  const TextNode& optimizers = at(model, {"$defs", "optimizer", "anyOf", "1", "properties"});
  CHECK(keys_of(optimizers) == valid_names(optimizer_tables()));
}

TEST_CASE("every reference in the schemas leads somewhere") {
  check_references(read_json("model", model_schema()));
  check_references(read_json("rules", rules_schema()));
}

TEST_CASE("a key of the schema tells its help and its default") {
  const TextNode model = read_json("model", model_schema());
  CHECK(shown(model, {"properties", "naming"}) ==
        "{enum: [\"linen\", \"nnx\", \"plain\"], "
        "description: \"how unnamed layers are named; default linen\"}");
  CHECK(shown(model, {"$defs", "train", "required"}) == "[\"loss\", \"optimizer\"]");
  CHECK(shown(model, {"$defs", "train", "properties", "returns"}) ==
        "{anyOf: [{enum: [\"state\", \"loss\", \"grads\", \"outputs\"]}, {type: \"array\", items: "
        "{enum: [\"state\", \"loss\", \"grads\", \"outputs\"]}}], "
        "description: \"what the step returns; default [state, loss]\"}");
  CHECK(shown(model, {"$defs", "layer", "anyOf", "1", "properties", "reshard", "anyOf", "0"}) ==
        "{$ref: \"#/$defs/spec\"}");
}

TEST_CASE("the schemas are the same each time") {
  CHECK(model_schema() == model_schema());
  CHECK(rules_schema() == rules_schema());
}

}  // namespace shard
