#pragma once
// A model file as plain structs. Everything is resolved that needs only the file (sizes, defaults,
// `base`, `set`, size sets, overrides); nothing is computed about the model.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "config/spec.h"
#include "text/expression.h"
#include "text/tree.h"

namespace shard {

/// A named size after aliases and products are worked out.
struct SizeConfig {
  std::string name;
  std::int64_t value = 0;
  Location at;
};

/// A dim of a written type: label, size (from `sizes` or from `label=size`), mesh axes after `@`.
struct DimConfig {
  std::string label;
  std::int64_t size = 0;
  std::vector<MeshAxis> placed;
  Location at;
};

/// `f32[batch@data, embed]` or `[batch, embed]` (f32). With any `@` the dims are placed by mesh
/// axes
/// (`placement` holds a PartitionSpec), otherwise by logical axes (`placement` holds the labels).
struct TypeConfig {
  DType dtype = DType::f32;
  std::vector<DimConfig> dims;
  SpecConfig placement;
  Location at;
};

/// A count that was written as a number or as a size's name; `label` is the size's name or empty.
/// Inside a block it may name an argument of the block: then `argument` is that name, and `value`
/// and `label` are those of the argument's default (0 and empty when it has none).
struct CountConfig {
  std::int64_t value = 0;
  std::string label;
  std::string argument;
  Location at;
};

/// `zeros`, `xavier_normal`, `normal: {stddev: 0.02}`; `arguments` in file order.
struct InitConfig {
  std::string kind;
  std::vector<std::pair<std::string, double>> arguments;
  Location at;
};

struct ParamConfig {
  std::string name;
  TypeConfig type;  ///< `axes` with sizes; `dtype` when given
  bool has_dtype = false;
  InitConfig init;
  Location at;
};

/// `names: {heads: q_heads}` of a named block.
struct RenamedLabel {
  std::string from;
  std::string to;
  Location at;
};

/// A dim of a shape that a layer asks for: `batch`, `8`, `rest=8`, `heads=kv_heads`.
struct ShapeDim {
  CountConfig size;
  std::string label;  ///< empty for a bare number
};

struct LayerConfig;

struct RepeatConfig {
  std::vector<std::string> pattern;  ///< block names; one unless `pattern:` was used
  CountConfig times;
  bool scan = false;
  std::optional<LogicalAxis> axis;  ///< partition name of the stacked dim; nothing means None
  bool has_axis = false;            ///< the key was written (for the note when `scan` is false)
  Location at;
  std::vector<std::string> carries{};  ///< inputs of the block that it changes, beside the first
  Location carries_at{};
  std::vector<std::string> stacks{};  ///< values of the block, kept of every iteration
  Location stacks_at{};
};

/// One layer: a word or a one-key map. Fields that the layer's kind does not know stay empty; the
/// reader refuses them by the key table of the kind.
struct LayerConfig {
  std::string
      kind;     ///< an op, a named block of ours (`dense`), a structure key, a block of the file
  Location at;  ///< of the kind's word
  std::string name;
  Location name_at;
  std::vector<std::string> of;  ///< names of the inputs; empty: the running value
  Location of_at;
  std::optional<DType> dtype;
  std::optional<SpecConfig> out_sharding;
  std::optional<CountConfig> features;
  std::optional<SpecConfig> kernel;
  std::optional<SpecConfig> bias;
  std::vector<std::pair<std::string, SpecConfig>> params;
  std::optional<InitConfig> kernel_init;
  std::optional<InitConfig> bias_init;
  std::optional<bool> use_bias;
  std::optional<SpecConfig> spec;      ///< of `constrain` and `reshard`
  std::optional<Assignment> let;       ///< of `let`
  std::optional<ParamConfig> param;    ///< of `param`
  std::optional<RepeatConfig> repeat;  ///< of `repeat`
  std::vector<std::string> mesh_axes;  ///< of `auto_axes`: empty for all
  std::vector<LayerConfig> layers;     ///< of `residual`, `parallel`
  std::vector<std::string> dims;       ///< labels or positions: `transpose`, reductions
  bool keep_dims = false;              ///< of reductions
  std::optional<double> number;        ///< the main scalar argument of an op that takes one
  /// What named blocks (attention, experts ...) take beside these, by key.
  std::vector<std::pair<std::string, CountConfig>> counts;
  std::vector<std::pair<std::string, double>> numbers;
  std::vector<std::pair<std::string, bool>> flags;
  std::vector<std::pair<std::string, std::string>> words;
  std::vector<std::pair<std::string, InitConfig>> inits;
  /// Whole numbers of ops, by key; one that is no list is a list of one.
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> lists;
  std::vector<ShapeDim> shape;        ///< of `reshape`
  std::vector<std::string> into;      ///< names that the results of an op get: `split`, `top_k`
  std::vector<SpecConfig> in_specs;   ///< of `manual` and `explicit_axes`: one for all, or each
  std::vector<SpecConfig> out_specs;  ///< of `manual`
  std::vector<RenamedLabel> names;    ///< labels of the block by other names
  std::vector<std::pair<std::string, SpecConfig>> constrain;  ///< placements by value of the block
  /// Of a call of a block of the file: all declared. Of any other word: the keys that no table
  /// knows, or "" for a bare one; a value that is no count is 0 with its text as label.
  std::vector<std::pair<std::string, CountConfig>> arguments;
};

struct BlockConfig {
  std::string name;
  std::vector<std::string> inputs;                             ///< default: one, `x`
  std::vector<std::pair<std::string, CountConfig>> arguments;  ///< declared with their defaults
  std::vector<LayerConfig> layers;
  Location at;
};

struct OutputConfig {
  std::string name;
  std::optional<TypeConfig> type;
  Location at;
};

/// A learning rate that depends on the step. Kinds and arguments are those of optax's schedules.
struct ScheduleConfig {
  std::string kind;  ///< `warmup_cosine_decay`, `linear` ...
  std::vector<std::pair<std::string, double>> arguments;
  Location at;
  std::vector<std::pair<std::int64_t, double>> scales{};  ///< `piecewise_constant`: step and factor
  std::vector<ScheduleConfig> parts{};                    ///< of `join`
  std::vector<std::int64_t> boundaries{};                 ///< of `join`: where the next part begins
};

/// In a program one that can be run; in a list of arrays also one of which only the state is known.
struct OptimizerConfig {
  std::string kind;  ///< `sgd`, `momentum`, `adam`, `adamw` ...
  std::vector<std::pair<std::string, double>> arguments;
  Location at;
  std::vector<std::pair<std::string, DType>> dtypes{};  ///< `mu_dtype` and the like
  bool is_scheduled = false;  ///< the learning rate is a schedule, which counts steps
  std::optional<ScheduleConfig> schedule{};  ///< nothing for the bare word: only the count is known
  std::optional<std::vector<std::string>> mask{};  ///< globs of the parameters that decay
  std::vector<OptimizerConfig> parts{};            ///< of `chain` and `multi_steps`
};

/// What a loss compares the output with.
struct TargetsConfig {
  std::string input;
  bool is_shifted = false;  ///< `shift(tokens)`: each position's target is the next one's token
  Location at;
};

struct TrainConfig {
  std::string loss;  ///< `sum`, `mean`, `mse`, `cross_entropy`
  Location loss_at;
  std::optional<TargetsConfig> targets{};
  bool ignores_negative = true;  ///< positions with a negative target do not count
  OptimizerConfig optimizer;
  bool returns_state = true;
  bool returns_loss = true;
  bool returns_grads = false;
  bool returns_outputs = false;
  bool donate = true;
  std::int64_t microbatches = 1;  ///< parts of a batch whose gradients are averaged
  Location microbatches_at{};
  Location at;
};

enum class Naming { linen, nnx, plain };

/// How the leaves of a train state are called: `params/Dense_0/kernel`, or as JAX prints the path,
/// `.params/['params']/['Dense_0']/['kernel']`.
enum class PathStyle { as_given, flax, jax };

struct DTypesConfig {
  DType params = DType::f32;
  DType compute = DType::f32;
  DType state = DType::f32;
};

struct InputConfig {
  std::string name;
  TypeConfig type;
  Location at;
};

struct ModelConfig {
  std::string name;
  std::string file;
  std::vector<SizeConfig> sizes;
  std::vector<InputConfig> inputs;
  std::vector<BlockConfig> blocks;
  std::vector<LayerConfig> layers;
  std::vector<OutputConfig> outputs;  ///< empty: the last value, placed by propagation
  std::optional<TrainConfig> train;
  DTypesConfig dtypes;
  Naming naming = Naming::linen;
  PathStyle paths = PathStyle::as_given;
  std::int64_t seed = 0;
};

}  // namespace shard
