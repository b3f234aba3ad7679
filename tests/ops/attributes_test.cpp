#include "ops/attributes.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/check.h"

using namespace shard;

namespace {

std::string reading_error(const std::string& text) {
  try {
    read_attributes(text);
  } catch (const std::invalid_argument& mistake) {
    return mistake.what();
  }
  return "";
}

}  // namespace

TEST_CASE("attributes print in the order they were set") {
  Attributes attributes{{"dims", std::vector<std::int64_t>{0, 1}}, {"value", 0.5}};
  attributes.set("dtype", std::string("bf16"));
  attributes.set("dims", std::vector<std::int64_t>{});
  CHECK(to_string(attributes) == "{dims=[], value=0.5, dtype=\"bf16\"}");
  CHECK(to_string(Attributes{}) == "");
}

TEST_CASE("what attributes print reads back to equal attributes") {
  const double infinity = std::numeric_limits<double>::infinity();
  const Attributes attributes{{"i", std::int64_t{-3}},
                              {"whole", 2.0},
                              {"tiny", 1e-8},
                              {"third", 1.0 / 3.0},
                              {"low", -infinity},
                              {"text", std::string("a \"b\" \\ {c, d}")},
                              {"list", std::vector<std::int64_t>{1, -2}},
                              {"numbers", std::vector<double>{0.5, 3.0}}};
  CHECK(to_string(attributes) ==
        "{i=-3, whole=2.0, tiny=1e-08, third=0.3333333333333333, low=-inf, "
        "text=\"a \\\"b\\\" \\\\ {c, d}\", list=[1,-2], numbers=[0.5,3.0]}");
  CHECK(read_attributes(to_string(attributes)) == attributes);
  CHECK(read_attributes("") == Attributes{});
  CHECK(std::isnan(read_attributes("{x=nan}").number("x")));
}

TEST_CASE("attributes that do not read say what was expected and where") {
  CHECK(reading_error("dims=[0]") == "attributes: expected '{' at character 1 of 'dims=[0]'");
  CHECK(reading_error("{dims 3}") == "attributes: expected '=' at character 7 of '{dims 3}'");
  CHECK(reading_error("{a=1 b=2}") == "attributes: expected ',' at character 6 of '{a=1 b=2}'");
  CHECK(reading_error("{=1}") == "attributes: expected a key at character 2 of '{=1}'");
  CHECK(reading_error("{a=x}") ==
        "attributes: expected a number, a list or quoted text at character 4 of '{a=x}'");
  CHECK(reading_error("{a=[1,0.5]}") ==
        "attributes: expected a list of one type at character 10 of '{a=[1,0.5]}'");
  CHECK(reading_error("{a=1, a=2}") ==
        "attributes: expected another key than 'a', which is there already at character 8 of "
        "'{a=1, a=2}'");
  CHECK(reading_error("{a=\"x}") == "attributes: expected '\"' at character 7 of '{a=\"x}'");
  CHECK(reading_error("{a=1} ") ==
        "attributes: expected nothing after '}' at character 6 of '{a=1} '");
}

TEST_CASE("a missing attribute or one of another type is a bug of ours") {
  const Attributes attributes{{"value", 0.5}};
  CHECK_THROWS_AS(attributes.number("values"), InternalError);
  CHECK_THROWS_AS(attributes.integer("value"), InternalError);
  CHECK(attributes.has("value"));
  CHECK_FALSE(attributes.has("values"));
}
