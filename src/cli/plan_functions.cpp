#include "cli/plan_functions.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "base/diagnostic.h"
#include "base/log.h"
#include "check/typing_choices.h"
#include "model/arrays_model.h"
#include "shard/build_on.h"
#include "shard/folding.h"
#include "shard/is_typed.h"
#include "shard/resolve_state.h"
#include "spmd/partitioner.h"
#include "spmd/unfold.h"

namespace shard {
namespace {

void log_program(const Program& program, std::size_t nodes) {
  log_debug(fmt::format("{}: {} nodes, {} instructions", program.name, nodes,
                        program.main().instructions.size()));
}

/// Explicit mode: a value without a type is reported with the choices there are.
void check_types(const Graph& graph, const RulesConfig& rules, const Mesh& mesh) {
  if (!is_typed(graph, mesh)) return;
  const GraphTypes types = graph_types(graph, rules, mesh);
  if (!types.mistakes.empty()) throw Error(typing_diagnostics(graph, types));
}

/// One function of the model: how it is split, what each device does.
PlannedFunction plan_function(Graph graph, bool is_main, const RulesConfig& rules, const Mesh& mesh,
                              Fusion fusion, const StageDump& dump) {
  dump.write(graph, is_main);
  check_types(graph, rules, mesh);
  PlannedFunction planned;
  planned.sharded = shard_graph(std::move(graph), rules, mesh);
  dump.write_trace(planned.sharded, rules, is_main);
  dump.write(planned.sharded, is_main);
  planned.program = partition(planned.sharded);
  planned.collectives = count_collectives(planned.program);
  planned.merged = count_merged(xla_merge(planned.program));
  planned.program = with_fusion(std::move(planned.program), fusion);
  dump.write(planned.program, is_main);
  log_program(planned.program, planned.sharded.graph.nodes.size());
  return planned;
}

std::vector<FoldedFunction> functions_of(const std::vector<ShardedGraph>& graphs,
                                         const std::vector<Program>& programs) {
  std::vector<FoldedFunction> functions;
  for (std::size_t i = 0; i < graphs.size(); ++i)
    functions.push_back({graphs[i].graph, programs[i]});
  return functions;
}

/// False when the plan has to be made in another way. `options` are those of the plan's model.
bool plan_folded_model(Plan& plan, const ModelConfig& config, const RulesConfig& rules,
                       Fusion fusion, BuildOptions options) {
  Model& model = plan.model;
  std::vector<Graph> wide_apply;
  std::vector<Graph> wide_step;
  for (const Iteration& fold : model.folded) {
    options.widened = fold.repeat;
    Model wide = build_model(config, options);
    wide_apply.push_back(std::move(wide.apply));
    if (wide.train_step) wide_step.push_back(std::move(*wide.train_step));
  }
  if (model.train_step) {
    plan.train_step = plan_folded(std::move(*model.train_step), std::move(wide_step), model.folded,
                                  rules, plan.mesh, fusion);
    if (!plan.train_step) return false;
  }
  auto apply = plan_folded(std::move(model.apply), std::move(wide_apply), model.folded, rules,
                           plan.mesh, fusion);
  if (!apply) return false;
  plan.apply = std::move(*apply);
  return true;
}

enum class Folding { done, nothing_to_fold, failed };

/// How many iterations are tried to be all that is peculiar to an end of a repeat: seldom does it
/// reach further than the first number, which is planned in less time.
constexpr std::array ends_tried = {2, 3};

/// A mistake in the files is left to be found when everything is written out.
Folding try_folded(Plan& plan, const ModelConfig& config, const RulesConfig& rules, Fusion fusion) {
  try {
    BuildOptions options = options_on(plan.mesh);
    options.fold = true;
    for (const int ends : ends_tried) {
      options.ends = ends;
      plan.model = build_model(config, options);
      if (plan.model.folded.empty()) return Folding::nothing_to_fold;
      if (plan_folded_model(plan, config, rules, fusion, options)) return Folding::done;
    }
    return Folding::failed;
  } catch (const Error&) {
    return Folding::failed;
  }
}

}  // namespace

std::optional<PlannedFunction> plan_folded(Graph folded, std::vector<Graph> widened,
                                           std::span<const Iteration> folds,
                                           const RulesConfig& rules, const Mesh& mesh,
                                           Fusion fusion) {
  PlannedFunction planned;
  planned.sharded = shard_graph(std::move(folded), rules, mesh);
  std::vector<ShardedGraph> wide;
  std::vector<const ShardedGraph*> sides;
  wide.reserve(widened.size());
  for (Graph& graph : widened) {
    wide.push_back(shard_graph(std::move(graph), rules, mesh));
    sides.push_back(&wide.back());
  }
  if (!goes_on_evenly(planned.sharded, sides, folds)) return std::nullopt;
  // Where the buffers of these programs lie says nothing about the long one. What it sends is what
  // the folded program says, so that the others need not be weighed again.
  Partitioner partitioner(mesh);
  PartitionedProgram made =
      partitioner.run(planned.sharded, PartitionMode::cheapest, Offsets::left_out);
  planned.program = std::move(made.program);
  std::vector<Program> programs;
  for (const ShardedGraph& sharded : wide)
    programs.push_back(partitioner.run_as(made.mode, sharded, Offsets::left_out));
  const FoldedFunction function{planned.sharded.graph, planned.program};
  const std::vector<FoldedFunction> functions = functions_of(wide, programs);
  auto merged = merged_unfolded(function, functions, folds);
  if (!merged) return std::nullopt;
  planned.merged = std::move(*merged);
  planned.collectives = count_collectives(planned.program);
  if (fusion == Fusion::on) {
    planned.program = fused(std::move(planned.program), Offsets::left_out);
    for (Program& program : programs) program = fused(std::move(program), Offsets::left_out);
  }
  const auto figures = unfold(function, functions, folds);
  if (!figures) return std::nullopt;
  log_program(planned.program, planned.sharded.graph.nodes.size());
  planned.program.memory = figures->memory();
  std::vector<std::string> names = figures->buffer_names();
  for (std::size_t i = 0; i < planned.program.buffers.size(); ++i)
    planned.program.buffers[i].name = std::move(names[i]);
  return planned;
}

void plan_arrays(Plan& plan, const ArraysConfig& config, const RulesConfig& rules,
                 const StageDump& dump) {
  plan.model = build_arrays_model(config);
  dump.write(plan.model.apply, true);
  plan.apply.sharded = shard_state(plan.model, rules, plan.mesh);
  plan.apply.program.mesh = plan.mesh;
  dump.write_trace(plan.apply.sharded, rules, true);
  dump.write(plan.apply.sharded, true);
}

Bytes state_bytes(const PlannedFunction& function) {
  Bytes total;
  for (const GraphInput& input : function.sharded.graph.inputs) {
    if (input.state_leaf < 0) continue;
    const TensorType& type = function.sharded.graph.value(input.value).type;
    const Shape local = local_shape(type.shape, function.sharded.sharding(input.value));
    total += input.iteration.count() * bytes_of({type.dtype, local});
  }
  return total;
}

void plan_functions(Plan& plan, const ModelConfig& config, const RulesConfig& rules, bool fold,
                    Fusion fusion, const StageDump& dump) {
  const Folding folding = fold ? try_folded(plan, config, rules, fusion) : Folding::failed;
  if (folding == Folding::done) return;
  if (folding == Folding::failed) plan.model = build_model(config, options_on(plan.mesh));
  plan.train_step.reset();
  if (plan.model.train_step) {
    plan.train_step =
        plan_function(std::move(*plan.model.train_step), true, rules, plan.mesh, fusion, dump);
  }
  const bool apply_is_main = !plan.train_step;
  plan.apply =
      plan_function(std::move(plan.model.apply), apply_is_main, rules, plan.mesh, fusion, dump);
}

}  // namespace shard
