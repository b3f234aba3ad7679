#include <doctest/doctest.h>

#include "config/files.h"

namespace shard {

TEST_CASE("specs in a file are lists or P texts or null") {
  CHECK(TestFiles(R"T(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers:
  - constrain: [a, null, ~, None]
  - constrain: []
  - constrain: P(data, None)
  - constrain: P('data', "model")
  - constrain: P((data, model))
  - constrain: P(('data','model'), None)
  - constrain: P()
  - constrain: P(None,)
  - constrain: "P(None, model)"
  - constrain: P(UNCONSTRAINED, x)
  - constrain: P((x,), [], [y, z])
  - constrain: P( data , )
  - constrain: ~
  - constrain: None
  - constrain: P('', ())
  - constrain: "P((UNCONSTRAINED,), (None,), unreduced={'z', y}, reduced=[w])"
  - constrain: "P(unreduced=(z,))"
  - constrain: [a, UNCONSTRAINED, [x, y], [], [z]]
)T")
            .model() ==
        R"(m from m.yaml naming linen seed 0 dtypes f32 f32 f32
sizes a=4 b=8
input x@2:10 f32[a=4, b=8] [a, b]
constrain@4:5 spec=[a, None, None, None]@4:16
constrain@5:5 spec=[]@5:16
constrain@6:5 spec=P('data', None)@6:16
constrain@7:5 spec=P('data', 'model')@7:16
constrain@8:5 spec=P(('data', 'model'),)@8:16
constrain@9:5 spec=P(('data', 'model'), None)@9:16
constrain@10:5 spec=P()@10:16
constrain@11:5 spec=P(None,)@11:16
constrain@12:5 spec=P(None, 'model')@12:16
constrain@13:5 spec=P(UNCONSTRAINED, 'x')@13:16
constrain@14:5 spec=P('x', None, ('y', 'z'))@14:16
constrain@15:5 spec=P('data',)@15:16
constrain@16:5 spec=null@16:16
constrain@17:5 spec=null@17:16
constrain@18:5 spec=P(None, None)@18:16
constrain@19:5 spec=P(UNCONSTRAINED, None, unreduced={'y', 'z'}, reduced={'w'})@19:16
constrain@20:5 spec=P(unreduced={'z'})@20:16
constrain@21:5 spec=[a, UNCONSTRAINED, [x, y], None, [z]]@21:16
)");
}

TEST_CASE("mistakes in a P text are placed inside it") {
  CHECK(TestFiles(R"T(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers:
  - constrain: P(data model)
  - constrain: P(data, model
  - constrain: P((data, model)
  - constrain: P(data))
  - constrain: P(((x, y)))
  - constrain: P((x, None))
  - constrain: P(, x)
  - constrain: P('x)
  - constrain: P(x=3)
  - constrain: "P(x, unreduced=y)"
  - constrain: "P(a, b"
  - constrain: P(((a), b), c) d
  - constrain: P(a; b)
  - constrain: "P(x, unreduced={None})"
  - constrain: "P(x, unreduced={y}, reduced={z, y})"
  - constrain: "P((x, y), reduced={y})"
  - constrain: "P(unreduced={y}, x)"
  - constrain: P(x, 3)
  - constrain: P((x, UNCONSTRAINED))
  - constrain: "P(unreduced={y}, unreduced={z})"
)T")
            .model() ==
        R"T(m.yaml:4:23: error: found 'm', expected ',' or ')' [spec-syntax]
    4 |   - constrain: P(data model)
      |                       ^
m.yaml:5:29: error: the text ends, expected ',' or ')' [spec-syntax]
    5 |   - constrain: P(data, model
      |                             ^
m.yaml:6:31: error: the text ends, expected ',' or ')' [spec-syntax]
    6 |   - constrain: P((data, model)
      |                               ^
m.yaml:7:23: error: found ')' behind the closing parenthesis [spec-syntax]
    7 |   - constrain: P(data))
      |                       ^
m.yaml:8:19: error: a tuple inside a tuple [spec-syntax]
    8 |   - constrain: P(((x, y)))
      |                   ^
  hint: one dim is split by one flat tuple of mesh axes
m.yaml:9:22: error: 'None' inside a tuple, expected a mesh axis [spec-syntax]
    9 |   - constrain: P((x, None))
      |                      ^~~~
m.yaml:10:18: error: found ',', expected a mesh axis or None [spec-syntax]
   10 |   - constrain: P(, x)
      |                  ^
m.yaml:11:18: error: this quote is never closed [spec-syntax]
   11 |   - constrain: P('x)
      |                  ^
m.yaml:12:18: error: 'x=' is no part of a spec, expected unreduced= or reduced= [spec-syntax]
   12 |   - constrain: P(x=3)
      |                  ^
  hint: mesh axes stand without a name: P(data, None)
m.yaml:13:32: error: found 'y', expected the mesh axes: unreduced={x, y} [spec-syntax]
   13 |   - constrain: "P(x, unreduced=y)"
      |                                ^
m.yaml:14:23: error: the text ends, expected ',' or ')' [spec-syntax]
   14 |   - constrain: "P(a, b"
      |                       ^
m.yaml:15:19: error: a tuple inside a tuple [spec-syntax]
   15 |   - constrain: P(((a), b), c) d
      |                   ^
  hint: one dim is split by one flat tuple of mesh axes
m.yaml:16:19: error: found ';', expected ',' or ')' [spec-syntax]
   16 |   - constrain: P(a; b)
      |                   ^
m.yaml:17:33: error: unreduced cannot contain None, expected a mesh axis [spec-syntax]
   17 |   - constrain: "P(x, unreduced={None})"
      |                                 ^~~~
m.yaml:18:37: error: unreduced and reduced axes cannot overlap, and 'y' is in both [spec-syntax]
   18 |   - constrain: "P(x, unreduced={y}, reduced={z, y})"
      |                                     ^~~~~~~
m.yaml:19:27: error: partitions cannot overlap with reduced axes, and 'y' splits a dim too [spec-syntax]
   19 |   - constrain: "P((x, y), reduced={y})"
      |                           ^~~~~~~
m.yaml:20:34: error: a dim behind unreduced= or reduced= [spec-syntax]
   20 |   - constrain: "P(unreduced={y}, x)"
      |                                  ^
  hint: write the dims first
m.yaml:21:21: error: '3' is no name, expected a mesh axis or None [spec-syntax]
   21 |   - constrain: P(x, 3)
      |                     ^
m.yaml:22:22: error: 'UNCONSTRAINED' inside a tuple, expected a mesh axis [spec-syntax]
   22 |   - constrain: P((x, UNCONSTRAINED))
      |                      ^~~~~~~~~~~~~
m.yaml:23:34: error: 'unreduced=' is given twice [spec-syntax]
   23 |   - constrain: "P(unreduced={y}, unreduced={z})"
      |                                  ^~~~~~~~~
)T");
}

TEST_CASE("what is no spec is refused with what to write") {
  CHECK(
      TestFiles(R"T(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers:
  - constrain: data
  - constrain: P
  - constrain: {mesh: [data]}
  - constrain: [[[a]], b, 3, [x, null]]
  - constrain: ["P(a)"]
  - dense: {features: a, kernel: two words}
)T")
          .model() ==
      R"T(m.yaml:4:16: error: 'constrain' is 'data', expected a list of logical axes, P(...) of mesh axes, "{devices=...}", or null [wrong-type]
    4 |   - constrain: data
      |                ^~~~
  hint: write [data] for a logical axis, P(data) for a mesh axis
m.yaml:5:16: error: 'constrain' is 'P', expected a list of logical axes, P(...) of mesh axes, "{devices=...}", or null [wrong-type]
    5 |   - constrain: P
      |                ^
  hint: write [P] for a logical axis, P(P) for a mesh axis
m.yaml:6:16: error: layer 'constrain' needs the key 'spec' [missing-key]
    6 |   - constrain: {mesh: [data]}
      |                ^
  hint: spec: the placement
m.yaml:6:17: error: 'mesh' is not a key of layer 'constrain' [unknown-key]
    6 |   - constrain: {mesh: [data]}
      |                 ^~~~
  hint: valid keys: spec, name, of
m.yaml:7:17: error: an item of 'constrain' is a list, expected a logical axis, a list of mesh axes, UNCONSTRAINED or null [wrong-type]
    7 |   - constrain: [[[a]], b, 3, [x, null]]
      |                 ^
  hint: mesh axes are written P(...), without a list around it
m.yaml:7:27: error: an item of 'constrain' is '3', expected a logical axis, a list of mesh axes, UNCONSTRAINED or null [wrong-type]
    7 |   - constrain: [[[a]], b, 3, [x, null]]
      |                           ^
  hint: mesh axes are written P(...), without a list around it
m.yaml:7:30: error: an item of 'constrain' is a list, expected a logical axis, a list of mesh axes, UNCONSTRAINED or null [wrong-type]
    7 |   - constrain: [[[a]], b, 3, [x, null]]
      |                              ^
  hint: mesh axes are written P(...), without a list around it
m.yaml:8:17: error: an item of 'constrain' is 'P(a)', expected a logical axis, a list of mesh axes, UNCONSTRAINED or null [wrong-type]
    8 |   - constrain: ["P(a)"]
      |                 ^~~~~~
  hint: mesh axes are written P(...), without a list around it
m.yaml:9:34: error: 'kernel' is 'two words', expected a list of logical axes, P(...) of mesh axes, "{devices=...}", or null [wrong-type]
    9 |   - dense: {features: a, kernel: two words}
      |                                  ^~~~~~~~~
)T");
}

TEST_CASE("the text of XLA is kept for the mesh to read") {
  CHECK(TestFiles(R"T(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers:
  - dense: {features: b, kernel: "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}
  - constrain: "{replicated}"
)T")
            .model() == R"T(m from m.yaml naming linen seed 0 dtypes f32 f32 f32
sizes a=4 b=8
input x@2:10 f32[a=4, b=8] [a, b]
dense@4:5 features=8/b kernel={devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}
constrain@5:5 spec={replicated}@5:16
)T");
}

}  // namespace shard
