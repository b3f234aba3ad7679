// Iterations that stand for several.
#include <doctest/doctest.h>

#include "model/iterations.h"
#include "model/model.h"
#include "model/range_names.h"
#include "support/model_configs.h"

using namespace shard;
using namespace shard::tests;

namespace {

using Lines = std::vector<std::string>;

ModelBuilder repeated(std::int64_t times) {
  ModelBuilder builder({{"batch", 2}, {"embed", 4}, {"hidden", 8}});
  builder.input("x", {"batch", "embed"});
  builder.block("Block", {dense("hidden"), product("W2", "embed")});
  builder.layer(repeat("Block", times));
  return builder;
}

/// `params/Block_0/W2 0:0..0` of the parameters called W2.
Lines leaves(const Model& model) {
  Lines lines;
  for (const StateLeaf& leaf : model.state) {
    if (leaf.path.starts_with("params/") && leaf.path.ends_with("W2")) {
      lines.push_back(leaf.path + " " + std::to_string(leaf.iteration.first) + ".." +
                      std::to_string(leaf.iteration.last));
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("equal iterations are written once when asked to") {
  const ModelBuilder builder = repeated(20);
  const Model model = build_model(builder.config, {true, -1});
  verify(model.apply);
  // The one for iterations 3 to 16 stands where the first of them as text does: 10.
  CHECK(leaves(model) == Lines{"params/Block_0/W2 0..0", "params/Block_1/W2 1..1",
                               "params/Block_{3..16}/W2 3..16", "params/Block_17/W2 17..17",
                               "params/Block_18/W2 18..18", "params/Block_19/W2 19..19",
                               "params/Block_2/W2 2..2"});
  CHECK(model.folded == std::vector<Iteration>{{0, 3, 16}});
  CHECK(model.parameter_count == build_model(builder.config).parameter_count);
}

TEST_CASE("a widened repeat has two single iterations in place of the others") {
  const Model model = build_model(repeated(20).config, {true, 0});
  CHECK(leaves(model) == Lines{"params/Block_0/W2 0..0", "params/Block_1/W2 1..1",
                               "params/Block_17/W2 17..17", "params/Block_18/W2 18..18",
                               "params/Block_19/W2 19..19", "params/Block_2/W2 2..2",
                               "params/Block_3/W2 3..3", "params/Block_4/W2 4..4"});
  CHECK(model.folded.empty());
}

TEST_CASE("few iterations are all written out") {
  const ModelBuilder builder = repeated(15);
  const Model model = build_model(builder.config, {true, -1});
  CHECK(model.folded.empty());
  CHECK(leaves(model) == leaves(build_model(builder.config)));
}

TEST_CASE("a pattern that repeats a block is written out") {
  ModelBuilder builder({{"batch", 2}, {"embed", 4}});
  builder.input("x", {"batch", "embed"});
  builder.block("Local", {word("relu")}).block("Global", {word("exp")});
  LayerConfig layer = repeat("Local", 20);
  layer.repeat->pattern = {"Local", "Local", "Global"};
  builder.layer(layer);
  CHECK(build_model(builder.config, {true, -1}).apply.nodes.size() == 60);
  builder.config.layers.back().repeat->pattern = {"Global", "Local"};
  const Model model = build_model(builder.config, {true, -1});
  CHECK(model.apply.nodes.size() == 14);
  CHECK(model.apply.nodes[7].name == "Local_{3..16}/relu_0");
  CHECK(model.folded == std::vector<Iteration>{{0, 3, 16}});
}

TEST_CASE("names of skipped iterations are taken") {
  ModelBuilder builder = repeated(20);
  builder.layer(named(dense("hidden"), "Block_9"));
  CHECK_THROWS_AS(build_model(builder.config, {true, -1}), Error);
  CHECK_THROWS_AS(build_model(builder.config, {true, 0}), Error);
  CHECK_THROWS_AS(build_model(builder.config), Error);
}

TEST_CASE("things are found again by iteration and order") {
  const Iteration none, first{0, 2, 2}, folded{0, 3, 9}, second{0, 4, 4}, last{0, 10, 10};
  const Iteration single{0, 3, 3};
  const ByIteration list({none, first, first, folded, folded, last, last, none});
  const ByIteration wide({none, first, first, single, single, second, second, last, last, none});
  const auto found = find_counterparts(list, std::vector{wide}, std::vector{folded});
  REQUIRE(found);
  CHECK((*found)[7].widened == std::vector<std::size_t>{9});
  CHECK((*found)[7].stands_for == -1);
  const Counterparts& where = (*found)[4];
  CHECK(where.widened == std::vector<std::size_t>{4});
  CHECK(where.stands_for == 0);
  CHECK(where.before == 2);
  CHECK(where.after == 6);
  CHECK(where.twin == 6);
  CHECK(where.instances == 7);
  CHECK(list.rank(1) == 0);
  CHECK(list.rank(3) == 1);
}

TEST_CASE("an iteration with more things than its neighbours has no counterpart") {
  const Iteration first{0, 2, 2}, folded{0, 3, 9}, second{0, 4, 4}, last{0, 10, 10};
  const Iteration single{0, 3, 3};
  const auto find = [&](std::vector<Iteration> list, std::vector<Iteration> wide) {
    return find_counterparts(ByIteration(std::move(list)),
                             std::vector{ByIteration(std::move(wide))}, std::vector{folded})
        .has_value();
  };
  CHECK(find({first, folded, last}, {first, single, second, last}));
  CHECK_FALSE(find({first, first, folded, last}, {first, first, single, second, last}));
  CHECK_FALSE(find({first, folded, last, last}, {first, single, second, last, last}));
  CHECK_FALSE(find({first, folded, last}, {first, single, second, second, last}));
  CHECK_FALSE(find({first, folded, last}, {first, single, second, last, Iteration{}}));
}

TEST_CASE("names are compared without their numbers") {
  CHECK(differ_in_numbers_only("B_{3..996}/W2", "B_4/W2"));
  CHECK(differ_in_numbers_only("B_10/W2:dot", "B_4/W2:dot"));
  CHECK(differ_in_numbers_only("x", "x"));
  CHECK_FALSE(differ_in_numbers_only("B_3/W2", "B_3_1/W2"));
  CHECK_FALSE(differ_in_numbers_only("B_3/W2", "C_3/W2"));
  CHECK_FALSE(differ_in_numbers_only("B_3/W2", "B_3/W"));
  CHECK_FALSE(differ_in_numbers_only("B_{3..}/W2", "B_3/W2"));
}

TEST_CASE("a range moves with the iterations") {
  CHECK(moved("a_{3..996}/k_1", -1) == "a_{2..995}/k_1");
  CHECK(moved("a_3/k_1", -1) == "a_3/k_1");
}

TEST_CASE("a range is narrowed to some of its numbers") {
  CHECK(narrowed("a_{2..997}/k_1", 3, 993) == "a_{5..997}/k_1");
  CHECK(narrowed("a_{2..997}/k_1", 3, 2) == "a_{5..6}/k_1");
  CHECK(narrowed("a_{2..997}/k_1", 3, 1) == "a_5/k_1");
  CHECK(narrowed("a_1/k", 0, 1) == "a_1/k");
}
