#pragma once
// A located tree: what YAML and JSON files become. Every node and key remembers where it stood, so
// any later stage can point at it. yaml-cpp and nlohmann/json stay inside `text/*.cpp`.

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace shard {

struct TextEntry;

/// One node of a document. Scalars keep their text; what they mean is decided by the reader that
/// knows the key. A quoted scalar is never null, a number or a boolean.
struct TextNode {
  enum class Kind { null, scalar, sequence, map };

  Kind kind = Kind::null;
  std::string scalar;
  bool quoted = false;
  Location at;                     ///< of a quoted scalar: its opening quote
  std::vector<TextNode> items;     ///< of a sequence
  std::vector<TextEntry> entries;  ///< of a map, in file order

  bool is_null() const { return kind == Kind::null; }
  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_map() const { return kind == Kind::map; }

  /// The value of `key` in a map, or nullptr.
  const TextNode* find(std::string_view key) const;
};

struct TextEntry {
  std::string key;
  Location key_at;
  TextNode value;
};

/// `a map`, `a list`, `'foo'`, `nothing`: for "found ..." in messages.
std::string describe(const TextNode& node);

/// The same kinds, keys, texts and quoting in the same order, wherever they stand.
bool same_content(const TextNode& a, const TextNode& b);

/// Where the text of a scalar starts: behind the quote of a quoted one.
Location content_at(const TextNode& scalar);

}  // namespace shard
