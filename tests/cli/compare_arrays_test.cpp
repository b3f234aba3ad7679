#include "cli/compare_arrays.h"

#include <doctest/doctest.h>

#include "check/diff.h"
#include "cli/pipeline.h"
#include "model/arrays_model.h"
#include "report/plan_record.h"

using namespace shard;

namespace {

constexpr const char* model =
    "name: stacks\n"
    "optimizer: adamw\n"
    "arrays:\n"
    "  embed/table: bf16[vocab=1024, embed=64]\n"
    "  layers_{0..11}/q/kernel: bf16[embed=64, heads=64]\n"
    "  layers_{0..11}/o/kernel: bf16[heads=64, embed=64]\n"
    "  layers_{0..11}/norm/scale: f32[norm=64]\n"
    "  layers_{0..11}/up/kernel: bf16[embed=64, mlp=256]\n"
    "  head/kernel: bf16[embed=64, vocab=1024]\n";

constexpr const char* rule_sets[] = {
    "mesh: {data: 2, model: 4}\nrules: [[embed, data], [mlp, model], [heads, model]]\n",
    "mesh: {data: 8}\nrules: [[vocab, data]]\nrules_for: {optimizer: [[embed, data]]}\n",
    ("mesh: {data: 2, model: 4}\nresolver: nnx\nrules: [[embed, model], [vocab, data], "
     "[heads, null], [mlp, null], [norm, null]]\n"),
    "mesh: {one: 1, x: 16}\nmisfit: drop-axes\nrules: [[norm, x], [embed, [x, one]]]\n",
};

struct Texts {
  MemoryReader reader;
  Sources sources{reader};
  explicit Texts(const std::string& rules) : reader({{"./m.yaml", model}, {"./r.yaml", rules}}) {}
};

std::string said(const LayoutRecord& record) {
  std::string all;
  for (const Finding& finding : record.findings) {
    all += finding.id + ": " + finding.message + "; " + finding.fix + '\n';
  }
  return all;
}

}  // namespace

TEST_CASE("a class of arrays planned once gives what planning each of them gives") {
  for (const char* rules : rule_sets) {
    CAPTURE(std::string(rules));
    Texts texts(rules);
    const Options options;
    const ModelInput input = read_model_input("./m.yaml", options, texts.sources);
    const RulesConfig config = read_rules_input("./r.yaml", options, texts.sources);
    const LayoutRecord whole = record_of(make_plan(input, config, options, false));
    const ClassModel classes = one_leaf_per_class(build_arrays_model(*input.arrays));
    CHECK(classes.model.state.size() < 25);
    const LayoutRecord folded = record_of_classes(classes, config, options);
    const LayoutDiff found = diff(whole, folded);
    CHECK(found.arrays.empty());
    CHECK(state_bytes(whole).bytes == state_bytes(folded).bytes);
    CHECK(bytes_by_role(whole) == bytes_by_role(folded));
    CHECK(replicated_bytes(whole) == replicated_bytes(folded));
    CHECK(said(whole) == said(folded));
  }
}

TEST_CASE("changes of classes are told with their slots") {
  Texts texts(rule_sets[0]);
  const Options options;
  const ModelInput input = read_model_input("./m.yaml", options, texts.sources);
  const ClassModel classes = one_leaf_per_class(build_arrays_model(*input.arrays));
  RulesConfig rules = read_rules_input("./r.yaml", options, texts.sources);
  const LayoutRecord before = record_of_classes(classes, rules, options);
  rules.rules.pop_back();  // [heads, model]
  const LayoutDiff found = diff(before, record_of_classes(classes, rules, options));
  REQUIRE(found.arrays.size() == 2);
  CHECK(found.arrays[0].names.size() == 12);
  CHECK(found.arrays[0].slots == std::vector<std::string>{"mu", "nu"});
  CHECK(found.arrays[0].before->spec == "P('data', 'model')");
  CHECK(found.arrays[0].after->spec == "P('data', None)");
}
