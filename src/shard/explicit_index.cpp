// Typing rules of numpy's indexing: `x[i]`, `x.at[i].get()`, `x.at[i].set(y)`.

#include <algorithm>

#include "shard/explicit_accepts.h"
#include "shard/explicit_rules.h"

namespace shard::typing {
namespace {

enum class IndexKind { number, new_dim, slice, array };

struct IndexItem {
  IndexKind kind = IndexKind::slice;
  std::int64_t length = 0;             ///< of a slice
  const ShardedType* array = nullptr;  ///< of an index array
};

std::int64_t slice_length(const Parameter& slice, std::int64_t size) {
  const Parameter::List& parts = slice.list();
  const auto part = [&](std::size_t k) {
    return k < parts.size() && !parts[k].is_none() ? std::optional(parts[k].integer())
                                                   : std::nullopt;
  };
  const std::int64_t step = part(2).value_or(1);
  const auto clamped = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
    return std::clamp(at < 0 ? at + size : at, low, high);
  };
  if (step > 0) {
    const std::int64_t start = clamped(part(0).value_or(0), 0, size);
    const std::int64_t end = clamped(part(1).value_or(size), 0, size);
    return end > start ? (end - start + step - 1) / step : 0;
  }
  const std::int64_t start = part(0) ? clamped(*part(0), -1, size - 1) : size - 1;
  const std::int64_t end = part(1) ? clamped(*part(1), -1, size - 1) : -1;
  return start > end ? (start - end - step - 1) / -step : 0;
}

/// A written index: one item per dim, plus new dims.
class Index {
 public:
  explicit Index(const TypingCall& call) : value_(call.operands[0]) {
    const Parameter& written = *find(call.parameters, "index");
    const Parameter::List items = written.is_list() ? written.list() : Parameter::List(1, written);
    const auto is_dots = [](const Parameter& item) { return item.is_text(); };
    const auto uses_dim = [&](const Parameter& item) { return !item.is_none() && !is_dots(item); };
    const std::size_t used =
        static_cast<std::size_t>(std::count_if(items.begin(), items.end(), uses_dim));
    const bool has_dots = std::any_of(items.begin(), items.end(), is_dots);
    for (const Parameter& item : items) {
      if (is_dots(item)) {
        add_whole(value_.rank() - used);
      } else {
        add(call, item);
      }
    }
    if (!has_dots) add_whole(value_.rank() - used);
  }

  const std::vector<IndexItem>& items() const { return items_; }
  bool is_whole(std::size_t item, std::size_t dim) const {
    return items_[item].kind == IndexKind::slice && items_[item].length == value_.shape[dim];
  }
  bool has_arrays() const {
    return std::any_of(items_.begin(), items_.end(),
                       [](const IndexItem& item) { return item.kind == IndexKind::array; });
  }
  /// Some array has dims of its own; arrays without are dynamic slices.
  bool has_lists() const {
    return std::any_of(items_.begin(), items_.end(), [](const IndexItem& item) {
      return item.kind == IndexKind::array && item.array->rank() > 0;
    });
  }

 private:
  void add(const TypingCall& call, const Parameter& item) {
    if (item.is_none()) {
      items_.push_back({IndexKind::new_dim});
      return;
    }
    const std::size_t dim = next_dim_++;
    if (item.is_integer()) {
      items_.push_back({IndexKind::number});
    } else if (const Parameter* slice = item.find("slice")) {
      items_.push_back({IndexKind::slice, slice_length(*slice, value_.shape[dim])});
    } else {
      const ShardedType& array = call.operands[static_cast<std::size_t>(item.at("arg").integer())];
      if (array.element.name == "bool") {
        refuse(RefusalKind::boolean_index,
               "Array boolean indices must be concrete; got " + short_type_text(call.mesh, array));
      }
      if ((bit_of(array.element) & whole) == 0) {
        refuse(RefusalKind::indexer_elements, "Indexer must have integer or boolean type, got " +
                                                  short_type_text(call.mesh, array));
      }
      items_.push_back({IndexKind::array, 0, &array});
    }
  }

  void add_whole(std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
      items_.push_back({IndexKind::slice, value_.shape[next_dim_++]});
    }
  }

  const ShardedType& value_;
  std::vector<IndexItem> items_;
  std::size_t next_dim_ = 0;
};

/// What basic indexing leaves: numbers drop their dim, new dims are whole.
ShardedTypes reindexed(const TypingCall& call, const ShardedType& cut, const Index& index) {
  Shape shape;
  TypeEntries entries;
  std::size_t dim = 0;
  for (const IndexItem& item : index.items()) {
    const bool is_new = item.kind == IndexKind::new_dim;
    if (item.kind == IndexKind::slice || is_new) {
      shape.push_back(is_new ? 1 : cut.shape[dim]);
      entries.push_back(is_new ? TypeEntry{} : cut.entries[dim]);
    }
    if (!is_new) ++dim;
  }
  return {typed(call, std::move(shape), std::move(entries))};
}

/// Without arrays, or with arrays of rank 0: a slice, and dims of size 1 dropped.
ShardedTypes basic(const TypingCall& call, const Index& index) {
  const ShardedType& value = call.operands[0];
  Shape shape;
  for (const IndexItem& item : index.items()) {
    if (item.kind == IndexKind::new_dim) continue;
    shape.push_back(item.kind == IndexKind::slice ? item.length : 1);
  }
  const std::string what = index.has_arrays() ? "dynamic_slice" : "slicing";
  return reindexed(call, resized(call.mesh, value, shape, what), index);
}

/// Of concrete arrays a part is gathered: what is not taken whole has to be whole.
ShardedTypes basic_eager(const TypingCall& call, const Index& index) {
  const ShardedType& value = call.operands[0];
  Shape shape;
  std::size_t dim = 0;
  for (std::size_t k = 0; k < index.items().size(); ++k) {
    const IndexItem& item = index.items()[k];
    if (item.kind == IndexKind::new_dim) continue;
    if (!index.is_whole(k, dim) && !value.entries[dim].empty()) refuse(RefusalKind::gather);
    shape.push_back(item.kind == IndexKind::slice ? item.length : 1);
    ++dim;
  }
  return reindexed(call, make_type(call.mesh, value.element, shape, value.entries), index);
}

/// The index arrays broadcast to one shape, each entry the one that is not None.
ShardedType broadcast_arrays(const TypingCall& call, const Index& index) {
  ShardedTypes arrays;
  for (const IndexItem& item : index.items()) {
    if (item.kind == IndexKind::array) arrays.push_back(*item.array);
  }
  if (arrays.size() == 1) return arrays.front();
  return type_one(call.mesh, "jnp.maximum", std::move(arrays));
}

/// Where the dims of the arrays go: in the place of the first, or in front when something stands
/// between two of them.
std::size_t array_place(const Index& index) {
  std::optional<std::size_t> first;
  std::size_t kept_before = 0;
  bool has_gap = false;
  for (const IndexItem& item : index.items()) {
    const bool is_advanced = item.kind == IndexKind::array || item.kind == IndexKind::number;
    if (is_advanced) {
      if (has_gap) return 0;
      if (!first) first = kept_before;
    } else {
      ++kept_before;
      if (first) has_gap = true;
    }
  }
  return first.value_or(0);
}

/// With index arrays: shape and entries of the result, and whether the gather can be typed.
struct Gathered {
  Shape shape;
  TypeEntries entries;
  bool is_refused = false;
};

Gathered gathered(const TypingCall& call, const Index& index) {
  const ShardedType& value = call.operands[0];
  const ShardedType arrays = broadcast_arrays(call, index);
  Gathered result;
  std::size_t dim = 0;
  for (std::size_t k = 0; k < index.items().size(); ++k) {
    const IndexItem& item = index.items()[k];
    if (item.kind == IndexKind::new_dim) {
      result.shape.push_back(1);
      result.entries.emplace_back();
      continue;
    }
    const bool is_split = !value.entries[dim].empty() && value.shape[dim] != 1;
    if (!index.is_whole(k, dim) && is_split) result.is_refused = true;
    if (item.kind == IndexKind::slice) {
      result.shape.push_back(item.length);
      result.entries.push_back(value.entries[dim]);
    }
    ++dim;
  }
  const auto place = static_cast<std::ptrdiff_t>(array_place(index));
  result.shape.insert(result.shape.begin() + place, arrays.shape.begin(), arrays.shape.end());
  result.entries.insert(result.entries.begin() + place, arrays.entries.begin(),
                        arrays.entries.end());
  const bool is_split_by_map = arrays.is_mapped && !value.is_mapped;
  result.is_refused = result.is_refused || arrays.is_split() || is_split_by_map;
  return result;
}

/// The entries as a spec: no axis twice.
void check_once(const TypingCall& call, const Gathered& result) {
  ShardedType type;
  type.entries = result.entries;
  check_axes(call.mesh, type_spec(call.mesh, type));
}

}  // namespace

ShardedTypes indexed(const TypingCall& call) {
  const Index index(call);
  if (!index.has_lists()) {
    return call.is_eager && !index.has_arrays() ? basic_eager(call, index) : basic(call, index);
  }
  Gathered result = gathered(call, index);
  check_once(call, result);
  if (result.is_refused) {
    refuse(RefusalKind::gather,
           "Use `.at[...].get(out_sharding=)` to say how the result of the gather is split. Got "
           "operand=" +
               short_type_text(call.mesh, call.operands[0]));
  }
  return {typed(call, std::move(result.shape), std::move(result.entries))};
}

ShardedTypes gotten(const TypingCall& call) {
  const Index index(call);
  if (call.out == nullptr || !index.has_lists()) return indexed(call);
  return {given_or(call, gathered(call, index).shape, {})};
}

ShardedTypes updated(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const ShardedType& update = call.operands.back();
  const Index index(call);
  if (call.out != nullptr) return {given_or(call, value.shape, {})};
  const Gathered got = gathered(call, index);
  check_once(call, got);
  check_broadcast(call, update.entries, got.entries);
  if (got.is_refused) {
    refuse(RefusalKind::scatter,
           "Use `.at[...].set/add/mul/...(out_sharding=)` to say how the result of the scatter is "
           "split. Got operand=" +
               short_type_text(call.mesh, value));
  }
  return {value};
}

namespace {

const Parameters& first_array() {
  static const Parameters index = {
      {"index", Parameter::List(1, Parameter(Parameter::Map{{"arg", Parameter(1)}}))}};
  return index;
}

}  // namespace

ShardedTypes segment_sum(const TypingCall& call) {
  ShardedType sums = call.operands[0];
  sums.shape[0] = find(call.parameters, "num_segments")->integer();
  sums = typed(call, sums.shape, {});
  takes<numbers>({call.mesh, call.op, {sums}, call.parameters});
  return updated({call.mesh, call.op, {sums, call.operands[1], call.operands[0]}, first_array()});
}

ShardedTypes bin_counts(const TypingCall& call) {
  const ShardedType counts = typed(call, {find(call.parameters, "length")->integer()}, {});
  ShardedType places = call.operands[0];
  places.element = {"int32", false};
  return updated({call.mesh, call.op, {counts, places, number_type(1, true)}, first_array()});
}

}  // namespace shard::typing
