// cond, dropout and remat as a file writes them: the nodes they become, and what they refuse.
#include <doctest/doctest.h>

#include "config/load.h"
#include "model/model.h"
#include "support/told_by.h"

using namespace shard;

namespace branch_layers {
namespace {

std::string with_layers(const std::string& layers, const std::string& more = "") {
  return "sizes: {batch: 4, embed: 6}\n"
         "inputs: {x: \"f32[batch, embed]\", go: \"bool[]\", flags: \"bool[batch]\"}\n"
         "blocks: {Double: [scale: 2], Sum: [reduce_sum: embed], Two: {inputs: [a, b], layers: "
         "[add: {of: [a, b]}]}, Drop: [dropout: 0.5]}\n"
         "layers:\n" +
         layers + more;
}

Model model_of(const std::string& text) {
  MemoryReader memory({{"model.yaml", text}});
  Sources sources(memory);
  BuildOptions options;
  options.mesh_axes = {{"data", 2}};
  return build_model(read_model(merge_model_file("model.yaml", {}, sources)), options);
}

std::string mistakes_of(const std::string& layers) {
  return told_by([&] { model_of(with_layers(layers)); });
}

/// The lines of a graph's text that hold one of the words.
std::string lines_with(const Graph& graph, const std::string& word) {
  const std::string text = to_string(graph);
  std::string kept;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    const std::string line = text.substr(start, end - start + 1);
    if (line.find(word) != line.npos) kept += line;
    start = end + 1;
  }
  return kept;
}

}  // namespace

TEST_CASE("a cond becomes rounds that are left out unless their condition holds") {
  const Model model = model_of(with_layers(
      "  - param: {name: w, axes: [embed], init: ones}\n"
      "  - cond: {of: x, when: go, then: Double, else: Drop, name: h}\n  - let: y = h * w\n"));
  verify(model.apply);
  CHECK(lines_with(model.apply, "repeat(") ==
        "  %5 = repeat(%4, %2, %1) {times=1, carries=1, stacked=0, reverse=0, guarded=1} : f32[4,6]"
        "  # h\n"
        "  %11 = repeat(%5, %10, %1) {times=1, carries=1, stacked=0, reverse=0, guarded=1} : "
        "f32[4,6]  # h\n");
  CHECK(lines_with(model.apply, "bitwise_not(") == "  %10 = bitwise_not(%2) : bool[]  # h\n");
}

TEST_CASE("a cond says what does not fit") {
  CHECK(mistakes_of("  - cond: {of: x, when: go, then: Duble}\n") ==
        "model.yaml:5:5: error: there is no block 'Duble' in this file [unknown-block]\n"
        "  hint: did you mean 'Double'? blocks: Double, Sum, Two, Drop\n");
  CHECK(mistakes_of("  - cond: {of: x, when: flags, then: Double}\n") ==
        "model.yaml:5:5: error: the condition of cond is one truth value (bool[]), found "
        "bool[batch=4] [dtype-mismatch]\n"
        "  hint: compare numbers: let: big = gt(reduce_max(x), 1)\n");
  CHECK(mistakes_of("  - cond: {of: x, when: goes, then: Double}\n") ==
        "model.yaml:5:5: error: there is no value 'goes' here [unknown-value]\n"
        "  hint: values: flags, go, x\n");
  CHECK(mistakes_of("  - cond: {of: x, when: go, then: Sum}\n") ==
        "model.yaml:5:5: error: both ways of cond must end in one type: 'Sum' returns "
        "f32[batch=4], without an else the input stays f32[batch=4, embed=6] [shape-mismatch]\n");
  CHECK(mistakes_of("  - cond: {of: x, when: go, then: Sum, else: Double}\n") ==
        "model.yaml:5:5: error: both ways of cond must end in one type: 'Double' returns "
        "f32[batch=4, embed=6], the other block returns f32[batch=4] [shape-mismatch]\n");
  CHECK(mistakes_of("  - cond: {of: x, when: go, then: Two}\n") ==
        "model.yaml:5:5: error: 'Two' takes 2 inputs, found 1 [wrong-input-count]\n"
        "  hint: name them: of: [a, b]\n");
  CHECK(mistakes_of("  - manual: {of: [x, go], in_specs: P(), out_specs: P(), layers: [cond: {of: "
                    "x, when: go, then: Double}]}\n") ==
        "model.yaml:5:67: error: cond cannot stand inside a manual region [manual-cond]\n"
        "  hint: use where, or put the region into the blocks\n");
}

TEST_CASE("dropout and remat say what does not fit") {
  CHECK(mistakes_of("  - dropout: {of: x, rate: 1}\n") ==
        "model.yaml:5:5: error: the rate of dropout is the chance that an element is dropped "
        "[bad-size]\n  hint: a number from 0 up to, and without, 1\n");
  CHECK(mistakes_of("  - manual: {of: x, in_specs: P(data), out_specs: P(data), layers: [dropout: "
                    "0.5]}\n") ==
        "model.yaml:5:69: error: dropout cannot stand inside a manual region [manual-dropout]\n"
        "  hint: drop before the region or behind it\n");
  CHECK(mistakes_of("  - manual: {of: x, in_specs: P(data), out_specs: P(data), layers: [repeat: "
                    "{block: Double, times: 2, remat: full}]}\n") ==
        "model.yaml:5:69: error: remat cannot stand inside a manual region [manual-remat]\n"
        "  hint: put the region inside the block that is computed again\n");
}

TEST_CASE("a scanned block that is computed again keeps its input alone") {
  const std::string train = "train: {loss: sum, optimizer: {sgd: 0.1}, returns: [loss, grads]}\n";
  const auto loops = [&](const std::string& policy) {
    const std::string text =
        "sizes: {batch: 4, embed: 6}\ninputs: {x: [batch, embed]}\n"
        "blocks: {Layer: [dense: {features: embed, use_bias: false}, tanh, exp]}\n"
        "layers: [repeat: {block: Layer, times: 3, scan: true, axis: null" +
        policy + "}]\n" + train;
    const Model model = model_of(text);
    verify(*model.train_step);
    return lines_with(*model.train_step, "repeat(");
  };
  // Without: what comes in, tanh and exp, and the stack of kernels.
  CHECK(loops("") ==
        "  %3, %4, %5, %6 = repeat(%2, %1) {times=3, carries=1, stacked=1, reverse=0} : f32[4,6], "
        "f32[3,4,6], f32[3,4,6], f32[3,4,6]  # ScanLayer_0\n"
        "  %15, %16 = repeat(%14, %4, %5, %1, %6) {times=3, carries=1, stacked=4, reverse=1} : "
        "f32[4,6], f32[3,6,6]  # backward ScanLayer_0\n");
  CHECK(loops(", remat: full") ==
        "  %3, %4 = repeat(%2, %1) {times=3, carries=1, stacked=1, reverse=0} : f32[4,6], "
        "f32[3,4,6]  # ScanLayer_0\n"
        "  %13, %14 = repeat(%12, %4, %1) {times=3, carries=1, stacked=2, reverse=1} : f32[4,6], "
        "f32[3,6,6]  # backward ScanLayer_0\n");
}

}  // namespace branch_layers
