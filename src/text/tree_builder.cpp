#include "text/tree_builder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace shard {
namespace {

// Up to here a walk over the entries is faster than hashing.
constexpr std::size_t few_keys = 16;

// `model)` is the second half of an unquoted `P(None, model)`, which is reported by itself.
bool is_cut_off_half(const std::string& key) {
  return key.ends_with(')') && key.find('(') == key.npos;
}

}  // namespace

void TreeBuilder::fail(std::string id, const Location& at, std::string message, std::string hint) {
  diagnostics_.error(std::move(id), at, std::move(message), std::move(hint));
  throw Error(diagnostics_.all());
}

bool TreeBuilder::expects_key() const {
  return !frames_.empty() && frames_.back().node.is_map() && !frames_.back().has_key;
}

TextEntry* TreeBuilder::earlier(Frame& frame, const std::string& key) const {
  std::vector<TextEntry>& entries = frame.node.entries;
  if (entries.size() <= few_keys) {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const TextEntry& one) { return one.key == key; });
    return found == entries.end() ? nullptr : &*found;
  }
  for (std::size_t i = frame.positions.size(); i < entries.size(); ++i) {
    frame.positions.emplace(entries[i].key, i);
  }
  const auto found = frame.positions.find(key);
  return found == frame.positions.end() ? nullptr : &entries[found->second];
}

void TreeBuilder::key(std::string text, const Location& at) {
  SHARD_CHECK(expects_key(), "a key comes where a map expects one");
  Frame& frame = frames_.back();
  const TextEntry* first = earlier(frame, text);
  if (first && duplicate_ == DuplicateKey::takes_the_last_value) {
    diagnostics_.warning("duplicate-key", at, "key '" + text + "' is given twice in this map",
                         "it is given first in line " + std::to_string(first->key_at.line) +
                             "; the value given last counts");
  } else if (first && !is_cut_off_half(text)) {
    diagnostics_.error("duplicate-key", at, "key '" + text + "' is given twice in this map",
                       "it is given first in line " + std::to_string(first->key_at.line) +
                           "; keep one of the two");
  }
  frame.key = std::move(text);
  frame.key_at = at;
  frame.has_key = true;
}

void TreeBuilder::count_nodes(std::size_t more, const Location& at) {
  nodes_ += more;
  if (nodes_ <= max_nodes) return;
  fail("too-large", at, "the file has more than " + std::to_string(max_nodes) + " values",
       "aliases count as often as they are used");
}

void TreeBuilder::start(TextNode::Kind kind, const Location& at, bool is_flow, std::size_t anchor) {
  if (frames_.size() >= max_nesting) {
    fail("too-deep", at,
         "lists and maps are nested more than " + std::to_string(max_nesting) + " deep here", "");
  }
  Frame frame;
  frame.node.kind = kind;
  frame.node.at = at;
  frame.is_flow = is_flow;
  frame.anchor = anchor;
  frame.first_node = nodes_;
  count_nodes(1, at);
  frames_.push_back(std::move(frame));
}

void TreeBuilder::end() {
  SHARD_CHECK(!frames_.empty(), "an end event has its start");
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  const std::size_t height = frame.height + 1;
  if (frame.anchor != 0) {
    anchored_[frame.anchor] = {frame.node, nodes_ - frame.first_node, height};
  }
  add(std::move(frame.node), height);
}

void TreeBuilder::leaf(TextNode node, std::size_t anchor) {
  count_nodes(1, node.at);
  if (anchor != 0) anchored_[anchor] = {node, 1, 0};
  add(std::move(node), 0);
}

void TreeBuilder::alias(std::size_t anchor, const Location& at) {
  const auto found = anchored_.find(anchor);
  if (found == anchored_.end()) {
    fail("yaml-syntax", at, "the alias stands inside the value it repeats", "");
  }
  if (frames_.size() + found->second.height > max_nesting) {
    fail("too-deep", at,
         "with this alias lists and maps are nested more than " + std::to_string(max_nesting) +
             " deep",
         "");
  }
  count_nodes(found->second.nodes, at);
  add(found->second.node, found->second.height);
}

void TreeBuilder::add(TextNode node, std::size_t height) {
  if (frames_.empty()) {
    root_ = std::move(node);
    return;
  }
  Frame& frame = frames_.back();
  frame.height = std::max(frame.height, height);
  if (frame.node.is_sequence()) {
    frame.node.items.push_back(std::move(node));
    return;
  }
  SHARD_CHECK(frame.has_key, "a value in a map follows its key");
  frame.has_key = false;
  if (duplicate_ == DuplicateKey::takes_the_last_value) {
    if (TextEntry* first = earlier(frame, frame.key)) {
      first->key_at = frame.key_at;
      first->value = std::move(node);
      return;
    }
  }
  frame.node.entries.push_back({std::move(frame.key), frame.key_at, std::move(node)});
}

}  // namespace shard
