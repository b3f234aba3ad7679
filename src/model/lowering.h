#pragma once
// From layers to nodes: what building one function shares. A mistake is reported and makes the
// value `ValueId::none`; whatever is built on a spoiled value is spoiled in silence, so that one
// mistake gives one message.

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/diagnostic.h"
#include "config/model_config.h"
#include "model/graph_builder.h"
#include "model/model.h"
#include "model/placement_ask.h"
#include "model/remat.h"
#include "model/scope.h"

namespace shard {

class ManualBody;

/// JAX's lattice for the dtypes we have: integers below floats; the two 16-bit floats meet in f32.
DType promoted(DType a, DType b);

/// What a layer asks for when it makes a parameter.
struct ParameterRequest {
  std::string path;  ///< without `params/`
  TensorType type;
  std::vector<std::string> labels;
  std::optional<SpecConfig> placement;  ///< nothing: the labels, as logical axes
  InitConfig init;
  Location at;
  Shape fans{};  ///< what the first values go by instead of the shape: {inputs, outputs}
};

/// A table that further layers may use: of an embedding, for logits that are tied to it.
struct SharedTable {
  ValueId value = ValueId::none;
  std::size_t frames = 0;  ///< how many loops it stands in
};

/// A scanned `repeat` that is being built: parameters made inside become stacks outside.
struct LoopFrame {
  std::int64_t times = 1;
  std::optional<LogicalAxis> axis;
  std::vector<ValueId> stacks;       ///< outside
  std::vector<ValueId> slices;       ///< inside
  std::vector<ValueId> losses;       ///< inside: scalars that each iteration adds to the loss
  RegionId around = RegionId::none;  ///< the region the loop stands in
  ValueId seed = ValueId::none;      ///< inside: this iteration's, once something asked for it
  bool is_branch = false;            ///< no loop but a way of a cond: its `stacks` are no stacks
};

/// A layer at work.
struct LayerCall {
  Scope& scope;
  const LayerConfig& layer;
  std::vector<ValueId> inputs;
  std::string path;  ///< the layer's full name: `DotReluDot_0/Dense_0`
};

class Lowering {
 public:
  Lowering(const ModelConfig& model_config, const BuildOptions& build_options, Graph& graph,
           Diagnostics& messages);

  const BlockConfig* block_named(std::string_view name) const;

  /// Adds an op if its shape rule accepts the operands and the result can be counted in 63 bits;
  /// else `shape-mismatch`, `dtype-mismatch` or `size-overflow` at the builder's origin. Spoiled
  /// operands give a spoiled result. `labels` are the result's, where the caller knows them.
  ValueId emit(Op op, std::span<const ValueId> operands, Attributes attributes = {},
               std::optional<std::vector<std::string>> labels = std::nullopt);
  ValueId emit(Op op, std::initializer_list<ValueId> operands, Attributes attributes = {}) {
    return emit(op, std::span<const ValueId>(operands.begin(), operands.size()),
                std::move(attributes));
  }

  /// Two operands brought to one dtype and, aligned at the right, to one shape.
  ValueId emit_binary(Op op, ValueId left, ValueId right);
  /// The same dtype returns the value itself.
  ValueId converted(ValueId value, DType dtype);
  /// Aligned at the right; dims of size 1 and missing ones are repeated. Scalars stay scalars.
  ValueId broadcast_to(ValueId value, const Shape& shape);
  /// A scalar.
  ValueId number(double value, DType dtype);
  /// `a @ b` as NumPy has it: the last dim of a with the second last of b, leading dims paired.
  ValueId matrix_product(ValueId left, ValueId right);
  /// A constraint, or what else may be asked of a placement. Errors: `rank-mismatch`,
  /// `constrain-size`.
  ValueId constrained(ValueId value, const SpecConfig& spec,
                      PlacementAsk ask = PlacementAsk::constraint);
  /// The value inside a region whose `axes` (all where there are none) are of another type: `ask`
  /// is `enter_auto` or `enter_explicit`, and `spec` how the value is split there.
  ValueId entered(ValueId value, const std::vector<std::string>& axes, PlacementAsk ask,
                  const SpecConfig& spec);

  /// Makes a leaf and returns its value here (inside scanned loops: this iteration's slice).
  ValueId parameter(ParameterRequest request);

  /// What random bits depend on here: the step outside of loops, in a loop also the iteration.
  ValueId seed();

  /// A scalar that the training loss gets on top: of this iteration, inside a loop.
  void add_to_loss(ValueId scalar);

  /// A count that may name a size or an argument of the block. Errors: `unknown-dim`, `bad-size`,
  /// `missing-argument`.
  std::optional<CountConfig> count(const CountConfig& written, const Scope& scope);
  /// A size by name, or nothing.
  std::optional<std::int64_t> size_named(const std::string& name) const;
  /// Positions of dims written as labels or numbers. Errors: `unknown-dim`, `duplicate-dim`.
  std::optional<std::vector<std::int64_t>> dim_positions(ValueId value,
                                                         const std::vector<std::string>& dims,
                                                         const Location& at);

  const TensorType& type(ValueId value) const { return builder.type(value); }
  /// `f32[batch=8, 4]`.
  std::string described(ValueId value) const;
  /// Gives an unnamed value its name.
  void name_value(ValueId value, const std::string& name);

  const ModelConfig& config;
  const BuildOptions& options;
  Diagnostics& diagnostics;
  GraphBuilder builder;
  std::vector<StateLeaf> leaves;                        ///< parameters in the order they were made
  std::vector<ValueId> leaf_values;                     ///< their values as graph inputs
  std::vector<LoopFrame*> frames;                       ///< scanned loops around, outermost first
  std::vector<ValueId> losses;                          ///< scalars that layers add to the loss
  ValueId step = ValueId::none;                         ///< the step's number, once asked for
  bool differs_in_training = false;                     ///< some layer does more in training
  std::vector<RematRange> remats;                       ///< what the backward pass computes again
  int unnamed_dropouts = 0;                             ///< in expressions, so far
  ManualBody* manual = nullptr;                         ///< the manual region being built, if any
  std::unordered_map<std::string, SharedTable> tables;  ///< by the full name of their layer
  std::vector<BlockPart> parts;   ///< what named blocks have inside, if the options ask for it
  int repeats = 0;                ///< unrolled repeats so far
  std::vector<Iteration> folded;  ///< iterations that stand for several

 private:
  bool fits(const TensorType& type, const Location& at);
  std::int64_t placement_index(const SpecConfig& spec);

  std::unordered_map<std::string_view, const BlockConfig*> blocks_;
};

}  // namespace shard
