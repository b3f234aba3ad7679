#include "cli/values.h"

#include <doctest/doctest.h>

#include "base/diagnostic.h"

using namespace shard;

namespace {

std::string refusal(const std::string& text) {
  try {
    (void)read_bytes("--hbm", text);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("bytes are read with binary and decimal units") {
  CHECK(read_bytes("--hbm", "1024") == Bytes(1024));
  CHECK(read_bytes("--hbm", "16GiB") == Bytes(17'179'869'184));
  CHECK(read_bytes("--hbm", "16 GiB") == Bytes(17'179'869'184));
  CHECK(read_bytes("--hbm", "16GB") == Bytes(16'000'000'000));
  CHECK(read_bytes("--hbm", "1.5KiB") == Bytes(1536));
}

TEST_CASE("bytes that are none are refused with what was expected") {
  const std::string message =
      "--hbm: error: expected a positive number of bytes such as 16GiB or 800MB, found ";
  for (const std::string text : {"", "GiB", "16 gib", "-1GiB", "0", "1e40", "nan", "16GiB "}) {
    CHECK(refusal(text) == message + '\'' + text + "' [bad-value]");
  }
}

TEST_CASE("a count is read whole or refused") {
  CHECK(read_count("--runs", "0", 0, 9) == 0);
  CHECK(read_count("--runs", "9", 0, 9) == 9);
  for (const std::string text : {"", "10", "-1", "+1", "1.0", "1 ", "x"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(
        (void)read_count("--runs", text, 0, 9),
        ("--runs: error: expected a whole number from 0 to 9, found '" + text + "' [bad-value]")
            .c_str(),
        Error);
  }
}

TEST_CASE("seconds are read whole or refused") {
  CHECK(read_seconds("--timeout", "0.5") == Seconds{0.5});
  CHECK(read_seconds("--timeout", "0") == Seconds{0});
  for (const char* bad : {"", "-1", "nan", "5s", "1e10"}) {
    CHECK_THROWS_WITH_AS(read_seconds("--timeout", bad),
                         ("--timeout: error: expected seconds such as 30 or 0.5, found '" +
                          std::string(bad) + "' [bad-value]")
                             .c_str(),
                         Error);
  }
}
