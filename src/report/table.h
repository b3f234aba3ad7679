#pragma once
// Plain text tables: left or right aligned columns, cut to a width by dropping what is least
// needed.

#include <string>
#include <vector>

namespace shard {

struct Column {
  std::string title;
  bool right = false;  ///< numbers
  int priority = 0;    ///< 0: always there; the highest number is dropped first when too wide
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);
  /// One cell per column.
  void add(std::vector<std::string> row);
  bool empty() const { return rows_.empty(); }

  /// Columns stand two blanks apart, trailing blanks are cut. Width counts code points; 0 means
  /// unlimited. Too wide: columns with a priority go, the highest number first, then the last
  /// column is cut with `…` as long as 12 characters of it stay. `bold_title` wraps the title row
  /// in SGR bold.
  std::string render(int width, bool bold_title) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Number of code points of a UTF-8 text (our pictures and tables use no wide characters).
int text_width(const std::string& text);

/// The first `width` code points, the last of them `…` when something was cut.
std::string cut_text(const std::string& text, int width);

}  // namespace shard
