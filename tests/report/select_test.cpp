#include "report/select.h"
#include "base/glob.h"

#include <doctest/doctest.h>

#include "base/diagnostic.h"

using namespace shard;

namespace {

ArrayRow row(const std::string& name, Role role, bool is_result = false) {
  ArrayRow made;
  made.name = name;
  made.role = role;
  made.is_result = is_result;
  return made;
}

std::vector<ArrayRow> guide() {
  return {row("x", Role::input),
          row("params/B_0/Dense_0/kernel", Role::parameter),
          row("params/B_0/W2", Role::parameter),
          row("params/B_1/Dense_0/kernel", Role::parameter),
          row("opt_state/0/mu/B_0/W2", Role::optimizer),
          row("B_0/Dense_0", Role::output),
          row("y", Role::output, true)};
}

std::string chosen(const std::vector<std::string>& names) {
  std::string text;
  for (const ArrayRow& one : select_arrays(guide(), names)) text += one.name + ' ';
  return text;
}

}  // namespace

TEST_CASE("without a name the inputs and one block and the results are meant") {
  CHECK(chosen({}) == "x params/B_0/Dense_0/kernel params/B_0/W2 y ");
}

TEST_CASE("a path means one array and a folder all below it") {
  CHECK(chosen({"params/B_0/W2"}) == "params/B_0/W2 ");
  CHECK(chosen({"params/B_0"}) == "params/B_0/Dense_0/kernel params/B_0/W2 ");
  CHECK(chosen({"y", "params", "y"}) ==
        "y params/B_0/Dense_0/kernel params/B_0/W2 params/B_1/Dense_0/kernel ");
}

TEST_CASE("a glob crosses folders") {
  CHECK(chosen({"*W2"}) == "params/B_0/W2 opt_state/0/mu/B_0/W2 ");
  CHECK(chosen({"params/B_?/*"}) ==
        "params/B_0/Dense_0/kernel params/B_0/W2 params/B_1/Dense_0/kernel ");
}

TEST_CASE("names that mean nothing are all refused in one run with the nearest") {
  const std::vector<std::string> names = {"params/B_0/W3", "zzz*"};
  try {
    (void)select_arrays(guide(), names);
    FAIL("both names must be refused");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) ==
          "command line: error: no array is called 'params/B_0/W3' [unknown-array]\n"
          "  hint: did you mean 'params/B_0/W2'?\n"
          "command line: error: no array is called 'zzz*' [unknown-array]");
  }
}

TEST_CASE("a glob matches any run of characters and single ones") {
  CHECK(matches_glob("a*c", "abbbc"));
  CHECK(matches_glob("*", ""));
  CHECK(matches_glob("a?c", "abc"));
  CHECK_FALSE(matches_glob("a?c", "ac"));
  CHECK_FALSE(matches_glob("a*c", "abcd"));
  CHECK(matches_glob("*/W2", "a/b/W2"));
}
