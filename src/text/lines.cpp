#include "text/lines.h"

#include <algorithm>

namespace shard {

LineTable::LineTable(std::string_view text) : text_(text), starts_{0} {
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) {
    starts_.push_back(at + 1);
  }
}

std::string_view LineTable::line(int line) const {
  if (line < 1 || line > line_count()) return {};
  const std::size_t start = starts_[static_cast<std::size_t>(line - 1)];
  std::string_view found = text_.substr(start, text_.find('\n', start) - start);
  if (found.ends_with('\r')) found.remove_suffix(1);
  return found;
}

std::size_t LineTable::offset_of(int line, int column) const {
  if (line < 1 || line > line_count()) return text_.size();
  const std::size_t start = starts_[static_cast<std::size_t>(line - 1)];
  return std::min(text_.size(), start + static_cast<std::size_t>(std::max(column, 1) - 1));
}

Location LineTable::location_of(const std::string& file, std::size_t offset,
                                std::size_t length) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  const std::size_t start = *(after - 1);
  const int line_number = static_cast<int>(after - starts_.begin());
  const std::size_t end = start + line(line_number).size();
  const std::size_t room = end > offset ? end - offset : 1;
  return {file, line_number, static_cast<int>(offset - start) + 1,
          static_cast<int>(std::clamp<std::size_t>(length, 1, room))};
}

}  // namespace shard
