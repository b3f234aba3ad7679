#pragma once
// The sizes of a model file: aliases followed, products worked out.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/model_config.h"
#include "text/tree.h"

namespace shard {

class Sizes {
 public:
  Sizes() = default;
  /// Works out all sizes of the map `node` (may be nullptr). Raises `bad-size` (zero, negative, not
  /// a size at all), `unknown-size`, `size-cycle`, `size-overflow`, each at its place.
  Sizes(const TextNode* node, Diagnostics& diagnostics);

  /// In file order, without those that were refused.
  const std::vector<SizeConfig>& all() const { return all_; }
  /// Also true for a size that was refused.
  bool is_declared(std::string_view name) const;
  /// Nothing when the name is not declared or was refused.
  std::optional<std::int64_t> value(std::string_view name) const;
  /// Names in file order.
  std::vector<std::string> names() const;

 private:
  enum class State { untouched, in_progress, done, refused };
  struct Size {
    const TextEntry* entry = nullptr;
    State state = State::untouched;
    std::int64_t value = 0;
  };

  void resolve(Size& size, Diagnostics& diagnostics);
  std::optional<std::int64_t> product(const TextEntry& entry, Diagnostics& diagnostics);
  std::optional<std::int64_t> term(const std::string& owner, std::string_view text,
                                   const Location& at, Diagnostics& diagnostics);
  void report_cycle(const std::string& from, const Location& at, Diagnostics& diagnostics);

  std::vector<SizeConfig> all_;
  std::vector<std::string> order_;
  std::map<std::string, Size, std::less<>> sizes_;
  std::vector<std::string> path_;  ///< sizes being worked out, outermost first
};

/// A positive whole number, or nothing after raising `bad-size` or `size-overflow`. `what` names it
/// (`size 'batch'`).
std::optional<std::int64_t> read_positive(std::string_view text, const Location& at,
                                          std::string_view what, Diagnostics& diagnostics);

}  // namespace shard
