// JAX's own answers about derivatives and about transformer blocks in explicit mode: the type of
// every value and of every gradient, or the first error.

#include <doctest/doctest.h>

#include "recorded_types.h"
#include "shard/explicit_gradient.h"

using namespace shard;
using namespace shard::tests;

namespace {

/// The types of all values by their paths: `y/0/a` is `a` in the first branch of the step `y`.
class PathListener : public TypingListener {
 public:
  explicit PathListener(const Mesh& mesh) : mesh_(mesh) {}

  void begins(const TypedStep& step) override { path_.push_back(step.results.front()); }
  void enters(std::size_t branch) override { path_.push_back(std::to_string(branch)); }
  void leaves() override { path_.pop_back(); }
  void has(const std::string& name, const ShardedType& type) override {
    std::string path;
    for (const std::string& step : path_) path += step + "/";
    types[path + name] = type_text(mesh_, type);
  }

  json types = json::object();

 private:
  const Mesh& mesh_;
  std::vector<std::string> path_;
};

json expected_gradient(const json& recorded) {
  json expected = {{"types", recorded.at("types")}, {"grads", json::object()}};
  for (const auto& [name, gradient] : recorded.at("grads").items()) {
    expected["grads"][name] = gradient.is_object() ? gradient.at("type") : gradient;
  }
  expected["cotangent"] = recorded.at("cotangent_type");
  return expected;
}

/// Of our values those that were recorded.
json only_recorded(const json& ours, const json& recorded) {
  json kept = json::object();
  for (const auto& [name, type] : recorded.items()) kept[name] = ours.value(name, json("absent"));
  return kept;
}

struct Case {
  explicit Case(const json& recorded) : mesh(typed_mesh(recorded.at("mesh"))) {
    for (const auto& [name, written] : recorded.at("inputs").items()) {
      program.arguments.push_back(name);
      inputs.push_back(recorded_type(mesh, written));
    }
    for (const json& step : recorded.at("steps")) program.steps.push_back(typed_step(step));
    program.results = {recorded.at("result").get<std::string>()};
    if (const auto given = recorded.find("cotangent");
        given != recorded.end() && !given->is_null()) {
      cotangent = recorded_type(mesh, *given);
    }
  }

  Mesh mesh;
  TypedProgram program;
  ShardedTypes inputs;
  std::optional<ShardedType> cotangent;
};

std::string gradient_answer(const json& recorded) {
  const Case asked(recorded);
  PathListener listener(asked.mesh);
  const auto wanted = recorded.at("wrt").get<std::vector<std::string>>();
  const ShardedTypes gradients =
      gradient_types(asked.mesh, asked.program, asked.inputs, wanted,
                     asked.cotangent ? &*asked.cotangent : nullptr, &listener);
  json found = {{"grads", json::object()}};
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    found["grads"][wanted[k]] = type_text(asked.mesh, gradients[k]);
  }
  const ShardedType result = type_program(asked.mesh, asked.program, asked.inputs).front();
  found["cotangent"] = type_text(asked.mesh, cotangent_type(result));
  found["types"] = only_recorded(listener.types, recorded.value("types", json::object()));
  return found.dump();
}

void compare_file(const std::string& file) {
  const std::optional<json> recorded = read_goldens(file);
  if (!recorded) return;
  Conformance conformance(file);
  for (const json& one : *recorded) {
    const std::string expected = one.contains("error") ? "" : expected_gradient(one).dump();
    compare_typing(conformance, one.at("id").get<std::string>() + one.value("name", ""), one,
                   expected, [&] { return gradient_answer(one); });
  }
  CHECK(conformance.matched() == conformance.total());
}

}  // namespace

TEST_CASE("gradients have the types that JAX gives them") { compare_file("explicit/grad.json"); }

TEST_CASE("the values of a transformer block have the types that JAX gives them") {
  compare_file("explicit/blocks.json");
}
