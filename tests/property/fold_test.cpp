// Planning equal iterations once changes nothing: the answers are those of `--no-fold`.

#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "cli/pipeline.h"
#include "report/json.h"
#include "report/plan_text.h"

namespace {

using namespace shard;
using Json = nlohmann::ordered_json;

/// What is planned: a model and rules by path, with `--set` values.
struct Case {
  std::string model;
  std::string rules;
  std::vector<std::string> set;

  std::string text() const {
    std::string all = model + " " + rules;
    for (const std::string& one : set) all += " " + one;
    return all;
  }
};

Plan plan_of(const Case& one, FileReader& reader, bool fold) {
  Options options;
  options.arguments = {one.model, one.rules};
  options.overrides.set = one.set;
  Sources sources(reader);
  return make_plan(options, sources, fold);
}

/// Without the numbers of blocks and values.
std::string without_numbers(const std::string& text) {
  static const std::regex number(R"(\{[0-9.,]+\}|[0-9]+)");
  return std::regex_replace(text, number, "#");
}

/// Entries of a list that look alike but for numbers in names count together, each `times` times.
std::map<std::string, std::int64_t> counted(const Json& list, const std::string& times) {
  std::map<std::string, std::int64_t> counts;
  for (Json one : list) {
    const std::int64_t count = one[times];
    for (const char* key : {"name", "why"}) {
      if (one.contains(key)) one[key] = without_numbers(one[key]);
    }
    for (const char* key : {"number", "count_per_step", "wire_bytes_per_step"}) {
      if (one.contains(key)) one[key] = one[key].get<std::int64_t>() / count;
    }
    one.erase("number");
    one[times] = 1;
    counts[one.dump()] += count;
  }
  return counts;
}

/// By path; blocks are in another order where equal ones are written out behind the first.
std::map<std::string, Json> by_path(const Json& arrays) {
  std::map<std::string, Json> found;
  for (Json one : arrays) {
    const std::string path = one["path"];
    one["why"] = without_numbers(one["why"]);
    CHECK_MESSAGE(found.emplace(path + " " + one["role"].get<std::string>(), one).second, path);
  }
  return found;
}

void check_same_function(const Json& folded, const Json& whole) {
  CHECK(by_path(folded["values"]) == by_path(whole["values"]));
  CHECK(by_path(folded["outputs"]) == by_path(whole["outputs"]));
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
  CHECK(by_path(a["state"]["arrays"]) == by_path(b["state"]["arrays"]));
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

/// Plans both ways; the folded one must have folded something unless `fold` says otherwise.
void check_case(const Case& one, FileReader& reader, bool folds) {
  CAPTURE(one.text());
  const Plan folded = plan_of(one, reader, true);
  const Plan whole = plan_of(one, reader, false);
  CHECK(folded.model.folded.size() == (folds ? 1 : 0));
  CHECK(plan_text(folded, {}) == plan_text(whole, {}));
  check_same_json(folded, whole);
}

Case shipped(const std::string& model, const std::string& rules, std::vector<std::string> set) {
  const std::string root = SHARD_SOURCE_DIR;
  return {root + "/models/" + model + ".yaml", root + "/rules/" + rules + ".yaml", std::move(set)};
}

const std::vector<std::pair<std::string, std::string>> pairs = {{"guide_mlp", "flax_guide"},
                                                                {"guide_logical_mlp", "flax_guide"},
                                                                {"mlp", "dp"},
                                                                {"mlp", "fsdp"},
                                                                {"mlp", "tp"},
                                                                {"mlp", "fsdp_tp"}};

const std::vector<std::string> all_returns = {"[state]", "[loss]", "[grads]",
                                              "[state, loss, grads, outputs]"};

}  // namespace

TEST_CASE("a folded plan is the plan of every iteration") {
  DiskReader disk;
  for (const auto& [model, rules] : pairs) {
    for (const std::string& returns : all_returns) {
      for (const int layers : {8, 9, 15, 16, 17, 20, 64, 103}) {
        check_case(
            shipped(model, rules, {"layers=" + std::to_string(layers), "train.returns=" + returns}),
            disk, layers >= 16);
      }
    }
  }
}

TEST_CASE("a folded plan packs as many blocks as the plan of every iteration") {
  DiskReader disk;
  for (const auto& [model, rules] : pairs) {
    for (const std::string returns : {"[state]", "[state, loss, grads, outputs]"}) {
      check_case(shipped(model, rules, {"layers=300", "train.returns=" + returns}), disk, true);
    }
  }
}
