#pragma once
// A map of a file held against the table of its keys.

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "config/keys.h"
#include "text/tree.h"

namespace shard {

/// Walks the map once when it is made and raises `unknown-key`, `missing-key`, `not-yet` and
/// `wrong-type` (and `wrong-file`, alone, for a rules file given as a model or the reverse); after
/// that only values of the right shape are handed out. `node` and `table` must
/// outlive it. A node that is no map raises `wrong-type` and counts as empty.
class CheckedMap {
 public:
  CheckedMap(const TextNode& node, const KeyTable& table, Diagnostics& diagnostics);

  /// The value, or nullptr when the key is left out, null without a meaning, or was refused.
  const TextNode* get(std::string_view key) const;
  /// Where the key stands; unknown when it is left out.
  Location key_at(std::string_view key) const;
  const KeyRow& row(std::string_view key) const;
  /// Entries that the (open) table does not know.
  const std::vector<const TextEntry*>& extra() const { return extra_; }

 private:
  void check_entry(const TextEntry& entry, Diagnostics& diagnostics);
  void report_unknown(const TextEntry& entry, Diagnostics& diagnostics);
  void check_required(const TextNode& node, Diagnostics& diagnostics) const;

  const KeyTable& table_;
  std::vector<const TextEntry*> found_;  ///< one per row of the table
  std::vector<const TextEntry*> extra_;
  bool has_later_key_ = false;         ///< one that is not supported yet
  std::vector<std::string> misspelt_;  ///< what unknown keys were probably meant to be
};

/// Raises `wrong-type`: `WHAT is FOUND, expected EXPECTED`.
void report_type(const TextNode& found, std::string_view what, std::string_view expected,
                 Diagnostics& diagnostics, std::string hint = "");

/// True when the node has one of the shapes of `row`; else raises `wrong-type`.
bool check_shape(const TextNode& node, const KeyRow& row, Diagnostics& diagnostics);

}  // namespace shard
