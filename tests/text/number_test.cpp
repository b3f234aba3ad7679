#include "text/number.h"

#include <doctest/doctest.h>

namespace shard {

TEST_CASE("read_integer reads underscores and whole exponents") {
  CHECK(read_integer("4_096").value == 4096);
  CHECK(read_integer("0").value == 0);
  CHECK(read_integer("-3").value == -3);
  CHECK(read_integer("1e6").value == 1000000);
  CHECK(read_integer("9223372036854775807").value == 9223372036854775807LL);
}

TEST_CASE("read_integer says why a text is not a whole number") {
  CHECK(read_integer("").fault == NumberFault::not_a_number);
  CHECK(read_integer("embed").fault == NumberFault::not_a_number);
  CHECK(read_integer("0x10").fault == NumberFault::not_a_number);
  CHECK(read_integer("_4").fault == NumberFault::not_a_number);
  CHECK(read_integer("4__096").fault == NumberFault::not_a_number);
  CHECK(read_integer("inf").fault == NumberFault::not_a_number);
  CHECK(read_integer("007").fault == NumberFault::leading_zero);
  CHECK(read_integer("1.5").fault == NumberFault::not_whole);
  CHECK(read_integer("1e-3").fault == NumberFault::not_whole);
  CHECK(read_integer("9223372036854775808").fault == NumberFault::too_large);
  CHECK(read_integer("1e30").fault == NumberFault::too_large);
  CHECK(read_integer("4096").fault == std::nullopt);
}

TEST_CASE("read_number reads what YAML and Python users write") {
  CHECK(read_number("1e-3") == 1e-3);
  CHECK(read_number("5e5") == 5e5);
  CHECK(read_number(".5") == 0.5);
  CHECK(read_number("-0.25") == -0.25);
  CHECK(read_number("4_096") == 4096.0);
  CHECK(read_number("0") == 0.0);
  for (const char* bad : {"", "nan", "inf", "-inf", "1e", "1.5x", "01", "1 000", "1e999", "--1"}) {
    CAPTURE(bad);
    CHECK(read_number(bad) == std::nullopt);
  }
}

TEST_CASE("read_bytes knows binary and decimal units") {
  CHECK(read_bytes("16 GiB") == Bytes(17179869184));
  CHECK(read_bytes("16GiB") == Bytes(17179869184));
  CHECK(read_bytes("1.5 GB") == Bytes(1500000000));
  CHECK(read_bytes("512") == Bytes(512));
  CHECK(read_bytes("4_096 B") == Bytes(4096));
  for (const char* bad : {"", "GiB", "-1 GiB", "16 GiBs", "16 gib", "0.3 B", "9e18 TiB"}) {
    CAPTURE(bad);
    CHECK(read_bytes(bad) == std::nullopt);
  }
}

}  // namespace shard
