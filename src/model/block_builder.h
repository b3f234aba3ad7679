#pragma once
// What named blocks (norms, attention, experts ...) are built with: sizes with the labels the file
// wants, parameters of several dims, values that have a name inside the block and can be placed.

#include <optional>

#include "model/composer.h"
#include "model/layer_kinds.h"

namespace shard {

/// A dim of a block: its size and the label it goes by.
struct BlockDim {
  std::int64_t size = 0;
  std::string label;
};

class BlockBuilder {
 public:
  BlockBuilder(Lowering& lowering, LayerCall& call);

  Lowering& lowering;
  Composer compose;
  const LayerConfig& layer;

  /// The input, if it is an array of this many dims or more; else none after `rank-mismatch` or
  /// `dtype-mismatch`.
  ValueId input(std::size_t position, int least_rank, bool is_float = true);

  /// What is written under a key, with the block's word for the dim; nothing when nothing is (or
  /// after what `Lowering::count` reports).
  std::optional<BlockDim> dim(std::string_view key, std::string_view word);
  /// A dim of a value, with the block's word for it where it has no label.
  BlockDim dim_of(ValueId x, int position, std::string_view word);
  /// The label that a dim of the block goes by: renamed, else the one written, else the word.
  std::string label(std::string written, std::string_view word);
  bool has(std::string_view key) const;
  double number(std::string_view key, double standard) const;
  bool flag(std::string_view key, bool standard) const;
  std::string word(std::string_view key, std::string_view standard) const;
  /// Of the arithmetic and the result.
  DType compute() const;

  /// A parameter in its own dtype, where it is used placed as the layer's `constrain` asks.
  ValueId parameter(std::string_view name, const std::vector<BlockDim>& dims, InitConfig init,
                    Shape fans = {});
  /// The kernel of a product over the first `inputs` of its dims, but for `batch` before them; in
  /// the dtype of the arithmetic.
  ValueId kernel(std::string_view name, const std::vector<BlockDim>& dims, std::size_t inputs,
                 std::size_t batch = 0);
  /// x plus a parameter over its last dims, where the layer has biases; else x.
  ValueId with_bias(ValueId x, std::string_view name, const std::vector<BlockDim>& dims,
                    bool standard);

  /// The sum over paired dims, in the dtype of the arithmetic.
  ValueId product(ValueId x, ValueId y, const Attributes& dims);

  /// A value that the file may place: gets its name, labels (an empty list: as they are) and
  /// constraint.
  ValueId value(std::string_view name, ValueId x, std::string_view help,
                std::vector<std::string> labels = {});

  /// The block's result: converted and named. Reports what the layer names and the block has not:
  /// `unknown-value`, `unknown-label`, `unknown-parameter`.
  ValueId finish(ValueId x);

  /// Reports and returns none, so that a layer can `return fail(...)`.
  ValueId fail(const char* id, const std::string& message, const std::string& hint = "");

 private:
  void record(BlockPart::Kind kind, std::string name, std::string_view help, ValueId value);
  std::optional<SpecConfig> placement_of(std::string_view parameter) const;
  ValueId leaf(std::string_view name, const std::vector<BlockDim>& dims, InitConfig init,
               Shape fans);
  /// As the layer's `constrain` says under this name.
  ValueId as_asked(std::string_view name, ValueId x);

  LayerCall& call_;
  std::vector<std::string> values_;
  std::vector<std::string> labels_;
  std::vector<std::string> parameters_;
};

/// A counterpart of `dot_attributes` that reads like an einsum: which dims are paired, which are
/// summed.
struct Pairing {
  std::vector<std::int64_t> left_batch, right_batch, left_sum, right_sum;
};
Attributes paired(Pairing pairing);

}  // namespace shard
