// JAX's own answers in explicit mode, one op at a time: the types of its results or the error.

#include <doctest/doctest.h>

#include <iostream>
#include <map>
#include <set>

#include "recorded_types.h"

using namespace shard;
using namespace shard::tests;

namespace {

std::string joined_types(const Mesh& mesh, const ShardedTypes& types) {
  std::string text;
  for (const ShardedType& type : types) text += (text.empty() ? "" : " ") + type_text(mesh, type);
  return text;
}

std::string recorded_types(const json& recorded) {
  std::string text;
  for (const json& one : recorded.value("out", json::array())) {
    text += (text.empty() ? "" : " ") + one.at("type").get<std::string>();
  }
  return text;
}

/// A whole program of named inputs; its result is `y`.
ShardedTypes type_composition(const Mesh& mesh, const json& recorded) {
  TypedProgram program;
  ShardedTypes inputs;
  for (const auto& [name, written] : recorded.at("inputs").items()) {
    program.arguments.push_back(name);
    inputs.push_back(recorded_type(mesh, written));
  }
  for (const json& step : recorded.at("steps")) program.steps.push_back(typed_step(step));
  program.results = {"y"};
  return type_program(mesh, program, inputs);
}

std::string type_answer(const json& recorded) {
  const Mesh mesh = typed_mesh(recorded.at("mesh"));
  if (!recorded.contains("op")) return joined_types(mesh, type_composition(mesh, recorded));
  ShardedTypes operands;
  for (const json& written : recorded.at("inputs")) {
    operands.push_back(recorded_type(mesh, written));
  }
  const Parameters parameters = parameters_of(recorded);
  std::optional<PartitionSpec> out;
  if (const auto written = recorded.find("out_sharding");
      written != recorded.end() && !written->is_null()) {
    out = written_spec(*written);
  }
  return joined_types(
      mesh, type_op({mesh, recorded.at("op").get_ref<const std::string&>(), operands, parameters,
                     out ? &*out : nullptr, recorded.value("eager", false)}));
}

struct Count {
  int matched = 0;
  int total = 0;
};

/// Families in which every case has to agree.
const std::set<std::string> complete_families = {
    "dot_general", "reshape",   "gather", "control", "elementwise", "select",  "transpose",
    "broadcast",   "unreduced", "slice",  "pad",     "mode",        "scatter", "cumulative"};

}  // namespace

TEST_CASE("the types of single ops are those that JAX gives") {
  const std::optional<json> recorded = read_goldens("explicit/ops.json");
  if (!recorded) return;
  Conformance conformance("explicit/ops.json");
  std::map<std::string, Count> families;
  std::map<std::string, Count> lax_ops;
  for (const json& one : *recorded) {
    const int before = conformance.matched();
    const std::string op = one.value("op", "");
    compare_typing(conformance, one.at("id").get<std::string>() + " " + op, one,
                   recorded_types(one), [&] { return type_answer(one); });
    for (Count* count : {&families[one.at("family").get<std::string>()], &lax_ops[op]}) {
      count->matched += conformance.matched() - before;
      ++count->total;
    }
  }
  for (const auto& [family, count] : families) {
    std::cout << "  " << family << " " << count.matched << "/" << count.total << "\n";
    CAPTURE(family);
    if (complete_families.contains(family)) CHECK(count.matched == count.total);
  }
  for (const auto& [op, count] : lax_ops) {
    CAPTURE(op);
    const bool has_row = typing_row(op) != nullptr && op.starts_with("lax.");
    if (has_row) CHECK(count.matched == count.total);
  }
  CHECK(conformance.matched() * 100 >= conformance.total() * 95);
}
