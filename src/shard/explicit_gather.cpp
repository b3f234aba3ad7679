// Typing rules of gathers and scatters: what is looked up by number has to be whole, and so do the
// numbers.

#include <algorithm>

#include "shard/explicit_rules.h"

namespace shard::typing {
namespace {

void check_taken(const TypingCall& call, const ShardedType& value, std::size_t dim,
                 const ShardedType& indices) {
  const bool is_looked_up_split = !value.entries[dim].empty() && value.shape[dim] != 1;
  const bool is_split_by_map = indices.is_mapped && !value.is_mapped;
  if (!is_looked_up_split && !indices.is_split() && !is_split_by_map) return;
  refuse(RefusalKind::gather,
         "Use `.at[...].get(out_sharding=)` to say how the result of the gather is split. Got "
         "operand=" +
             short_type_text(call.mesh, value) +
             ", indices=" + short_type_text(call.mesh, indices));
}

/// Equal entries, or one of them None.
TypeEntry resolved_pair(const TypeEntry& left, const TypeEntry& right, RefusalKind kind) {
  if (!left.empty() && !right.empty() && left != right) refuse(kind);
  return left.empty() ? right : left;
}

Dims dims_of(const Parameter& numbers, std::string_view key) {
  Dims dims;
  const Parameter* written = numbers.find(key);
  if (written == nullptr) return dims;
  for (const std::int64_t number : written->integers()) {
    dims.push_back(static_cast<std::size_t>(number));
  }
  return dims;
}

}  // namespace

ShardedTypes take(const TypingCall& call) {
  const ShardedType& indices = call.operands[1];
  const Parameter* axis = find(call.parameters, "axis");
  if (axis == nullptr) {
    const ShardedType flat = type_one(call.mesh, "jnp.ravel", {call.operands[0]});
    return type_op({call.mesh, call.op, {flat, indices}, {{"axis", 0}}});
  }
  const ShardedType& value = call.operands[0];
  const std::size_t dim = dim_at(axis->integer(), value.rank());
  check_taken(call, value, dim, indices);
  Shape shape = without(value.shape, {dim});
  TypeEntries entries = without(value.entries, {dim});
  const auto place = static_cast<std::ptrdiff_t>(dim);
  shape.insert(shape.begin() + place, indices.shape.begin(), indices.shape.end());
  entries.insert(entries.begin() + place, indices.rank(), TypeEntry{});
  return {typed(call, std::move(shape), std::move(entries))};
}

ShardedTypes take_along_axis(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const ShardedType& indices = call.operands[1];
  const std::size_t axis = dim_at(find(call.parameters, "axis")->integer(), value.rank());
  if (!value.entries[axis].empty() || !indices.entries[axis].empty()) {
    refuse(RefusalKind::gather);
  }
  Shape shape;
  TypeEntries entries;
  for (std::size_t dim = 0; dim < value.rank(); ++dim) {
    shape.push_back(dim == axis ? indices.shape[dim]
                                : std::max(value.shape[dim], indices.shape[dim]));
    entries.push_back(resolved_pair(value.entries[dim], indices.entries[dim], RefusalKind::gather));
  }
  return {typed(call, std::move(shape), std::move(entries))};
}

namespace {

/// A gather as `lax` spells it.
class Gather {
 public:
  explicit Gather(const TypingCall& call)
      : call_(call),
        value_(call.operands[0]),
        indices_(call.operands[1]),
        sizes_(find(call.parameters, "slice_sizes")->integers()) {
    const Parameter& numbers = *find(call.parameters, "dimension_numbers_");
    offset_ = dims_of(numbers, "offset_dims");
    collapsed_ = dims_of(numbers, "collapsed_slice_dims");
    looked_up_ = dims_of(numbers, "start_index_map");
    batching_ = dims_of(numbers, "operand_batching_dims");
    index_batching_ = dims_of(numbers, "start_indices_batching_dims");
  }

  ShardedTypes type() const {
    TypeEntries batch(indices_.entries.begin(), indices_.entries.end() - 1);
    if (call_.out == nullptr) {
      check_window();
      resolve_batch(batch);
    }
    Shape shape;
    TypeEntries entries;
    std::size_t next_batch = 0;
    std::size_t next_window = 0;
    const Dims window = window_dims();
    for (std::size_t dim = 0; dim < window.size() + batch.size(); ++dim) {
      if (holds(offset_, dim)) {
        shape.push_back(sizes_[window[next_window]]);
        entries.push_back(value_.entries[window[next_window++]]);
      } else {
        shape.push_back(indices_.shape[next_batch]);
        entries.push_back(batch[next_batch++]);
      }
    }
    return {given_or(call_, std::move(shape), std::move(entries))};
  }

 private:
  Dims window_dims() const {
    Dims dims;
    for (std::size_t dim = 0; dim < value_.rank(); ++dim) {
      if (!holds(collapsed_, dim) && !holds(batching_, dim)) dims.push_back(dim);
    }
    return dims;
  }

  void check_window() const {
    bool is_cut = false;
    for (std::size_t dim = 0; dim < value_.rank(); ++dim) {
      if (sizes_[dim] == value_.shape[dim] || value_.entries[dim].empty() ||
          holds(batching_, dim)) {
        continue;
      }
      if (holds(looked_up_, dim)) refuse(RefusalKind::gather);
      is_cut = true;
    }
    if (!indices_.entries.back().empty()) refuse(RefusalKind::gather);
    if (is_cut) {
      refuse(RefusalKind::gather_partly, "a split dim of " + short_type_text(call_.mesh, value_) +
                                             " is taken in part without being looked up");
    }
  }

  void resolve_batch(TypeEntries& batch) const {
    for (std::size_t dim = 0; dim < batch.size(); ++dim) {
      const auto found = std::find(index_batching_.begin(), index_batching_.end(), dim);
      if (found == index_batching_.end()) {
        if (!batch[dim].empty()) refuse(RefusalKind::gather);
        continue;
      }
      const auto k = static_cast<std::size_t>(found - index_batching_.begin());
      batch[dim] = resolved_pair(value_.entries[batching_[k]], batch[dim], RefusalKind::gather);
    }
  }

  const TypingCall& call_;
  const ShardedType& value_;
  const ShardedType& indices_;
  Shape sizes_;
  Dims offset_, collapsed_, looked_up_, batching_, index_batching_;
};

/// A scatter as `lax` spells it.
class Scatter {
 public:
  explicit Scatter(const TypingCall& call)
      : call_(call),
        value_(call.operands[0]),
        indices_(call.operands[1]),
        update_(call.operands[2]) {
    const Parameter& numbers = *find(call.parameters, "dimension_numbers_");
    window_ = dims_of(numbers, "update_window_dims");
    inserted_ = dims_of(numbers, "inserted_window_dims");
    batching_ = dims_of(numbers, "operand_batching_dims");
    index_batching_ = dims_of(numbers, "scatter_indices_batching_dims");
  }

  ShardedTypes type() const {
    if (call_.out != nullptr) return {given_or(call_, value_.shape, {})};
    check_window();
    ShardedType result = value_;
    check_batch(result);
    return {typed_like(call_, value_, result.shape, result.entries)};
  }

 private:
  [[noreturn]] void refuse_it() const {
    refuse(RefusalKind::scatter,
           "Use `.at[...].set/add/mul/...(out_sharding=)` to say how the result of the scatter is "
           "split. Got operand=" +
               short_type_text(call_.mesh, value_) +
               ", indices=" + short_type_text(call_.mesh, indices_) +
               ", updates=" + short_type_text(call_.mesh, update_));
  }

  void check_window() const {
    std::size_t next = 0;
    for (std::size_t dim = 0; dim < value_.rank(); ++dim) {
      if (holds(batching_, dim)) continue;
      if (holds(inserted_, dim)) {
        if (!value_.entries[dim].empty()) refuse_it();
        continue;
      }
      const std::size_t theirs = window_[next++];
      const bool is_whole = value_.shape[dim] == update_.shape[theirs] &&
                            value_.entries[dim] == update_.entries[theirs];
      const bool is_split = !value_.entries[dim].empty() || !update_.entries[theirs].empty();
      if (!is_whole && is_split) refuse_it();
    }
    if (!indices_.entries.back().empty()) refuse_it();
  }

  /// Dims of the indices that are no index, with the dims of the update that belong to them.
  void check_batch(ShardedType& result) const {
    std::size_t next = 0;
    for (std::size_t dim = 0; dim < update_.rank(); ++dim) {
      if (holds(window_, dim)) continue;
      const std::size_t place = next++;
      const TypeEntry& index = indices_.entries[place];
      const auto found = std::find(index_batching_.begin(), index_batching_.end(), place);
      if (found == index_batching_.end()) {
        if (!index.empty() || !update_.entries[dim].empty()) refuse_it();
        continue;
      }
      TypeEntry& mine =
          result.entries[batching_[static_cast<std::size_t>(found - index_batching_.begin())]];
      const TypeEntry other = resolved_pair(index, update_.entries[dim], RefusalKind::scatter);
      mine = resolved_pair(mine, other, RefusalKind::scatter);
    }
  }

  const TypingCall& call_;
  const ShardedType& value_;
  const ShardedType& indices_;
  const ShardedType& update_;
  Dims window_, inserted_, batching_, index_batching_;
};

}  // namespace

ShardedTypes gather(const TypingCall& call) { return Gather(call).type(); }
ShardedTypes scatter(const TypingCall& call) { return Scatter(call).type(); }

}  // namespace shard::typing
