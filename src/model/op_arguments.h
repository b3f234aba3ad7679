#pragma once
// What layers that are an op with arguments of its own read from the file.

#include <optional>
#include <string_view>

#include "model/composer.h"
#include "model/layer_kinds.h"

namespace shard {

class OpArguments {
 public:
  OpArguments(Lowering& lowering, LayerCall& call);

  /// An input is spoiled: there is nothing to do.
  bool is_spoiled() const;
  std::size_t input_count() const { return call_.inputs.size(); }
  /// The input in the layer's own dtype, when it has one.
  ValueId input(std::size_t position = 0) const;
  /// As it comes: positions and conditions keep their dtype.
  ValueId untouched(std::size_t position) const { return call_.inputs[position]; }
  const TensorType& type(ValueId value) const { return lowering.type(value); }

  /// The position of the one dim that is written, `standard` (counted from the end where negative)
  /// when none is. Nothing after `unknown-dim`, `wrong-dim-count` or, of a scalar, `rank-mismatch`.
  std::optional<std::int64_t> dim(ValueId value, std::int64_t standard = -1) const;

  bool has_list(std::string_view key) const;
  /// A whole number, `standard` when none is written.
  std::int64_t whole(std::string_view key, std::int64_t standard) const;
  /// `length` numbers: one that is written stands for all of them. Nothing after
  /// `wrong-argument-count`.
  std::optional<std::vector<std::int64_t>> wholes(std::string_view key, std::size_t length,
                                                  std::int64_t standard) const;
  const std::vector<std::int64_t>* list(std::string_view key) const;
  bool flag(std::string_view key) const;
  double number(std::string_view key, double standard) const;
  std::string word(std::string_view key, std::string_view standard) const;
  /// Nothing when it is not written, or after what `Lowering::count` reports.
  std::optional<CountConfig> count(std::string_view key) const;

  std::vector<std::string> labels(ValueId value) const;
  void set_labels(ValueId value, std::vector<std::string> labels) const;

  /// Gives the value the layer's name.
  ValueId named(ValueId value) const;
  /// Makes a further result a value of this name.
  void bind(const std::string& name, ValueId value) const;
  /// Reports at the layer and returns none, so that a layer can `return fail(...)`.
  ValueId fail(const char* id, const std::string& message, const std::string& hint = "") const;

  Lowering& lowering;
  const LayerConfig& layer;

 private:
  LayerCall& call_;
};

}  // namespace shard
