#include "text/tree.h"

#include <algorithm>

namespace shard {

const TextNode* TextNode::find(std::string_view key) const {
  for (const TextEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::string describe(const TextNode& node) {
  switch (node.kind) {
    case TextNode::Kind::null:
      return "nothing";
    case TextNode::Kind::scalar:
      return "'" + node.scalar + "'";
    case TextNode::Kind::sequence:
      return "a list";
    case TextNode::Kind::map:
      return "a map";
  }
  return "nothing";
}

bool same_content(const TextNode& a, const TextNode& b) {
  const auto same_entry = [](const TextEntry& one, const TextEntry& other) {
    return one.key == other.key && same_content(one.value, other.value);
  };
  return a.kind == b.kind && a.scalar == b.scalar && a.quoted == b.quoted &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), same_content) &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                    same_entry);
}

Location content_at(const TextNode& scalar) {
  Location at = scalar.at;
  if (scalar.quoted && at.is_known()) {
    ++at.column;
    at.length = std::max(1, at.length - 2);
  }
  return at;
}

}  // namespace shard
