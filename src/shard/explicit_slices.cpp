// Typing rules of ops that take parts of arrays: a split dim may change to a size that its axes
// divide.

#include <algorithm>

#include "shard/explicit_rules.h"

namespace shard::typing {
namespace {

std::size_t axis_of(const TypingCall& call, std::int64_t fallback) {
  return dim_at(integer_or(call.parameters, "axis", fallback), call.operands[0].rank());
}

ShardedTypes parts_of(const TypingCall& call, const std::vector<std::int64_t>& sizes) {
  const ShardedType& value = call.operands[0];
  const std::size_t dim = axis_of(call, 0);
  ShardedTypes parts;
  for (const std::int64_t size : sizes) {
    parts.push_back(resized(call.mesh, value, with_size(value.shape, dim, size), "split"));
  }
  return parts;
}

/// A part of `size` along one dim that is cut out at a place known only at run time.
ShardedType cut_dynamically(const TypingCall& call, std::size_t dim, std::int64_t size) {
  const ShardedType& value = call.operands[0];
  return resized(call.mesh, value, with_size(value.shape, dim, size), "dynamic_slice");
}

}  // namespace

ShardedTypes split_in_parts(const TypingCall& call) {
  return parts_of(call, find(call.parameters, "sizes")->integers());
}

ShardedTypes split_in_sections(const TypingCall& call) {
  const Parameter& sections = *find(call.parameters, "indices_or_sections");
  const std::int64_t size = call.operands[0].shape[axis_of(call, 0)];
  std::vector<std::int64_t> sizes;
  if (sections.is_integer()) {
    sizes.assign(static_cast<std::size_t>(sections.integer()), size / sections.integer());
    return parts_of(call, sizes);
  }
  std::int64_t start = 0;
  for (const std::int64_t end : sections.integers()) {
    sizes.push_back(end - start);
    start = end;
  }
  sizes.push_back(size - start);
  return parts_of(call, sizes);
}

ShardedTypes split_unevenly(const TypingCall& call) {
  const std::int64_t count = find(call.parameters, "indices_or_sections")->integer();
  const std::int64_t size = call.operands[0].shape[axis_of(call, 0)];
  std::vector<std::int64_t> sizes;
  for (std::int64_t k = 0; k < count; ++k) sizes.push_back(size / count + (k < size % count));
  return parts_of(call, sizes);
}

ShardedTypes padded(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const Parameter::List& config = find(call.parameters, "padding_config")->list();
  Shape shape;
  for (std::size_t dim = 0; dim < value.rank(); ++dim) {
    const std::vector<std::int64_t> edges = config[dim].integers();
    const std::int64_t gaps = std::max<std::int64_t>(value.shape[dim] - 1, 0);
    shape.push_back(edges[0] + edges[1] + value.shape[dim] + gaps * edges[2]);
  }
  return {resized(call.mesh, value, shape, "padding")};
}

ShardedTypes numpy_padded(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const Parameter::List& widths = find(call.parameters, "pad_width")->list();
  const Parameter* mode = find(call.parameters, "mode");
  const std::string how = mode == nullptr ? "constant" : mode->text();
  const bool mirrors = how == "reflect" || how == "symmetric";
  Shape shape = value.shape;
  for (std::size_t dim = 0; dim < value.rank(); ++dim) {
    const std::vector<std::int64_t> edges = widths[dim].integers();
    const std::int64_t added = edges[0] + edges[1];
    // What is copied to the edges is sliced off first: a row of every dim, unless it is mirrored
    // also of dims that are not padded.
    if (how != "constant" && !(mirrors && added == 0)) {
      const ShardedType row = resized(call.mesh, value, with_size(value.shape, dim, 1), "slicing");
      if (how == "edge") {
        type_one(call.mesh, "jnp.repeat", {row},
                 {{"repeats", edges[0]}, {"axis", static_cast<std::int64_t>(dim)}});
      }
    }
    shape[dim] += added;
  }
  return {resized(call.mesh, value, shape, "padding")};
}

ShardedTypes sliced(const TypingCall& call) {
  const std::vector<std::int64_t> starts = find(call.parameters, "start_indices")->integers();
  const std::vector<std::int64_t> limits = find(call.parameters, "limit_indices")->integers();
  const Parameter* written = find(call.parameters, "strides");
  const std::vector<std::int64_t> strides =
      written == nullptr ? std::vector<std::int64_t>(starts.size(), 1) : written->integers();
  Shape shape;
  for (std::size_t dim = 0; dim < starts.size(); ++dim) {
    const std::int64_t length = std::max<std::int64_t>(limits[dim] - starts[dim], 0);
    shape.push_back((length + strides[dim] - 1) / strides[dim]);
  }
  return {resized(call.mesh, call.operands[0], shape, "slicing")};
}

ShardedTypes sliced_in_dim(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const std::size_t dim = axis_of(call, 0);
  const std::int64_t start = integer_or(call.parameters, "start_index", 0);
  const std::int64_t limit = integer_or(call.parameters, "limit_index", value.shape[dim]);
  const std::int64_t stride = integer_or(call.parameters, "stride", 1);
  const std::int64_t length = std::max<std::int64_t>(limit - start, 0);
  return {resized(call.mesh, value, with_size(value.shape, dim, (length + stride - 1) / stride),
                  "slicing")};
}

ShardedTypes transformed(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  if (!value.unreduced.empty()) {
    refuse(RefusalKind::no_unreduced_rule, "unreduced rule for fft is not implemented");
  }
  const std::int64_t last = find(call.parameters, "last")->integer();
  return {resized(call.mesh, value, with_size(value.shape, value.rank() - 1, last), "fft")};
}

ShardedTypes dynamic_slice(const TypingCall& call) {
  if (!call.operands[0].unreduced.empty()) {
    refuse(RefusalKind::no_unreduced_rule, "unreduced rule for dynamic_slice is not implemented");
  }
  return {resized(call.mesh, call.operands[0], find(call.parameters, "slice_sizes")->integers(),
                  "dynamic_slice")};
}

ShardedTypes dynamic_slice_in_dim(const TypingCall& call) {
  return {cut_dynamically(call, axis_of(call, 0), find(call.parameters, "slice_size")->integer())};
}

ShardedTypes dynamic_index_in_dim(const TypingCall& call) {
  const std::size_t dim = axis_of(call, 0);
  ShardedType cut = cut_dynamically(call, dim, 1);
  const Parameter* keeps = find(call.parameters, "keepdims");
  if (keeps == nullptr || keeps->flag()) return {std::move(cut)};
  return {typed_like(call, cut, without(cut.shape, {dim}), without(cut.entries, {dim}))};
}

ShardedTypes dynamic_update(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const ShardedType& update = call.operands[1];
  if (value.entries != update.entries) {
    refuse(RefusalKind::unequal_update,
           "dynamic_update_slice operand sharding must be equal to update sharding, got " +
               short_type_text(call.mesh, value) + " and " + short_type_text(call.mesh, update));
  }
  return {value};
}

ShardedTypes dynamic_update_index(const TypingCall& call) {
  TypingCall whole = call;
  ShardedType& update = whole.operands[1];
  if (update.rank() < call.operands[0].rank()) {
    const std::size_t dim = axis_of(call, 0);
    update.shape = inserted(std::move(update.shape), dim, std::int64_t{1});
    update.entries = inserted(std::move(update.entries), dim, TypeEntry{});
  }
  return dynamic_update(whole);
}

namespace {

/// A shift by a number is two slices put together again, so both have to divide.
void check_roll(const TypingCall& call, const ShardedType& value, std::size_t dim,
                std::int64_t shift) {
  const std::int64_t size = value.shape[dim];
  if (size == 0) return;
  const std::int64_t tail = ((shift % size) + size) % size;
  for (const std::int64_t piece : {tail, size - tail}) {
    resized(call.mesh, value, with_size(value.shape, dim, piece), "slicing");
  }
}

std::vector<std::int64_t> shifts_of(const TypingCall& call) {
  if (const Parameter* shift = find(call.parameters, "shift")) return shift->integers();
  return {static_cast<std::int64_t>(call.operands[1].number)};
}

}  // namespace

ShardedTypes rolled(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  if (call.operands.size() > 1 && !call.operands[1].is_number) return {value};
  const std::vector<std::int64_t> shifts = shifts_of(call);
  const Parameter* axis = find(call.parameters, "axis");
  if (axis == nullptr) {
    const ShardedType flat = type_one(call.mesh, "jnp.ravel", {value});
    check_roll(call, flat, 0, shifts.front());
    return type_op({call.mesh, "lax.reshape", {flat}, {{"new_sizes", value.shape}}});
  }
  const Dims dims = dims_at(axis, value.rank());
  for (std::size_t k = 0; k < dims.size(); ++k) {
    check_roll(call, value, dims[k], shifts.size() == 1 ? shifts.front() : shifts[k]);
  }
  return {value};
}

ShardedTypes differences(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const std::size_t dim = axis_of(call, -1);
  return {resized(call.mesh, value, with_size(value.shape, dim, value.shape[dim] - 1), "slicing")};
}

}  // namespace shard::typing
