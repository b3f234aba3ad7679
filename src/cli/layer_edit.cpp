#include "cli/layer_edit.h"

#include <algorithm>
#include <optional>

#include "config/keys.h"

namespace shard {
namespace {

/// Position of the bracket that closes the one at `open`, or nothing when the line ends before.
std::optional<std::size_t> closing(const std::string& line, std::size_t open) {
  int depth = 0;
  char quote = 0;
  for (std::size_t k = open; k < line.size(); ++k) {
    const char letter = line[k];
    if (quote != 0) {
      if (letter == quote) quote = 0;
    } else if (letter == '"' || letter == '\'') {
      quote = letter;
    } else if (letter == '{' || letter == '[') {
      ++depth;
    } else if ((letter == '}' || letter == ']') && --depth == 0) {
      return k;
    }
  }
  return std::nullopt;
}

std::string quoted(const std::string& scalar) {
  const bool needs = scalar.find_first_of(",:{}[]#'") != scalar.npos && scalar.front() != '"';
  return needs ? '"' + scalar + '"' : scalar;
}

std::string main_key_of(const std::string& kind) {
  for (const KeyTable& table : layer_tables()) {
    if (table.name == kind && !table.main_key.empty()) return std::string(table.main_key);
  }
  return std::string(generic_layer_table().main_key);
}

/// The lines that the layer's line becomes.
class EditedLine {
 public:
  EditedLine(std::string line, std::string next, const LayerEdit& edit)
      : line_(std::move(line)), next_(std::move(next)), entry_(edit.key + ": " + edit.value) {
    word_ = static_cast<std::size_t>(edit.at.column - 1);
    end_ = line_.find_first_of(": ,]}\n", word_);
    if (end_ == line_.npos) end_ = line_.size();
  }

  std::vector<std::string> lines() {
    if (end_ == line_.size() || line_[end_] != ':') return {bare()};
    const std::size_t start = line_.find_first_not_of(' ', end_ + 1);
    if (start == line_.npos || line_[start] == '#') return {line_, below()};
    return {line_[start] == '{' ? in_map(start) : with_main_key(start)};
  }

 private:
  std::string bare() const {
    return line_.substr(0, end_) + ": {" + entry_ + "}" + line_.substr(end_);
  }

  /// A block map: one more line, as far in as the next.
  std::string below() const {
    const std::size_t deep = next_.find_first_not_of(' ');
    const std::size_t indent = deep != next_.npos && deep > word_ ? deep : word_ + 2;
    return std::string(indent, ' ') + entry_;
  }

  std::string in_map(std::size_t open) const {
    const std::optional<std::size_t> close = closing(line_, open);
    const bool is_empty = close && line_.find_first_not_of(' ', open + 1) == *close;
    if (!close) return line_.substr(0, open + 1) + entry_ + ", " + line_.substr(open + 1);
    return line_.substr(0, *close) + (is_empty ? "" : ", ") + entry_ + line_.substr(*close);
  }

  std::string with_main_key(std::size_t start) const {
    std::size_t end = line_.find(" #", start);
    end = end == line_.npos ? line_.size() : end;
    const std::size_t last = line_.find_last_not_of(' ', end - 1);
    const std::string scalar = line_.substr(start, last - start + 1);
    const std::string kind = line_.substr(word_, end_ - word_);
    return line_.substr(0, start) + "{" + main_key_of(kind) + ": " + quoted(scalar) + ", " +
           entry_ + "}" + line_.substr(last + 1);
  }

  std::string line_;
  std::string next_;
  std::string entry_;
  std::size_t word_ = 0;  ///< where the kind's word stands
  std::size_t end_ = 0;   ///< behind it
};

std::string line_of(const Sources& sources, const std::string& file, int line) {
  return std::string(sources.line(file, line).value_or(""));
}

std::string hunk(const Sources& sources, const LayerEdit& edit, int shift) {
  const std::string before = line_of(sources, edit.at.file, edit.at.line);
  const std::vector<std::string> after =
      EditedLine(before, line_of(sources, edit.at.file, edit.at.line + 1), edit).lines();
  std::string text = "@@ -" + std::to_string(edit.at.line) + " +" +
                     std::to_string(edit.at.line + shift) +
                     (after.size() > 1 ? "," + std::to_string(after.size()) : "") + " @@\n";
  text += "-" + before + "\n";
  for (const std::string& line : after) text += "+" + line + "\n";
  return text;
}

}  // namespace

std::string patch_text(const Sources& sources, const std::vector<LayerEdit>& edits) {
  std::vector<LayerEdit> sorted = edits;
  std::stable_sort(sorted.begin(), sorted.end(), [](const LayerEdit& a, const LayerEdit& b) {
    return std::tie(a.at.file, a.at.line) < std::tie(b.at.file, b.at.line);
  });
  std::string text;
  std::string file;
  int line = 0;
  int shift = 0;
  for (const LayerEdit& edit : sorted) {
    if (edit.at.file != file) {
      text += "--- " + edit.at.file + "\n+++ " + edit.at.file + "\n";
      file = edit.at.file;
      line = shift = 0;
    }
    if (edit.at.line == line) continue;
    line = edit.at.line;
    const std::string part = hunk(sources, edit, shift);
    shift += static_cast<int>(std::count(part.begin(), part.end(), '\n')) - 3;
    text += part;
  }
  return text;
}

}  // namespace shard
