#include "check/diff.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace shard;

namespace {

ArrayLayout array(std::vector<std::string> names, std::string spec, std::int64_t bytes,
                  std::int64_t copies = 1) {
  ArrayLayout layout;
  layout.names = shared_names(std::move(names));
  layout.type = "f32[8,8]";
  layout.spec = std::move(spec);
  layout.bytes = Bytes(bytes);
  layout.copies = copies;
  return layout;
}

/// Two kernels with their two slots each, an odd one out and an input.
LayoutRecord record(const std::string& spec, std::int64_t bytes) {
  LayoutRecord made;
  for (const char* name : {"params/B_0/k", "params/B_1/k"}) {
    made.arrays.push_back(array({name}, spec, bytes));
  }
  made.arrays.push_back(array({"params/Out/w"}, "P()", 256));
  for (const char* slot : {"mu", "nu"}) {
    for (const int parameter : {0, 1}) {
      made.arrays.push_back(
          array({std::string("opt_state/0/") + slot + "/B_" + std::to_string(parameter) + "/k"},
                spec, bytes));
      made.arrays.back().role = Role::optimizer;
      made.arrays.back().slot = slot;
      made.arrays.back().follows = parameter;
    }
  }
  made.arrays.push_back(array({"x"}, "P('data', None)", 16));
  made.arrays.back().role = Role::input;
  return made;
}

CollectiveUse use(CollectiveKind kind, const std::string& axes, std::int64_t count,
                  std::int64_t payload) {
  return {kind, axes, count, Bytes(payload), Bytes(count * payload), std::nullopt, {}};
}

}  // namespace

TEST_CASE("equal layouts have no difference") {
  const LayoutDiff found = diff(record("P('data', None)", 64), record("P('data', None)", 64));
  CHECK(found.arrays.empty());
  CHECK_FALSE(found.is_change());
}

TEST_CASE("arrays that changed alike are one change with their slots") {
  const LayoutDiff found = diff(record("P('data', None)", 64), record("P()", 256));
  REQUIRE(found.arrays.size() == 1);
  const ArrayChange& change = found.arrays.front();
  CHECK(change.names == std::vector<std::string>{"params/B_0/k", "params/B_1/k"});
  CHECK(change.slots == std::vector<std::string>{"mu", "nu"});
  CHECK(change.glob == "params/*/k");
  CHECK(change.before == ArrayState{"f32[8,8]", "P('data', None)", Bytes(64)});
  CHECK(change.after == ArrayState{"f32[8,8]", "P()", Bytes(256)});
  CHECK(change.each() == Bytes(192));
  CHECK(change.total() == Bytes(6 * 192));
  CHECK(found.state.before == Bytes(6 * 64 + 256));
  CHECK(found.state.after == Bytes(7 * 256));
}

TEST_CASE("a pattern that would mean other arrays too is not given") {
  LayoutRecord before = record("P()", 256);
  LayoutRecord after = before;
  after.arrays[1].spec = "P('data', None)";
  before.arrays.push_back(array({"params/B_2/k"}, "P()", 256));
  after.arrays.push_back(array({"params/B_2/k"}, "P('data', None)", 256));
  const LayoutDiff found = diff(before, after);
  REQUIRE(found.arrays.size() == 1);
  CHECK(found.arrays[0].names == std::vector<std::string>{"params/B_1/k", "params/B_2/k"});
  CHECK(found.arrays[0].glob.empty());
  CHECK(found.arrays[0].slots.empty());
}

TEST_CASE("a slot that changed otherwise than its parameter is a change of its own") {
  LayoutRecord after = record("P('data', None)", 64);
  after.arrays[3].spec = "P()";
  after.arrays[3].bytes = Bytes(256);
  const LayoutDiff found = diff(record("P('data', None)", 64), after);
  REQUIRE(found.arrays.size() == 1);
  CHECK(found.arrays[0].names == std::vector<std::string>{"opt_state/0/mu/B_0/k"});
}

TEST_CASE("the order of the arrays does not count") {
  LayoutRecord reversed = record("P('data', None)", 64);
  for (ArrayLayout& one : reversed.arrays) one.follows = -1;
  std::reverse(reversed.arrays.begin(), reversed.arrays.end());
  CHECK_FALSE(diff(record("P('data', None)", 64), reversed).is_change());
  CHECK_FALSE(diff(reversed, record("P('data', None)", 64)).is_change());
}

TEST_CASE("arrays come and go") {
  LayoutRecord after = record("P()", 256);
  after.arrays.back().names = shared_names({"tokens"});
  const LayoutDiff found = diff(record("P()", 256), after);
  REQUIRE(found.arrays.size() == 2);
  CHECK(found.arrays[0].names == std::vector<std::string>{"tokens"});
  CHECK_FALSE(found.arrays[0].before);
  CHECK(found.arrays[0].each() == Bytes(16));
  CHECK(found.arrays[1].names == std::vector<std::string>{"x"});
  CHECK_FALSE(found.arrays[1].after);
  CHECK(found.arrays[1].each() == Bytes(-16));
}

TEST_CASE("what needs most bytes more comes first") {
  LayoutRecord after = record("P()", 32);
  after.arrays[2].spec = "P('data', None)";
  after.arrays[2].bytes = Bytes(512);
  const LayoutDiff found = diff(record("P('data', None)", 64), after);
  REQUIRE(found.arrays.size() == 2);
  CHECK(found.arrays[0].names.front() == "params/Out/w");
  CHECK(found.arrays[1].total() == Bytes(6 * -32));
}

TEST_CASE("classes of arrays are compared whole and in parts") {
  const SharedNames names = shared_names({"a/0/k", "a/1/k", "a/2/k", "b"});
  LayoutRecord before;
  before.arrays.push_back(array({}, "P()", 256));
  before.arrays[0].names = names;
  LayoutRecord whole = before;
  whole.arrays[0].spec = "P('data', None)";
  const LayoutDiff all = diff(before, whole);
  REQUIRE(all.arrays.size() == 2);
  CHECK(all.arrays[0].glob == "a/*/k");
  CHECK(all.arrays[0].names.size() == 3);
  CHECK(all.arrays[1].names == std::vector<std::string>{"b"});

  LayoutRecord split;
  split.arrays.push_back(array({"a/0/k", "a/2/k"}, "P()", 256));
  split.arrays.push_back(array({"a/1/k", "b"}, "P('data', None)", 256));
  const LayoutDiff some = diff(before, split);
  REQUIRE(some.arrays.size() == 2);
  CHECK(some.arrays[0].names == std::vector<std::string>{"a/1/k"});
  CHECK(some.arrays[1].names == std::vector<std::string>{"b"});
}

TEST_CASE("collectives are compared as amounts whatever their order") {
  LayoutRecord before = record("P()", 256);
  LayoutRecord after = before;
  before.collectives = {use(CollectiveKind::all_reduce, "data", 8, 1024),
                        use(CollectiveKind::all_reduce, "model", 6, 16),
                        use(CollectiveKind::all_gather, "data", 1, 4)};
  after.collectives = {use(CollectiveKind::all_gather, "data", 1, 4),
                       use(CollectiveKind::all_reduce, "data", 6, 4096),
                       use(CollectiveKind::all_reduce, "data", 2, 8)};
  const LayoutDiff found = diff(before, after);
  REQUIRE(found.collectives.size() == 2);
  CHECK(found.collectives[0].axes == "data");
  CHECK(found.collectives[0].before == std::vector<CollectiveAmount>{{8, Bytes(1024)}});
  CHECK(found.collectives[0].after ==
        std::vector<CollectiveAmount>{{2, Bytes(8)}, {6, Bytes(4096)}});
  CHECK(found.collectives[1].axes == "model");
  CHECK(found.collectives[1].after.empty());
  CHECK(found.wire.before == Bytes(8 * 1024 + 6 * 16 + 4));
}

TEST_CASE("collectives that one side does not know are no difference") {
  LayoutRecord before = record("P()", 256);
  LayoutRecord after = before;
  after.collectives = {use(CollectiveKind::all_reduce, "data", 8, 1024)};
  const LayoutDiff found = diff(before, after);
  CHECK_FALSE(found.knows_collectives);
  CHECK_FALSE(found.is_change());
  CHECK_FALSE(found.wire.before);
}

TEST_CASE("arrays without a type have no bytes") {
  LayoutRecord before = record("P('data', None)", 64);
  before.arrays[2].type.clear();
  before.arrays[2].bytes.reset();
  LayoutRecord after = before;
  after.arrays[2].spec = "P('data', None)";
  const LayoutDiff found = diff(before, after);
  REQUIRE(found.arrays.size() == 1);
  CHECK_FALSE(found.arrays[0].each());
  CHECK(state_bytes(after).without_type == 1);
  CHECK(state_bytes(after).bytes == Bytes(6 * 64));
}

TEST_CASE("findings are new or gone by what they say") {
  LayoutRecord before = record("P()", 256);
  LayoutRecord after = before;
  before.findings = {{Severity::note, "size-1-axis", {}, "a", "", Bytes(0)},
                     {Severity::note, "rule-shadowed", {}, "b", "", Bytes(0)}};
  after.findings = {{Severity::note, "size-1-axis", {}, "a", "", Bytes(0)},
                    {Severity::warning, "axis-unused", {}, "c", "", Bytes(0)}};
  const LayoutDiff found = diff(before, after);
  REQUIRE(found.new_findings.size() == 1);
  CHECK(found.new_findings[0].id == "axis-unused");
  REQUIRE(found.gone_findings.size() == 1);
  CHECK(found.gone_findings[0].id == "rule-shadowed");
  CHECK(count_findings(after, Severity::warning) == 1);
  CHECK(count_findings(after, Severity::note) == 2);
}

TEST_CASE("replicated bytes are what splitting the copies would save") {
  LayoutRecord made = record("P()", 256);
  for (ArrayLayout& one : made.arrays) one.copies = 8;
  CHECK(replicated_bytes(made.arrays[0]) == Bytes(224));
  CHECK(replicated_bytes(made) == Bytes(7 * 224));  // the input is no state
}

TEST_CASE("wire is summed by axes and by link where every link is known") {
  LayoutRecord made = record("P()", 256);
  CHECK_FALSE(wire_by_axes(made));
  made.collectives = {use(CollectiveKind::all_reduce, "data", 1, 8),
                      use(CollectiveKind::all_gather, "data", 1, 4),
                      use(CollectiveKind::all_gather, "model", 2, 4)};
  CHECK(wire_by_axes(made).value() ==
        std::vector<std::pair<std::string, Bytes>>{{"data", Bytes(12)}, {"model", Bytes(8)}});
  CHECK_FALSE(wire_by_link(made));
  for (CollectiveUse& one : *made.collectives) one.link = LinkClass::ici;
  (*made.collectives)[2].link = LinkClass::dcn;
  CHECK(wire_by_link(made).value() ==
        std::map<LinkClass, Bytes>{{LinkClass::ici, Bytes(12)}, {LinkClass::dcn, Bytes(8)}});
}

TEST_CASE("names are one pattern by the parts in which they differ") {
  CHECK(glob_of({"a/b_0/k", "a/b_1/k"}) == "a/*/k");
  CHECK(glob_of({"model.layers.0.q.weight", "model.layers.31.q.weight"}) ==
        "model.layers.*.q.weight");
  CHECK(glob_of({"w0", "w1"}) == "*");
  CHECK(glob_of({"a/w0", "a/w1"}) == "a/*");
  CHECK(glob_of({"a/b", "a/b/c"}).empty());
  CHECK(glob_of({"only/one"}) == "only/one");
  CHECK(number_pattern("a_12/b3.c") == "a_#/b#.c");
}
