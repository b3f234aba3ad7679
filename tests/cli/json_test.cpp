// What we write is what the schema says: every key documented, every documented key there.

#include "report/json.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "cli/pipeline.h"
#include "report/by_rule.h"
#include "report/check_report.h"
#include "report/comparison.h"
#include "report/explain.h"
#include "report/findings_list.h"
#include "report/plan_record.h"
#include "report/select.h"
#include "report/trace.h"
#include "text/files.h"

using namespace shard;
using Json = nlohmann::ordered_json;

namespace {

bool has_type(const Json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  return type == "null" && value.is_null();
}

bool has_some_type(const Json& value, const Json& types) {
  if (types.is_string()) return has_type(value, types.get<std::string>());
  for (const Json& type : types) {
    if (has_type(value, type.get<std::string>())) return true;
  }
  return false;
}

/// Where `value` breaks `schema`, one line each; the part of JSON Schema that our schema uses.
void validate(const Json& value, const Json& schema, const std::string& at,
              std::vector<std::string>& problems) {
  if (schema.contains("const") && value != schema["const"]) problems.push_back(at + ": const");
  if (schema.contains("type") && !has_some_type(value, schema["type"])) {
    problems.push_back(at + ": type " + schema["type"].dump());
    return;
  }
  if (value.is_array() && schema.contains("items")) {
    for (const Json& item : value) validate(item, schema["items"], at + "[]", problems);
  }
  if (!value.is_object()) return;
  for (const Json& key : schema.at("required")) {
    if (!value.contains(key.get<std::string>())) problems.push_back(at + ": no " + key.dump());
  }
  for (const auto& [key, member] : value.items()) {
    if (!schema.at("properties").contains(key)) {
      problems.push_back(at + ": undocumented " + key);
    } else {
      validate(member, schema.at("properties").at(key), at + "." + key, problems);
    }
  }
}

/// The problems of a document with the schema of its command, a line each.
std::string problems_of(const std::string& document) {
  const Json value = Json::parse(document);
  const Json schema = Json::parse(json_output_schema());
  std::string last = "no schema for this command";
  for (const Json& one : schema["oneOf"]) {
    if (one["properties"]["command"]["const"] != value["command"]) continue;
    std::vector<std::string> problems;
    validate(value, one, "", problems);
    if (problems.empty()) return "";  // a command may have several forms
    last.clear();
    for (const std::string& problem : problems) last += problem + '\n';
  }
  return last;
}

Plan tiny_plan(const std::string& rules, const std::string& devices = "") {
  Options options;
  const std::string root = SHARD_SOURCE_DIR;
  options.arguments = {root + "/models/mlp.yaml", root + "/rules/" + rules + ".yaml"};
  options.overrides.size_set = "tiny";
  options.overrides.devices = devices;
  options.capacity = Bytes(1 << 20);
  DiskReader reader;
  Sources sources(reader);
  return make_plan(options, sources, false);
}

FunctionRun some_run(const PlannedFunction& function) {
  FunctionRun run;
  run.function = &function;
  run.differences = {Difference{}};
  run.timing = Timing{};
  run.counters.kinds = {KindCounter{}};
  run.counters.axes = {{{0}, Bytes(1), Bytes(2), 1}};
  run.counters.links = {{"all_reduce data", {{{0, 1}, {1, 2}}}}};
  run.counters.peak = {Bytes(1)};
  return run;
}

}  // namespace

TEST_CASE("every key of a plan is documented and every documented key is there") {
  for (const std::string rules : {"flax_guide", "dp", "tp", "fsdp", "fsdp_tp"}) {
    CAPTURE(rules);
    CHECK(problems_of(plan_json(tiny_plan(rules))) == "");
  }
}

TEST_CASE("every key of an explanation is documented and every documented key is there") {
  const Plan plan = tiny_plan("flax_guide");
  Explanation all = explain(plan, "params/*");
  Explanation line = explain(plan, "flax_guide.yaml:3");
  Explanation number = explain(plan, "#1");
  CHECK(all.arrays.size() == 2);
  CHECK(all.arrays[0].trials.size() == 1);
  REQUIRE(line.lines.size() == 1);
  line.lines[0].findings = plan.findings;
  line.lines[0].collectives = collective_rows(plan.main());
  REQUIRE(number.collectives.size() == 1);
  number.collectives[0].instead = {{"drop rule 2", "none"}};
  all.lines = line.lines;
  all.collectives = number.collectives;
  Delta delta;
  delta.diff = diff(record_of(plan), record_of(tiny_plan("dp")));
  CHECK(delta.diff->is_change());
  CHECK(problems_of(explain_json(plan, all)) == "");
  CHECK(problems_of(explain_json(plan, all, delta)) == "");
  CHECK(problems_of(plan_json(plan, delta)) == "");
  CHECK(problems_of(plan_json(plan, Delta{"the rules as they are", {}, "it is refused"})) == "");
}

TEST_CASE(
    "every key of a plan by rule and of a trace is documented and every documented key is there") {
  const Plan plan = tiny_plan("fsdp_tp");
  std::vector<RuleStep> steps(3);
  steps[0].words = "no rule";
  steps[0].after = record_of(tiny_plan("dp"));
  steps[1] = {1, "rule 1 [batch, data]", {"r.yaml", 3, 5}, "", record_of(plan), {}};
  steps[1].diff = diff(*steps[0].after, *steps[1].after);
  CHECK(changes_of(steps[1]).size() > 2);
  steps[2].refusal = "indivisible";
  CHECK(problems_of(by_rule_json(plan, steps)) == "");
  const Trace trace = trace_of(plan.main().sharded, plan.rules);
  CHECK(trace.rules.size() == 7);
  CHECK(!trace.gains.empty());
  CHECK(!trace.conflicts.empty());
  CHECK(problems_of(trace_json(trace, "train_step")) == "");
}

TEST_CASE("every key of findings is documented and every documented key is there") {
  CHECK(problems_of(findings_list_json()) == "");
  CHECK(problems_of(findings_json(tiny_plan("tp"))) == "");
}

TEST_CASE("every key of shown arrays is documented and every documented key is there") {
  const Plan plan = tiny_plan("fsdp_tp", "v5e-8");
  const std::vector<ArrayRow> all = named_arrays(plan);
  CHECK(all.size() > 20);
  ShowOptions everything;
  everything.mesh = true;
  everything.indices = true;
  CHECK(problems_of(show_json(plan, all, everything)) == "");
}

TEST_CASE("every key of a run is documented and every documented key is there") {
  const Plan plan = tiny_plan("flax_guide");
  RunReport report;
  report.plan = &plan;
  report.functions = {some_run(*plan.train_step), some_run(plan.apply)};
  CHECK(problems_of(run_json(report)) == "");
  report.functions[0].timing.reset();
  CHECK(problems_of(run_json(report)) == "");
}

TEST_CASE("every key of a comparison is documented and every documented key is there") {
  Comparison comparison;
  ComparedMesh mesh;
  for (const char* rules : {"flax_guide", "dp"}) {
    mesh.sets.push_back({rules, record_of(tiny_plan(rules)), {}, {}});
  }
  mesh.sets[1].against_base = diff(mesh.sets[0].record, mesh.sets[1].record);
  mesh.sets[1].step_time = Timing{};
  comparison.meshes = {mesh};
  CHECK(mesh.sets[1].against_base.is_change());
  CHECK(problems_of(comparison_json(comparison)) == "");
  comparison.meshes[0].mesh = "data=8";
  comparison.meshes[0].sets[0].record.collectives.reset();
  comparison.meshes[0].sets[0].record.peak.reset();
  CHECK(problems_of(comparison_json(comparison)) == "");
}

TEST_CASE("every key of a check is documented and every documented key is there") {
  CheckReport report;
  report.outcomes.resize(2);
  report.outcomes[0].record = record_of(tiny_plan("dp"));
  report.outcomes[0].state = BeforeAfter<Bytes>{Bytes(1), Bytes(2)};
  report.outcomes[0].causes = {{"changed", {"l", 1, 2}, {}, "a", "b", "c", "d"}};
  report.outcomes[1].mistakes = {{Severity::error, "indivisible", {"r", 1, 2}, "m", "h"}};
  CHECK(problems_of(check_json(report)) == "");
}

TEST_CASE("a key too many or too few or of another type is noticed") {
  Json document = Json::parse(plan_json(tiny_plan("dp")));
  document["news"] = 1;
  document["model"].erase("name");
  document["mesh"]["devices"] = "eight";
  CHECK(problems_of(document.dump()) ==
        ".model: no \"name\"\n.mesh.devices: type \"integer\"\n: undocumented news\n");
}

TEST_CASE("the pieces of an array are on all devices and cover it") {
  const Plan plan = tiny_plan("fsdp_tp");
  const Json shown = Json::parse(
      show_json(plan, select_arrays(named_arrays(plan), {"params/DotReluDot_0/W2"}), {}));
  REQUIRE(shown["arrays"].size() == 1);
  const Json& pieces = shown["arrays"][0]["pieces"];
  REQUIRE(pieces.size() == 4);
  CHECK(pieces[0].dump() == R"({"start":[0,0],"shape":[64,32],"devices":[0,4]})");
  CHECK(pieces[1].dump() == R"({"start":[0,32],"shape":[64,32],"devices":[2,6]})");
  CHECK(pieces[2].dump() == R"({"start":[64,0],"shape":[64,32],"devices":[1,5]})");
  CHECK(pieces[3].dump() == R"({"start":[64,32],"shape":[64,32],"devices":[3,7]})");
}
