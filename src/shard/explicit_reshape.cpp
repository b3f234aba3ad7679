// Typing rules of reshape: dims of size 1 may come and go, one dim may be split into a run of dims,
// and one run of dims may be merged.

#include <algorithm>

#include "shard/explicit_rules.h"

namespace shard::typing {
namespace {

/// What a reshape is about.
struct Reshape {
  const TypingCall& call;
  const ShardedType& value;
  const Shape& shape;
  bool is_permuted = false;  ///< the dims are read in another order
};

[[noreturn]] void refuse_reshape(const Reshape& reshape) {
  refuse(RefusalKind::reshape, "This reshape is not supported: from " +
                                   short_type_text(reshape.call.mesh, reshape.value) +
                                   " to the shape (" + to_string(reshape.shape) + ")");
}

/// The next dim of `longer` is a 1 that belongs to the run, not to the next dim of `shorter`.
bool one_joins_run(const Shape& shorter, std::size_t index, const Shape& longer, std::size_t end) {
  const bool is_one = end < longer.size() && longer[end] == 1;
  return is_one && !(index + 1 < shorter.size() && shorter[index + 1] == 1);
}

/// Where the run ends that starts at `position` and makes up one dim; nothing when none does.
std::optional<std::size_t> run_end(const Shape& shorter, std::size_t index, const Shape& longer,
                                   std::size_t position) {
  std::int64_t made = longer[position];
  std::size_t end = position + 1;
  while (made <= shorter[index]) {
    if (made == shorter[index] && !one_joins_run(shorter, index, longer, end)) return end;
    if (end >= longer.size()) return std::nullopt;
    made *= longer[end];
    ++end;
  }
  return std::nullopt;
}

/// How many dims of `longer` make up each dim of `shorter`: at most one of them a run. Nothing when
/// it cannot be done so.
std::optional<std::vector<std::size_t>> runs_of(const Reshape& reshape, Shape shorter,
                                                Shape longer) {
  std::size_t ones = 0;
  while (!shorter.empty() && !longer.empty() && shorter.back() == 1 && longer.back() == 1) {
    shorter.pop_back();
    longer.pop_back();
    ++ones;
  }
  std::vector<std::size_t> runs;
  std::size_t position = 0;
  bool has_run = false;
  for (std::size_t index = 0; index < shorter.size(); ++index) {
    if (position >= longer.size())
      refuse(RefusalKind::reshape_walk_short, "This reshape is not supported: dims are left over");
    std::size_t end = position + 1;
    if (shorter[index] != longer[position]) {
      if (has_run) refuse_reshape(reshape);
      has_run = true;
      const std::optional<std::size_t> found = run_end(shorter, index, longer, position);
      if (!found) return std::nullopt;
      end = *found;
    }
    runs.push_back(end - position);
    position = end;
  }
  if (position < longer.size())
    refuse(RefusalKind::reshape_walk_long,
           "This reshape is not supported: dims are left over, tuple index out of range");
  runs.insert(runs.end(), ones, 1);
  return runs;
}

/// The axes fill the sizes from the left.
TypeEntries filled(const Reshape& reshape, const TypeEntry& axes, const Shape& sizes) {
  TypeEntries entries;
  auto next = axes.begin();
  for (std::int64_t size : sizes) {
    TypeEntry& taken = entries.emplace_back();
    while (size > 1 && next != axes.end()) {
      const std::int64_t parts = reshape.call.mesh.size(*next);
      if (size % parts != 0) refuse_reshape(reshape);
      size /= parts;
      taken.push_back(*next);
      ++next;
    }
  }
  return entries;
}

/// The axes of dims that become one: none may be whole in front of one that is split.
TypeEntry merged_axes(const Reshape& reshape, TypeEntries entries) {
  while (!entries.empty() && entries.back().empty()) entries.pop_back();
  const auto is_whole = [](const TypeEntry& entry) { return entry.empty(); };
  if (std::any_of(entries.begin(), entries.end(), is_whole)) refuse_reshape(reshape);
  return axes_of(entries);
}

TypeEntries split_entries(const Reshape& reshape, const std::vector<std::size_t>& runs) {
  TypeEntries entries;
  std::size_t position = 0;
  for (std::size_t dim = 0; dim < runs.size(); ++dim) {
    const TypeEntry& entry = reshape.value.entries[dim];
    const auto first = reshape.shape.begin() + static_cast<std::ptrdiff_t>(position);
    const Shape sizes(first, first + static_cast<std::ptrdiff_t>(runs[dim]));
    if (runs[dim] > 1 && !entry.empty() && reshape.is_permuted) refuse_reshape(reshape);
    const TypeEntries found = runs[dim] == 1 ? TypeEntries{entry} : filled(reshape, entry, sizes);
    entries.insert(entries.end(), found.begin(), found.end());
    position += runs[dim];
  }
  return entries;
}

TypeEntries merge_entries(const Reshape& reshape, const std::vector<std::size_t>& runs) {
  TypeEntries entries;
  std::size_t position = 0;
  for (std::size_t dim = 0; dim < runs.size(); ++dim) {
    const auto first = reshape.value.entries.begin() + static_cast<std::ptrdiff_t>(position);
    const TypeEntries run(first, first + static_cast<std::ptrdiff_t>(runs[dim]));
    const bool is_split = !axes_of(run).empty();
    if (runs[dim] > 1 && is_split && reshape.is_permuted) refuse_reshape(reshape);
    entries.push_back(
        runs[dim] == 1 ? run.front()
                       : filled(reshape, merged_axes(reshape, run), {reshape.shape[dim]}).front());
    position += runs[dim];
  }
  return entries;
}

Shape without_ones(const Shape& shape) {
  Shape kept;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(kept),
               [](std::int64_t size) { return size != 1; });
  return kept;
}

/// Only dims of size 1 come or go: the others keep their entries.
TypeEntries with_other_ones(const Reshape& reshape) {
  TypeEntries named;
  for (std::size_t dim = 0; dim < reshape.value.rank(); ++dim) {
    if (reshape.value.shape[dim] != 1) named.push_back(reshape.value.entries[dim]);
  }
  TypeEntries entries;
  auto next = named.begin();
  for (const std::int64_t size : reshape.shape) {
    entries.push_back(size == 1 ? TypeEntry{} : *next++);
  }
  return entries;
}

TypeEntries reshaped_entries(const Reshape& reshape) {
  const ShardedType& value = reshape.value;
  if (!value.is_split()) return TypeEntries(reshape.shape.size());
  if (without_ones(value.shape) == without_ones(reshape.shape)) return with_other_ones(reshape);
  if (reshape.shape.size() > value.rank()) {
    if (const auto runs = runs_of(reshape, value.shape, reshape.shape)) {
      return split_entries(reshape, *runs);
    }
  } else if (reshape.shape.size() < value.rank()) {
    if (const auto runs = runs_of(reshape, reshape.shape, value.shape)) {
      return merge_entries(reshape, *runs);
    }
  }
  refuse_reshape(reshape);
}

/// The new shape, with numpy's -1 worked out.
Shape wanted_shape(const TypingCall& call) {
  const Parameter* written = find(call.parameters, "new_sizes");
  if (written == nullptr) written = find(call.parameters, "shape");
  const std::int64_t total = element_count(call.operands[0].shape);
  if (written == nullptr) return {total};
  Shape shape = written->integers();
  std::int64_t known = 1;
  for (const std::int64_t size : shape) known *= size == -1 ? 1 : size;
  for (std::int64_t& size : shape) {
    if (size == -1) size = total / known;
  }
  return shape;
}

/// An out_sharding has to carry the operand's sets.
void check_sets(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const TypeEntry unreduced = axis_positions(call.mesh, call.out->unreduced);
  if (!unreduced.empty() && value.unreduced.empty()) {
    refuse(RefusalKind::new_unreduced,
           "out_sharding cannot contain unreduced axes that the operand does not have");
  }
  if (unreduced != value.unreduced) {
    refuse(RefusalKind::reshape_sets, "must be unreduced over the same mesh axes");
  }
  const TypeEntry reduced = axis_positions(call.mesh, call.out->reduced);
  if (!reduced.empty() && value.reduced.empty()) {
    refuse(RefusalKind::new_reduced,
           "out_sharding cannot contain reduced axes that the operand does not have");
  }
  if (reduced != value.reduced) {
    refuse(RefusalKind::reshape_sets, "must be reduced over the same mesh axes");
  }
}

}  // namespace

ShardedTypes reshaped(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  Shape shape = wanted_shape(call);
  if (call.out != nullptr) {
    check_axes(call.mesh, *call.out);
    check_sets(call);
    return {given_or(call, std::move(shape), {})};
  }
  const Parameter* order = find(call.parameters, "dimensions");
  const bool is_permuted =
      order != nullptr && dims_at(order, value.rank()) != first_dims(value.rank());
  TypeEntries entries = reshaped_entries({call, value, shape, is_permuted});
  return {typed_like(call, value, std::move(shape), std::move(entries))};
}

ShardedTypes collapsed(const TypingCall& call) {
  const Shape& old = call.operands[0].shape;
  const std::size_t first = dim_at(find(call.parameters, "start_dimension")->integer(), old.size());
  const Parameter* last = find(call.parameters, "stop_dimension");
  const std::size_t end = last == nullptr ? old.size() : static_cast<std::size_t>(last->integer());
  Shape shape(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(first));
  std::int64_t made = 1;
  for (std::size_t dim = first; dim < end; ++dim) made *= old[dim];
  shape.push_back(made);
  shape.insert(shape.end(), old.begin() + static_cast<std::ptrdiff_t>(end), old.end());
  return type_op({call.mesh, "lax.reshape", call.operands, {{"new_sizes", shape}}});
}

ShardedTypes flattened(const TypingCall& call) {
  const Shape shape = {element_count(call.operands[0].shape)};
  return type_op({call.mesh, "lax.reshape", call.operands, {{"new_sizes", shape}}, call.out});
}

ShardedTypes fortran_reshaped(const TypingCall& call) {
  const Parameter* order = find(call.parameters, "order");
  if (order == nullptr || order->text() != "F") return reshaped(call);
  // Column by column: the dims are read in reverse order, and so are those of the result.
  Shape shape = wanted_shape(call);
  std::reverse(shape.begin(), shape.end());
  Dims order_read = first_dims(call.operands[0].rank());
  std::reverse(order_read.begin(), order_read.end());
  const ShardedType made = type_one(call.mesh, "lax.reshape", call.operands,
                                    {{"new_sizes", shape}, {"dimensions", order_read}}, call.out);
  return type_op({call.mesh, "jnp.transpose", {made}, {}});
}

}  // namespace shard::typing
