#include "text/render.h"

#include <doctest/doctest.h>

namespace shard {
namespace {

std::string shown(const std::string& text, const Location& at, const std::string& hint = "") {
  MemoryReader reader({});
  Sources sources(reader);
  sources.add("r.yaml", text);
  return render(Diagnostic{Severity::error, "some-id", at, "the message", hint}, sources);
}

}  // namespace

TEST_CASE("a diagnostic shows its line with a caret run and the hint") {
  CHECK(shown("mesh: {data: 2}\nrules:\n  embed: [fsdpp]\n", {"r.yaml", 3, 11, 5},
              "did you mean 'fsdp'?") ==
        "r.yaml:3:11: error: the message [some-id]\n"
        "    3 |   embed: [fsdpp]\n"
        "      |           ^~~~~\n"
        "  hint: did you mean 'fsdp'?\n");
}

TEST_CASE("the caret stands under the letter whatever bytes come before it") {
  CHECK(shown("é: \"ü\"\n", {"r.yaml", 1, 5, 4}) ==
        "r.yaml:1:5: error: the message [some-id]\n"
        "    1 | é: \"ü\"\n"
        "      |    ^~~\n");
  CHECK(shown("a\tb\n", {"r.yaml", 1, 3, 1}) ==
        "r.yaml:1:3: error: the message [some-id]\n"
        "    1 | a\tb\n"
        "      |  \t^\n");
}

TEST_CASE("a text that is not known has no excerpt") {
  MemoryReader reader({});
  const Sources sources(reader);
  const Diagnostic one{Severity::warning, "id", {"gone.yaml", 2, 1, 1}, "m", "h"};
  CHECK(render(one, sources) == "gone.yaml:2:1: warning: m [id]\n  hint: h\n");
  const Diagnostic nowhere{Severity::note, "id", {}, "m", ""};
  CHECK(render(nowhere, sources) == "note: m [id]\n");
}

TEST_CASE("a place behind the end of the text has no excerpt") {
  CHECK(shown("a: 1", {"r.yaml", 7, 1, 1}) == "r.yaml:7:1: error: the message [some-id]\n");
}

TEST_CASE("control characters of a file do not reach the terminal") {
  CHECK(shown("a: \x1B[31mred\n", {"r.yaml", 1, 1, 1}) ==
        "r.yaml:1:1: error: the message [some-id]\n"
        "    1 | a: ?[31mred\n"
        "      | ^\n");
}

TEST_CASE("a long line is cut around the place") {
  const std::string line = std::string(200, 'a') + "HERE" + std::string(200, 'b');
  CHECK(shown(line, {"r.yaml", 1, 201, 4}) ==
        "r.yaml:1:201: error: the message [some-id]\n"
        "    1 | ..." +
            std::string(40, 'a') + "HERE" + std::string(76, 'b') + "...\n" + "      | " +
            std::string(43, ' ') + "^~~~\n");
}

TEST_CASE("several diagnostics follow each other") {
  MemoryReader reader({});
  const Sources sources(reader);
  const std::vector<Diagnostic> two = {{Severity::error, "a", {}, "one", ""},
                                       {Severity::note, "b", {}, "two", "hint"}};
  CHECK(render(two, sources) == "error: one [a]\nnote: two [b]\n  hint: hint\n");
}

}  // namespace shard
