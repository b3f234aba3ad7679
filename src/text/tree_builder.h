#pragma once
// Builds a located tree from the events of a parser, and refuses what every format of ours refuses:
// a key given twice, too much nesting, too many nodes.

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/diagnostic.h"
#include "text/tree.h"

namespace shard {

/// Containers inside containers.
inline constexpr std::size_t max_nesting = 100;
/// Nodes of one document, aliases written out.
inline constexpr std::size_t max_nodes = 4'000'000;

/// What a key given twice in one map means.
enum class DuplicateKey { is_an_error, takes_the_last_value };

/// Events arrive in document order. A scalar where a map expects a key is a key.
class TreeBuilder {
 public:
  explicit TreeBuilder(Diagnostics& diagnostics, DuplicateKey duplicate = DuplicateKey::is_an_error)
      : diagnostics_(diagnostics), duplicate_(duplicate) {}

  /// True when the next event is a key.
  bool expects_key() const;
  /// The key whose value comes next; meaningful inside a map when `expects_key()` is false.
  const Location& key_at() const { return frames_.back().key_at; }
  bool is_in_flow() const { return !frames_.empty() && frames_.back().is_flow; }
  bool is_in_sequence() const { return !frames_.empty() && frames_.back().node.is_sequence(); }
  std::size_t depth() const { return frames_.size(); }
  /// Where the innermost open container started.
  const Location& open_at() const { return frames_.back().node.at; }

  /// Raises `duplicate-key`, a warning where the last value is taken.
  void key(std::string text, const Location& at);
  /// `anchor` 0: none. Throws `Error` `too-deep`.
  void start(TextNode::Kind kind, const Location& at, bool is_flow, std::size_t anchor);
  void end();
  void leaf(TextNode node, std::size_t anchor);
  /// Repeats what `anchor` marks. Throws `Error` `yaml-syntax` when the anchor is still open,
  /// `too-deep`, `too-large`.
  void alias(std::size_t anchor, const Location& at);

  /// The tree after the last event; a null node when there was none.
  TextNode take_root() { return std::move(root_); }

 private:
  struct Frame {
    TextNode node;
    bool is_flow = false;
    bool has_key = false;
    std::string key;
    Location key_at;
    std::size_t anchor = 0;
    std::size_t first_node = 0;                              ///< nodes made before this one
    std::size_t height = 0;                                  ///< of what is inside
    std::unordered_map<std::string, std::size_t> positions;  ///< of a map with many keys
  };
  struct Anchored {
    TextNode node;
    std::size_t nodes = 0;
    std::size_t height = 0;
  };

  [[noreturn]] void fail(std::string id, const Location& at, std::string message, std::string hint);
  TextEntry* earlier(Frame& frame, const std::string& key) const;
  void count_nodes(std::size_t more, const Location& at);
  void add(TextNode node, std::size_t height);

  Diagnostics& diagnostics_;
  DuplicateKey duplicate_;
  std::vector<Frame> frames_;
  std::map<std::size_t, Anchored> anchored_;
  std::size_t nodes_ = 0;
  TextNode root_;
};

}  // namespace shard
