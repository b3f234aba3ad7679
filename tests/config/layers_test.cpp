#include <doctest/doctest.h>

#include "config/files.h"

namespace shard {

TEST_CASE("a layer is a word or a one key map or a bare main argument") {
  CHECK(TestFiles(R"T(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers:
  - relu
  - dense: b
  - dense: {features: 3, name: out, of: x}
  - constrain: [a, b]
  - constrain: {spec: "P(data, None)", of: [x], name: c}
  - reshard: P(data)
  - constrain: null
  - transpose: [1, 0]
  - transpose: {dims: [b, a]}
  - reduce_sum
  - reduce_sum: a
  - reduce_max: {dims: [0, 1], keep_dims: true}
  - broadcast: [a, b]
  - convert: bf16
)T")
            .model() ==
        R"(m from m.yaml naming linen seed 0 dtypes f32 f32 f32
sizes a=4 b=8
input x@2:10 f32[a=4, b=8] [a, b]
relu@4:5
dense@5:5 features=8/b
dense@6:5 name=out@6:32 of=x@6:41 features=3
constrain@7:5 spec=[a, b]@7:16
constrain@8:5 name=c@8:55 of=x@8:44 spec=P('data', None)@8:23
reshard@9:5 spec=P('data',)@9:14
constrain@10:5 spec=null@10:16
transpose@11:5 dims=1,0
transpose@12:5 dims=b,a
reduce_sum@13:5
reduce_sum@14:5 dims=a
reduce_max@15:5 dims=0,1 keep_dims
broadcast@16:5 dims=a,b
convert@17:5 dtype=bf16
)");
}

TEST_CASE("a dense layer takes specs and initializers and a bias") {
  CHECK(TestFiles(R"T(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers:
  - dense: {features: b, kernel: "P(None, model)", bias: [b], kernel_init: {normal: {stddev: 0.02}}, bias_init: zeros, use_bias: true, dtype: bf16, out_sharding: [a, b], params: {kernel: null}}
  - dense: {features: b, kernel_init: {normal: 0.5}, kernel: null}
)T")
            .model() ==
        R"(m from m.yaml naming linen seed 0 dtypes f32 f32 f32
sizes a=4 b=8
input x@2:10 f32[a=4, b=8] [a, b]
dense@4:5 dtype=bf16 out_sharding=[a, b] features=8/b kernel=P(None, 'model') bias=[b] params.kernel=null kernel_init=normal stddev=0.02 bias_init=zeros use_bias=true
dense@5:5 features=8/b kernel=null kernel_init=normal stddev=0.5
)");
}

TEST_CASE("a let line is an expression with places inside it") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers:
  - let: h = silu(x) * x
  - let: {expression: "y = h + 1", out_sharding: P(data)}
)")
            .model() ==
        R"(m from m.yaml naming linen seed 0 dtypes f32 f32 f32
sizes a=4 b=8
input x@2:10 f32[a=4, b=8] [a, b]
let@4:5 let=h = (* (silu x) x)
let@5:5 out_sharding=P('data',) let=y = (+ h 1)
)");
}

TEST_CASE("a param has labels and an initializer") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers:
  - param: {name: W, axes: [a, b=3], init: ones, dtype: bf16}
  - param: {name: V, axes: [a@data, b]}
)")
            .model() ==
        R"(m from m.yaml naming linen seed 0 dtypes f32 f32 f32
sizes a=4 b=8
input x@2:10 f32[a=4, b=8] [a, b]
param@4:5 name=W@4:19 dtype=bf16 param=W bf16[a=4, b=3] [a, b] typed ones
param@5:5 name=V@5:19 param=V f32[a=4, b=8] P('data', None) lecun_normal
)");
}

TEST_CASE("repeat takes a block or a pattern") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
blocks: {B: [relu], C: [relu]}
layers:
  - repeat: {block: B, times: 3}
  - repeat: {pattern: [B, B, C], times: a, scan: true, axis: layers, name: R}
  - repeat: {block: C, times: 2, axis: null}
)")
            .model() ==
        R"(m from m.yaml naming linen seed 0 dtypes f32 f32 f32
sizes a=4 b=8
input x@2:10 f32[a=4, b=8] [a, b]
block B@3:10(x)
  relu@3:14
block C@3:21(x)
  relu@3:25
repeat@5:5 pattern=B times=3
repeat@6:5 name=R@6:76 pattern=B,B,C times=4/a scan axis=layers
repeat@7:5 pattern=C times=2 axis=None
)");
}

TEST_CASE("residual and parallel hold layers") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers:
  - residual: [relu, dense: b]
  - parallel: {layers: [relu, {residual: [relu]}], name: p}
)")
            .model() ==
        R"(m from m.yaml naming linen seed 0 dtypes f32 f32 f32
sizes a=4 b=8
input x@2:10 f32[a=4, b=8] [a, b]
residual@4:5
  relu@4:16
  dense@4:22 features=8/b
parallel@5:5 name=p@5:58
  relu@5:25
  residual@5:32
    relu@5:43
)");
}

TEST_CASE("defaults reach the layers that know the key") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
defaults: {kernel_init: {normal: {stddev: 0.02}}, use_bias: false, bias_init: ones, dtype: bf16}
layers:
  - dense: b
  - dot: {features: b}
  - dense: {features: b, use_bias: true, kernel_init: ones}
  - relu
  - residual: [dense: b]
  - constrain: [a, b]
)")
            .model() ==
        R"(m from m.yaml naming linen seed 0 dtypes f32 f32 f32
sizes a=4 b=8
input x@2:10 f32[a=4, b=8] [a, b]
dense@5:5 dtype=bf16 features=8/b kernel_init=normal stddev=0.02 bias_init=ones use_bias=false
dot@6:5 dtype=bf16 features=8/b kernel_init=normal stddev=0.02
dense@7:5 dtype=bf16 features=8/b kernel_init=ones bias_init=ones use_bias=true
relu@8:5 dtype=bf16
residual@9:5
  dense@9:16 dtype=bf16 features=8/b kernel_init=normal stddev=0.02 bias_init=ones use_bias=false
constrain@10:5 spec=[a, b]@10:16
)");
}

TEST_CASE("a word that no table knows is kept for the model to judge") {
  CHECK(TestFiles(R"T(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
layers:
  - scale: 0.5
  - power: a
  - silu
  - maximum: {value: 3, of: [x]}
  - foo: bar
  - foo: {features: b, kernel: "P(x)", deep: {y: 1}}
  - foo: [p, q]
)T")
            .model() ==
        R"(m from m.yaml naming linen seed 0 dtypes f32 f32 f32
sizes a=4 b=8
input x@2:10 f32[a=4, b=8] [a, b]
scale@4:5 number=0.5
power@5:5 args.=4/a
silu@6:5
maximum@7:5 of=x@7:29 number=3
foo@8:5 args.=0/bar
foo@9:5 args.features=8/b args.kernel=0/P(x) args.deep=0/a map
foo@10:5 dims=p,q
)");
}

TEST_CASE("a block has inputs and arguments and its calls are held against them") {
  CHECK(TestFiles(R"(sizes: {a: 4, b: 8}
inputs: {x: [a, b]}
blocks:
  Two: {inputs: [x, mask], args: {n: a, m: b}, layers: [dense: n, dense: {features: m}, One: n]}
  One: {args: {n: null}, layers: [dense: n]}
layers:
  - Two: {n: 3}
  - Two
  - One: b
  - One: {n: a, name: q, of: [x, x]}
)")
            .model() ==
        R"(m from m.yaml naming linen seed 0 dtypes f32 f32 f32
sizes a=4 b=8
input x@2:10 f32[a=4, b=8] [a, b]
block Two@4:3(x,mask) n=4/a m=8/b
  dense@4:57 features=4/a/arg n
  dense@4:67 features=8/b/arg m
  One@4:89 args.n=4/a/arg n
block One@5:3(x) n=0
  dense@5:35 features=0/arg n
Two@7:5 args.n=3
Two@8:5
One@9:5 args.n=8/b
One@10:5 name=q@10:23 of=x,x@10:30 args.n=4/a
)");
}

}  // namespace shard
