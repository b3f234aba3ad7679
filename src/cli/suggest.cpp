#include "cli/suggest.h"

#include "check/typing_choices.h"
#include "cli/layer_edit.h"
#include "cli/pipeline.h"
#include "shard/build_on.h"
#include "shard/is_typed.h"
#include "shard/sharded_graph.h"

namespace shard {

std::string suggested_edit(const Options& options, Sources& sources) {
  const ModelInput input = read_model_input(options.arguments[0], options, sources);
  require_program(input, "suggest an edit for");
  const RulesConfig rules = read_rules_input(options.arguments[1], options, sources);
  const Mesh mesh = make_mesh(rules);
  const Graph graph = build_model(input.config, options_on(mesh)).apply;
  const GraphTypes types = graph_types(graph, rules, mesh);
  if (!is_typed(graph, mesh)) {
    return "nothing to suggest: the mesh has no axes of type explicit\n";
  }
  if (types.mistakes.empty()) return "nothing to suggest: every value has a type\n";
  std::vector<LayerEdit> edits;
  for (const TypingMistake& mistake : types.mistakes) {
    const Mesh& seen = types.mesh(graph.node(mistake.node).operands.front());
    const std::vector<TypingChoice> choices = typing_choices(graph, seen, mistake);
    if (choices.empty()) throw Error(typing_diagnostics(graph, types));
    edits.push_back(
        {graph.node(mistake.node).at, "out_sharding", '"' + to_string(choices.front().spec) + '"'});
  }
  return patch_text(sources, edits);
}

}  // namespace shard
