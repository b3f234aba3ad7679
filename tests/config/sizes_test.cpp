#include <doctest/doctest.h>

#include "config/files.h"

namespace shard {

TEST_CASE("a size is a number or another size or a product") {
  CHECK(
      TestFiles(
          R"(sizes: {batch: 64, embed: 4_096, act_embed: embed, heads: 32, head_dim: 128, qkv: heads * head_dim, twice: 2 * qkv, million: 1e6}
inputs: {x: [batch]}
layers: [relu]
)")
          .model() ==
      R"(m from m.yaml naming linen seed 0 dtypes f32 f32 f32
sizes batch=64 embed=4096 act_embed=4096 heads=32 head_dim=128 qkv=4096 twice=8192 million=1000000
input x@2:10 f32[batch=64] [batch]
relu@3:10
)");
}

TEST_CASE("sizes may refer to sizes that come later") {
  CHECK(TestFiles(R"(sizes: {a: b * c, b: c, c: 3}
inputs: {x: [a, b]}
layers: [relu]
)")
            .model() ==
        R"(m from m.yaml naming linen seed 0 dtypes f32 f32 f32
sizes a=9 b=3 c=3
input x@2:10 f32[a=9, b=3] [a, b]
relu@3:10
)");
}

TEST_CASE("a size that is no positive whole number is refused") {
  CHECK(
      TestFiles(
          R"(sizes: {a: 4, b: 8, zero: 0, negative: -4, half: 1.5, padded: 007, nothing: , map: {x: 1}, open: "4 *"}
inputs: {x: [a, b]}
layers: [relu]
)")
          .model() ==
      R"(m.yaml:1:27: error: size 'zero' is 0, expected a whole number of 1 or more [bad-size]
    1 | sizes: {a: 4, b: 8, zero: 0, negative: -4, half: 1.5, padded: 007, nothing: , map: {x: 1}, open: "4 *"}
      |                           ^
m.yaml:1:40: error: size 'negative' is -4, expected a whole number of 1 or more [bad-size]
    1 | sizes: {a: 4, b: 8, zero: 0, negative: -4, half: 1.5, padded: 007, nothing: , map: {x: 1}, open: "4 *"}
      |                                        ^~
m.yaml:1:50: error: size 'half' is 1.5, expected a whole number of 1 or more [bad-size]
    1 | sizes: {a: 4, b: 8, zero: 0, negative: -4, half: 1.5, padded: 007, nothing: , map: {x: 1}, open: "4 *"}
      |                                                  ^~~
m.yaml:1:63: error: size 'padded' is 007, expected a whole number of 1 or more [bad-size]
    1 | sizes: {a: 4, b: 8, zero: 0, negative: -4, half: 1.5, padded: 007, nothing: , map: {x: 1}, open: "4 *"}
      |                                                               ^~~
  hint: remove the leading zero
m.yaml:1:68: error: size 'nothing' is nothing, expected a number, a size's name or a product [bad-size]
    1 | sizes: {a: 4, b: 8, zero: 0, negative: -4, half: 1.5, padded: 007, nothing: , map: {x: 1}, open: "4 *"}
      |                                                                    ^~~~~~~
m.yaml:1:84: error: size 'map' is a map, expected a number, a size's name or a product [bad-size]
    1 | sizes: {a: 4, b: 8, zero: 0, negative: -4, half: 1.5, padded: 007, nothing: , map: {x: 1}, open: "4 *"}
      |                                                                                    ^
m.yaml:1:102: error: a factor of size 'open' is missing [bad-size]
    1 | sizes: {a: 4, b: 8, zero: 0, negative: -4, half: 1.5, padded: 007, nothing: , map: {x: 1}, open: "4 *"}
      |                                                                                                      ^
)");
}

TEST_CASE("an unknown name in a size is refused with the nearest size") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8, heads: 2, qkv: head * 3, word: two words}
inputs: {x: [a, b]}
layers: [relu]
)")
            .model() ==
        R"(m.yaml:1:36: error: 'head' is not a size [unknown-size]
    1 | sizes: {a: 4, b: 8, heads: 2, qkv: head * 3, word: two words}
      |                                    ^~~~
  hint: did you mean 'heads'? sizes: a, b, heads, qkv, word
m.yaml:1:52: error: 'two words' is not a size [unknown-size]
    1 | sizes: {a: 4, b: 8, heads: 2, qkv: head * 3, word: two words}
      |                                                    ^~~~~~~~~
  hint: a size is a number, another size, or a product such as a * b
)");
}

TEST_CASE("sizes that are made of themselves are refused once") {
  CHECK(TestFiles(R"(sizes: {a: b, b: 2 * c, c: a, d: a, e: e}
inputs: {x: [d]}
layers: [relu]
)")
            .model() ==
        R"(m.yaml:1:28: error: size 'a' is made of itself: a -> b -> c -> a [size-cycle]
    1 | sizes: {a: b, b: 2 * c, c: a, d: a, e: e}
      |                            ^
  hint: give one of them a number
m.yaml:1:40: error: size 'e' is made of itself: e -> e [size-cycle]
    1 | sizes: {a: b, b: 2 * c, c: a, d: a, e: e}
      |                                        ^
  hint: give one of them a number
)");
}

TEST_CASE("sizes over 63 bits are refused") {
  CHECK(
      TestFiles(
          R"(sizes: {a: 4, b: 8, c: 4294967296, d: c * c, e: 99999999999999999999, f: 9223372036854775807}
inputs: {x: [a, b]}
layers: [relu]
)")
          .model() ==
      R"(m.yaml:1:39: error: size 'd' is over 2^63 - 1 [size-overflow]
    1 | sizes: {a: 4, b: 8, c: 4294967296, d: c * c, e: 99999999999999999999, f: 9223372036854775807}
      |                                       ^~~~~
m.yaml:1:49: error: size 'e' is 99999999999999999999, which is over 2^63 - 1 [size-overflow]
    1 | sizes: {a: 4, b: 8, c: 4294967296, d: c * c, e: 99999999999999999999, f: 9223372036854775807}
      |                                                 ^~~~~~~~~~~~~~~~~~~~
)");
}

TEST_CASE("an array over 63 bits is refused before anything is allocated") {
  CHECK(TestFiles(R"(sizes: {a: 4294967296, b: 2147483648}
inputs: {x: [a, b]}
layers: [relu]
)")
            .model() ==
        R"(m.yaml:2:13: error: the array takes more than 2^63 - 1 bytes [size-overflow]
    2 | inputs: {x: [a, b]}
      |             ^
)");
}

TEST_CASE("a name that is no identifier cannot be a size") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8, 1x: 3, c-d: 4}
inputs: {x: [a, b]}
layers: [relu]
)")
            .model() ==
        R"(m.yaml:1:21: error: '1x' cannot be the name of a size [bad-name]
    1 | sizes: {a: 4, b: 8, 1x: 3, c-d: 4}
      |                     ^~
  hint: a name is made of letters, digits and _, and starts with no digit
m.yaml:1:28: error: 'c-d' cannot be the name of a size [bad-name]
    1 | sizes: {a: 4, b: 8, 1x: 3, c-d: 4}
      |                            ^~~
  hint: a name is made of letters, digits and _, and starts with no digit
)");
}

}  // namespace shard
