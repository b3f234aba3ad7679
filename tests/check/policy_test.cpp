#include "check/policy.h"

#include <doctest/doctest.h>

#include "base/diagnostic.h"

using namespace shard;

namespace {

ArrayLayout array(const std::string& name, const std::string& spec, std::int64_t bytes,
                  std::int64_t copies) {
  ArrayLayout made;
  made.names = shared_names({name});
  made.type = "f32[8,8]";
  made.spec = spec;
  made.bytes = Bytes(bytes);
  made.copies = copies;
  return made;
}

LayoutRecord record() {
  LayoutRecord made;
  made.mesh = "data=2,model=4,one=1";
  made.arrays = {array("params/a/kernel", "P(None, 'model')", 64, 2),
                 array("params/b/kernel", "P(None, 'model')", 64, 2),
                 array("params/norm", "P()", 256, 8)};
  made.collectives = {{CollectiveKind::all_gather, "data,model", 2, Bytes(64), Bytes(96), {}, {}}};
  made.peak = Bytes(1000);
  return made;
}

std::vector<std::string> messages(const LayoutRecord& layout, const PolicyConfig& policy) {
  std::vector<std::string> all;
  for (const Breach& breach : breaches_of(layout, policy)) {
    all.push_back(breach.rule + ": " + breach.message);
  }
  return all;
}

using Messages = std::vector<std::string>;

PartitionSpec spec(std::vector<std::vector<const char*>> entries) {
  PartitionSpec made;
  for (const auto& axes : entries) {
    made.entries.emplace_back();
    for (const char* axis : axes) made.entries.back().axes.emplace_back(axis);
  }
  return made;
}

}  // namespace

TEST_CASE("an empty policy asks for nothing") {
  CHECK(PolicyConfig{}.is_empty());
  CHECK(messages(record(), {}).empty());
}

TEST_CASE("the peak is limited and without a program the arrays are") {
  PolicyConfig policy;
  policy.max_bytes_per_device = Bytes(1000);
  CHECK(messages(record(), policy).empty());
  policy.max_bytes_per_device = Bytes(383);
  CHECK(messages(record(), policy) ==
        Messages{"max_bytes_per_device: peak 1,000 B per device, allowed are 383"});
  LayoutRecord arrays = record();
  arrays.peak.reset();
  CHECK(messages(arrays, policy) ==
        Messages{"max_bytes_per_device: arrays of 384 B per device, allowed are 383"});
}

TEST_CASE("copies are limited per array and in all") {
  PolicyConfig policy;
  policy.max_replicated = ReplicationPolicy{Bytes(31), Bytes(287), {}, {}};
  CHECK(messages(record(), policy) ==
        Messages{"max_replicated_bytes: 3 arrays (params/norm, ...) with up to 224 B per device "
                 "that others hold too, allowed are 31 per array",
                 "max_replicated_bytes: 288 B per device that others hold too, allowed are 287 in "
                 "all"});
  policy.max_replicated->except = {"*norm*"};
  CHECK(messages(record(), policy).size() == 1);
  policy.max_replicated->per_array = Bytes(32);
  CHECK(messages(record(), policy).empty());
}

TEST_CASE("collectives are forbidden by kind and by axis") {
  PolicyConfig policy;
  policy.forbidden = {{"all_gather", "model", {}}};
  CHECK(messages(record(), policy) ==
        Messages{"forbid_collective: all_gather data,model 2 x 64, must not be there"});
  policy.forbidden = {{"", "data", {}}};
  CHECK(messages(record(), policy).size() == 1);
  policy.forbidden = {{"all_gather", "dat", {}}, {"all_reduce", "", {}}};
  CHECK(messages(record(), policy).empty());
  LayoutRecord arrays = record();
  arrays.collectives.reset();
  CHECK(messages(arrays, policy) ==
        Messages{"forbid_collective: all_gather over dat cannot be told: the model is a list of "
                 "arrays, without a program",
                 "forbid_collective: all_reduce cannot be told: the model is a list of arrays, "
                 "without a program"});
}

TEST_CASE("specs are asked for by what they do") {
  PolicyConfig policy;
  policy.required = {{"params/*/kernel", spec({{}, {"one", "model"}, {}}), {}},
                     {"params/norm", spec({{"one"}}), {}}};
  CHECK(messages(record(), policy).empty());
  policy.required = {{"*kernel", spec({{"model"}}), {}}, {"*bias", spec({}), {}}};
  CHECK(messages(record(), policy) ==
        Messages{"require_spec: *kernel is P(None, 'model'), must be P('model',) (2 arrays)",
                 "require_spec: *bias matches no array, must be P()"});
}

TEST_CASE("what follows a parameter is told with it unless it is asked for itself") {
  LayoutRecord layout = record();
  layout.arrays.push_back(array("opt_state/0/mu/a/kernel", "P()", 256, 8));
  layout.arrays.back().follows = 0;
  PolicyConfig policy;
  policy.required = {{"*/kernel", spec({{}, {"model"}}), {}}};
  CHECK(messages(layout, policy).empty());
  policy.required = {{"opt_state/*/kernel", spec({{}, {"model"}}), {}}};
  CHECK(messages(layout, policy) == Messages{"require_spec: opt_state/*/kernel is P(), must be "
                                             "P(None, 'model') (1 array)"});
}

TEST_CASE("what a layout must fit into is a chip or a number of bytes") {
  PolicyConfig policy;
  policy.fits = PlacedText{"v5e", {}};
  CHECK(messages(record(), policy).empty());
  policy.fits->text = "999 B";
  CHECK(messages(record(), policy) ==
        Messages{"fits: peak 1,000 B per device do not fit into 999 B (999 B)"});
  LayoutRecord arrays = record();
  arrays.peak.reset();
  CHECK(messages(arrays, policy) ==
        Messages{"fits: whether it fits cannot be told: the model is a list of arrays, without a "
                 "program that says what else a device holds"});
  policy.fits->text = "v5x";
  CHECK_THROWS_AS(breaches_of(record(), policy), Error);
}

TEST_CASE("findings fail a check where the policy makes errors of them") {
  LayoutRecord layout = record();
  layout.findings = {{Severity::warning,
                      "axis-unused",
                      {"r.yaml", 1, 1},
                      "no array uses data",
                      "a rule",
                      Bytes(0)}};
  PolicyConfig policy;
  CHECK(messages(layout, policy).empty());
  policy.findings = {{"axis-unused", FindingLevel::error, {}}};
  CHECK(messages(layout, policy) == Messages{"axis-unused: error: no array uses data"});
  policy.findings.push_back({"axis-unused", FindingLevel::off, {}});
  CHECK(messages(layout, policy).empty());
}

TEST_CASE("a spec that is asked for may be a text of XLA") {
  PolicyConfig policy;
  policy.required = {{"*kernel", {}, {}, "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}};
  CHECK(messages(record(), policy).empty());
  policy.required = {{"*kernel", {}, {}, "{devices=[2,4]<=[8]}"}};
  CHECK(messages(record(), policy) ==
        Messages{"require_spec: *kernel is P(None, 'model'), must be P('data', 'model'), from "
                 "{devices=[2,4]<=[8]} (2 arrays)"});
  policy.required = {{"*kernel", {}, {}, "{devices=[3,4]<=[12]}", {"c.yaml", 4, 7}}};
  CHECK_THROWS_WITH_AS(messages(record(), policy),
                       "c.yaml:4:7: error: the sharding is for 12 devices, the mesh data 2 x model "
                       "4 x one 1 has 8 [mesh-size]",
                       Error);
}
