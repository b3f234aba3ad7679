#include <algorithm>
#include <optional>

#include "config/load.h"
#include "config/read_spec.h"
#include "text/read.h"
#include "text/utf8.h"
#include "text/write_yaml.h"

namespace shard {
namespace {

constexpr std::size_t widest_line = 80;
constexpr std::size_t comment_column_at_most = 60;

/// Follows a tree as long as everything in it was written in one line of one file.
struct Origin {
  std::optional<Location> line;
  bool is_one = true;

  void meet(const Location& at) {
    if (!line) {
      line = at;
    } else if (line->file != at.file || line->line != at.line) {
      is_one = false;
    }
  }
  void walk(const TextNode& node) {
    for (const TextNode& item : node.items) {
      meet(item.at);
      walk(item);
    }
    for (const TextEntry& entry : node.entries) {
      meet(entry.key_at);
      meet(entry.value.at);
      walk(entry.value);
    }
  }
};

bool may_be_one_line(const TextNode& node, int depth) {
  if (depth == 0) return false;
  Origin origin;
  origin.meet(node.at);
  origin.walk(node);
  return origin.is_one &&
         write_yaml_flow(node).size() + static_cast<std::size_t>(depth) * 2 < widest_line;
}

std::string origin_text(const Location& at, const std::string& file) {
  const std::string& name = at.file.empty() ? file : at.file;
  const bool is_flag = name.starts_with("--");
  return at.line > 0 && !is_flag ? name + ':' + std::to_string(at.line) : name;
}

}  // namespace

std::string write_resolved(const MergedDocument& document) {
  Diagnostics problems;
  problems.append(document.problems);
  problems.throw_if_errors();
  const std::vector<YamlLine> lines = write_yaml_lines(document.root, may_be_one_line);
  std::size_t column = 0;
  for (const YamlLine& line : lines) column = std::max(column, code_points(line.text));
  column = std::min(column, comment_column_at_most);
  std::string text;
  for (const YamlLine& line : lines) {
    const std::size_t width = code_points(line.text);
    text += line.text + std::string(column > width ? column - width : 0, ' ') + "  # " +
            origin_text(line.at, document.file) + '\n';
  }
  return text;
}

SpecConfig read_spec_text(const std::string& text, const Location& at) {
  if (is_partition_text(text)) return {read_partition_text(text, at), at};
  if (is_tiles_text(text)) return {ShardingText{text}, at};
  const int line = std::max(at.line, 1);
  const int column = std::max(at.column, 1);
  const std::string padding = std::string(static_cast<std::size_t>(line - 1), '\n') +
                              std::string(static_cast<std::size_t>(column - 1), ' ');
  Diagnostics diagnostics;
  const auto spec = read_spec(read_yaml(at.file, padding + text), "the spec", diagnostics);
  diagnostics.throw_if_errors();
  return *spec;
}

}  // namespace shard
