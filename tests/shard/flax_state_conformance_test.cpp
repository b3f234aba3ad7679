// Whole train states of the Flax guide's MLP, leaf by leaf: Linen's from a program, NNX's from a
// list of arrays, both with the optimizers' states and the resolver that `plan` uses.

#include <doctest/doctest.h>

#include "config/load.h"
#include "model/arrays_model.h"
#include "model/optimizer_state.h"
#include "model/stacked_spec.h"
#include "recorded_rules.h"
#include "shard/resolve_state.h"

using namespace shard;
using namespace shard::tests;

namespace {

struct OptimizerText {
  const char* recorded;  ///< the name in the recording
  const char* text;      ///< as our files have it
};

constexpr OptimizerText optimizers[] = {
    {"adam", "adam: 1e-3"},
    {"adam_schedule", "adam: {learning_rate: schedule}"},
    {"adamw", "adamw: 1e-3"},
    {"sgd", "sgd: 1e-2"},
    {"sgd_momentum", "sgd: {learning_rate: 1e-2, momentum: 0.9}"},
    {"adafactor", "adafactor: 1e-3"},
    {"adafactor_unfactored", "adafactor: {learning_rate: 1e-3, min_dim_size_to_factor: 4096}"},
    {"clip_adamw", "chain: [clip_by_global_norm: 1.0, adamw: 1e-3]"},
    {"adam_bf16_mu", "adam: {learning_rate: 1e-3, mu_dtype: bf16}"},
    {"multi_steps_adam", "multi_steps: {optimizer: {adam: 1e-3}, every: 2}"},
};

std::string optimizer_text(const std::string& recorded) {
  for (const OptimizerText& row : optimizers) {
    if (recorded == row.recorded) return row.text;
  }
  FAIL("no optimizer is called " << recorded);
  return "";
}

MergedDocument document_of(const std::string& text) {
  MemoryReader reader({{"model.yaml", text}});
  Sources sources(reader);
  return merge_model_file("model.yaml", {}, sources);
}

/// Has logical names, which the rules resolve.
bool is_logical(const json& asked) { return asked.at("boxed") == "logical"; }

/// The guide's block: the kernel from a dense layer, W2 bare; a bias has no names.
std::string linen_program(const json& asked) {
  const std::string depth = std::to_string(asked.at("depth").get<int>());
  const bool logical = is_logical(asked);
  const bool scan = asked.at("scan");
  std::string axis;
  if (scan && asked.at("params").contains("partition_name")) {
    const json& name = asked.at("params").at("partition_name");
    axis = ", axis: " + (name.is_null() ? "null" : name.get<std::string>());
  }
  return "sizes: {batch: " + std::to_string(asked.at("batch").get<int>()) + ", embed: " + depth +
         ", hidden: " + depth + "}\ninputs: {x: [batch, embed]}\nblocks:\n  DotReluDot:\n" +
         "    - dense: {features: hidden, kernel: " +
         (logical ? "[embed, hidden]" : "\"P(None, model)\"") +
         ", bias: null, use_bias: " + (asked.value("use_bias", false) ? "true" : "false") +
         "}\n    - relu\n    - dot: {name: W2, features: embed, kernel: " +
         (logical ? "[hidden, embed]" : "\"P(model, None)\"") +
         "}\nlayers:\n  - repeat: {block: DotReluDot, times: " +
         std::to_string(asked.at("layers").get<int>()) + ", scan: " + (scan ? "true" : "false") +
         axis + "}\n";
}

/// What a model file says of the stacked names: text of a spec for `axes`.
std::string stacked_text(const json& asked, const char* first, const char* second) {
  LogicalSpec names;
  for (const char* name : {first, second}) {
    names.names.push_back(*name == '\0' ? std::nullopt : std::optional(LogicalAxis(name)));
  }
  if (asked.at("scan") && asked.contains("params")) {
    const json& name = asked.at("params").at("partition_name");
    names = with_stacked_dim(
        names, 0,
        name.is_null() ? std::nullopt : std::optional(LogicalAxis(name.get<std::string>())));
  }
  std::string text;
  for (const auto& name : names.names) {
    text += (text.empty() ? "" : ", ") + (name ? name->text() : "null");
  }
  // Where nothing is logical the names are mesh axes.
  if (is_logical(asked)) return '[' + text + ']';
  std::string placed;
  for (const auto& name : names.names) {
    placed += (placed.empty() ? "" : ", ") + (name ? name->text() : "None");
  }
  return "\"P(" + placed + ")\"";
}

std::string nnx_arrays(const json& asked) {
  const std::string layers = std::to_string(asked.at("layers").get<int>());
  const std::string depth = std::to_string(asked.at("depth").get<int>());
  const bool scan = asked.at("scan");
  const std::string block =
      scan ? "model/layers"
           : "model/layers/{0.." + std::to_string(asked.at("layers").get<int>() - 1) + "}";
  const std::string square = "f32[" + (scan ? layers + ", " : "") + depth + ", " + depth + "]\n";
  const std::string vector = "f32[" + (scan ? layers + ", " : "") + depth + "]\n";
  std::string text = "naming: nnx\narrays:\n";
  if (asked.value("use_bias", false)) text += "  " + block + "/dot1/bias: " + vector;
  text += "  " + block + "/dot1/kernel: " + square + "  " + block + "/w2: " + square + "axes:\n";
  if (asked.contains("optimizer_sharding")) {
    text += "  - [\"optimizer/*\", \"P(data, model)\"]\n";
  }
  const bool logical = is_logical(asked);
  text += "  - [\"*/kernel\", " +
          stacked_text(asked, logical ? "embed" : "", logical ? "hidden" : "model") +
          "]\n  - [\"*/w2\", " +
          stacked_text(asked, logical ? "hidden" : "model", logical ? "embed" : "") +
          "]\noptimizer: {" + optimizer_text(asked.at("optimizer")) + "}\n";
  return text;
}

RulesConfig rules_of(const json& asked, bool nnx) {
  std::string text = "mesh: {data: 2, model: 4}\n";
  const bool incomplete = asked.value("rules_how", "") == "incomplete";
  if (is_logical(asked)) {
    text += "rules: [[batch, data], [hidden, model]";
    text += nnx && !incomplete ? ", [embed, null]]\n" : "]\n";
  }
  if (nnx) text += "resolver: nnx\n";
  MemoryReader reader({{"rules.yaml", text}});
  Sources sources(reader);
  return read_rules(merge_rules_file("rules.yaml", {}, sources));
}

/// One leaf resolved by itself, so that its mistakes are its own.
struct LeafAnswer {
  PartitionSpec spec;
  std::string shard;
};

LeafAnswer answer(StateLeaf leaf, const RulesConfig& rules, const Mesh& mesh) {
  leaf.follows = -1;  // it has its parameter's axes already
  Diagnostics diagnostics;
  const std::span<const StateLeaf> one(&leaf, 1);
  const ResolvedState state = resolve_state(one, StateClasses(one), rules, mesh, diagnostics);
  const Resolved& resolved = state.of(0);
  if (diagnostics.has_errors()) {
    return {resolved.spec, "refused: " + diagnostics.all().front().id};
  }
  return {resolved.spec, to_string(local_shape(leaf.type.shape, resolved.sharding))};
}

std::string names_text(const SpecConfig& placement) {
  if (placement.is_unannotated()) return "P()";
  if (const PartitionSpec* placed = placement.mesh()) return to_string(*placed);
  PartitionSpec names;
  for (const auto& name : placement.logical()->names) {
    names.entries.emplace_back();
    if (name) names.entries.back().axes.emplace_back(name->text());
  }
  return to_string(names);
}

std::string found_row(const StateLeaf& leaf, const RulesConfig& rules, const Mesh& mesh,
                      const json& recorded) {
  // The step of a state that was made and not only described is a number of Python's.
  if (recorded.is_object() && recorded.at("shape").is_null()) return leaf.path + " is no array\n";
  const LeafAnswer ours = answer(leaf, rules, mesh);
  std::string text = leaf.path + ' ' + std::string(info(leaf.type.dtype).numpy_name) + ' ' +
                     to_string(leaf.type.shape) + ' ' + to_string(ours.spec) + ' ' + ours.shard;
  text += leaf.placement.is_unannotated() ? " unboxed " : " boxed ";
  return text + names_text(leaf.placement) + '\n';
}

std::string shard_text(const json& recorded) {
  if (recorded.is_object()) return expected_refusal(recorded.at("error"));
  return to_string(recorded.get<Shape>());
}

std::string expected_row(const json& leaf) {
  const std::string path = leaf.at("path");
  if (leaf.at("shape").is_null()) return path + " is no array\n";
  const json& spec = leaf.at("spec");
  const bool boxed =
      leaf.contains("boxed") ? leaf.at("boxed").get<bool>() : !leaf.at("names").is_null();
  const json names = leaf.contains("logical")          ? leaf.at("logical")
                     : leaf.contains("names") && boxed ? leaf.at("names")
                                                       : spec;
  return path + ' ' + leaf.at("dtype").get<std::string>() + ' ' +
         to_string(leaf.at("shape").get<Shape>()) + ' ' + spec_text(spec) + ' ' +
         shard_text(leaf.at("shard")) + (boxed ? " boxed " : " unboxed ") + spec_text(names) + '\n';
}

/// Whether a tree of shardings can be built of the specs as they are, whatever the shapes.
std::string built(std::span<const StateLeaf> state, const RulesConfig& rules, const Mesh& mesh,
                  bool by_names) {
  for (StateLeaf leaf : state) {
    leaf.type.shape.assign(leaf.placement.is_unannotated() ? 0 : 8, unknown_size);
    leaf.labels.clear();
    if (by_names && leaf.placement.logical() != nullptr) {
      PartitionSpec names;
      for (const auto& name : leaf.placement.logical()->names) {
        names.entries.emplace_back();
        if (name) names.entries.back().axes.emplace_back(name->text());
      }
      leaf.placement.spec = names;
    }
    const std::string shard = answer(leaf, rules, mesh).shard;
    if (shard.starts_with("refused")) return shard;
  }
  return "built";
}

std::string built_text(const json& recorded) {
  return recorded.is_object() ? expected_refusal(recorded.at("error")) : "built";
}

void compare_linen(Conformance& conformance, const json& one) {
  const json& asked = one.at("in");
  const std::string id = one.at("id");
  const Model model = build_model(read_model(document_of(linen_program(asked))));
  if (one.at("out").contains("error")) {
    std::string said = "nothing";
    for (const Diagnostic& note : model.notes) said = note.id;
    return conformance.expect(id, said, "no-partition-name");
  }
  const ArraysConfig optimizer = read_arrays(document_of(
      "arrays: {x: \"f32[1]\"}\noptimizer: {" + optimizer_text(asked.at("optimizer")) + "}\n"));
  const std::vector<StateLeaf> state =
      train_state(model.state, *optimizer.optimizer, Naming::linen, ReducedAxes::as_flax);
  const RulesConfig rules = rules_of(asked, false);
  const Mesh mesh = make_mesh(rules);
  const json& leaves = one.at("out").at("leaves");
  std::string found;
  std::string expected;
  for (std::size_t i = 0; i < state.size(); ++i) {
    found += found_row(state[i], rules, mesh, i < leaves.size() ? leaves[i] : json());
  }
  for (const json& leaf : leaves) expected += expected_row(leaf);
  found += built(state, rules, mesh, true);
  expected += built_text(one.at("out").at("get_sharding"));
  if (one.at("out").contains("logical_to_mesh_sharding")) {
    found += built(state, rules, mesh, false);
    expected += built_text(one.at("out").at("logical_to_mesh_sharding"));
  }
  conformance.expect(id, found, expected);
}

void compare_nnx(Conformance& conformance, const json& one) {
  const json& asked = one.at("in");
  ArraysConfig config = read_arrays(document_of(nnx_arrays(asked)));
  const Model arrays = build_arrays_model(config);
  std::vector<StateLeaf> state = arrays.state;
  const bool is_reduced = asked.at("optimizer").get<std::string>().starts_with("adafactor");
  if (is_reduced) {
    std::vector<StateLeaf> parameters;
    for (const StateLeaf& leaf : arrays.state) {
      if (leaf.role == Role::parameter) parameters.push_back(leaf);
    }
    state = train_state(parameters, *config.optimizer, Naming::nnx, ReducedAxes::as_flax);
  }
  const RulesConfig rules = rules_of(asked, true);
  const Mesh mesh = make_mesh(rules);
  const json& leaves = one.at("out").at("leaves");
  std::string found;
  std::string expected;
  for (const StateLeaf& leaf : state) found += found_row(leaf, rules, mesh, json());
  for (const json& leaf : leaves) expected += expected_row(leaf);
  found += built(state, rules, mesh, false);
  expected += built_text(one.at("out").at("get_named_sharding"));
  conformance.expect(one.at("id"), found, expected);
}

TEST_CASE("train states of Linen and NNX are those that Flax makes") {
  const auto recorded = read_goldens("semantics/flax_state.json");
  if (!recorded) return;
  Conformance conformance("semantics/flax_state.json");
  for (const json& one : *recorded) {
    one.at("kind") == "nnx" ? compare_nnx(conformance, one) : compare_linen(conformance, one);
  }
  CHECK(conformance.matched() == conformance.total());
}

}  // namespace
