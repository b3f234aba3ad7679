#include <doctest/doctest.h>

#include "config/load.h"
#include "text/rendered.h"

namespace shard {
namespace {

std::string read_written(const std::string& text) {
  MemoryReader reader({});
  Sources sources(reader);
  sources.add("--spec", "x = " + text);
  std::string shown;
  const std::string problems = rendered(sources, [&] {
    shown = to_string(read_spec_text(text, {"--spec", 1, 5, 1}));
  });
  return shown.empty() ? problems : shown;
}

}  // namespace

TEST_CASE("read_spec_text reads both spellings of a spec") {
  CHECK(read_written("P('data', None)") == "P('data', None)");
  CHECK(read_written("P((data, model))") == "P(('data', 'model'),)");
  CHECK(read_written("[embed, null]") == "[embed, None]");
  CHECK(read_written("null") == "null");
  CHECK(read_written("None") == "null");
}

TEST_CASE("read_spec_text places mistakes in the text that was typed") {
  CHECK(read_written("P(data") ==
        "--spec:1:11: error: the text ends, expected ',' or ')' [spec-syntax]\n"
        "    1 | x = P(data\n"
        "      |           ^\n");
  CHECK(read_written("[embed, {a: b}]") ==
        "--spec:1:13: error: an item of the spec is a map, expected a logical axis, a list of mesh "
        "axes, "
        "UNCONSTRAINED or null [wrong-type]\n"
        "    1 | x = [embed, {a: b}]\n"
        "      |             ^\n"
        "  hint: mesh axes are written P(...), without a list around it\n");
  CHECK(read_written("[embed") ==
        "--spec:1:5: error: this bracket is never closed [yaml-syntax]\n"
        "    1 | x = [embed\n"
        "      |     ^\n");
  CHECK(read_written("data") ==
        "--spec:1:5: error: the spec is 'data', expected a list of logical axes, P(...) of mesh "
        "axes, \"{devices=...}\", or null [wrong-type]\n"
        "    1 | x = data\n"
        "      |     ^~~~\n"
        "  hint: write [data] for a logical axis, P(data) for a mesh axis\n");
}

TEST_CASE("a text of XLA is a spec with the dims that came and went") {
  const SpecConfig spec = read_spec_text(" {devices=[2,4]<=[8]}", {"--spec", 1, 1});
  REQUIRE(spec.sharding() != nullptr);
  CHECK(to_string(spec) == " {devices=[2,4]<=[8]}");
  ShardingText text{"{replicated}"};
  text.edits = {{0, PartitionEntry{{MeshAxis("layers")}}}, {2}, {0, PartitionEntry{}}};
  CHECK(to_string(text) == "{replicated} with dim 0 by 'layers' without dim 2 with dim 0 by None");
  CHECK_FALSE(text == ShardingText{"{replicated}"});
}

}  // namespace shard
