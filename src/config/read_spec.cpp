#include "config/read_spec.h"

#include <algorithm>

#include "config/checked_map.h"
#include "config/scalars.h"
#include "config/sdy_spec.h"
#include "text/number.h"

namespace shard {
namespace {

/// A number or a truth value, which is no name.
bool is_literal(const TextNode& node) {
  return !node.quoted &&
         (read_number(node.scalar) || node.scalar == "true" || node.scalar == "false" ||
          node.scalar == "True" || node.scalar == "False");
}

bool is_axis_name(const TextNode& node) {
  return node.is_scalar() && !is_none(node) && !node.scalar.empty() && !is_literal(node) &&
         !is_partition_text(node.scalar);
}

bool is_unconstrained_word(const TextNode& node) {
  return node.is_scalar() && !node.quoted &&
         (node.scalar == "UNCONSTRAINED" || node.scalar == "P.UNCONSTRAINED");
}

/// An item that is no name: None, UNCONSTRAINED, or a list of mesh axes. Nothing when it is
/// neither.
std::optional<PartitionEntry> verbatim_entry(const TextNode& item) {
  PartitionEntry entry;
  if (is_none(item)) return entry;
  if (is_unconstrained_word(item)) {
    entry.is_unconstrained = true;
    return entry;
  }
  if (!item.is_sequence()) return std::nullopt;
  if (item.items.size() == 1 && !item.items[0].is_sequence() && !is_axis_name(item.items[0])) {
    return verbatim_entry(item.items[0]);
  }
  for (const TextNode& axis : item.items) {
    if (!is_axis_name(axis) || is_unconstrained_word(axis)) return std::nullopt;
    entry.axes.emplace_back(axis.scalar);
  }
  return entry;
}

/// `{replicated}` without quotes, which YAML takes for a map of one key without a value.
std::string hint_for_map(const TextNode& node) {
  const bool is_word = node.is_map() && node.entries.size() == 1 && is_none(node.entries[0].value);
  return is_word ? "quote a sharding: \"{" + node.entries[0].key + "}\"" : "";
}

/// Where every dim has a name or None there is nothing to keep.
void drop_nothing_verbatim(LogicalSpec& spec) {
  const PartitionEntry none;
  const auto is_nothing = [&](const PartitionEntry& entry) { return entry == none; };
  if (std::all_of(spec.verbatim.begin(), spec.verbatim.end(), is_nothing)) spec.verbatim.clear();
}

std::optional<SpecConfig> logical_spec(const TextNode& node, std::string_view what,
                                       Diagnostics& diagnostics) {
  LogicalSpec spec;
  bool is_good = true;
  for (const TextNode& item : node.items) {
    const bool has_name = is_axis_name(item) && !is_unconstrained_word(item);
    const auto entry = has_name ? PartitionEntry{} : verbatim_entry(item);
    spec.names.push_back(has_name ? std::optional(LogicalAxis(item.scalar)) : std::nullopt);
    spec.verbatim.push_back(entry.value_or(PartitionEntry{}));
    if (entry) continue;
    is_good = false;
    report_type(item, "an item of " + std::string(what),
                "a logical axis, a list of mesh axes, UNCONSTRAINED or null", diagnostics,
                "mesh axes are written P(...), without a list around it");
  }
  if (!is_good) return std::nullopt;
  drop_nothing_verbatim(spec);
  return SpecConfig{std::move(spec), node.at};
}

}  // namespace

bool is_tiles_text(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\n");
  return start != text.npos && text[start] == '{';
}

std::optional<SpecConfig> read_spec(const TextNode& node, std::string_view what,
                                    Diagnostics& diagnostics) {
  if (is_none(node)) return SpecConfig{std::monostate{}, node.at};
  if (node.is_sequence()) return logical_spec(node, what, diagnostics);
  if (!node.is_scalar()) {
    report_type(node, what, row_of(ValueKind::spec).expected, diagnostics, hint_for_map(node));
    return std::nullopt;
  }
  if (is_tiles_text(node.scalar)) return SpecConfig{ShardingText{node.scalar}, node.at};
  const bool is_sdy = is_sdy_text(node.scalar);
  if (!is_sdy && !is_partition_text(node.scalar)) {
    const bool is_bare_axis = is_identifier(node.scalar);
    report_type(node, what, row_of(ValueKind::spec).expected, diagnostics,
                is_bare_axis ? "write [" + node.scalar + "] for a logical axis, P(" + node.scalar +
                                   ") for a mesh axis"
                             : "");
    return std::nullopt;
  }
  try {
    const Location at = content_at(node);
    if (!is_sdy) return SpecConfig{read_partition_text(node.scalar, at), node.at};
    return SpecConfig{partition_spec(read_sdy_spec(node.scalar, at), at), node.at};
  } catch (const Error& problem) {
    diagnostics.append(problem.diagnostics());
    return std::nullopt;
  }
}

}  // namespace shard
