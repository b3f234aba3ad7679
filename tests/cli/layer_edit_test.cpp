#include "cli/layer_edit.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

/// The patch for the layer whose kind stands at this column of line 2.
std::string patched(const std::string& line, int column, const std::string& next = "") {
  MemoryReader reader({{"model.yaml", "layers:\n" + line + "\n" + next + "\n"}});
  Sources sources(reader);
  sources.load("model.yaml");
  return patch_text(sources, {{{"model.yaml", 2, column, 1}, "out_sharding", "\"P('x',)\""}});
}

}  // namespace

TEST_CASE("a key goes to the end of a map in one line") {
  CHECK(patched("  - dense: {name: a, kernel: \"P(x, {)\"}  # why", 5) ==
        "--- model.yaml\n+++ model.yaml\n@@ -2 +2 @@\n"
        "-  - dense: {name: a, kernel: \"P(x, {)\"}  # why\n"
        "+  - dense: {name: a, kernel: \"P(x, {)\", out_sharding: \"P('x',)\"}  # why\n");
}

TEST_CASE("a layer written with its main argument alone becomes a map") {
  CHECK(patched("  - dense: hidden # wide", 5) ==
        "--- model.yaml\n+++ model.yaml\n@@ -2 +2 @@\n"
        "-  - dense: hidden # wide\n"
        "+  - dense: {features: hidden, out_sharding: \"P('x',)\"} # wide\n");
  CHECK(patched("  - let: h = f(a, b) @ c", 5) ==
        "--- model.yaml\n+++ model.yaml\n@@ -2 +2 @@\n"
        "-  - let: h = f(a, b) @ c\n"
        "+  - let: {expression: \"h = f(a, b) @ c\", out_sharding: \"P('x',)\"}\n");
}

TEST_CASE("a bare word becomes a map") {
  CHECK(patched("  - [relu, dot]", 6) ==
        "--- model.yaml\n+++ model.yaml\n@@ -2 +2 @@\n"
        "-  - [relu, dot]\n"
        "+  - [relu: {out_sharding: \"P('x',)\"}, dot]\n");
}

TEST_CASE("a map over several lines gets one line more") {
  CHECK(patched("  - dense:", 5, "      name: a") ==
        "--- model.yaml\n+++ model.yaml\n@@ -2 +2,2 @@\n"
        "-  - dense:\n"
        "+  - dense:\n"
        "+      out_sharding: \"P('x',)\"\n");
}

TEST_CASE("edits of several lines are in the order of the lines") {
  MemoryReader reader({{"m.yaml", std::string("- dense:\n    name: a\n- dot: b\n")}});
  Sources sources(reader);
  sources.load("m.yaml");
  CHECK(patch_text(sources, {{{"m.yaml", 3, 3, 1}, "k", "v"}, {{"m.yaml", 1, 3, 1}, "k", "v"}}) ==
        "--- m.yaml\n+++ m.yaml\n@@ -1 +1,2 @@\n-- dense:\n+- dense:\n+    k: v\n"
        "@@ -3 +4 @@\n-- dot: b\n+- dot: {features: b, k: v}\n");
}
