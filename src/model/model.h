#pragma once
// A model: the leaves of its train state, the inference function and the train step.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/model_config.h"
#include "model/graph.h"

namespace shard {

/// How a leaf is initialised. For `xavier_normal` and the like the fans are those of the
/// *unstacked* parameter, worked out when the model is built.
struct InitialValue {
  std::string kind;  ///< `zeros`, `ones`, `constant`, `normal`, `truncated_normal`, `uniform`
  double scale = 0;  ///< standard deviation (before truncation correction: see exec/initial.h),
                     ///< half width, or the constant
};

/// One leaf of the train state, in TrainState order: step, params (sorted as Flax sorts),
/// opt_state (count, then each slot over the params). Without `train` there are only params.
struct StateLeaf {
  std::string
      path;  ///< `step`, `params/DotReluDot_0/Dense_0/kernel`, `opt_state/0/mu/DotReluDot_0/W2`
  Role role = Role::parameter;  ///< parameter, optimizer or step
  TensorType type;
  std::vector<std::string> labels;
  SpecConfig placement;
  InitialValue init;
  int follows = -1;  ///< leaf of the parameter that an optimizer slot mirrors
  Iteration iteration;
  Location at;
};

/// Something inside a named block: what `describe` tells and files may name.
struct BlockPart {
  enum class Kind { value, parameter, label };
  Kind kind = Kind::value;
  std::string layer;  ///< the block's full name: `Decoder_0/Attention_0`
  std::string name;   ///< within the block: `probs`, `query/kernel`, `heads`
  std::string help;
  TensorType type{};  ///< not of labels
  std::vector<std::string> labels{};
};

/// A model is a program, or just a list of arrays: then `has_program` is false, `state` holds the
/// arrays, and `apply` has them as inputs, one value each in the same order, and does nothing.
/// Whatever is about values, time or peaks is unknown then, not zero.
struct Model {
  std::string name;
  bool has_program = true;
  std::vector<StateLeaf> state;
  Graph apply;  ///< inputs: the parameters, then the data inputs
  std::optional<Graph>
      train_step;  ///< inputs: all of `state`, then the data inputs; dead code removed
  std::int64_t parameter_count = 0;
  std::vector<std::string> returns;  ///< of the train step: `state`, `loss`, ...
  std::vector<Diagnostic> notes;     ///< remarks and warnings; never errors
  std::vector<std::string>
      dropped;  ///< what dead-code removal took out, one name each, for the report
  std::vector<Iteration> folded;  ///< the iterations that stand for several, by number of repeat
  std::vector<BlockPart> parts;   ///< of all named blocks, if the options ask for them
};

/// How unrolled repeats are written out.
struct BuildOptions {
  /// Writes the first and last iterations of every repeat that has enough of them and once, for all
  /// those between, an iteration with first < last. Nothing checks that those are in fact equal.
  bool fold = false;
  /// With `fold`: the repeat that is written with two single iterations in that place, so that it
  /// can be seen how things go on from one to the next; -1 for none.
  int widened = -1;
  /// With `fold`: how many iterations are written by themselves at each end. What is peculiar to an
  /// end (nothing is wanted back from the first, dead code in the last) has to reach less far.
  int ends = 3;
  bool lists_parts = false;  ///< fills `Model::parts`
  bool training =
      false;  ///< the forward pass of a train step: dropout drops, elsewhere it does not
  /// The mesh, in its order: manual regions see a device's part. Empty where there is none.
  std::vector<std::pair<std::string, std::int64_t>> mesh_axes{};
};

/// Builds both functions. Throws `Error` with every mistake found, each once: `unknown-layer`,
/// `unknown-block`, `unknown-value`, `used-before-made`, `rank-mismatch`, `shape-mismatch`,
/// `dtype-mismatch`, `recursive-block`, `duplicate-name`, `reserved-name`, `unknown-dim`,
/// `constrain-size`, `size-overflow`, `wrong-input-count`, `missing-loss`, `not-yet` (what a later
/// version of the grammar handles) ...
Model build_model(const ModelConfig& config, const BuildOptions& options = {});

/// Reverse-mode derivative of `scalar` with respect to the values `wrt` of the body: appends the
/// backward nodes to the body and returns one gradient value per entry of `wrt` (zeros where the
/// scalar does not depend on it). Loops may get further stacked outputs, which their backward
/// loops read.
std::vector<ValueId> differentiate(Graph& graph, ValueId scalar, const std::vector<ValueId>& wrt);

/// Removes nodes, loop results and operands that no output needs, and stop_gradient; numbers the
/// rest in reading order. Returns the layers of which no forward node is left. Inputs stay.
std::vector<std::string> remove_dead_code(Graph& graph);

}  // namespace shard
