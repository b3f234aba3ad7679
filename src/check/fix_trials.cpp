#include "check/fix_trials.h"

#include <algorithm>
#include <utility>

#include "spmd/partition.h"

namespace shard {
namespace {

Bytes state_of(const ShardedGraph& sharded) {
  Bytes total;
  for (const GraphInput& input : sharded.graph.inputs) {
    if (input.state_leaf < 0) continue;
    const TensorType& type = sharded.graph.value(input.value).type;
    const Shape local = local_shape(type.shape, sharded.sharding(input.value));
    total += input.iteration.count() * bytes_of({type.dtype, local});
  }
  return total;
}

Trial trial_of(const ShardedGraph& sharded, const Program& program) {
  Trial trial;
  trial.is_planned = true;
  trial.reshards = reshards_of(sharded, program);
  for (const Reshard& one : trial.reshards) {
    trial.names.push_back(op_name(sharded.graph, one.why) + '\n' +
                          tensor_name(sharded.graph, one.value));
  }
  for (const CollectiveCount& one : count_collectives(program)) trial.wire += one.wire;
  trial.state = state_of(sharded);
  return trial;
}

/// The main function of the model, with iterations folded where those of the plan are.
Trial trial_of(const ModelConfig& config, const RulesConfig& rules, const Mesh& mesh, bool fold) {
  try {
    Model model = build_model(config, {fold, -1});
    Graph graph = model.train_step ? std::move(*model.train_step) : std::move(model.apply);
    const ShardedGraph sharded = shard_graph(std::move(graph), rules, mesh);
    return trial_of(sharded, partition(sharded));
  } catch (const Error&) {
    return {};  // what cannot be planned is no fix
  }
}

std::string change(const char* what, Bytes before, Bytes after) {
  return what + with_commas(before) + " -> " + with_commas(after) + " B";
}

}  // namespace

FixTrials::FixTrials(const PlanFacts& facts, Is is_bad)
    : facts_(facts), is_bad_(std::move(is_bad)) {
  now_.reshards = reshards_of(facts.sharded, facts.program);
}

Bytes FixTrials::bad_wire(const Trial& trial) const {
  Bytes wire;
  for (const Reshard& one : trial.reshards) wire += is_bad_(one) ? one.wire : Bytes(0);
  return wire;
}

const Trial& FixTrials::planned(const Annotation& annotation) {
  const auto [place, is_new] = tried_.try_emplace(annotation.words);
  if (is_new) {
    place->second = trial_of(annotation.config, facts_.rules, facts_.sharded.mesh,
                             !facts_.model.folded.empty());
  }
  return place->second;
}

std::string FixTrials::fix(std::size_t reshard) {
  if (facts_.config == nullptr) return "";
  if (!now_.is_planned) now_ = trial_of(facts_.sharded, facts_.program);
  const auto is_gone = [&](const Trial& trial) {
    for (std::size_t i = 0; i < trial.reshards.size(); ++i) {
      const bool is_same = trial.names[i] == now_.names[reshard] &&
                           trial.reshards[i].why.kind == now_.reshards[reshard].why.kind;
      if (is_same && is_bad_(trial.reshards[i])) return false;
    }
    return true;
  };
  const Bytes bad = bad_wire(now_);
  std::string words;
  const Trial* best = nullptr;
  for (const Annotation& one :
       annotations_against(*facts_.config, facts_.sharded, now_.reshards[reshard])) {
    const Trial& trial = planned(one);
    if (!trial.is_planned || !is_gone(trial) || bad_wire(trial) >= bad) continue;
    if (best != nullptr && std::pair(trial.state, trial.wire) >= std::pair(best->state, best->wire))
      continue;
    best = &trial;
    words = one.words;
  }
  if (best == nullptr) return "";
  std::string text = words + ": " + change("wire per device and step ", now_.wire, best->wire);
  if (best->state != now_.state) text += ", " + change("state ", now_.state, best->state);
  return text;
}

}  // namespace shard
