// Flax Linen's own answers: `logical_to_mesh_axes`, the same on trees, and what boxed parameters
// say about themselves.

#include <doctest/doctest.h>

#include "recorded_rules.h"
#include "shard/resolve.h"

using namespace shard;
using namespace shard::tests;

namespace {

using Answer = Read<PartitionSpec>;

std::string text_of(const Answer& answer) {
  return answer ? to_string(*answer.value) : answer.refusal;
}

/// Names through the rules; `none` for null names.
Answer resolved(const json& names, const json& rules) {
  const auto read = read_names(names);
  if (!read) return {{}, read.refusal};
  const LogicalSpec* logical = read.value->logical();
  if (logical == nullptr) return {{}, "none"};
  const auto list = read_recorded_rules(rules);
  if (!list) return {{}, list.refusal};
  if (!repeated_names(*logical).empty()) return {{}, "refused: duplicate-logical-name"};
  PartitionSpec spec;
  spec.entries = logical_to_mesh_axes(*logical, *list.value).entries;
  return {std::move(spec), ""};
}

/// The answer on a mesh, whatever the sizes of the array are.
std::string on_mesh(const json& mesh, const Answer& answer) {
  if (!answer) return answer.refusal;
  const Shape shape(answer.value->entries.size(), 0);
  return placed(mesh_of(mesh), *answer.value, shape, Part::activations);
}

void compare_axes(Conformance& conformance, const json& one) {
  const std::string id = one.at("id").get<std::string>();
  const json& names = one.at("in").at("names");
  const json& rules = one.at("in").at("rules");
  const json& out = one.at("out");
  if (names.is_object() && names.contains("unreduced")) {
    return conformance.leave_out("logical names have no unreduced axes");
  }
  const bool is_unhashable = out.contains("error") && out.at("error").at("class") == "TypeError";
  if (is_unhashable && has_python_list(names)) return conformance.leave_out(python_list);
  const std::string found = text_of(resolved(names, rules));
  const std::string why =
      names.is_null() ? "" : first_of({nonsense_in_names(names), nonsense_in_rules(rules)});
  if (!why.empty()) return conformance.expect_refused(id, found, why);
  conformance.expect(id, found, recorded_answer(out.contains("spec") ? out.at("spec") : out));
}

/// The leaves of a recorded tree in Python's order of keys: specs, nulls and texts.
void add_leaves(const json& tree, std::vector<json>& leaves) {
  const bool is_leaf = tree.is_object() ? tree.contains("P") : !tree.is_array();
  if (is_leaf) return leaves.push_back(tree);
  if (tree.contains("list")) return add_leaves(tree.at("list"), leaves);
  for (const json& item : tree) add_leaves(item, leaves);
}

std::string tree_answer(const json& asked) {
  std::vector<json> leaves;
  add_leaves(asked.at("tree"), leaves);
  std::vector<Answer> answers;
  for (const json& leaf : leaves) {
    answers.push_back(resolved(leaf, asked.at("rules")));
    if (answers.back().refusal.starts_with("refused")) return answers.back().refusal;
  }
  std::string all;
  for (const Answer& answer : answers) {
    const std::string text =
        asked.contains("mesh") ? on_mesh(asked.at("mesh"), answer) : text_of(answer);
    if (text.starts_with("refused")) return text;
    all += text + " ";
  }
  return all;
}

void compare_tree(Conformance& conformance, const json& one) {
  const json& out = one.at("out");
  const std::string id = one.at("id").get<std::string>();
  std::vector<json> leaves;
  add_leaves(one.at("in").at("tree"), leaves);
  const std::string found = tree_answer(one.at("in"));
  const auto is_text = [](const json& leaf) { return leaf.is_string(); };
  if (std::any_of(leaves.begin(), leaves.end(), is_text)) {
    return conformance.expect_refused(id, found, "the names are one text");
  }
  const std::string why = nonsense_in_rules(one.at("in").at("rules"));
  if (!why.empty()) return conformance.expect_refused(id, found, why);
  if (out.contains("error")) return conformance.expect(id, found, recorded_answer(out));
  std::vector<json> recorded;
  add_leaves(out.at("tree"), recorded);
  std::string expected;
  for (const json& leaf : recorded) {
    expected += spec_text(leaf.is_null() ? leaf : leaf.at("P")) + " ";
  }
  conformance.expect(id, found, expected);
}

/// What unboxing a parameter does to its value: a constraint by its names, through the rules where
/// they are logical.
std::string unboxed(const json& asked) {
  const bool has_mesh = asked.value("mesh_in_box", false) || asked.value("ambient", false);
  if (!has_mesh) return "none";
  if (asked.at("box") == "Partitioned") {
    return on_mesh(asked.at("mesh"), read_recorded_spec(asked.at("names")));
  }
  return constrained(asked, rules_in_force(asked), "AXIS_IS_UNSHARDED");
}

void compare_boxed(Conformance& conformance, const json& one) {
  const json& asked = one.at("in");
  const json& out = one.at("out");
  const Answer own = read_recorded_spec(asked.at("names"));
  const std::string found =
      text_of(own) + " | " + on_mesh(asked.at("mesh"), own) + " | " +
      on_mesh(asked.at("mesh"), resolved(asked.at("names"), rules_in_force(asked))) + " | " +
      unboxed(asked);
  std::string expected;
  for (const char* const field :
       {"get_partition_spec", "get_sharding", "logical_to_mesh_sharding", "unbox"}) {
    expected += (expected.empty() ? "" : " | ") + recorded_answer(out.at(field));
  }
  conformance.expect(one.at("id").get<std::string>(), found, expected);
}

/// An array without names is whole everywhere.
void compare_leaf(Conformance& conformance, const json& one) {
  const json& out = one.at("out");
  if (out.at("get_partition_spec").is_null()) {
    return conformance.leave_out("a leaf of our states is an array");
  }
  const Mesh mesh({{MeshAxis("data"), 2}});
  const RulesConfig rules;
  Diagnostics diagnostics;
  Resolver resolver(rules, mesh, diagnostics);
  const SpecConfig unannotated;
  const TensorType type{DType::f32, {8, 8}};
  const Resolved answer = resolver.resolve({unannotated, type, Part::params, "x"});
  conformance.expect(
      one.at("id").get<std::string>(),
      to_string(answer.spec) + " " + spec_text(mesh, answer.sharding),
      spec_text(out.at("get_partition_spec")) + " " + spec_text(out.at("get_sharding")));
}

/// Which rules hold inside a `with` of Python's, and after it.
void compare_context(Conformance& conformance, const json&) {
  conformance.leave_out("rules are given with a question, there are none around it");
}

void compare_linen(const std::string& kind, CompareOne compare_one) {
  compare_kind("semantics/rules_linen.json", kind, compare_one);
}

}  // namespace

TEST_CASE("logical axes resolve as Linen resolves them") { compare_linen("axes", compare_axes); }

TEST_CASE("trees of logical axes resolve leaf by leaf as in Linen") {
  compare_linen("tree", compare_tree);
}

TEST_CASE("boxed parameters say of themselves what they say in Linen") {
  compare_linen("boxed", compare_boxed);
}

TEST_CASE("arrays without a box are whole as in Linen") {
  compare_linen("leaf", compare_leaf);
  compare_linen("rules_context", compare_context);
}
