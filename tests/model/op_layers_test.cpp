// Layers that are an op with arguments of its own, written as in a file.
#include <doctest/doctest.h>

#include "config/load.h"
#include "model/model.h"
#include "support/told_by.h"

using namespace shard;

namespace {

Model model_of(const std::string& text) {
  MemoryReader memory({{"model.yaml", text}});
  Sources sources(memory);
  BuildOptions options;
  options.mesh_axes = {{"data", 2}, {"model", 4}};
  return build_model(read_model(merge_model_file("model.yaml", {}, sources)), options);
}

/// Layers over x f32[batch=4, length=6], n i32[batch=4] and holds bool[batch, length].
std::string with_layers(const std::string& layers) {
  return "sizes: {batch: 4, length: 6, half: 3, classes: 5, mlp: 8}\n"
         "inputs: {x: \"f32[batch, length]\", n: \"i32[batch]\", holds: \"bool[batch, length]\","
         " image: \"f32[batch, height=4, width=5, depth=2]\"}\n"
         "layers:\n" +
         layers;
}

/// The types and labels of the last value.
std::string result_of(const std::string& layers) {
  const Model model = model_of(with_layers(layers));
  verify(model.apply);
  const GraphValue& value = model.apply.value(model.apply.outputs[0].value);
  std::string labels;
  for (const std::string& label : value.labels) {
    labels += (labels.empty() ? "" : ", ") + (label.empty() ? "-" : label);
  }
  return to_string(value.type) + " " + labels;
}

/// The nodes, without the values' numbers before the first of them.
std::string nodes_of(const std::string& layers) {
  const Model model = model_of(with_layers(layers));
  verify(model.apply);
  const std::string text = to_string(model.apply);
  std::string kept;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    if (text.compare(start, 3, "  %") == 0) kept += text.substr(start + 2, end - start - 1);
    start = end + 1;
  }
  return kept;
}

std::string mistakes_in_layers(const std::string& layers) {
  return told_by([&] { model_of(with_layers(layers)); });
}

}  // namespace

TEST_CASE("layers that move elements give shapes and labels") {
  CHECK(result_of("  - reshape: [batch, half, pair=2]\n") == "f32[4,3,2] batch, half, pair");
  CHECK(result_of("  - reshape: [all=24]\n") == "f32[24] all");
  CHECK(result_of("  - slice: {dim: length, start: 1, limit: 6, stride: 2}\n") ==
        "f32[4,3] batch, length");
  CHECK(result_of("  - slice: {dim: 0, limit: 3}\n") == "f32[3,6] batch, length");
  CHECK(result_of("  - concatenate: {of: [x, x], dim: length}\n") == "f32[4,12] batch, length");
  CHECK(result_of("  - pad: {dim: length, low: 2, high: -1, interior: 1}\n") ==
        "f32[4,12] batch, length");
  CHECK(result_of("  - split: {dim: length, into: [a, b, c]}\n  - add: {of: [a, c]}\n") ==
        "f32[4,2] batch, length");
  CHECK(result_of("  - split: {dim: length, into: [a, b], sizes: [1, 5]}\n  - relu: {of: b}\n") ==
        "f32[4,5] batch, length");
  CHECK(result_of("  - take: {of: [x, n], dim: length}\n") == "f32[4,4] batch, batch");
  CHECK(result_of("  - one_hot: {of: n, classes: classes}\n") == "f32[4,5] batch, classes");
  CHECK(result_of("  - where: {of: [holds, x, x]}\n") == "f32[4,6] batch, length");
  CHECK(nodes_of("  - reverse: [length, batch]\n") ==
        "%4 = reverse(%0) {dims=[0,1]} : f32[4,6]  # reverse_0\n");
}

TEST_CASE("layers along a dim work on the last one unless it is named") {
  CHECK(nodes_of("  - cumsum: {dim: batch, reverse: true}\n  - cummax\n") ==
        "%4 = cumsum(%0) {dim=0, reverse=1} : f32[4,6]  # cumsum_0\n"
        "%5 = cummax(%4) {dim=1, reverse=0} : f32[4,6]  # cummax_0\n");
  CHECK(result_of("  - argmax: batch\n") == "i32[6] length");
  CHECK(result_of("  - top_k: {k: half, positions: best}\n  - take_along: {of: [x, best], dim: "
                  "length}\n") == "f32[4,3] batch, half");
  CHECK(result_of("  - sort: {positions: order}\n  - convert: {of: order, dtype: f32}\n") ==
        "f32[4,6] batch, length");
  CHECK(result_of("  - reduce_mean: {dims: length, keep_dims: true}\n") == "f32[4,1] batch, -");
  CHECK(result_of("  - logsumexp: length\n") == "f32[4] batch");
  CHECK(result_of("  - reduce_or: {of: holds, dims: batch}\n") == "bool[6] length");
}

TEST_CASE("transforms run along the last dim or those that are named") {
  CHECK(nodes_of("  - rfft\n") ==
        "%4 = fft(%0) {kind=\"rfft\", lengths=[6]} : c64[4,4]  # rfft_0\n");
  CHECK(nodes_of("  - fft: batch\n") ==
        "%4 = convert(%0) {dtype=\"c64\"} : c64[4,6]  # fft_0\n"
        "%5 = transpose(%4) {order=[1,0]} : c64[6,4]  # fft_0\n"
        "%6 = fft(%5) {kind=\"fft\", lengths=[4]} : c64[6,4]  # fft_0\n"
        "%7 = transpose(%6) {order=[1,0]} : c64[4,6]  # fft_0\n");
  CHECK(result_of("  - rfft: [length, batch]\n") == "c64[3,6] -, length");
  CHECK(result_of("  - rfft: length\n  - irfft: 1\n") == "f32[4,6] batch, -");
  CHECK(result_of("  - let: y = irfft(rfft(x), length=length)\n") == "f32[4,6] batch, length");
  CHECK(result_of("  - let: y = angle(complex(x, 0)) + imag(fft(x)) + abs(conjugate(fft(x)))\n") ==
        "f32[4,6] batch, length");
}

TEST_CASE("wrong inputs of complex layers are told") {
  CHECK(mistakes_in_layers("  - angle\n") ==
        "model.yaml:4:5: error: angle needs complex numbers, found f32[batch=4, length=6] "
        "[dtype-mismatch]\n");
  CHECK(mistakes_in_layers("  - real\n") ==
        "model.yaml:4:5: error: real of f32[batch=4, length=6]: needs c64, not f32 "
        "[dtype-mismatch]\n");
  CHECK(mistakes_in_layers("  - fft\n  - rfft\n") ==
        "model.yaml:5:5: error: fft of c64[batch=4, length=6]: needs f32, not c64 "
        "[dtype-mismatch]\n");
  CHECK(mistakes_in_layers("  - irfft: {length: 6}\n") ==
        "model.yaml:4:5: error: fft of c64[batch=4, length=6]: dim 1 has 6 elements, a transform "
        "of length 6 takes 4 [shape-mismatch]\n");
  CHECK(mistakes_in_layers("  - reduce_sum: {name: s}\n  - fft: {of: s}\n") ==
        "model.yaml:5:5: error: fft needs at least one dim, found f32[] [rank-mismatch]\n");
}

TEST_CASE("an einsum becomes a product in the order of its letters") {
  CHECK(nodes_of("  - einsum: {of: [x, x], equation: \"bl,cl->cb\"}\n") ==
        "%4 = dot(%0, %0) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[1]} : "
        "f32[4,4]  # einsum_0\n");
  CHECK(nodes_of("  - einsum: {of: [x, x], equation: \"bl,bm->lbm\"}\n") ==
        "%4 = dot(%0, %0) {lhs_batch=[0], rhs_batch=[0], lhs_contract=[], rhs_contract=[]} : "
        "f32[4,6,6]  # einsum_0\n"
        "%5 = transpose(%4) {order=[1,0,2]} : f32[6,4,6]  # einsum_0\n");
  CHECK(nodes_of("  - einsum: {of: [x, x], equation: \"bl, bm -> b\"}\n") ==
        "%4 = reduce_sum(%0) {dims=[1]} : f32[4]  # einsum_0\n"
        "%5 = reduce_sum(%0) {dims=[1]} : f32[4]  # einsum_0\n"
        "%6 = dot(%4, %5) {lhs_batch=[0], rhs_batch=[0], lhs_contract=[], rhs_contract=[]} : "
        "f32[4]  # einsum_0\n");
  CHECK(nodes_of("  - einsum: \"bl->l\"\n") ==
        "%4 = reduce_sum(%0) {dims=[0]} : f32[6]  # einsum_0\n");
}

TEST_CASE("an einsum takes diagonals and dims without a letter") {
  CHECK(nodes_of("  - einsum: {of: [x, x], equation: \"bl,cl\", name: pairs}\n"
                 "  - einsum: bb\n") ==
        "%4 = dot(%0, %0) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[1]} : "
        "f32[4,4]  # pairs\n"
        "%5 = iota() {shape=[4,4], dim=0, dtype=\"i32\"} : i32[4,4]  # einsum_0\n"
        "%6 = iota() {shape=[4,4], dim=1, dtype=\"i32\"} : i32[4,4]  # einsum_0\n"
        "%7 = eq(%5, %6) : bool[4,4]  # einsum_0\n"
        "%8 = constant() {shape=[4,4], value=0.0, dtype=\"f32\"} : f32[4,4]  # einsum_0\n"
        "%9 = select(%7, %4, %8) : f32[4,4]  # einsum_0\n"
        "%10 = reduce_sum(%9) {dims=[1]} : f32[4]  # einsum_0\n"
        "%11 = reduce_sum(%10) {dims=[0]} : f32[]  # einsum_0\n");
  CHECK(result_of("  - einsum: {of: image, equation: \"b...d->d...\"}\n") ==
        "f32[2,4,5] depth, height, width");
  CHECK(result_of("  - einsum: {of: [image, x], equation: \"b...d,bl\"}\n") ==
        "f32[4,5,2,6] height, width, depth, length");
  CHECK(result_of("  - reduce_sum: {dims: batch, keep_dims: true, name: whole}\n"
                  "  - einsum: {of: [x, whole], equation: \"...l,...l->...l\"}\n") ==
        "f32[4,6] batch, length");
  CHECK(result_of("  - let: y = einsum(image, image, equation='...d,...d')\n") ==
        "f32[4,4,5] batch, height, width");
}

TEST_CASE("an einsum of several inputs multiplies them in the cheapest order") {
  // (4x6 with 6x4) first makes 4x4; from the right it would be 6x6.
  CHECK(nodes_of("  - einsum: {of: [x, x, x], equation: \"ab,cb,cd->ad\"}\n") ==
        "%4 = dot(%0, %0) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[1]} : "
        "f32[4,4]  # einsum_0\n"
        "%5 = dot(%4, %0) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : "
        "f32[4,6]  # einsum_0\n");
  CHECK(nodes_of("  - einsum: {of: [x, x, x], equation: \"ab,ac,dc->db\"}\n") ==
        "%4 = dot(%0, %0) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[1]} : "
        "f32[4,4]  # einsum_0\n"
        "%5 = dot(%4, %0) {lhs_batch=[], rhs_batch=[], lhs_contract=[0], rhs_contract=[0]} : "
        "f32[4,6]  # einsum_0\n");
  CHECK(result_of("  - einsum: {of: [x, x, x, x, x, x, x], equation: "
                  "\"ab,cb,cd,ed,ef,gf,gh->ha\"}\n") == "f32[6,4] length, batch");
}

TEST_CASE("windows run over the dims between the batch and the features") {
  CHECK(result_of("  - conv: {of: image, features: mlp, window: [3, 3], padding: same, strides: "
                  "[1, 2], groups: 2}\n") == "f32[4,4,3,8] batch, height, width, mlp");
  CHECK(result_of("  - conv: {of: image, features: 4, window: [3, 2], use_bias: false, padding: "
                  "[[1, 1], [0, 2]]}\n") == "f32[4,4,6,4] batch, height, width, -");
  CHECK(result_of("  - pool: {of: image, window: [2, 2], strides: 2, kind: mean}\n") ==
        "f32[4,2,2,2] batch, height, width, depth");
}

TEST_CASE("layers with arguments are functions in expressions") {
  CHECK(nodes_of("  - let: y = cumsum(x * 2, dim=length, reverse=true)\n") ==
        "%4 = scale(%0) {value=2.0} : f32[4,6]  # y\n"
        "%5 = cumsum(%4) {dim=1, reverse=1} : f32[4,6]  # y\n");
  CHECK(result_of("  - let: y = where(holds, x, 0) + concatenate(slice(x, dim=1, start=3), "
                  "slice(x, dim=1, limit=3), dim=1)\n") == "f32[4,6] batch, length");
  CHECK(result_of("  - let: y = reduce_mean(x, axes=[length], keep_dims=true)\n") ==
        "f32[4,1] batch, -");
  CHECK(result_of("  - let: y = einsum(x, x, equation='bl,bl->b')\n") == "f32[4] batch");
}

TEST_CASE("wrong arguments of such layers are told with what there is") {
  CHECK(mistakes_in_layers("  - reshape: [batch, half]\n") ==
        "model.yaml:4:5: error: reshape of f32[batch=4, length=6]: f32[4,6] has 24 elements, not "
        "those of 4,3 [shape-mismatch]\n");
  CHECK(mistakes_in_layers("  - slice: {dim: length, start: 4, limit: 9}\n") ==
        "model.yaml:4:5: error: slice from 4 to 9: dim 1 of f32[batch=4, length=6] has 6 elements "
        "[bad-range]\n"
        "  hint: positions count from 0, and limit is the one behind the last\n");
  CHECK(mistakes_in_layers("  - slice: {dim: length, stride: 0}\n") ==
        "model.yaml:4:5: error: the stride of a slice is 0, which is not positive [bad-size]\n");
  CHECK(mistakes_in_layers("  - split: {dim: length, into: [a, b, c, d]}\n") ==
        "model.yaml:4:5: error: dim 1 of f32[batch=4, length=6] is not split into 4 equal parts "
        "[bad-split]\n"
        "  hint: the sizes of the parts add up to 6, one for each name of 'into'\n");
  CHECK(mistakes_in_layers("  - cumsum: [batch, length]\n") ==
        "model.yaml:4:5: error: cumsum takes one dim, found 2 [wrong-dim-count]\n");
  CHECK(mistakes_in_layers("  - top_k: 7\n") ==
        "model.yaml:4:5: error: top_k of f32[batch=4, length=6]: there are no 7 elements in its "
        "last dim [shape-mismatch]\n");
  CHECK(mistakes_in_layers("  - take: {of: [x, x]}\n") ==
        "model.yaml:4:5: error: take needs integers as its second input, found f32[batch=4, "
        "length=6] [dtype-mismatch]\n");
  CHECK(mistakes_in_layers("  - take_along: {of: [x, n]}\n") ==
        "model.yaml:4:5: error: take_along of f32[batch=4, length=6] at i32[batch=4]: all dims but "
        "dim 0 have the same size [shape-mismatch]\n");
  CHECK(mistakes_in_layers("  - one_hot: 3\n") ==
        "model.yaml:4:5: error: one_hot needs integers, found f32[batch=4, length=6] "
        "[dtype-mismatch]\n");
  CHECK(mistakes_in_layers("  - where: {of: [x, x, x]}\n") ==
        "model.yaml:4:5: error: the first input of where is a condition (bool), found "
        "f32[batch=4, length=6] [dtype-mismatch]\n"
        "  hint: compare: gt, ge, lt, le, eq, ne\n");
  CHECK(mistakes_in_layers("  - reduce_mean: {of: n}\n") ==
        "model.yaml:4:5: error: reduce_mean needs floating-point numbers, found i32[batch=4] "
        "[dtype-mismatch]\n");
}

TEST_CASE("wrong equations and windows are told") {
  const auto told = [](const std::string& mistake) {
    return "model.yaml:4:5: error: equation " + mistake +
           " [bad-equation]\n  hint: a letter for each dim and ... for dims without one, as in "
           "\"...ld,df->...lf\"\n";
  };
  CHECK(mistakes_in_layers("  - einsum: \"bl,lm->bm\"\n") ==
        told("'bl,lm->bm' of f32[batch=4, length=6]: it has 2 inputs, the layer has 1"));
  CHECK(mistakes_in_layers("  - einsum: \"blm->b\"\n") ==
        told("'blm->b' of f32[batch=4, length=6]: 'blm' has 3 letters, input 1 has 2 dims"));
  CHECK(mistakes_in_layers("  - einsum: {of: [x, n], equation: \"bl,b...c->b\"}\n") ==
        told("'bl,b...c->b' of f32[batch=4, length=6], i32[batch=4]: 'b...c' has 2 letters, input "
             "2 has 1 dim"));
  CHECK(mistakes_in_layers("  - einsum: \"bb->b\"\n") ==
        told("'bb->b' of f32[batch=4, length=6]: 'b' is 4 and, in input 1, 6"));
  CHECK(mistakes_in_layers("  - einsum: \"b1->b\"\n") ==
        told("'b1->b' of f32[batch=4, length=6]: 'b1' is not made of letters"));
  CHECK(mistakes_in_layers("  - einsum: \"bl->b.\"\n") ==
        told("'bl->b.' of f32[batch=4, length=6]: 'b.' is not made of letters"));
  CHECK(mistakes_in_layers("  - einsum: \"bl->bm\"\n") ==
        told("'bl->bm' of f32[batch=4, length=6]: 'm' of the result is in no input"));
  CHECK(mistakes_in_layers("  - einsum: \"bl->bb\"\n") ==
        told("'bl->bb' of f32[batch=4, length=6]: the result has 'b' twice"));
  CHECK(mistakes_in_layers("  - einsum: {of: [x, x], equation: \"bl,lm->bm\"}\n") ==
        told("'bl,lm->bm' of f32[batch=4, length=6], f32[batch=4, length=6]: 'l' is 6 and, in "
             "input 2, 4"));
  CHECK(mistakes_in_layers("  - einsum: {of: [x, n], equation: \"...,...\"}\n") ==
        told("'...,...' of f32[batch=4, length=6], i32[batch=4]: a dim of '...' is 6 and, in input "
             "2, 4"));
  CHECK(mistakes_in_layers("  - conv: {features: 4, window: [3, 3]}\n") ==
        "model.yaml:4:5: error: conv with a window of 2 dims needs a batch before and features "
        "behind, found f32[batch=4, length=6] [rank-mismatch]\n");
  CHECK(mistakes_in_layers("  - conv: {of: image, features: 3, window: [3, 3], groups: 2}\n") ==
        "model.yaml:4:5: error: conv from 2 to 3 features has no 2 groups [bad-size]\n"
        "  hint: the groups divide the features on both sides\n");
  CHECK(mistakes_in_layers("  - pool: {of: image, window: [2, 0]}\n") ==
        "model.yaml:4:5: error: window, strides and dilation of pool must be positive "
        "[bad-size]\n");
  CHECK(mistakes_in_layers("  - pool: {of: image, window: [2, 2], strides: [1, 2, 3]}\n") ==
        "model.yaml:4:5: error: 'strides' of pool has 3 numbers, expected 2 "
        "[wrong-argument-count]\n");
  CHECK(mistakes_in_layers("  - pool: {of: image, window: [2, 2], padding: [[1, 1]]}\n") ==
        "model.yaml:4:5: error: 'padding' of pool has 1 pairs, expected 2 "
        "[wrong-argument-count]\n");
}

TEST_CASE("wrong arguments of calls are told") {
  CHECK(mistakes_in_layers("  - let: y = cumsum(x, dims=length)\n") ==
        "model.yaml:4:24: error: cumsum takes no 'dims' [unknown-argument]\n"
        "  hint: did you mean 'dim'? arguments: dim, reverse, dtype\n");
  CHECK(mistakes_in_layers("  - let: y = top_k(x)\n") ==
        "model.yaml:4:14: error: top_k needs k [missing-argument]\n"
        "  hint: write top_k(.., k=..)\n");
  CHECK(mistakes_in_layers("  - let: y = cumsum(x, x)\n") ==
        "model.yaml:4:14: error: cumsum takes 1 array, found 2 [wrong-input-count]\n");
  CHECK(mistakes_in_layers("  - let: y = cumsum(x, reverse=maybe)\n") ==
        "model.yaml:4:24: error: 'reverse' of cumsum cannot be that [bad-argument]\n"
        "  hint: expected true or false\n");
}
