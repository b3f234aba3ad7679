#include <doctest/doctest.h>

#include "config/files.h"

namespace shard {

TEST_CASE("a type is one word or a list") {
  CHECK(TestFiles(R"(sizes: {batch: 8, embed: 16, mlp: 32}
inputs: 
  a: f32[batch, embed]
  b: i32[batch]
  c: bf16[embed=4096, mlp=14336]
  d: bf16[batch@fsdp, embed, mlp@(model,data)]
  e: [batch, embed]
  f: f32[]
  g: float32[ batch , embed=mlp@model ]
  h: "bool[batch]"
  i: [batch@data, embed]
  j: bf16[batch@data=4]
layers: [relu]
)")
            .model() ==
        R"(m from m.yaml naming linen seed 0 dtypes f32 f32 f32
sizes batch=8 embed=16 mlp=32
input a@3:3 f32[batch=8, embed=16] [batch, embed]
input b@4:3 i32[batch=8] [batch]
input c@5:3 bf16[embed=4096, mlp=14336] [embed, mlp]
input d@6:3 bf16[batch=8, embed=16, mlp=32] P('fsdp', None, ('model', 'data'))
input e@7:3 f32[batch=8, embed=16] [batch, embed]
input f@8:3 f32[] []
input g@9:3 f32[batch=8, embed=32] P(None, 'model')
input h@10:3 bool[batch=8] [batch]
input i@11:3 f32[batch=8, embed=16] P('data', None)
input j@12:3 bf16[batch=4] P('data',)
relu@13:10
)");
}

TEST_CASE("mistakes in types are placed inside the word") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: 
  c: f23[a, b]
  d: f32[a, embd]
  e: f32[a, 128]
  f: f32[a@, b]
  g: f32 [a]
  h: f32[a, b
  i: f32
  j: f32[a] b
  k: f32[a=0, b]
  l: f32[a=2=3]
  m: f32[a@x@y]
  n: f32[a@()]
  o: f32[a@(x y)]
  p: f32[a=]
  q: f32[, b]
  r: "[a"
layers: [relu]
)")
            .model() ==
        R"(m.yaml:3:6: error: 'f23' is not an element type [unknown-dtype]
    3 |   c: f23[a, b]
      |      ^~~
  hint: did you mean 'f32'? element types: f32, bf16, f16, f64, i32, i64, u32, bool, i8, i16, u8, u16, u64, f8_e4m3fn, f8_e5m2, c64
m.yaml:4:13: error: 'embd' is not a size [unknown-size]
    4 |   d: f32[a, embd]
      |             ^~~~
  hint: sizes: a, b
m.yaml:5:13: error: '128' is not a dim's label [type-syntax]
    5 |   e: f32[a, 128]
      |             ^~~
  hint: a dim with a size of its own is written label=128
m.yaml:6:12: error: found ',', expected a mesh axis [type-syntax]
    6 |   f: f32[a@, b]
      |            ^
m.yaml:7:9: error: found ' ', expected '[' and the dims [type-syntax]
    7 |   g: f32 [a]
      |         ^
  hint: a type is one word: f32[batch, embed]
m.yaml:8:14: error: the text ends, expected ',' or ']' [type-syntax]
    8 |   h: f32[a, b
      |              ^
m.yaml:9:9: error: the text ends, expected '[' and the dims [type-syntax]
    9 |   i: f32
      |         ^
  hint: a scalar is written f32[]
m.yaml:10:13: error: found 'b' behind the closing bracket [type-syntax]
   10 |   j: f32[a] b
      |             ^
m.yaml:11:12: error: dim 'a' is 0, expected a whole number of 1 or more [bad-size]
   11 |   k: f32[a=0, b]
      |            ^
m.yaml:12:13: error: a second '=' in one dim [type-syntax]
   12 |   l: f32[a=2=3]
      |             ^
m.yaml:13:13: error: a second '@' in one dim [type-syntax]
   13 |   m: f32[a@x@y]
      |             ^
m.yaml:14:14: error: no mesh axis between the parentheses [type-syntax]
   14 |   n: f32[a@()]
      |              ^
m.yaml:15:15: error: found 'y', expected ',' or ')' [type-syntax]
   15 |   o: f32[a@(x y)]
      |               ^
m.yaml:16:12: error: found ']', expected a size [type-syntax]
   16 |   p: f32[a=]
      |            ^
m.yaml:17:10: error: found ',', expected a dim's label [type-syntax]
   17 |   q: f32[, b]
      |          ^
m.yaml:18:7: error: found '[', expected an element type [type-syntax]
   18 |   r: "[a"
      |       ^
  hint: a type is written f32[batch, embed]
)");
}

TEST_CASE("what is no type is refused with what to write") {
  CHECK(
      TestFiles(R"(sizes: {a: 4, b: 8}
inputs: 
  a: P(data)
  b: {c: d}
  c: [a, null]
  d: [[a], b]
  e: [a b]
  f: ~
  2g: [a]
layers: [relu]
)")
          .model() ==
      R"(m.yaml:3:6: error: input 'a' is 'P(data)', expected a type such as f32[batch, embed], or a list of dims [wrong-type]
    3 |   a: P(data)
      |      ^~~~~~~
  hint: mesh axes stand behind the labels: f32[batch@data, embed]
m.yaml:4:6: error: input 'b' is a map, expected a type such as f32[batch, embed], or a list of dims [wrong-type]
    4 |   b: {c: d}
      |      ^
m.yaml:5:10: error: an item of input 'c' is nothing, expected a dim's label [wrong-type]
    5 |   c: [a, null]
      |          ^~~~
  hint: every dim has a label, which is where its size comes from
m.yaml:6:7: error: an item of input 'd' is a list, expected a dim's label [wrong-type]
    6 |   d: [[a], b]
      |       ^
  hint: every dim has a label, which is where its size comes from
m.yaml:7:8: error: found ' ' behind the dim [type-syntax]
    7 |   e: [a b]
      |        ^
m.yaml:8:6: error: input 'f' is nothing, expected a type such as f32[batch, embed], or a list of dims [wrong-type]
    8 |   f: ~
      |      ^
m.yaml:9:3: error: '2g' cannot be the name of an input [bad-name]
    9 |   2g: [a]
      |   ^~
  hint: a name is made of letters, digits and _, and starts with no digit
)");
}

}  // namespace shard
