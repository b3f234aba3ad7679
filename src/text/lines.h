#pragma once
// Where the lines of a text begin: offsets to lines and columns and back.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace shard {

/// The lines of one text, which must outlive the table. Lines and columns count from 1; columns
/// count bytes.
class LineTable {
 public:
  explicit LineTable(std::string_view text);

  std::string_view text() const { return text_; }
  int line_count() const { return static_cast<int>(starts_.size()); }

  /// The line without its newline (nor the CR before it). Empty when there is no such line.
  std::string_view line(int line) const;

  /// Offset of a place, at most the text's size.
  std::size_t offset_of(int line, int column) const;

  /// Place of an offset (`length` bytes long, cut at the end of its line, at least 1).
  Location location_of(const std::string& file, std::size_t offset, std::size_t length = 1) const;

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_;
};

}  // namespace shard
