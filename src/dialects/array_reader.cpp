#include "dialects/array_reader.h"

#include "base/nearest.h"
#include "text/number.h"

namespace shard {
namespace {

// Beyond this a count of bytes does not fit in 63 bits.
constexpr std::int64_t most_elements = std::int64_t{1} << 59;

bool is_name(const TextNode& node) {
  if (!node.is_scalar() || node.scalar.empty()) return false;
  if (node.quoted) return true;
  return !read_number(node.scalar) && node.scalar != "true" && node.scalar != "false";
}

}  // namespace

void ArrayReader::refuse(const TextNode& found, std::string_view what, std::string_view expected) {
  diagnostics_.error(
      "bad-array", found.at,
      std::string(what) + " is " + describe(found) + ", expected " + std::string(expected));
}

std::optional<Shape> ArrayReader::shape(const TextNode& node) {
  if (!node.is_sequence()) {
    refuse(node, "the shape", "a list of sizes");
    return std::nullopt;
  }
  Shape shape;
  std::int64_t elements = 1;
  for (const TextNode& item : node.items) {
    const IntegerReading size =
        item.is_scalar() ? read_integer(item.scalar) : IntegerReading{0, NumberFault::not_a_number};
    if (size.fault || size.value < 0) {
      diagnostics_.error("bad-shape", item.at,
                         "a size is " + describe(item) + ", expected a whole number");
      return std::nullopt;
    }
    const bool is_over = __builtin_mul_overflow(elements, size.value, &elements);
    if (is_over || elements > most_elements) {
      diagnostics_.error("bad-shape", node.at, "the array has more than 2^59 elements");
      return std::nullopt;
    }
    shape.push_back(size.value);
  }
  return shape;
}

std::optional<DType> ArrayReader::dtype(const TextNode& node) {
  if (!node.is_scalar()) {
    refuse(node, "the element type", "a word such as float32");
    return std::nullopt;
  }
  if (const auto known = dtype_named(node.scalar)) return known;
  std::vector<std::string> names;
  for (const DTypeInfo& row : dtype_table()) {
    if (row.safetensors == node.scalar) return row.dtype;
    names.emplace_back(row.numpy_name);
  }
  diagnostics_.error("unknown-dtype", node.at, "element type '" + node.scalar + "' is not known",
                     did_you_mean(node.scalar, names, "valid", names.size()));
  return std::nullopt;
}

SpecConfig ArrayReader::logical_axes(const TextNode& node) {
  SpecConfig spec;
  spec.at = node.at;
  if (node.is_null()) return spec;
  if (!node.is_sequence()) {
    refuse(node, "the axes", "a list of names");
    return spec;
  }
  LogicalSpec names;
  for (const TextNode& item : node.items) {
    if (!item.is_null() && !is_name(item)) refuse(item, "a logical axis", "a name or null");
    names.names.push_back(is_name(item) ? std::optional(LogicalAxis(item.scalar)) : std::nullopt);
  }
  spec.spec = std::move(names);
  return spec;
}

SpecConfig ArrayReader::mesh_axes(const TextNode& node) {
  SpecConfig spec;
  spec.at = node.at;
  if (node.is_null()) return spec;
  if (!node.is_sequence()) {
    refuse(node, "the spec", "a list of mesh axes");
    return spec;
  }
  PartitionSpec entries;
  for (const TextNode& item : node.items) {
    PartitionEntry entry;
    const auto add = [&](const TextNode& axis) {
      if (is_name(axis)) {
        entry.axes.emplace_back(axis.scalar);
      } else {
        refuse(axis, "a mesh axis", "a name");
      }
    };
    if (item.is_sequence()) {
      for (const TextNode& axis : item.items) add(axis);
    } else if (!item.is_null()) {
      add(item);
    }
    entries.entries.push_back(std::move(entry));
  }
  spec.spec = std::move(entries);
  return spec;
}

void ArrayReader::add(ArrayConfig array) {
  if (!names_.insert(array.name).second) {
    diagnostics_.error("duplicate-array", array.at, "array '" + array.name + "' is listed twice");
    return;
  }
  arrays_.push_back(std::move(array));
}

void ArrayReader::note_unread(const TextEntry& entry) {
  if (!unread_.insert(entry.key).second) return;
  diagnostics_.warning("unknown-key", entry.key_at,
                       "the key '" + entry.key + "' of an array is not read",
                       "an array has name, shape, dtype, logical_axes or partition_spec");
}

}  // namespace shard
