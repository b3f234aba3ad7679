#include "mesh/chips.h"

#include <doctest/doctest.h>

#include <set>

using namespace shard;

TEST_CASE("chips are found by name and alias in any case") {
  REQUIRE(chip_named("v5e") != nullptr);
  CHECK(chip_named("v5e")->hbm == Bytes(16'000'000'000));
  CHECK(chip_named("V5E") == chip_named("v5e"));
  CHECK(chip_named("v5litepod") == chip_named("v5e"));
  CHECK(chip_named("ironwood")->title == "TPU7x");
  CHECK(chip_named("h100")->hbm == Bytes(std::int64_t{80} << 30));
}

TEST_CASE("memory is that of one JAX device") {
  CHECK(chip_named("v3")->hbm == Bytes(std::int64_t{16} << 30));
  CHECK(chip_named("v4")->hbm == Bytes(std::int64_t{32} << 30));
  CHECK(chip_named("v7x")->hbm == Bytes(std::int64_t{96} << 30));
}

TEST_CASE("unknown and empty words are no chips") {
  CHECK(chip_named("v99") == nullptr);
  CHECK(chip_named("") == nullptr);
}

TEST_CASE("every word names one chip") {
  std::set<std::string_view> words;
  std::size_t count = 0;
  for (const Chip& chip : chip_table()) {
    CHECK(chip.hbm > Bytes(0));
    CHECK_FALSE(chip.source.empty());
    CHECK(chip_named(chip.name) == &chip);
    words.insert(chip.name);
    ++count;
    for (const std::string_view alias : chip.aliases) {
      if (alias.empty()) continue;
      words.insert(alias);
      ++count;
    }
  }
  CHECK(words.size() == count);
  CHECK(chip_names().size() == chip_table().size());
}
