// Planning equal iterations once changes nothing: the answers are those of `--no-fold`.

#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "cli/plan_functions.h"
#include "property/random_model.h"
#include "report/json.h"
#include "report/plan_text.h"
#include "support/pipeline.h"

namespace {

using namespace shard;
using Json = nlohmann::ordered_json;

/// The finished plan, as `cli` makes it.
Plan plan_of(const ModelConfig& model, const RulesConfig& rules, bool fold) {
  Plan plan;
  plan.rules = rules;
  plan.mesh = make_mesh(rules);
  plan_functions(plan, model, rules, fold, Fusion::on, StageDump(Options{}));
  plan.findings = find_all(plan.model, plan.main().sharded, plan.main().program, rules);
  return plan;
}

/// Without the numbers of blocks and values.
std::string without_numbers(const std::string& text) {
  static const std::regex number(R"(\{[0-9.,]+\}|[0-9]+)");
  return std::regex_replace(text, number, "#");
}

/// Entries that look alike but for numbers in names together; each says how many it counts for.
std::map<std::string, std::int64_t> counted(const Json& list, const std::string& how_many) {
  std::map<std::string, std::int64_t> counts;
  for (Json one : list) {
    const std::int64_t count = one[how_many];
    for (const char* key : {"name", "why"}) {
      if (one.contains(key)) one[key] = without_numbers(one[key]);
    }
    for (const char* key : {"count_per_step", "wire_bytes_per_step"}) {
      if (one.contains(key)) one[key] = one[key].get<std::int64_t>() / count;
    }
    one.erase("number");
    one[how_many] = 1;
    counts[one.dump()] += count;
  }
  return counts;
}

/// All entries in order as text, one a line.
std::string lines(const Json& list) {
  std::string text;
  for (const Json& one : list) text += one.dump() + "\n";
  return text;
}

/// What a report about one function says in JSON, where arrays are written out in order.
void check_same_function(const Json& folded, const Json& whole) {
  CHECK(lines(folded["values"]) == lines(whole["values"]));
  CHECK(lines(folded["outputs"]) == lines(whole["outputs"]));
  CHECK(counted(folded["collectives"], "instructions") ==
        counted(whole["collectives"], "instructions"));
  CHECK(folded["wire_per_device"] == whole["wire_per_device"]);
  CHECK(folded["xla_merged"] == whole["xla_merged"]);
  const Json &a = folded["memory_per_device"], &b = whole["memory_per_device"];
  for (const char* key : {"peak_bytes", "live_bytes_at_peak", "categories_at_peak"}) {
    CHECK(a[key] == b[key]);
  }
  CHECK(counted(a["live_at_peak"], "arrays") == counted(b["live_at_peak"], "arrays"));
}

void check_same_json(const Plan& folded, const Plan& whole) {
  const Json a = Json::parse(plan_json(folded)), b = Json::parse(plan_json(whole));
  CHECK(lines(a["state"]["arrays"]) == lines(b["state"]["arrays"]));
  for (const char* key : {"model", "rules", "mesh", "returns", "findings"}) {
    CHECK(a[key] == b[key]);
  }
  CHECK(a["state"]["bytes"] == b["state"]["bytes"]);
  CHECK(a["state"]["bytes_per_device"] == b["state"]["bytes_per_device"]);
  REQUIRE(a["functions"].size() == b["functions"].size());
  for (std::size_t i = 0; i < a["functions"].size(); ++i) {
    check_same_function(a["functions"][i], b["functions"][i]);
  }
}

/// Plans both ways; says whether anything was folded.
bool check_both_ways(const ModelConfig& model, const RulesConfig& rules) {
  const Plan folded = plan_of(model, rules, true);
  const Plan whole = plan_of(model, rules, false);
  CHECK(whole.model.folded.empty());
  CHECK(plan_text(folded, {}) == plan_text(whole, {}));
  check_same_json(folded, whole);
  return !folded.model.folded.empty();
}

bool check_shipped(const std::string& model, const std::string& rules,
                   const std::vector<std::string>& set) {
  DiskReader disk;
  Sources sources(disk);
  const std::string root = SHARD_SOURCE_DIR;
  Overrides overrides;
  overrides.set = set;
  CAPTURE(model + " " + rules + " " + set.front() + " " + set.back());
  return check_both_ways(
      read_model(merge_model_file(root + "/models/" + model + ".yaml", overrides, sources)),
      read_rules(merge_rules_file(root + "/rules/" + rules + ".yaml", overrides, sources)));
}

bool check_texts(const std::string& model, const std::string& rules) {
  MemoryReader memory({{"model.yaml", model}, {"rules.yaml", rules}});
  Sources sources(memory);
  CAPTURE(model);
  CAPTURE(rules);
  return check_both_ways(read_model(merge_model_file("model.yaml", {}, sources)),
                         read_rules(merge_rules_file("rules.yaml", {}, sources)));
}

const std::vector<std::pair<std::string, std::string>> pairs = {{"guide_mlp", "flax_guide"},
                                                                {"guide_logical_mlp", "flax_guide"},
                                                                {"mlp", "dp"},
                                                                {"mlp", "fsdp"},
                                                                {"mlp", "tp"},
                                                                {"mlp", "fsdp_tp"}};

/// Splits every axis of the models below.
const std::string some_rules = R"(
mesh: {data: 2, model: 4}
rules:
  - [batch, data]
  - [hidden, model]
  - [embed, data]
)";

}  // namespace

TEST_CASE("a folded plan is the plan of every iteration") {
  for (const auto& [model, rules] : pairs) {
    for (const std::string returns : {"[state]", "[state, loss, grads, outputs]"}) {
      for (const int layers : {8, 9, 15, 16, 20, 64}) {
        CHECK(check_shipped(model, rules,
                            {"layers=" + std::to_string(layers), "train.returns=" + returns}) ==
              (layers >= 16));
      }
    }
  }
}

TEST_CASE("a folded plan packs more blocks than are packed by size") {
  for (const auto& [model, rules] : pairs) {
    CHECK(check_shipped(model, rules, {"layers=300", "train.returns=[state]"}));
  }
  CHECK(check_shipped("mlp", "fsdp_tp", {"layers=300", "train.returns=[grads, outputs]"}));
}

TEST_CASE("the peak moves to where it is with all iterations") {
  // With 7 of 60 blocks most bytes are live around the large last product, with 60 at the end.
  CHECK(check_texts(R"(
name: large_end
sizes: {batch: 512, embed: 64, hidden: 96, vocab: 8000}
inputs: {x: [batch, embed]}
blocks:
  Block: [{dense: hidden}, relu, {dense: embed}]
layers:
  - repeat: {block: Block, times: 60}
  - dense: vocab
outputs: {y: [batch, vocab]}
train: {loss: mse, optimizer: {adam: {learning_rate: 1e-3}}, returns: [state, grads], donate: false}
)",
                    some_rules));
}

TEST_CASE("updates that all wait for the global norm fold with their layers") {
  CHECK(check_texts(R"(
sizes: {batch: 8, embed: 16, hidden: 32}
inputs: {x: "f32[batch, embed]"}
blocks:
  Layer:
    - dense: hidden
    - relu
    - dense: embed
layers: [{repeat: {block: Layer, times: 24}}]
train:
  loss: mean
  optimizer: {chain: [{clip_by_global_norm: 1.0}, {adam: 1e-3}]}
)",
                    some_rules));
}

TEST_CASE("several repeats fold at once whatever stands before them") {
  CHECK(check_texts(R"(
name: several
sizes: {batch: 8, embed: 64, hidden: 96, inner: 32}
inputs: {x: [batch, embed]}
defaults: {use_bias: true}
blocks:
  A: [{dense: hidden}, relu, {dense: embed}]
  B: [{dense: inner}, tanh, {dense: embed}, {repeat: {block: A, times: 2}}]
layers:
  - A
  - B
  - repeat: {pattern: [A, B], times: 21}
  - repeat: {block: B, times: 17}
outputs: {y: [batch, embed]}
train: {loss: mean, optimizer: {momentum: {learning_rate: 1e-3}}, returns: [state, loss]}
)",
                    some_rules));
}

TEST_CASE("random models with many iterations are planned alike") {
  const std::regex few_times(R"(times: [0-9]+, scan: (true|false))");
  int folded = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const test::RandomCase one = test::random_case(seed);
    const int times = 16 + static_cast<int>(seed % 9);
    const std::string model = std::regex_replace(
        one.model, few_times, "times: " + std::to_string(times) + ", scan: false");
    if (check_texts(model, one.rules)) ++folded;
  }
  MESSAGE("folded " << folded << " of 60");
  CHECK(folded >= 20);
}
