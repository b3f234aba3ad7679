// A graph that breaks one belief at a time.
#include <doctest/doctest.h>

#include "base/check.h"
#include "model/model.h"
#include "support/model_configs.h"

using namespace shard;
using namespace shard::tests;

namespace {

/// The belief that breaks when `change` is made to a good graph.
template <class Change>
std::string broken(bool scan, Change change) {
  Graph graph = *build_model(guide(scan)).train_step;
  change(graph);
  try {
    verify(graph);
  } catch (const InternalError& error) {
    const std::string text = error.what();
    return text;
  }
  return "";
}

bool mentions(const std::string& text, const std::string& belief) {
  return text.find(belief) != std::string::npos;
}

Node& first_of(Graph& graph, Op op) {
  for (Node& node : graph.nodes) {
    if (node.op == op) return node;
  }
  throw InternalError("the graph has such a node");
}

}  // namespace

TEST_CASE("a good graph verifies") {
  CHECK(broken(false, [](Graph&) {}) == "");
  CHECK(broken(true, [](Graph&) {}) == "");
}

TEST_CASE("a graph that breaks a belief does not verify") {
  CHECK(mentions(
      broken(false, [](Graph& g) { std::swap(g.regions[0].nodes[0], g.regions[0].nodes[1]); }),
      "a value is defined before it is used"));
  CHECK(mentions(broken(false, [](Graph& g) { g.nodes[0].operands[0] = id_at<ValueId>(9999); }),
                 "an operand is one of the graph's values"));
  CHECK(mentions(broken(false, [](Graph& g) { g.values[g.values.size() - 1].type.shape = {3}; }),
                 "a value has one label per dim"));
  CHECK(mentions(broken(false,
                        [](Graph& g) {
                          const ValueId result = g.nodes[0].results[0];
                          g.values[index_of(result)].type.dtype = DType::bf16;
                        }),
                 "result types are those of the shape rule"));
  CHECK(mentions(broken(false, [](Graph& g) { g.nodes[0].results = g.nodes[1].results; }),
                 "a value knows its producer"));
  CHECK(
      mentions(broken(false, [](Graph& g) { g.regions[0].nodes.push_back(g.regions[0].nodes[0]); }),
               "a node is in one region"));
  CHECK(mentions(broken(false, [](Graph& g) { g.regions[0].nodes.pop_back(); }),
                 "a value is defined before it is used"));
  CHECK(mentions(broken(false, [](Graph& g) { g.outputs.pop_back(); }),
                 "each output is a body result"));
  CHECK(mentions(broken(false, [](Graph& g) { g.inputs.pop_back(); }),
                 "each input is a body parameter"));
  CHECK(mentions(broken(false, [](Graph& g) { g.outputs[0].donates = 1; }),
                 "a donated input has the output's type"));
  CHECK(mentions(broken(false,
                        [](Graph& g) {
                          first_of(g, Op::constrain).attributes.set("placement", std::int64_t{9});
                        }),
                 "a constraint's placement is one of the graph's"));
}

TEST_CASE("a loop that breaks its signature does not verify") {
  CHECK(mentions(
      broken(true,
             [](Graph& g) { first_of(g, Op::repeat).attributes.set("times", std::int64_t{3}); }),
      "a loop's types agree with its body's"));
  CHECK(mentions(broken(true, [](Graph& g) { first_of(g, Op::repeat).operands.pop_back(); }),
                 "a loop has its carries and stacks"));
  CHECK(mentions(broken(true, [](Graph& g) { g.regions[1].parameters.pop_back(); }),
                 "one body parameter per operand"));
  CHECK(mentions(broken(true, [](Graph& g) { g.regions[1].results.pop_back(); }),
                 "one body result per loop result"));
  CHECK(mentions(broken(true,
                        [](Graph& g) {
                          // A value of the function is not seen inside the loop.
                          g.nodes[index_of(g.regions[1].nodes[0])].operands[0] = g.inputs[8].value;
                        }),
                 "a value is defined before it is used"));
}
