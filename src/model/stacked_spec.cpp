#include "model/stacked_spec.h"

#include <algorithm>

namespace shard {
namespace {

std::string quoted(const std::optional<LogicalAxis>& name) {
  return name ? "'" + name->text() + "'" : "None";
}

/// Keeps what dims have as written beside the names.
void insert_dim(LogicalSpec& names, std::size_t at, const std::optional<LogicalAxis>& name) {
  const auto offset = static_cast<std::ptrdiff_t>(at);
  if (!names.verbatim.empty()) {
    names.verbatim.resize(names.names.size());
    names.verbatim.insert(names.verbatim.begin() + offset, PartitionEntry{});
  }
  names.names.insert(names.names.begin() + offset, name);
}

}  // namespace

LogicalSpec with_stacked_dim(LogicalSpec names, int index, const std::optional<LogicalAxis>& name) {
  const int count = static_cast<int>(names.names.size());
  if (index > count) names.names.resize(static_cast<std::size_t>(index));
  const int at = index < 0 ? std::max(0, count + index) : index;
  insert_dim(names, static_cast<std::size_t>(at), name);
  return names;
}

LogicalSpec without_stacked_dim(LogicalSpec names, int index,
                                const std::optional<LogicalAxis>& name, const Location& at) {
  const int count = static_cast<int>(names.names.size());
  const int dim = index < 0 ? count + index : index;
  if (dim < 0 || dim >= count) {
    throw Error("partition-name", at,
                "there is no name at dim " + std::to_string(index) + " of " + to_string(names) +
                    ", expected the partition name " + quoted(name));
  }
  const auto place = static_cast<std::size_t>(dim);
  if (names.names[place] != name || names.written(place) != PartitionEntry{}) {
    throw Error("partition-name", at,
                "expected to remove " + quoted(name) + " at dim " + std::to_string(index) + " of " +
                    to_string(names) + ", found " + quoted(names.names[place]));
  }
  names.names.erase(names.names.begin() + dim);
  if (place < names.verbatim.size()) names.verbatim.erase(names.verbatim.begin() + dim);
  return names;
}

SpecConfig stacked_in_front(SpecConfig spec, const std::optional<LogicalAxis>& name) {
  if (auto* logical = std::get_if<LogicalSpec>(&spec.spec)) {
    *logical = with_stacked_dim(std::move(*logical), 0, name);
  } else if (auto* mesh = std::get_if<PartitionSpec>(&spec.spec)) {
    PartitionEntry entry;
    if (name) entry.axes.emplace_back(name->text());
    mesh->entries.insert(mesh->entries.begin(), std::move(entry));
  } else if (auto* sharding = std::get_if<ShardingText>(&spec.spec)) {
    PartitionEntry entry;
    if (name) entry.axes.emplace_back(name->text());
    sharding->edits.push_back({0, std::move(entry)});
  }
  return spec;
}

}  // namespace shard
