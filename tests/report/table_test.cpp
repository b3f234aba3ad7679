#include "report/table.h"

#include <doctest/doctest.h>

#include "base/check.h"

using namespace shard;

namespace {

Table sample() {
  Table table({{"NAME"}, {"dtype", false, 2}, {"bytes", true}, {"copies", true, 1}, {"why"}});
  table.add({"x", "f32", "16,384", "4", "input, mlp.yaml:4"});
  table.add({"kernel", "bf16", "8", "2", ""});
  return table;
}

}  // namespace

TEST_CASE("columns are aligned and trailing blanks are cut") {
  CHECK(sample().render(0, false) ==
        "NAME    dtype   bytes  copies  why\n"
        "x       f32    16,384       4  input, mlp.yaml:4\n"
        "kernel  bf16        8       2\n");
}

TEST_CASE("a table too wide loses the column with the highest priority number first") {
  CHECK(sample().render(43, false) ==
        "NAME     bytes  copies  why\n"
        "x       16,384       4  input, mlp.yaml:4\n"
        "kernel       8       2\n");
  CHECK(sample().render(34, false) ==
        "NAME     bytes  why\n"
        "x       16,384  input, mlp.yaml:4\n"
        "kernel       8\n");
}

TEST_CASE("the last column is cut when dropping columns is not enough") {
  CHECK(sample().render(30, false) ==
        "NAME     bytes  why\n"
        "x       16,384  input, mlp.ya…\n"
        "kernel       8\n");
  CHECK(sample().render(3, false) ==
        "NAME     bytes  why\n"
        "x       16,384  input, mlp.…\n"
        "kernel       8\n");
}

TEST_CASE("the title row may be bold") {
  Table table({{"A"}});
  table.add({"b"});
  CHECK(table.render(0, true) == "\x1b[1mA\x1b[0m\nb\n");
}

TEST_CASE("a row with a cell too few is a bug") {
  Table table({{"A"}, {"B"}});
  CHECK_THROWS_AS(table.add({"b"}), InternalError);
}

TEST_CASE("width counts characters and not bytes") {
  CHECK(text_width("±…x") == 3);
  CHECK(cut_text("±±±±", 3) == "±±…");
  CHECK(cut_text("abc", 3) == "abc");
}
