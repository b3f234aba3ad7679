#pragma once
// The layers that are neither ops nor blocks of the file, and which keys each kind of layer takes.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/lowering.h"

namespace shard {

using LowerLayer = ValueId (*)(Lowering& lowering, LayerCall& call);

/// The optional keys of a layer, as bits.
enum LayerKey : unsigned {
  key_name = 1U << 0,
  key_of = 1U << 1,
  key_dtype = 1U << 2,
  key_out_sharding = 1U << 3,
  key_features = 1U << 4,
  key_kernel = 1U << 5,
  key_bias = 1U << 6,
  key_params = 1U << 7,
  key_kernel_init = 1U << 8,
  key_bias_init = 1U << 9,
  key_use_bias = 1U << 10,
  key_spec = 1U << 11,
  key_layers = 1U << 12,
  key_dims = 1U << 13,
  key_keep_dims = 1U << 14,
  key_number = 1U << 15,
  key_arguments = 1U << 16,
  key_let = 1U << 17,
  key_param = 1U << 18,
  key_repeat = 1U << 19,
  key_axes = 1U << 20,
};

/// Keys without which a kind that takes them has nothing to work on.
inline constexpr unsigned required_parts = key_let | key_param | key_repeat | key_layers;

struct LayerKind {
  std::string_view word;
  int least_inputs;  ///< arrays; a layer that takes one works on the running value
  int most_inputs;
  unsigned keys;
  bool is_named;  ///< its value gets a counted name when none is written
  LowerLayer lower;
  std::string_view help;
};

/// The kind that `word` names: a layer of ours or an op; nullptr for a block or an unknown word.
const LayerKind* layer_kind(std::string_view word);

/// All layers of ours and all ops that can be layers, in table order.
std::span<const LayerKind> layer_kinds();

/// Whether the grammar has such a layer that this version does not build.
bool is_later_layer(std::string_view word);

/// The keys that `layer` has written, as bits, and the word of each key.
unsigned keys_of(const LayerConfig& layer);
std::string_view key_word(LayerKey key);

/// What else a call of a block hands on: the values that have these names at its end.
struct BlockRest {
  std::vector<std::string> names;
  Location at;                  ///< where they are asked for
  std::vector<ValueId> values;  ///< none where a name has no value, which is said
};

/// Call of a block: its own naming scope, its inputs under the names it declares.
ValueId lower_block(Lowering& lowering, const BlockConfig& block, const std::string& path,
                    std::span<const ValueId> inputs,
                    std::vector<std::pair<std::string, CountConfig>> arguments,
                    BlockRest* rest = nullptr);

/// Lowers the layers one after the other; the scope's running value is the last one's.
void lower_layers(Lowering& lowering, Scope& scope, std::span<const LayerConfig> layers);

// The functions of the table.
ValueId lower_dense(Lowering& lowering, LayerCall& call);
ValueId lower_dot(Lowering& lowering, LayerCall& call);
ValueId lower_constrain(Lowering& lowering, LayerCall& call);
ValueId lower_reshard(Lowering& lowering, LayerCall& call);
ValueId lower_auto_axes(Lowering& lowering, LayerCall& call);
ValueId lower_let(Lowering& lowering, LayerCall& call);
ValueId lower_param(Lowering& lowering, LayerCall& call);
ValueId lower_repeat(Lowering& lowering, LayerCall& call);
ValueId lower_cond(Lowering& lowering, LayerCall& call);
ValueId lower_residual(Lowering& lowering, LayerCall& call);
ValueId lower_parallel(Lowering& lowering, LayerCall& call);
ValueId lower_convert(Lowering& lowering, LayerCall& call);
ValueId lower_transpose(Lowering& lowering, LayerCall& call);
ValueId lower_broadcast(Lowering& lowering, LayerCall& call);
ValueId lower_reduction(Lowering& lowering, LayerCall& call);
ValueId lower_embedding(Lowering& lowering, LayerCall& call);
ValueId lower_attend(Lowering& lowering, LayerCall& call);
ValueId lower_position_embedding(Lowering& lowering, LayerCall& call);
ValueId lower_rms_norm(Lowering& lowering, LayerCall& call);
ValueId lower_layer_norm(Lowering& lowering, LayerCall& call);
ValueId lower_softmax(Lowering& lowering, LayerCall& call);
ValueId lower_log_softmax(Lowering& lowering, LayerCall& call);
ValueId lower_attention(Lowering& lowering, LayerCall& call);
ValueId lower_swiglu(Lowering& lowering, LayerCall& call);
ValueId lower_geglu(Lowering& lowering, LayerCall& call);
ValueId lower_mlp(Lowering& lowering, LayerCall& call);
ValueId lower_moe(Lowering& lowering, LayerCall& call);
ValueId lower_explicit_axes(Lowering& lowering, LayerCall& call);
ValueId lower_manual(Lowering& lowering, LayerCall& call);
ValueId lower_collective(Lowering& lowering, LayerCall& call);
ValueId lower_reshape(Lowering& lowering, LayerCall& call);
ValueId lower_slice(Lowering& lowering, LayerCall& call);
ValueId lower_reverse(Lowering& lowering, LayerCall& call);
ValueId lower_concatenate(Lowering& lowering, LayerCall& call);
ValueId lower_split(Lowering& lowering, LayerCall& call);
ValueId lower_pad(Lowering& lowering, LayerCall& call);
ValueId lower_take(Lowering& lowering, LayerCall& call);
ValueId lower_take_along(Lowering& lowering, LayerCall& call);
ValueId lower_one_hot(Lowering& lowering, LayerCall& call);
ValueId lower_where(Lowering& lowering, LayerCall& call);
ValueId lower_cumulative(Lowering& lowering, LayerCall& call);
ValueId lower_arg_extremum(Lowering& lowering, LayerCall& call);
ValueId lower_sort(Lowering& lowering, LayerCall& call);
ValueId lower_top_k(Lowering& lowering, LayerCall& call);
ValueId lower_custom_call(Lowering& lowering, LayerCall& call);  // custom_layer.cpp
ValueId lower_angle(Lowering& lowering, LayerCall& call);        // fourier_layers.cpp
ValueId lower_fft(Lowering& lowering, LayerCall& call);
ValueId lower_reduce_mean(Lowering& lowering, LayerCall& call);
ValueId lower_logsumexp(Lowering& lowering, LayerCall& call);
ValueId lower_dropout(Lowering& lowering, LayerCall& call);
ValueId lower_einsum(Lowering& lowering, LayerCall& call);
ValueId lower_conv(Lowering& lowering, LayerCall& call);
ValueId lower_pool(Lowering& lowering, LayerCall& call);
ValueId lower_elementwise(Lowering& lowering, LayerCall& call);

}  // namespace shard
