// Typing rules of products. Contracting a dim that both sides split has more than one answer (the
// sum may be left whole, split, or unreduced), so it needs an out_sharding.

#include <algorithm>

#include "shard/explicit_rules.h"

namespace shard::typing {
namespace {

/// Which dims of both sides go together.
struct DotDims {
  Dims lhs_contracting;
  Dims rhs_contracting;
  Dims lhs_batch;
  Dims rhs_batch;

  Parameters parameters() const {
    return {{"dimension_numbers", Parameter::List{Parameter::List{lhs_contracting, rhs_contracting},
                                                  Parameter::List{lhs_batch, rhs_batch}}}};
  }
};

DotDims dot_dims(const TypingCall& call) {
  const Parameter::List& numbers = find(call.parameters, "dimension_numbers")->list();
  const auto dims = [&](std::size_t group, std::size_t side) {
    return dims_at(&numbers[group].list()[side], call.operands[side].rank());
  };
  return {dims(0, 0), dims(0, 1), dims(1, 0), dims(1, 1)};
}

Dims free_dims(const ShardedType& value, const Dims& contracting, const Dims& batch) {
  Dims free;
  for (std::size_t dim = 0; dim < value.rank(); ++dim) {
    if (!holds(contracting, dim) && !holds(batch, dim)) free.push_back(dim);
  }
  return free;
}

/// Batch dims first, as `lax` does.
void check_sizes(const TypingCall& call, const DotDims& dims) {
  const Shape& lhs = call.operands[0].shape;
  const Shape& rhs = call.operands[1].shape;
  const auto check = [&](const Dims& left, const Dims& right, RefusalKind kind) {
    const Shape ours = picked(lhs, left), theirs = picked(rhs, right);
    if (ours == theirs) return;
    refuse(kind, "dot_general " + std::string(row_of(kind).phrase) + ", got " + to_string(ours) +
                     " and " + to_string(theirs));
  };
  check(dims.lhs_batch, dims.rhs_batch, RefusalKind::batch_sizes);
  check(dims.lhs_contracting, dims.rhs_contracting, RefusalKind::contracted_sizes);
}

void check_contracting(const TypingCall& call, const DotDims& dims) {
  const TypeEntries lhs = picked(call.operands[0].entries, dims.lhs_contracting);
  const TypeEntries rhs = picked(call.operands[1].entries, dims.rhs_contracting);
  const std::string got = entries_text(call.mesh, lhs) + " and " + entries_text(call.mesh, rhs);
  bool is_ambiguous = false;
  for (std::size_t k = 0; k < lhs.size(); ++k) {
    if (lhs[k].empty() || rhs[k].empty()) continue;
    is_ambiguous = true;
    if (lhs[k] == rhs[k]) continue;
    refuse(RefusalKind::contracted_differ,
           "dot_general requires contracting dimensions to have consistent sharding, got " + got);
  }
  if (!is_ambiguous) return;
  refuse(RefusalKind::ambiguous_contraction,
         "Contracting dimensions are sharded and it is ambiguous how the output should be sharded. "
         "Please specify the output sharding via the `out_sharding` parameter. Got " +
             got);
}

void check_batch(const TypingCall& call, const DotDims& dims) {
  for (std::size_t k = 0; k < dims.lhs_batch.size(); ++k) {
    const TypeEntry& lhs = call.operands[0].entries[dims.lhs_batch[k]];
    const TypeEntry& rhs = call.operands[1].entries[dims.rhs_batch[k]];
    if (lhs.empty() || rhs.empty() || lhs == rhs) continue;
    refuse(RefusalKind::batch_differ,
           "lhs batch dimensions and rhs batch dimensions must have the same sharding, got " +
               short_type_text(call.mesh, call.operands[0]) + " and " +
               short_type_text(call.mesh, call.operands[1]));
  }
}

/// An unreduced result leaves out the sum over exactly the axes that split the contracted dims.
void check_unreduced_result(const TypingCall& call, const DotDims& dims) {
  if (call.out->unreduced.empty()) return;
  const TypeEntries lhs = picked(call.operands[0].entries, dims.lhs_contracting);
  if (lhs != picked(call.operands[1].entries, dims.rhs_contracting)) {
    refuse(RefusalKind::contraction_unreduced,
           "the contracted dims should be sharded identically where the result is unreduced");
  }
  TypeEntry contracted = axes_of(lhs);
  std::sort(contracted.begin(), contracted.end());
  if (contracted != axis_positions(call.mesh, call.out->unreduced)) {
    refuse(RefusalKind::unreduced_contraction_axes,
           "out_sharding's unreduced axes should be equal to the contracting specs " +
               entries_text(call.mesh, lhs));
  }
}

}  // namespace

ShardedTypes dot_general(const TypingCall& call) {
  const ShardedType& lhs = call.operands[0];
  const ShardedType& rhs = call.operands[1];
  const DotDims dims = dot_dims(call);
  const Dims lhs_free = free_dims(lhs, dims.lhs_contracting, dims.lhs_batch);
  const Dims rhs_free = free_dims(rhs, dims.rhs_contracting, dims.rhs_batch);
  const auto joined = [&](const auto& left, const auto& right) {
    auto all = picked(left, dims.lhs_batch);
    for (const auto& one : picked(left, lhs_free)) all.push_back(one);
    for (const auto& one : picked(right, rhs_free)) all.push_back(one);
    return all;
  };
  check_sizes(call, dims);
  if (call.out != nullptr) written_entries(call.mesh, call.op, *call.out);
  if (!lhs.unreduced.empty() || !rhs.unreduced.empty()) {
    refuse(RefusalKind::unreduced_product, "operands of dot_general cannot be unreduced");
  }
  if (call.out != nullptr) {
    check_unreduced_result(call, dims);
    ShardedType type = given_or(call, joined(lhs.shape, rhs.shape), {});
    type.reduced.clear();
    return {std::move(type)};
  }
  check_batch(call, dims);
  check_contracting(call, dims);
  return {typed(call, joined(lhs.shape, rhs.shape), joined(lhs.entries, rhs.entries))};
}

namespace {

ShardedTypes contracted(const TypingCall& call, const ShardedType& lhs, const ShardedType& rhs,
                        const DotDims& dims) {
  Parameters parameters = dims.parameters();
  if (const Parameter* element = find(call.parameters, "preferred_element_type")) {
    parameters.emplace("preferred_element_type", *element);
  }
  return type_op({call.mesh, "lax.dot_general", {lhs, rhs}, parameters, call.out});
}

}  // namespace

ShardedTypes dot(const TypingCall& call) {
  const ShardedType& lhs = call.operands[0];
  const ShardedType& rhs = call.operands[1];
  if (lhs.rank() == 0 || rhs.rank() == 0) {
    return type_op({call.mesh, "jnp.multiply", call.operands, {}});
  }
  return contracted(call, lhs, rhs,
                    {{lhs.rank() - 1}, {rhs.rank() < 2 ? 0 : rhs.rank() - 2}, {}, {}});
}

namespace {

/// The batch dims of both sides of a matmul, aligned at the right: of one side, of the other, or
/// of both.
class MatmulBatch {
 public:
  MatmulBatch(const TypingCall& call)
      : call_(call), lhs_(call.operands[0]), rhs_(call.operands[1]) {
    const std::size_t lhs_count = lhs_.rank() < 2 ? 0 : lhs_.rank() - 2;
    const std::size_t rhs_count = rhs_.rank() < 2 ? 0 : rhs_.rank() - 2;
    const std::size_t count = std::max(lhs_count, rhs_count);
    for (std::size_t k = 0; k < count; ++k) {
      place(k + lhs_count >= count ? std::optional(k + lhs_count - count) : std::nullopt,
            k + rhs_count >= count ? std::optional(k + rhs_count - count) : std::nullopt);
    }
  }

  ShardedTypes product() {
    squeeze(lhs_, lhs_ones_, dims_.lhs_batch, lhs_free_);
    squeeze(rhs_, rhs_ones_, dims_.rhs_batch, rhs_free_);
    dims_.lhs_contracting = {lhs_.rank() - 1};
    dims_.rhs_contracting = {rhs_.rank() < 2 ? 0 : rhs_.rank() - 2};
    const Dims order = result_order();
    if (call_.out == nullptr || order == first_dims(order.size())) {
      const ShardedTypes made = contracted(call_, lhs_, rhs_, dims_);
      return type_op({call_.mesh, "lax.transpose", made, {{"permutation", order}}});
    }
    PartitionSpec out = *call_.out;
    out.entries.assign(order.size(), {});
    for (std::size_t k = 0; k < call_.out->entries.size() && k < order.size(); ++k) {
      out.entries[order[k]] = call_.out->entries[k];
    }
    const ShardedTypes made =
        contracted({call_.mesh, call_.op, {}, call_.parameters, &out}, lhs_, rhs_, dims_);
    return type_op({call_.mesh, "lax.transpose", made, {{"permutation", order}}});
  }

 private:
  enum class Side { lhs, rhs, both };

  void place(std::optional<std::size_t> left, std::optional<std::size_t> right) {
    if (left && right) {
      check(*left, *right);
      const bool left_is_one = lhs_.shape[*left] == 1 && rhs_.shape[*right] != 1;
      const bool right_is_one = rhs_.shape[*right] == 1 && lhs_.shape[*left] != 1;
      if (left_is_one) lhs_ones_.push_back(*left);
      if (right_is_one) rhs_ones_.push_back(*right);
      if (!left_is_one && !right_is_one) {
        dims_.lhs_batch.push_back(*left);
        dims_.rhs_batch.push_back(*right);
        sides_.push_back(Side::both);
        return;
      }
      sides_.push_back(left_is_one ? Side::rhs : Side::lhs);
    } else {
      sides_.push_back(left ? Side::lhs : Side::rhs);
    }
    if (sides_.back() == Side::lhs) lhs_free_.push_back(*left);
    if (sides_.back() == Side::rhs) rhs_free_.push_back(*right);
  }

  void check(std::size_t left, std::size_t right) const {
    const bool are_equal =
        lhs_.shape[left] == rhs_.shape[right] && lhs_.entries[left] == rhs_.entries[right];
    const auto is_whole_one = [](const ShardedType& value, std::size_t dim) {
      return value.shape[dim] == 1 && value.entries[dim].empty();
    };
    if (are_equal || is_whole_one(lhs_, left) || is_whole_one(rhs_, right)) return;
    refuse(RefusalKind::matmul_batch,
           "Incompatible types for matmul arguments: " + short_type_text(call_.mesh, lhs_) +
               " and " + short_type_text(call_.mesh, rhs_));
  }

  /// Drops the dims of size 1 that stand for the other side's, and renumbers the rest.
  static void squeeze(ShardedType& value, const Dims& ones, Dims& batch, Dims& free) {
    value.shape = without(value.shape, ones);
    value.entries = without(value.entries, ones);
    for (Dims* dims : {&batch, &free}) {
      for (std::size_t& dim : *dims) {
        dim -= static_cast<std::size_t>(
            std::count_if(ones.begin(), ones.end(), [&](std::size_t one) { return one < dim; }));
      }
    }
  }

  /// Where the product has each dim of the result: batch dims as aligned, then rows, then columns.
  Dims result_order() const {
    const std::size_t both = dims_.lhs_batch.size();
    const std::size_t rows = lhs_.rank() < 2 ? 0 : 1;
    std::size_t next_both = 0;
    std::size_t next_lhs = both;
    std::size_t next_rhs = both + lhs_free_.size() + rows;
    Dims order;
    for (const Side side : sides_) {
      order.push_back(side == Side::both  ? next_both++
                      : side == Side::lhs ? next_lhs++
                                          : next_rhs++);
    }
    if (rows == 1) order.push_back(next_lhs);
    if (rhs_.rank() >= 2) order.push_back(next_rhs);
    return order;
  }

  const TypingCall& call_;
  ShardedType lhs_;
  ShardedType rhs_;
  DotDims dims_;
  std::vector<Side> sides_;  ///< who has each batch dim of the result
  Dims lhs_ones_, rhs_ones_;
  Dims lhs_free_, rhs_free_;  ///< batch dims of one side only
};

}  // namespace

ShardedTypes matmul(const TypingCall& call) {
  if (call.operands[0].rank() < 3 && call.operands[1].rank() < 3) return dot(call);
  return MatmulBatch(call).product();
}

ShardedTypes batch_matmul(const TypingCall& call) {
  const std::size_t rank = call.operands[0].rank();
  const Dims batch = first_dims(rank - 2);
  return contracted(call, call.operands[0], call.operands[1],
                    {{rank - 1}, {rank - 2}, batch, batch});
}

ShardedTypes outer(const TypingCall& call) {
  ShardedType rows = type_one(call.mesh, "jnp.ravel", {call.operands[0]});
  ShardedType columns = type_one(call.mesh, "jnp.ravel", {call.operands[1]});
  rows = type_one(call.mesh, "lax.expand_dims", {rows}, {{"dimensions", 1}});
  columns = type_one(call.mesh, "lax.expand_dims", {columns}, {{"dimensions", 0}});
  return type_op({call.mesh, "jnp.multiply", {rows, columns}, {}});
}

ShardedTypes tensordot(const TypingCall& call) {
  const ShardedType& lhs = call.operands[0];
  const auto count = static_cast<std::size_t>(integer_or(call.parameters, "axes", 2));
  Dims left;
  for (std::size_t k = 0; k < count; ++k) left.push_back(lhs.rank() - count + k);
  return contracted(call, lhs, call.operands[1], {left, first_dims(count), {}, {}});
}

ShardedTypes inner(const TypingCall& call) {
  const ShardedType& lhs = call.operands[0];
  const ShardedType& rhs = call.operands[1];
  if (lhs.rank() == 0 || rhs.rank() == 0) return dot(call);
  return contracted(call, lhs, rhs, {{lhs.rank() - 1}, {rhs.rank() - 1}, {}, {}});
}

ShardedTypes flat_dot(const TypingCall& call) {
  return contracted(call, type_one(call.mesh, "jnp.ravel", {call.operands[0]}),
                    type_one(call.mesh, "jnp.ravel", {call.operands[1]}), {{0}, {0}, {}, {}});
}

ShardedTypes ragged_dot(const TypingCall& call) {
  if (call.out == nullptr) {
    refuse(RefusalKind::ragged_dot,
           "Explicit sharding inference for ragged_dot_general is not implemented: give it an "
           "out_sharding");
  }
  return {given_or(call, {call.operands[0].shape[0], call.operands[1].shape[2]}, {})};
}

ShardedTypes attention(const TypingCall& call) {
  const ShardedType& query = call.operands[0];
  const ShardedType& key = call.operands[1];
  const Shape grouped = {query.shape[0], query.shape[1], key.shape[2],
                         query.shape[2] / key.shape[2], query.shape[3]};
  const ShardedType groups = type_one(call.mesh, "jnp.reshape", {query}, {{"shape", grouped}});
  // The heads that share a key are mapped over.
  const ShardedType one =
      make_type(call.mesh, query.element, without(groups.shape, {3}), without(groups.entries, {3}));
  const ShardedType scores =
      type_one(call.mesh, "jnp.einsum", {one, key}, {{"subscripts", "BTNH,BSNH->BNTS"}});
  const ShardedType encoded = type_one(call.mesh, "jnp.einsum", {scores, call.operands[2]},
                                       {{"subscripts", "BNTS,BSNH->BTNH"}});
  const ShardedType all =
      make_type(call.mesh, query.element, inserted(encoded.shape, 3, groups.shape[3]),
                inserted(encoded.entries, 3, groups.entries[3]));
  return type_op({call.mesh, "jnp.reshape", {all}, {{"shape", query.shape}}});
}

}  // namespace shard::typing
