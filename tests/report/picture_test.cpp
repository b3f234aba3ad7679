#include "report/picture.h"

#include <doctest/doctest.h>

#include "base/check.h"

using namespace shard;

namespace {

const Mesh m24({{MeshAxis("data"), 2, {}}, {MeshAxis("model"), 4, {}}});

Sharding split(std::vector<std::vector<int>> dims) {
  Sharding sharding;
  for (const std::vector<int>& axes : dims) {
    DimSharding& dim = sharding.dims.emplace_back();
    for (const int axis : axes) dim.axes.push_back(m24.full(axis));
  }
  return sharding;
}

}  // namespace

TEST_CASE("the guide's kernel is drawn as four columns of two devices") {
  CHECK(jax_picture(m24, split({{}, {1}}), {1024, 1024}, {}) == R"(┌───────┬───────┬───────┬───────┐
│       │       │       │       │
│       │       │       │       │
│       │       │       │       │
│       │       │       │       │
│CPU 0,4│CPU 1,5│CPU 2,6│CPU 3,7│
│       │       │       │       │
│       │       │       │       │
│       │       │       │       │
│       │       │       │       │
└───────┴───────┴───────┴───────┘
)");
}

TEST_CASE("a flat array is one row") {
  CHECK(jax_picture(m24, split({{0}}), {8}, {}) == R"(┌───────────┬───────────┐
│CPU 0,1,2,3│CPU 4,5,6,7│
└───────────┴───────────┘
)");
}

TEST_CASE("in colour there is no frame and a cell is one line taller") {
  const std::string color = "\x1b[38;2;255;255;255;48;2;57;59;121m";  // with two cells both get it
  PictureOptions options;
  options.color = true;
  CHECK(jax_picture(m24, split({{0}}), {8}, options) ==
        color + "CPU 0,1,2,3\x1b[0m" + color + "CPU 4,5,6,7\x1b[0m\n" +  //
            color + "           \x1b[0m" + color + "           \x1b[0m\n");
}

TEST_CASE("colours jump half way through the map and light cells have black ink") {
  PictureOptions options;
  options.color = true;
  const std::string text = jax_picture(m24, split({{1}}), {8}, options);
  CHECK(text.substr(0, text.find('\n')) ==
        "\x1b[38;2;255;255;255;48;2;57;59;121m \x1b[0m\x1b[38;2;255;255;255;48;2;57;59;121mCPU "
        "0,4\x1b[0m\x1b[38;2;255;255;255;48;2;57;59;121m \x1b[0m"
        "\x1b[38;2;255;255;255;48;2;222;158;214m \x1b[0m\x1b[38;2;255;255;255;48;2;222;158;214mCPU "
        "1,5\x1b[0m\x1b[38;2;255;255;255;48;2;222;158;214m \x1b[0m"
        "\x1b[38;2;255;255;255;48;2;173;73;74m \x1b[0m\x1b[38;2;255;255;255;48;2;173;73;74mCPU "
        "2,6\x1b[0m\x1b[38;2;255;255;255;48;2;173;73;74m \x1b[0m"
        "\x1b[38;2;0;0;0;48;2;181;207;107m \x1b[0m\x1b[38;2;0;0;0;48;2;181;207;107mCPU "
        "3,7\x1b[0m\x1b[38;2;0;0;0;48;2;181;207;107m \x1b[0m");
}

TEST_CASE("JAX draws no scalars no cubes and no empty arrays") {
  CHECK(has_jax_picture({4}));
  CHECK(has_jax_picture({4, 2}));
  CHECK_FALSE(has_jax_picture({}));
  CHECK_FALSE(has_jax_picture({2, 2, 2}));
  CHECK_FALSE(has_jax_picture({0, 2}));
  CHECK_THROWS_AS(jax_picture(m24, split({}), {}, {}), InternalError);
  CHECK_THROWS_AS(jax_picture(m24, split({{1}}), {6}, {}), InternalError);
}
