#pragma once
// The text behind the parser's events: what yaml-cpp does not tell (lengths, unclosed quotes, tabs,
// commas that cut a spec in two) is looked up here.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "text/lines.h"

namespace shard {

class YamlSource {
 public:
  /// `text` must outlive the source.
  YamlSource(std::string file, std::string_view text) : file_(std::move(file)), lines_(text) {}

  const LineTable& lines() const { return lines_; }
  std::string_view text() const { return lines_.text(); }
  Location place(std::size_t offset, std::size_t length) const {
    return lines_.location_of(file_, offset, length);
  }

  /// The characters from `offset` up to a blank, a bracket, a comma or a colon.
  std::string_view word_at(std::size_t offset) const;
  /// The offset behind anchors (`&a`) and tags (`!a`) that stand at `offset`.
  std::size_t skip_properties(std::size_t offset) const;
  /// 1 for `~`, 4 for `null`, 0 when the null is a value left out.
  std::size_t null_word_length(std::size_t offset) const;
  /// Bytes that the scalar at `offset` takes on its first line; nothing when its quote is never
  /// closed. `value_length` is the length of a plain scalar.
  std::optional<std::size_t> scalar_length(std::size_t offset, std::size_t value_length) const;

  /// False when a `[` or `{` stands at `at` and nothing closes it.
  bool closes_bracket(const Location& at) const;

  /// Raises `yaml-syntax` when the text is not UTF-8.
  void check_bytes(Diagnostics& diagnostics) const;
  /// Raises `yaml-tab` once, at the first line indented with a tab.
  void check_tabs(Diagnostics& diagnostics) const;
  /// Raises `yaml-syntax` when the plain scalar `value`, inside `{ }` or `[ ]`, is the first half
  /// of a `P(a, b)` or a `dim@(a, b)` that was cut at its comma.
  void check_commas(const std::string& value, std::size_t offset, Diagnostics& diagnostics) const;
  /// True, after raising `yaml-syntax`, when the parser stopped at the bracket of an unquoted
  /// `f32[...]` inside `{ }` or `[ ]`.
  bool report_bracket_in_flow(std::size_t offset, Diagnostics& diagnostics) const;

 private:
  std::string file_;
  LineTable lines_;
};

/// A hint for one of yaml-cpp's messages; empty when there is nothing better to say.
std::string yaml_hint(std::string_view message);

}  // namespace shard
