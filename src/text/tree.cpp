#include "text/tree.h"

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

}  // namespace shard
