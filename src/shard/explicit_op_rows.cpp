#include "shard/explicit_op_rows.h"

#include <algorithm>

#include "shard/explicit_dims.h"

namespace shard {
namespace {

Parameters dot_parameters(const Attributes& attributes) {
  return {
      {"dimension_numbers", Parameter::List{Parameter::List{attributes.integers("lhs_contract"),
                                                            attributes.integers("rhs_contract")},
                                            Parameter::List{attributes.integers("lhs_batch"),
                                                            attributes.integers("rhs_batch")}}}};
}

Parameters reduction_parameters(const Attributes& attributes) {
  return {{"axes", attributes.integers("dims")}};
}

Parameters transpose_parameters(const Attributes& attributes) {
  return {{"permutation", attributes.integers("order")}};
}

Parameters broadcast_parameters(const Attributes& attributes) {
  return {{"shape", attributes.integers("shape")},
          {"broadcast_dimensions", attributes.integers("dims")}};
}

Parameters shape_parameters(const Attributes& attributes) {
  return {{"shape", attributes.integers("shape")}};
}

Parameters reshape_parameters(const Attributes& attributes) {
  return {{"new_sizes", attributes.integers("shape")}};
}

Parameters slice_parameters(const Attributes& attributes) {
  return {{"start_indices", attributes.integers("start")},
          {"limit_indices", attributes.integers("limit")},
          {"strides", attributes.integers("stride")}};
}

Parameters concatenate_parameters(const Attributes& attributes) {
  return {{"dimension", attributes.integer("dim")}};
}

Parameters axis_parameters(const Attributes& attributes) {
  return {{"axis", attributes.integer("dim")}};
}

Parameters last_axis_parameters(const Attributes& attributes) {
  return {{"axis", -1}, {"k", attributes.integer("k")}};
}

Parameters dynamic_slice_parameters(const Attributes& attributes) {
  return {{"slice_sizes", attributes.integers("sizes")}};
}

Parameters fft_parameters(const Attributes& attributes) {
  const std::int64_t length = attributes.integers("lengths").back();
  return {{"last", attributes.text("kind") == "rfft" ? length / 2 + 1 : length}};
}

Parameters pad_parameters(const Attributes& attributes) {
  const auto& low = attributes.integers("low");
  const auto& high = attributes.integers("high");
  const auto& interior = attributes.integers("interior");
  Parameter::List config;
  for (std::size_t dim = 0; dim < low.size(); ++dim) {
    config.emplace_back(std::vector<std::int64_t>{low[dim], high[dim], interior[dim]});
  }
  return {{"padding_config", config}};
}

Parameters gather_parameters(const Attributes& attributes) {
  return {{"slice_sizes", attributes.integers("slice_sizes")},
          {"dimension_numbers_",
           Parameter::Map{{"offset_dims", attributes.integers("window_dims")},
                          {"collapsed_slice_dims", attributes.integers("collapsed_dims")},
                          {"start_index_map", attributes.integers("start_dims")},
                          {"operand_batching_dims", attributes.integers("batch_dims")},
                          {"start_indices_batching_dims", attributes.integers("index_batch_dims")},
                          {"index_vector_dim", attributes.integer("index_vector_dim")}}}};
}

/// The letters of the dims: batch and features, then a digit for each spatial one.
std::string layout_letters(const std::vector<std::int64_t>& dims, std::string_view first_two) {
  std::string letters(dims.size(), ' ');
  for (std::size_t role = 0; role < dims.size(); ++role) {
    letters[static_cast<std::size_t>(dims[role])] =
        role < 2 ? first_two[role] : static_cast<char>('0' + (role - 2));
  }
  return letters;
}

Parameters convolution_parameters(const Attributes& attributes) {
  const std::vector<std::int64_t>& low = attributes.integers("low");
  Parameter::List padding;
  for (std::size_t k = 0; k < low.size(); ++k) {
    padding.emplace_back(std::vector<std::int64_t>{low[k], attributes.integers("high")[k]});
  }
  return {{"window_strides", attributes.integers("strides")},
          {"padding", std::move(padding)},
          {"lhs_dilation", attributes.integers("lhs_dilation")},
          {"rhs_dilation", attributes.integers("rhs_dilation")},
          {"dimension_numbers",
           Parameter::List{layout_letters(attributes.integers("lhs_dims"), "NC"),
                           layout_letters(attributes.integers("rhs_dims"), "OI"),
                           layout_letters(attributes.integers("out_dims"), "NC")}}};
}

constexpr OpTyping op_rows[] = {
    {"dot", "lax.dot_general", dot_parameters, true},
    {"ragged_dot", "lax.ragged_dot"},
    {"ragged_outer", "lax.ragged_dot"},
    {"reduce_sum", "lax.reduce_sum", reduction_parameters, true},
    {"reduce_max", "lax.reduce_max", reduction_parameters},
    {"reduce_min", "lax.reduce_min", reduction_parameters},
    {"reduce_prod", "lax.reduce_prod", reduction_parameters},
    {"reduce_and", "lax.reduce_and", reduction_parameters},
    {"reduce_or", "lax.reduce_or", reduction_parameters},
    {"argmax", "lax.argmax", axis_parameters},
    {"argmin", "lax.argmin", axis_parameters},
    {"cumsum", "lax.cumsum", axis_parameters},
    {"cumprod", "lax.cumprod", axis_parameters},
    {"cummax", "lax.cummax", axis_parameters},
    {"cummin", "lax.cummin", axis_parameters},
    {"cumlogsumexp", "lax.cumlogsumexp", axis_parameters},
    {"sort", "lax.sort", axis_parameters},
    {"top_k", "lax.top_k", last_axis_parameters},
    {"select", "lax.select_n"},
    {"clamp", "lax.clamp"},
    {"transpose", "lax.transpose", transpose_parameters},
    {"broadcast", "lax.broadcast_in_dim", broadcast_parameters, true},
    {"constant", "lax.full", shape_parameters},
    {"iota", "lax.full", shape_parameters},
    {"reshape", "lax.reshape", reshape_parameters, true},
    {"slice", "lax.slice", slice_parameters},
    {"concatenate", "lax.concatenate", concatenate_parameters},
    {"pad", "lax.pad", pad_parameters},
    {"reverse", "lax.rev"},
    {"ppermute", "lax.ppermute"},
    {"dynamic_slice", "lax.dynamic_slice", dynamic_slice_parameters},
    {"dynamic_update_slice", "lax.dynamic_update_slice"},
    {"gather", "lax.gather", gather_parameters, true},
    {"fft", "lax.fft", fft_parameters},
    {"convolution", "lax.conv_general_dilated", convolution_parameters, true},
};

/// The entry of a factor, from every operand dim that is this factor alone.
class FactorEntries {
 public:
  FactorEntries(const Mesh& mesh, std::string_view op, const FactorRule& rule,
                const ShardedTypes& operands)
      : mesh_(mesh), op_(op), rule_(rule), operands_(operands), entries_(rule.factors.size()) {
    splits_.assign(rule.factors.size(), 0);
    for (std::size_t k = 0; k < operands.size(); ++k) see(k);
    for (std::size_t factor = 0; factor < entries_.size(); ++factor) check(factor);
  }

  TypeEntry entry(const std::vector<int>& factors) const {
    // Of a dim made of several the major one may be split.
    for (const int factor : factors) {
      const TypeEntry& found = entries_[static_cast<std::size_t>(factor)];
      if (!found.empty()) return found;
    }
    return {};
  }

 private:
  std::string inputs() const {
    std::string text;
    for (const ShardedType& operand : operands_) {
      text += (text.empty() ? "" : ", ") + short_type_text(mesh_, operand);
    }
    return text;
  }

  void see(std::size_t operand) {
    for (std::size_t dim = 0; dim < operands_[operand].rank(); ++dim) {
      const TypeEntry& entry = operands_[operand].entries[dim];
      const std::vector<int>& factors = rule_.operands[operand][dim];
      if (entry.empty() || factors.empty()) continue;
      const auto factor = static_cast<std::size_t>(factors.front());
      if (!entries_[factor].empty() && entries_[factor] != entry) {
        refuse(RefusalKind::incompatible,
               std::string(op_) + " got incompatible shardings for broadcasting: " + inputs());
      }
      entries_[factor] = entry;
      ++splits_[factor];
    }
  }

  void check(std::size_t factor) const {
    if (entries_[factor].empty()) return;
    const FactorKind kind = rule_.factors[factor].kind;
    if (kind == FactorKind::need_replication) {
      refuse(RefusalKind::split_factor,
             std::string(op_) + " needs a dim whole that is split: " + inputs());
    }
    if (kind == FactorKind::reduction && splits_[factor] > 1) {
      refuse(RefusalKind::ambiguous_contraction,
             "Contracting dimensions are sharded and it is ambiguous how the output should be "
             "sharded: " +
                 inputs());
    }
  }

  const Mesh& mesh_;
  std::string_view op_;
  const FactorRule& rule_;
  const ShardedTypes& operands_;
  TypeEntries entries_;
  std::vector<int> splits_;  ///< by factor: how many operands split it
};

}  // namespace

const OpTyping* op_typing(std::string_view op) {
  const auto found = std::find_if(std::begin(op_rows), std::end(op_rows),
                                  [&](const OpTyping& row) { return row.op == op; });
  return found == std::end(op_rows) ? nullptr : found;
}

ShardedTypes typed_by_factors(const Mesh& mesh, std::string_view op, const FactorRule& rule,
                              const ShardedTypes& operands, std::span<const TensorType> results) {
  const FactorEntries factors(mesh, op, rule, operands);
  ShardedTypes types;
  for (std::size_t k = 0; k < results.size(); ++k) {
    TypeEntries entries;
    for (std::size_t dim = 0; dim < results[k].shape.size(); ++dim) {
      entries.push_back(factors.entry(rule.results[k][dim]));
      const std::int64_t parts = ways(mesh, entries.back());
      if (results[k].shape[dim] % parts == 0) continue;
      refuse(RefusalKind::uneven_change, std::string(op) + " on sharded dims where out dim (" +
                                             std::to_string(results[k].shape[dim]) +
                                             ") is not divisible by mesh axes (" +
                                             std::to_string(parts) + ")");
    }
    types.push_back(make_type(mesh, {}, results[k].shape, std::move(entries)));
  }
  return types;
}

}  // namespace shard
