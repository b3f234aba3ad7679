#pragma once
// Plain text tables: left or right aligned columns, cut to a width by dropping what is least
// needed.

#include <string>
#include <vector>

namespace shard {

struct Column {
  std::string title;
  bool right = false;  ///< numbers
  int priority =
      0;  ///< columns with the highest number are shortened first when the table is too wide
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> row);
  bool empty() const { return rows_.empty(); }
  /// Width counts code points; 0 means unlimited. Trailing blanks are cut. `bold_title`: wrap the
  /// title row in SGR bold.
  std::string render(int width, bool bold_title) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Folds names that differ in one number: {"a_0/k", "a_1/k", "a_2/k"} gives "a_{0..2}/k"; gives
/// nothing when they do not fold.
std::string fold_names(const std::vector<std::string>& names);

/// Number of code points of a UTF-8 text (our pictures and tables use no wide characters).
int text_width(const std::string& text);

}  // namespace shard
