// Named blocks: what they are made of, and every mistake a file can make with them.
#include <doctest/doctest.h>

#include <algorithm>

#include "config/load.h"
#include "model/model.h"
#include "support/told_by.h"

using namespace shard;

namespace {

Model block_model(const std::string& text) {
  MemoryReader memory({{"model.yaml", text}});
  Sources sources(memory);
  return build_model(read_model(merge_model_file("model.yaml", {}, sources)));
}

/// A model of one layer, on line 3, over x f32[batch, length, embed].
std::string one_layer(const std::string& layer,
                      const std::string& x = "f32[batch, length, embed]") {
  return "sizes: {batch: 2, length: 4, embed: 6, heads: 3, kv_heads: 1, mlp: 8, expert: 4}\n"
         "inputs: {x: \"" +
         x + "\"}\nlayers: [" + layer + "]\n";
}

/// The function's lines, without the parameters' initial values and places in the file.
std::string graph_of(const std::string& text) {
  const Model model = block_model(text);
  verify(model.apply);
  return to_string(model.apply);
}

std::string mistakes_in_block(const std::string& text) {
  return told_by([&] { block_model(text); });
}

std::vector<std::string> leaves_of(const std::string& text) {
  std::vector<std::string> leaves;
  for (const StateLeaf& leaf : block_model(text).state) {
    leaves.push_back(leaf.path + " " + to_string(leaf.type) + " " + to_string(leaf.placement));
  }
  return leaves;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("the parameters of named blocks have their labels as logical axes") {
  CHECK(leaves_of(one_layer("attention: {heads: heads, kv_heads: kv_heads, head_dim: 2}")) ==
        Lines{"params/Attention_0/key/bias f32[1,2] [kv_heads, head_dim]",
              "params/Attention_0/key/kernel f32[6,1,2] [embed, kv_heads, head_dim]",
              "params/Attention_0/out/bias f32[6] [embed]",
              "params/Attention_0/out/kernel f32[3,2,6] [heads, head_dim, embed]",
              "params/Attention_0/query/bias f32[3,2] [heads, head_dim]",
              "params/Attention_0/query/kernel f32[6,3,2] [embed, heads, head_dim]",
              "params/Attention_0/value/bias f32[1,2] [kv_heads, head_dim]",
              "params/Attention_0/value/kernel f32[6,1,2] [embed, kv_heads, head_dim]"});
  CHECK(leaves_of(one_layer("swiglu: mlp")) ==
        Lines{"params/SwiGLU_0/down/kernel f32[8,6] [mlp, embed]",
              "params/SwiGLU_0/gate/kernel f32[6,8] [embed, mlp]",
              "params/SwiGLU_0/up/kernel f32[6,8] [embed, mlp]"});
  CHECK(leaves_of(one_layer("moe: {experts: expert, features: mlp, gated: false}")) ==
        Lines{"params/MoE_0/down/kernel f32[4,8,6] [expert, mlp, embed]",
              "params/MoE_0/router/kernel f32[6,4] [embed, expert]",
              "params/MoE_0/up/kernel f32[4,6,8] [expert, embed, mlp]"});
  CHECK(
      leaves_of(one_layer("layer_norm: {params: {scale: null, bias: P(tensor)}}")) ==
      Lines{"params/LayerNorm_0/bias f32[6] P('tensor',)", "params/LayerNorm_0/scale f32[6] null"});
  CHECK(leaves_of(one_layer("embedding: {name: table, vocab: 32, features: embed}",
                            "i32[batch, length]")) ==
        Lines{"params/table/embedding f32[32,6] [vocab, embed]"});
}

TEST_CASE("labels of a block can be renamed") {
  CHECK(leaves_of(one_layer("attention: {heads: heads, head_dim: 2, fused_qkv: true, use_bias: "
                            "false, names: {heads: q_heads, qkv: part}}")) ==
        Lines{"params/Attention_0/out/kernel f32[3,2,6] [q_heads, head_dim, embed]",
              "params/Attention_0/qkv/kernel f32[6,3,3,2] [embed, part, q_heads, head_dim]"});
}

TEST_CASE("a block's values can be constrained") {
  const std::string text =
      graph_of(one_layer("swiglu: {features: mlp, constrain: {hidden: [batch, length, mlp]}}"));
  CHECK(text.find("constrain(") != std::string::npos);
}

TEST_CASE("what a named block has not is refused with what it has") {
  CHECK(mistakes_in_block(one_layer("swiglu: {features: mlp, constrain: {hiden: [batch]}}")) ==
        "model.yaml:3:53: error: swiglu has no value 'hiden' inside [unknown-value]\n"
        "  hint: did you mean 'hidden'? values: hidden\n");
  CHECK(mistakes_in_block(one_layer("rms_norm: {params: {scales: [embed]}}")) ==
        "model.yaml:3:38: error: rms_norm has no parameter 'scales' [unknown-parameter]\n"
        "  hint: did you mean 'scale'? parameters: scale\n");
  CHECK(mistakes_in_block(one_layer("mlp: {features: mlp, names: {mlps: hidden}}")) ==
        "model.yaml:3:39: error: mlp has no label 'mlps' [unknown-label]\n"
        "  hint: did you mean 'mlp'? labels: mlp, embed\n");
}

TEST_CASE("sizes that do not fit an attention are refused") {
  CHECK(mistakes_in_block(one_layer("attention: {heads: heads, kv_heads: 2, head_dim: 2}")) ==
        "model.yaml:3:10: error: attention: 3 heads do not divide by 2 kv_heads [indivisible]\n"
        "  hint: each head of the keys serves as many heads of the queries\n");
  CHECK(mistakes_in_block(one_layer("attention: {heads: 4}")) ==
        "model.yaml:3:10: error: attention: 6 features do not divide by 4 heads [indivisible]\n"
        "  hint: write head_dim: SIZE\n");
  CHECK(mistakes_in_block(one_layer("attention: {heads: 2, rotary: 10000}")) ==
        "model.yaml:3:10: error: attention: rotary turns pairs, and head_dim is 3 [indivisible]\n");
  CHECK(mistakes_in_block(one_layer("attention: {heads: 3, rotary: {base: -1}}")) ==
        "model.yaml:3:10: error: attention: the base of rotary must be positive "
        "[bad-argument]\n");
  CHECK(mistakes_in_block(one_layer("attention: {heads: heads, kv_heads: 1, fused_qkv: true}")) ==
        "model.yaml:3:10: error: attention: fused_qkv needs as many kv_heads as heads "
        "[conflicting-keys]\n  hint: leave one of the two out\n");
  CHECK(mistakes_in_block(one_layer("attention: {heads: 3}", "f32[batch, embed]")) ==
        "model.yaml:3:10: error: attention needs at least 3 dims, found f32[batch=2, embed=6] "
        "[rank-mismatch]\n");
  CHECK(mistakes_in_block(one_layer("attention: {heads: 3}", "f32[batch, length, heads, embed]")) ==
        "model.yaml:3:10: error: attention works on [batch, length, features], found "
        "f32[batch=2, length=4, heads=3, embed=6] [rank-mismatch]\n");
}

TEST_CASE("a mixture of experts is refused what it cannot do") {
  CHECK(mistakes_in_block(one_layer("moe: {experts: 2, features: 8, top_k: 3}")) ==
        "model.yaml:3:10: error: moe: top_k is 3 of 2 experts [bad-argument]\n");
  CHECK(mistakes_in_block(one_layer("moe: {experts: 2, features: 8, capacity: 3}")) ==
        "model.yaml:3:10: error: moe: a capacity has no effect with dispatch: dense "
        "[conflicting-keys]\n  hint: write dispatch: capacity\n");
  CHECK(mistakes_in_block(one_layer("moe: {experts: 2, features: 8, dispatch: capacity}",
                                    "f32[batch, length, heads, embed]")) ==
        "model.yaml:3:10: error: moe with a capacity works on [batch, length, features] "
        "[rank-mismatch]\n");
}

TEST_CASE("tables take integers and logits of tied tables know them") {
  CHECK(mistakes_in_block(one_layer("embedding: {vocab: 8, features: 4}")) ==
        "model.yaml:3:10: error: embedding needs integers (i32), found f32[batch=2, length=4, "
        "embed=6] [dtype-mismatch]\n");
  CHECK(mistakes_in_block(one_layer("rms_norm", "i32[batch, length]")) ==
        "model.yaml:3:10: error: rms_norm needs floating-point numbers, found i32[batch=2, "
        "length=4] [dtype-mismatch]\n");
  CHECK(
      mistakes_in_block(one_layer("embedding: {name: table, vocab: 8, features: 4}, attend: tabel",
                                  "i32[batch, length]")) ==
      "model.yaml:3:59: error: there is no embedding 'tabel' here [unknown-value]\n"
      "  hint: did you mean 'table'? embeddings: table\n");
  CHECK(mistakes_in_block(
            one_layer("embedding: {name: table, vocab: 8, features: 4}, dense: 5, attend: "
                      "table",
                      "i32[batch, length]")) ==
        "model.yaml:3:69: error: attend of f32[batch=2, length=4, 5] and the table f32[vocab=8, "
        "features=4]: the last dims differ [shape-mismatch]\n");
  CHECK(mistakes_in_block(one_layer("position_embedding: 3")) ==
        "model.yaml:3:10: error: a table of 3 positions is too short for f32[batch=2, length=4, "
        "embed=6] [shape-mismatch]\n");
}

TEST_CASE("keys of named blocks are checked by their tables") {
  CHECK(mistakes_in_block(one_layer("attention: {head: 3}")) ==
        "model.yaml:3:22: error: 'head' is not a key of layer 'attention' [unknown-key]\n"
        "  hint: did you mean 'heads'?\n");
  CHECK(mistakes_in_block(one_layer("attention: {heads: 3, mask: casual}")) ==
        "model.yaml:3:38: error: 'mask' cannot be 'casual' [unknown-word]\n"
        "  hint: did you mean 'causal'? it is one of: none, causal\n");
  CHECK(mistakes_in_block(one_layer("attention: {heads: 3, rotary: {bas: 3}}")) ==
        "model.yaml:3:41: error: 'bas' is not a key of 'rotary' [unknown-key]\n"
        "  hint: did you mean 'base'? valid keys: base\n");
}

TEST_CASE("softmax sums over the last dim or those named") {
  CHECK(graph_of(one_layer("softmax", "f32[batch, embed]")) ==
        R"(apply
  in  %0 : f32[2,6]  # x  [batch, embed]
  %1 = reduce_max(%0) {dims=[1]} : f32[2]  # softmax_0
  %2 = broadcast(%1) {shape=[2,6], dims=[0]} : f32[2,6]  # softmax_0
  %3 = subtract(%0, %2) : f32[2,6]  # softmax_0
  %4 = exp(%3) : f32[2,6]  # softmax_0
  %5 = reduce_sum(%4) {dims=[1]} : f32[2]  # softmax_0
  %6 = broadcast(%5) {shape=[2,6], dims=[0]} : f32[2,6]  # softmax_0
  %7 = divide(%4, %6) : f32[2,6]  # softmax_0
  out %7 : f32[2,6]  # output
)");
  CHECK(graph_of(one_layer("let: \"y = log_softmax(x, axes=[batch])\"", "f32[batch, embed]")) ==
        R"(apply
  in  %0 : f32[2,6]  # x  [batch, embed]
  %1 = reduce_max(%0) {dims=[0]} : f32[6]  # y
  %2 = broadcast(%1) {shape=[2,6], dims=[1]} : f32[2,6]  # y
  %3 = subtract(%0, %2) : f32[2,6]  # y
  %4 = exp(%3) : f32[2,6]  # y
  %5 = reduce_sum(%4) {dims=[0]} : f32[6]  # y
  %6 = log(%5) : f32[6]  # y
  %7 = broadcast(%6) {shape=[2,6], dims=[1]} : f32[2,6]  # y
  %8 = subtract(%3, %7) : f32[2,6]  # y
  out %8 : f32[2,6]  # output
)");
  CHECK(mistakes_in_block(one_layer("let: y = softmax(3)")) ==
        "model.yaml:3:19: error: softmax takes one array [wrong-input-count]\n"
        "  hint: write softmax(x, ...)\n");
}

TEST_CASE("norms take their sums in f32") {
  CHECK(graph_of("sizes: {batch: 2, embed: 6}\ndtype: {compute: bf16}\n"
                 "inputs: {x: \"bf16[batch, embed]\"}\nlayers: [rms_norm]\n") ==
        R"(apply
  in  %0 : f32[6]  # params/RMSNorm_0/scale  [embed]
  in  %1 : bf16[2,6]  # x  [batch, embed]
  %2 = convert(%1) {dtype="f32"} : f32[2,6]  # RMSNorm_0
  %3 = square(%2) : f32[2,6]  # RMSNorm_0
  %4 = reduce_sum(%3) {dims=[1]} : f32[2]  # RMSNorm_0
  %5 = scale(%4) {value=0.16666666666666666} : f32[2]  # RMSNorm_0
  %6 = shift(%5) {value=1e-06} : f32[2]  # RMSNorm_0
  %7 = rsqrt(%6) : f32[2]  # RMSNorm_0
  %8 = broadcast(%7) {shape=[2,6], dims=[0]} : f32[2,6]  # RMSNorm_0
  %9 = multiply(%2, %8) : f32[2,6]  # RMSNorm_0
  %10 = broadcast(%0) {shape=[2,6], dims=[1]} : f32[2,6]  # RMSNorm_0
  %11 = multiply(%9, %10) : f32[2,6]  # RMSNorm_0
  %12 = convert(%11) {dtype="bf16"} : bf16[2,6]  # RMSNorm_0
  out %12 : bf16[2,6]  # output
)");
  CHECK(graph_of(one_layer("layer_norm", "f32[batch, embed]")) ==
        R"(apply
  in  %0 : f32[6]  # params/LayerNorm_0/bias  [embed]
  in  %1 : f32[6]  # params/LayerNorm_0/scale  [embed]
  in  %2 : f32[2,6]  # x  [batch, embed]
  %3 = reduce_sum(%2) {dims=[1]} : f32[2]  # LayerNorm_0
  %4 = scale(%3) {value=0.16666666666666666} : f32[2]  # LayerNorm_0
  %5 = broadcast(%4) {shape=[2,6], dims=[0]} : f32[2,6]  # LayerNorm_0
  %6 = subtract(%2, %5) : f32[2,6]  # LayerNorm_0
  %7 = square(%6) : f32[2,6]  # LayerNorm_0
  %8 = reduce_sum(%7) {dims=[1]} : f32[2]  # LayerNorm_0
  %9 = scale(%8) {value=0.16666666666666666} : f32[2]  # LayerNorm_0
  %10 = shift(%9) {value=1e-06} : f32[2]  # LayerNorm_0
  %11 = rsqrt(%10) : f32[2]  # LayerNorm_0
  %12 = broadcast(%11) {shape=[2,6], dims=[0]} : f32[2,6]  # LayerNorm_0
  %13 = multiply(%6, %12) : f32[2,6]  # LayerNorm_0
  %14 = broadcast(%1) {shape=[2,6], dims=[1]} : f32[2,6]  # LayerNorm_0
  %15 = multiply(%13, %14) : f32[2,6]  # LayerNorm_0
  %16 = broadcast(%0) {shape=[2,6], dims=[1]} : f32[2,6]  # LayerNorm_0
  %17 = add(%15, %16) : f32[2,6]  # LayerNorm_0
  out %17 : f32[2,6]  # output
)");
}

TEST_CASE("an attention with grouped heads and rotary positions reads as its formula") {
  CHECK(graph_of(one_layer("attention: {heads: 2, kv_heads: 1, head_dim: 2, rotary: 100, mask: "
                           "causal, use_bias: false}")) ==
        R"(apply
  in  %0 : f32[6,1,2]  # params/Attention_0/key/kernel  [embed, kv_heads, head_dim]
  in  %1 : f32[2,2,6]  # params/Attention_0/out/kernel  [heads, head_dim, embed]
  in  %2 : f32[6,2,2]  # params/Attention_0/query/kernel  [embed, heads, head_dim]
  in  %3 : f32[6,1,2]  # params/Attention_0/value/kernel  [embed, kv_heads, head_dim]
  in  %4 : f32[2,4,6]  # x  [batch, length, embed]
  %5 = dot(%4, %2) {lhs_batch=[], rhs_batch=[], lhs_contract=[2], rhs_contract=[0]} : f32[2,4,2,2]  # Attention_0
  %6 = dot(%4, %0) {lhs_batch=[], rhs_batch=[], lhs_contract=[2], rhs_contract=[0]} : f32[2,4,1,2]  # Attention_0
  %7 = dot(%4, %3) {lhs_batch=[], rhs_batch=[], lhs_contract=[2], rhs_contract=[0]} : f32[2,4,1,2]  # Attention_0
  %8 = iota() {shape=[1], dim=0, dtype="f32"} : f32[1]  # Attention_0
  %9 = scale(%8) {value=-1.0} : f32[1]  # Attention_0
  %10 = constant() {shape=[], value=100.0, dtype="f32"} : f32[]  # Attention_0
  %11 = power(%10, %9) : f32[1]  # Attention_0
  %12 = iota() {shape=[4,1], dim=0, dtype="f32"} : f32[4,1]  # Attention_0
  %13 = broadcast(%11) {shape=[4,1], dims=[1]} : f32[4,1]  # Attention_0
  %14 = multiply(%12, %13) : f32[4,1]  # Attention_0
  %15 = cos(%14) : f32[4,1]  # Attention_0
  %16 = broadcast(%15) {shape=[2,4,2,1], dims=[1,3]} : f32[2,4,2,1]  # Attention_0
  %17 = sin(%14) : f32[4,1]  # Attention_0
  %18 = broadcast(%17) {shape=[2,4,2,1], dims=[1,3]} : f32[2,4,2,1]  # Attention_0
  %19 = slice(%5) {start=[0,0,0,0], limit=[2,4,2,1], stride=[1,1,1,1]} : f32[2,4,2,1]  # Attention_0
  %20 = slice(%5) {start=[0,0,0,1], limit=[2,4,2,2], stride=[1,1,1,1]} : f32[2,4,2,1]  # Attention_0
  %21 = multiply(%19, %16) : f32[2,4,2,1]  # Attention_0
  %22 = multiply(%20, %18) : f32[2,4,2,1]  # Attention_0
  %23 = subtract(%21, %22) : f32[2,4,2,1]  # Attention_0
  %24 = multiply(%20, %16) : f32[2,4,2,1]  # Attention_0
  %25 = multiply(%19, %18) : f32[2,4,2,1]  # Attention_0
  %26 = add(%24, %25) : f32[2,4,2,1]  # Attention_0
  %27 = concatenate(%23, %26) {dim=3} : f32[2,4,2,2]  # Attention_0
  %28 = iota() {shape=[1], dim=0, dtype="f32"} : f32[1]  # Attention_0
  %29 = scale(%28) {value=-1.0} : f32[1]  # Attention_0
  %30 = constant() {shape=[], value=100.0, dtype="f32"} : f32[]  # Attention_0
  %31 = power(%30, %29) : f32[1]  # Attention_0
  %32 = iota() {shape=[4,1], dim=0, dtype="f32"} : f32[4,1]  # Attention_0
  %33 = broadcast(%31) {shape=[4,1], dims=[1]} : f32[4,1]  # Attention_0
  %34 = multiply(%32, %33) : f32[4,1]  # Attention_0
  %35 = cos(%34) : f32[4,1]  # Attention_0
  %36 = broadcast(%35) {shape=[2,4,1,1], dims=[1,3]} : f32[2,4,1,1]  # Attention_0
  %37 = sin(%34) : f32[4,1]  # Attention_0
  %38 = broadcast(%37) {shape=[2,4,1,1], dims=[1,3]} : f32[2,4,1,1]  # Attention_0
  %39 = slice(%6) {start=[0,0,0,0], limit=[2,4,1,1], stride=[1,1,1,1]} : f32[2,4,1,1]  # Attention_0
  %40 = slice(%6) {start=[0,0,0,1], limit=[2,4,1,2], stride=[1,1,1,1]} : f32[2,4,1,1]  # Attention_0
  %41 = multiply(%39, %36) : f32[2,4,1,1]  # Attention_0
  %42 = multiply(%40, %38) : f32[2,4,1,1]  # Attention_0
  %43 = subtract(%41, %42) : f32[2,4,1,1]  # Attention_0
  %44 = multiply(%40, %36) : f32[2,4,1,1]  # Attention_0
  %45 = multiply(%39, %38) : f32[2,4,1,1]  # Attention_0
  %46 = add(%44, %45) : f32[2,4,1,1]  # Attention_0
  %47 = concatenate(%43, %46) {dim=3} : f32[2,4,1,2]  # Attention_0
  %48 = scale(%27) {value=0.7071067811865475} : f32[2,4,2,2]  # Attention_0
  %49 = reshape(%48) {shape=[2,4,1,2,2]} : f32[2,4,1,2,2]  # Attention_0
  %50 = dot(%49, %47) {lhs_batch=[0,2], rhs_batch=[0,2], lhs_contract=[4], rhs_contract=[3]} : f32[2,1,4,2,4]  # Attention_0
  %51 = iota() {shape=[4,4], dim=0, dtype="i32"} : i32[4,4]  # Attention_0
  %52 = iota() {shape=[4,4], dim=1, dtype="i32"} : i32[4,4]  # Attention_0
  %53 = ge(%51, %52) : bool[4,4]  # Attention_0
  %54 = broadcast(%53) {shape=[2,1,4,2,4], dims=[2,4]} : bool[2,1,4,2,4]  # Attention_0
  %55 = constant() {shape=[], value=-1e+30, dtype="f32"} : f32[]  # Attention_0
  %56 = select(%54, %50, %55) : f32[2,1,4,2,4]  # Attention_0
  %57 = reduce_max(%56) {dims=[4]} : f32[2,1,4,2]  # Attention_0
  %58 = broadcast(%57) {shape=[2,1,4,2,4], dims=[0,1,2,3]} : f32[2,1,4,2,4]  # Attention_0
  %59 = subtract(%56, %58) : f32[2,1,4,2,4]  # Attention_0
  %60 = exp(%59) : f32[2,1,4,2,4]  # Attention_0
  %61 = reduce_sum(%60) {dims=[4]} : f32[2,1,4,2]  # Attention_0
  %62 = broadcast(%61) {shape=[2,1,4,2,4], dims=[0,1,2,3]} : f32[2,1,4,2,4]  # Attention_0
  %63 = divide(%60, %62) : f32[2,1,4,2,4]  # Attention_0
  %64 = dot(%63, %7) {lhs_batch=[0,1], rhs_batch=[0,2], lhs_contract=[4], rhs_contract=[1]} : f32[2,1,4,2,2]  # Attention_0
  %65 = transpose(%64) {order=[0,2,1,3,4]} : f32[2,4,1,2,2]  # Attention_0
  %66 = reshape(%65) {shape=[2,4,2,2]} : f32[2,4,2,2]  # Attention_0
  %67 = dot(%66, %1) {lhs_batch=[], rhs_batch=[], lhs_contract=[2,3], rhs_contract=[0,1]} : f32[2,4,6]  # Attention_0
  out %67 : f32[2,4,6]  # output
)");
}

TEST_CASE("experts with dense dispatch read as their formula") {
  CHECK(graph_of(one_layer("moe: {experts: expert, features: mlp}", "f32[batch, embed]")) ==
        R"(apply
  in  %0 : f32[4,8,6]  # params/MoE_0/down/kernel  [expert, mlp, embed]
  in  %1 : f32[4,6,8]  # params/MoE_0/gate/kernel  [expert, embed, mlp]
  in  %2 : f32[6,4]  # params/MoE_0/router/kernel  [embed, expert]
  in  %3 : f32[4,6,8]  # params/MoE_0/up/kernel  [expert, embed, mlp]
  in  %4 : f32[2,6]  # x  [batch, embed]
  %5 = dot(%4, %2) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : f32[2,4]  # MoE_0
  %6 = reduce_max(%5) {dims=[1]} : f32[2]  # MoE_0
  %7 = broadcast(%6) {shape=[2,4], dims=[0]} : f32[2,4]  # MoE_0
  %8 = subtract(%5, %7) : f32[2,4]  # MoE_0
  %9 = exp(%8) : f32[2,4]  # MoE_0
  %10 = reduce_sum(%9) {dims=[1]} : f32[2]  # MoE_0
  %11 = broadcast(%10) {shape=[2,4], dims=[0]} : f32[2,4]  # MoE_0
  %12 = divide(%9, %11) : f32[2,4]  # MoE_0
  %13, %14 = top_k(%12) {k=2} : f32[2,2], i32[2,2]  # MoE_0
  %15 = reduce_sum(%13) {dims=[1]} : f32[2]  # MoE_0
  %16 = broadcast(%15) {shape=[2,2], dims=[0]} : f32[2,2]  # MoE_0
  %17 = divide(%13, %16) : f32[2,2]  # MoE_0
  %18 = broadcast(%17) {shape=[2,2,4], dims=[0,1]} : f32[2,2,4]  # MoE_0
  %19 = iota() {shape=[2,2,4], dim=2, dtype="i32"} : i32[2,2,4]  # MoE_0
  %20 = broadcast(%14) {shape=[2,2,4], dims=[0,1]} : i32[2,2,4]  # MoE_0
  %21 = eq(%19, %20) : bool[2,2,4]  # MoE_0
  %22 = constant() {shape=[], value=0.0, dtype="f32"} : f32[]  # MoE_0
  %23 = select(%21, %18, %22) : f32[2,2,4]  # MoE_0
  %24 = reduce_sum(%23) {dims=[1]} : f32[2,4]  # MoE_0
  %25 = dot(%4, %1) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[1]} : f32[2,4,8]  # MoE_0
  %26 = dot(%4, %3) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[1]} : f32[2,4,8]  # MoE_0
  %27 = silu(%25) : f32[2,4,8]  # MoE_0
  %28 = multiply(%27, %26) : f32[2,4,8]  # MoE_0
  %29 = broadcast(%24) {shape=[2,4,8], dims=[0,1]} : f32[2,4,8]  # MoE_0
  %30 = multiply(%28, %29) : f32[2,4,8]  # MoE_0
  %31 = dot(%30, %0) {lhs_batch=[], rhs_batch=[], lhs_contract=[1,2], rhs_contract=[0,1]} : f32[2,6]  # MoE_0
  out %31 : f32[2,6]  # output
)");
}

TEST_CASE("a batch that does not divide into microbatches is refused") {
  const auto training = [](const std::string& inputs, int parts) {
    return "sizes: {batch: 6, embed: 4}\ninputs: {" + inputs +
           "}\nlayers: [dense: embed]\ntrain: {loss: mse, optimizer: {sgd: 1}, microbatches: " +
           std::to_string(parts) + "}\n";
  };
  CHECK(mistakes_in_block(training("x: \"f32[batch, embed]\"", 4)) ==
        "model.yaml:4:55: error: a batch of 6 does not divide by 4 microbatches [microbatches]\n");
  CHECK(mistakes_in_block(training("x: \"f32[batch, embed]\", y: \"f32[embed]\"", 2)) ==
        "model.yaml:4:55: error: microbatches cut the first dim of all inputs, which must have one "
        "label [microbatches]\n  hint: e.g. inputs: {x: \"f32[batch, embed]\", labels: "
        "\"i32[batch]\"}\n");
}
