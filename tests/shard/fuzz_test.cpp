// Specs and sharding strings that nobody would write, made from some that somebody did: every
// reader answers with a value or an `Error`, and what it read can be written and read again.
//
// SHARD_FUZZ_COUNT sets the number of inputs, SHARD_FUZZ_SEED where they begin.
#include <doctest/doctest.h>

#include <array>
#include <iostream>

#include "config/load.h"
#include "config/read_spec.h"
#include "config/sdy_spec.h"
#include "shard/hlo_sharding.h"
#include "shard/sdy_text.h"
#include "shard/sharding_text.h"
#include "support/mangled_texts.h"

namespace shard {
namespace {

constexpr std::uint64_t default_count = 20000;

const std::array<std::string, 16> seeds = {
    "P('data', None)",
    "P((data, model), UNCONSTRAINED, [])",
    "P('x', None, unreduced={'y'}, reduced={'z', w})",
    "P()",
    "[batch, null, [data, model], UNCONSTRAINED]",
    "null",
    "{devices=[2,4]<=[8]}",
    "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}",
    "{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dims={unreduced}}",
    "{devices=[1,2,2,2]<=[2,2,2]T(2,1,0) last_tile_dims={manual, unreduced, replicated}}",
    "{replicated}",
    "{manual}",
    "<@mesh, [{\"data\"}, {}]>",
    "#sdy.sharding<@mesh, [{\"model\":(1)2, ?}, {?}], replicated={\"data\"}>",
    "<mesh<[\"data\"=2, \"model\"=4]>, [{\"data\", \"model\"}p1, {}], unreduced={}>",
    "<@mesh, []>",
};

const std::array<std::string_view, 36> pieces = {"(",         ")",
                                                 "[",         "]",
                                                 "{",         "}",
                                                 ",",         "'",
                                                 "\"",        "None",
                                                 "P(",        "=",
                                                 "?",         "<",
                                                 ">",         "T(",
                                                 "<=[",       "\n",
                                                 " ",         "\t",
                                                 "\\",        "@mesh",
                                                 "unreduced", "-1",
                                                 "0",         "1e99",
                                                 ":(2)2",     ":(0)0",
                                                 "data",      "model",
                                                 "p3",        "\xFF",
                                                 "\xC3\xA9",  "999999999999999999",
                                                 "#sdy.",     "UNCONSTRAINED"};

// A name that can be printed between quotes.
bool is_quotable(const MeshAxis& axis) {
  return axis.text().find('\'') == std::string::npos || axis.text().find('"') == std::string::npos;
}

void check_spec(const PartitionSpec& spec) {
  std::vector<MeshAxis> axes(spec.unreduced.begin(), spec.unreduced.end());
  axes.insert(axes.end(), spec.reduced.begin(), spec.reduced.end());
  for (const PartitionEntry& entry : spec.entries) {
    axes.insert(axes.end(), entry.axes.begin(), entry.axes.end());
  }
  if (!std::all_of(axes.begin(), axes.end(), is_quotable)) return;
  CHECK(read_partition_text(to_string(spec), {}) == spec);
}

void check_tiles(const HloSharding& tiles) {
  CHECK(read_hlo_sharding(to_string(tiles)) == tiles);
  if (checked_product(tiles.dims).value_or(1 << 20) > 4096) return;
  CHECK(read_hlo_sharding(to_string_v1(tiles)) == tiles);
}

struct Tally {
  std::uint64_t specs = 0;
  std::uint64_t tiles = 0;
  std::uint64_t shardings = 0;
  std::uint64_t sdy = 0;
};

void try_readers(const Mesh& mesh, const std::string& text, Tally& tally) {
  const bool has_spec = reads([&] { check_spec(read_partition_text(text, {"s", 1, 1, 1})); });
  reads([&] { to_string(read_spec_text(text, {"s", 1, 1, 1})); });
  reads([&] {
    const SdySpec spec = read_sdy_spec(text, {"s", 1, 1, 1});
    ++tally.sdy;
    check_spec(partition_spec(spec, {"s", 1, 1, 1}));
  });
  if (const auto tiles = read_hlo_sharding(text)) {
    check_tiles(*tiles);
    ++tally.tiles;
  }
  for (const int rank : {0, 1, 2, 3}) {
    reads([&] {
      const Sharding sharding = read_sharding_text(mesh, text, rank, {"s", 1, 1, 1});
      CHECK(read_sharding_text(mesh, sdy_sharding(mesh, sharding), rank, {}) == sharding);
      ++tally.shardings;
    });
  }
  tally.specs += has_spec ? 1 : 0;
}

}  // namespace

TEST_CASE("every reader of specs and shardings answers mangled texts with a value or an error") {
  const Mesh mesh({{MeshAxis("data"), 2}, {MeshAxis("model"), 4}});
  Tally tally;
  const MangledTexts mangled(seeds, pieces);
  const std::uint64_t count = for_each_input(default_count, [&](std::uint64_t number) {
    const std::string text = mangled.text(number);
    CAPTURE(number);
    CAPTURE(text);
    try_readers(mesh, text, tally);
  });
  std::cout << "fuzz: " << count << " inputs, " << tally.specs << " specs, " << tally.tiles
            << " tiles, " << tally.shardings << " shardings, " << tally.sdy << " of Shardy\n";
  // Texts that are all refused would test nothing but refusal.
  CHECK(tally.specs * 20 > count);
  CHECK(tally.tiles * 20 > count);
  CHECK(tally.shardings * 20 > count);
  CHECK(tally.sdy * 20 > count);
}

TEST_CASE("every seed of the mangled specs is read as it stands") {
  const Mesh mesh({{MeshAxis("data"), 2}, {MeshAxis("model"), 4}});
  for (const std::string& text : seeds) {
    CAPTURE(text);
    const bool has_spec = reads([&] { read_spec_text(text, {"s", 1, 1, 1}); });
    CHECK((has_spec || read_hlo_sharding(text) || is_sharding_text(text)));
  }
}

}  // namespace shard
