#include "report/comparison.h"

#include <doctest/doctest.h>

#include "report/comparison_grid.h"

using namespace shard;

namespace {

/// Arrays a_0 .. a_3 of the spec given for each, and a peak.
ComparedSet set_of(const std::string& title, const std::vector<std::string>& specs,
                   std::int64_t peak) {
  ComparedSet set;
  set.title = title;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    ArrayLayout array;
    array.names = shared_names({"a_" + std::to_string(i) + "/w"});
    array.type = "f32[8]";
    array.spec = specs[i];
    array.bytes = Bytes(specs[i] == "P()" ? 32 : 4);
    set.record.arrays.push_back(std::move(array));
  }
  set.record.peak = Bytes(peak);
  return set;
}

Comparison comparison_of(std::vector<ComparedSet> sets) {
  for (ComparedSet& set : sets) set.against_base = diff(sets.front().record, set.record);
  Comparison comparison;
  comparison.meshes = {{"", std::move(sets)}};
  return comparison;
}

}  // namespace

TEST_CASE("rows of specs say where arrays changed otherwise or not at all") {
  const Comparison compared = comparison_of({set_of("base", {"P()", "P()", "P()"}, 1),
                                             set_of("all", {"P('x',)", "P('x',)", "P('x',)"}, 1),
                                             set_of("one", {"P()", "P('x',)", "P()"}, 1),
                                             set_of("none", {"P()", "P()", "P()"}, 1)});
  const SpecRows rows = spec_rows(compared.meshes[0], {});
  REQUIRE(rows.rows.size() == 2);
  CHECK(rows.rows[0].label == "a_1/w");
  CHECK(rows.rows[0].cells[0].value == "P()");
  CHECK(rows.rows[0].cells[1].value == "not alike");
  CHECK(rows.rows[0].cells[2].value == "P('x',)");
  CHECK(rows.rows[0].cells[2].beside == "-28");
  CHECK(rows.rows[0].cells[3].value == "=");
  CHECK(rows.rows[1].label == "*/w (3)");
  CHECK(rows.rows[1].cells[1].value == "P('x',)");
  CHECK(rows.rows[1].cells[2].value == "not alike");
  CHECK(rows.rows[1].cells[3].value == "=");
}

TEST_CASE("sets are ordered behind the base and what is not known comes last") {
  Comparison compared = comparison_of({set_of("base", {"P()"}, 9), set_of("b", {"P()"}, 30),
                                       set_of("c", {"P()"}, 2), set_of("d", {"P()"}, 7)});
  compared.meshes[0].sets[2].record.peak.reset();
  sort_sets(compared.meshes[0], CompareOrder::peak);
  std::string order;
  for (const ComparedSet& set : compared.meshes[0].sets) order += set.title + ' ';
  CHECK(order == "base d b c ");
}

TEST_CASE("a comparison fails for changes or for growth as it is asked to") {
  Comparison compared = comparison_of({set_of("base", {"P('x',)", "P('x',)"}, 100),
                                       set_of("same", {"P('x',)", "P('x',)"}, 111),
                                       set_of("more", {"P()", "P('x',)"}, 100)});
  CHECK(failures_of(compared).empty());
  compared.fail_on_change = true;
  CHECK(failures_of(compared) == std::vector<std::string>{"more differs from base"});
  compared.fail_on_change = false;
  compared.allowed_percent = 11;
  CHECK(failures_of(compared) ==
        std::vector<std::string>{"more needs 350.0% more of state B/device (allowed 11%)"});
  compared.allowed_percent = 10.5;
  CHECK(failures_of(compared).front() == "same needs 11.0% more of peak B/device (allowed 10.5%)");
}

TEST_CASE("growth from nothing is more than any percentage") {
  LayoutDiff grown;
  grown.wire = {Bytes(0), Bytes(5)};
  CHECK(worst_growth(grown)->figure == "wire B/device");
  Comparison compared = comparison_of({set_of("base", {"P()"}, 1), set_of("b", {"P()"}, 1)});
  compared.meshes[0].sets[1].against_base = grown;
  compared.allowed_percent = 1e9;
  CHECK(failures_of(compared) ==
        std::vector<std::string>{"b has wire B/device where the base has none (allowed 1e+09%)"});
}
