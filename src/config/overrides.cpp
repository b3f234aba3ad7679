#include "config/overrides.h"

#include <algorithm>
#include <string_view>

#include "base/nearest.h"
#include "config/set_path.h"
#include "text/read.h"

namespace shard {
namespace {

// Blank lines and blanks in front give every node of the value the place it has on the line.
std::optional<TextNode> read_value(const std::string& flag, int line, std::size_t column,
                                   std::string_view text, Diagnostics& diagnostics) {
  const std::string padding =
      std::string(static_cast<std::size_t>(line - 1), '\n') + std::string(column - 1, ' ');
  try {
    TextNode value = read_yaml(flag, padding + std::string(text));
    if (!value.at.is_known()) value.at = {flag, line, static_cast<int>(column), 1};
    return value;
  } catch (const Error& problem) {
    diagnostics.append(problem.diagnostics());
    return std::nullopt;
  }
}

TextEntry& entry_of(TextNode& root, const std::string& key, TextNode::Kind kind) {
  for (TextEntry& entry : root.entries) {
    if (entry.key == key) return entry;
  }
  root.entries.push_back({key, {}, {}});
  root.entries.back().value.kind = kind;
  return root.entries.back();
}

void lay_size(TextNode& sizes, const TextEntry& size) {
  for (TextEntry& entry : sizes.entries) {
    if (entry.key != size.key) continue;
    entry = size;
    return;
  }
  sizes.entries.push_back(size);
}

}  // namespace

std::string as_lines(const std::vector<std::string>& texts) {
  std::string lines;
  for (const std::string& text : texts) {
    lines += text;
    std::replace(lines.end() - static_cast<std::ptrdiff_t>(text.size()), lines.end(), '\n', ' ');
    lines += '\n';
  }
  return lines;
}

void override_sizes(TextNode& root, const std::string& size_set, Sources& sources,
                    Diagnostics& diagnostics) {
  if (size_set.empty()) return;
  sources.add("--sizes", size_set);
  const TextNode* sets = root.find("size_sets");
  const TextNode* chosen = sets == nullptr ? nullptr : sets->find(size_set);
  if (chosen == nullptr) {
    std::vector<std::string> names;
    if (sets != nullptr) {
      for (const TextEntry& entry : sets->entries) names.push_back(entry.key);
    }
    diagnostics.error(
        "unknown-size-set", {"--sizes", 1, 1, static_cast<int>(size_set.size())},
        "there is no size set '" + size_set + "'",
        names.empty() ? "the model has no size_sets" : did_you_mean(size_set, names, "size sets"));
    return;
  }
  // `chosen` points into the tree that is changed.
  const std::vector<TextEntry> entries = chosen->entries;
  TextNode& sizes = entry_of(root, "sizes", TextNode::Kind::map).value;
  for (const TextEntry& size : entries) lay_size(sizes, size);
}

void override_paths(TextNode& root, const std::vector<std::string>& settings, Sources& sources,
                    Diagnostics& diagnostics) {
  if (settings.empty()) return;
  sources.add("--set", as_lines(settings));
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const std::string& text = settings[i];
    const int line = static_cast<int>(i) + 1;
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) {
      diagnostics.error("bad-override",
                        {"--set", line, 1, std::max(1, static_cast<int>(text.size()))},
                        "'" + text + "' is not PATH=VALUE",
                        "e.g. --set batch=64 or --set layers.0.repeat.scan=true");
      continue;
    }
    const auto value = read_value("--set", line, equals + 2,
                                  std::string_view(text).substr(equals + 1), diagnostics);
    if (!value) continue;
    const Location path_at{"--set", line, 1, static_cast<int>(equals)};
    set_path(root, model_table(), text.substr(0, equals), path_at, *value, diagnostics);
  }
}

TextNode read_axes_text(const std::string& flag, const std::string& text, Sources& sources,
                        Diagnostics& diagnostics) {
  sources.add(flag, text);
  TextNode axes;
  axes.kind = TextNode::Kind::map;
  axes.at = {flag, 1, 1, static_cast<int>(text.size())};
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string part = text.substr(start, end - start);
    const std::size_t equals = part.find('=');
    const int column = static_cast<int>(start) + 1;
    if (equals == part.npos || equals == 0) {
      diagnostics.error("bad-override",
                        {flag, 1, column, std::max(1, static_cast<int>(part.size()))},
                        "'" + part + "' is not AXIS=SIZE", "e.g. " + flag + " data=4,model=2");
    } else if (axes.find(part.substr(0, equals)) != nullptr) {
      diagnostics.error("bad-override", {flag, 1, column, static_cast<int>(equals)},
                        "mesh axis '" + part.substr(0, equals) + "' is given twice");
    } else {
      TextNode size;
      size.kind = TextNode::Kind::scalar;
      size.scalar = part.substr(equals + 1);
      size.at = {flag, 1, column + static_cast<int>(equals) + 1,
                 std::max(1, static_cast<int>(size.scalar.size()))};
      const Location key_at{flag, 1, column, static_cast<int>(equals)};
      axes.entries.push_back({part.substr(0, equals), key_at, std::move(size)});
    }
    start = end + 1;
  }
  return axes;
}

void override_mesh(TextNode& root, const std::string& mesh, Sources& sources,
                   Diagnostics& diagnostics) {
  if (mesh.empty()) return;
  TextNode axes = read_axes_text("--mesh", mesh, sources, diagnostics);
  TextEntry& entry = entry_of(root, "mesh", TextNode::Kind::map);
  entry.key_at = axes.at;
  entry.value = std::move(axes);
}

void add_rules(TextNode& root, const std::vector<std::string>& rules, Sources& sources,
               Diagnostics& diagnostics) {
  if (rules.empty()) return;
  sources.add("--add-rule", as_lines(rules));
  TextEntry& entry = entry_of(root, "rules", TextNode::Kind::sequence);
  if (!entry.value.is_sequence()) return;  // refused by the reader
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const int line = static_cast<int>(i) + 1;
    const auto rule = read_value("--add-rule", line, 1, rules[i], diagnostics);
    if (rule) entry.value.items.push_back(*rule);
  }
}

}  // namespace shard
