#include "text/write_yaml.h"

#include <algorithm>

namespace shard {
namespace {

bool is_null_word(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

// Can the text stand unquoted, in block form or (stricter) inside brackets?
bool is_plain(std::string_view text, bool in_flow) {
  if (is_null_word(text) || text.front() == ' ' || text.back() == ' ' || text.back() == ':') {
    return false;
  }
  if (std::string_view("-?:,[]{}#&*!|>'\"%@`").find(text.front()) != text.npos) {
    // A minus sign starts a number; everything else here would start something of YAML's own.
    const bool is_minus = text.front() == '-' && text.size() > 1 && text[1] != ' ';
    if (!is_minus || text.starts_with("---")) return false;
  }
  if (text.find(": ") != text.npos || text.find(" #") != text.npos) return false;
  if (in_flow && text.find_first_of(",[]{}:?") != text.npos) return false;
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

std::string double_quoted(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\x";
      out += digits[byte >> 4U];
      out += digits[byte & 15U];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string key_text(const std::string& key, bool in_flow) {
  return is_plain(key, in_flow) && key != "<<" ? key : double_quoted(key);
}

std::string scalar_text(const TextNode& node, bool in_flow) {
  if (node.is_null()) return "null";
  return !node.quoted && is_plain(node.scalar, in_flow) ? node.scalar : double_quoted(node.scalar);
}

std::string flow_text(const TextNode& node) {
  if (!node.is_sequence() && !node.is_map()) return scalar_text(node, true);
  std::string text;
  for (const TextNode& item : node.items) text += (text.empty() ? "" : ", ") + flow_text(item);
  for (const TextEntry& entry : node.entries) {
    text += (text.empty() ? "" : ", ") + key_text(entry.key, true) + ": " + flow_text(entry.value);
  }
  return node.is_map() ? "{" + text + "}" : "[" + text + "]";
}

// Would the one-line form quote a scalar that is plain in block form?
bool keeps_plain_scalars_in_flow(const TextNode& node) {
  if (node.is_scalar()) {
    return node.quoted || is_plain(node.scalar, true) || !is_plain(node.scalar, false);
  }
  return std::all_of(node.items.begin(), node.items.end(), keeps_plain_scalars_in_flow) &&
         std::all_of(node.entries.begin(), node.entries.end(), [](const TextEntry& entry) {
           return keeps_plain_scalars_in_flow(entry.value);
         });
}

class BlockWriter {
 public:
  explicit BlockWriter(const std::function<bool(const TextNode&, int)>& may_be_one_line)
      : may_be_one_line_(may_be_one_line) {}

  // `lead` is what stands on the line already: the indentation, `- ` or `key: `.
  void write(const TextNode& node, const std::string& lead, const Location& at, std::size_t indent,
             int depth) {
    if (fits_one_line(node, depth)) {
      lines_.push_back(
          {lead + (is_container(node) ? flow_text(node) : scalar_text(node, false)), at});
      return;
    }
    std::string first = lead;
    if (!first.empty() && first.ends_with(": ")) {
      first.pop_back();
      lines_.push_back({first, at});
      first.clear();
    }
    for (const TextNode& item : node.items) {
      const std::string lead_of_item = take_lead(first, indent) + "- ";
      // `- dense: hidden` is one line without braces.
      if (item.is_map() && item.entries.size() == 1) {
        const TextEntry& entry = item.entries.front();
        write(entry.value, lead_of_item + key_text(entry.key, false) + ": ", item.at, indent + 4,
              depth + 2);
      } else {
        write(item, lead_of_item, item.at, indent + 2, depth + 1);
      }
    }
    for (const TextEntry& entry : node.entries) {
      write(entry.value, take_lead(first, indent) + key_text(entry.key, false) + ": ", entry.key_at,
            indent + 2, depth + 1);
    }
  }

  std::vector<YamlLine> take() { return std::move(lines_); }

 private:
  static bool is_container(const TextNode& node) { return node.is_map() || node.is_sequence(); }

  bool fits_one_line(const TextNode& node, int depth) const {
    if (!is_container(node) || (node.items.empty() && node.entries.empty())) return true;
    return may_be_one_line_(node, depth) && keeps_plain_scalars_in_flow(node);
  }

  // The first child of a list item goes on the item's own line.
  static std::string take_lead(std::string& first, std::size_t indent) {
    std::string lead = first.empty() ? std::string(indent, ' ') : first;
    first.clear();
    return lead;
  }

  const std::function<bool(const TextNode&, int)>& may_be_one_line_;
  std::vector<YamlLine> lines_;
};

}  // namespace

std::vector<YamlLine> write_yaml_lines(
    const TextNode& node,
    const std::function<bool(const TextNode& node, int depth)>& may_be_one_line) {
  BlockWriter writer(may_be_one_line);
  writer.write(node, "", node.at, 0, 0);
  return writer.take();
}

std::string write_yaml(const TextNode& node, int block_depth) {
  std::string text;
  const auto is_deep = [=](const TextNode&, int depth) { return depth >= block_depth; };
  for (const YamlLine& line : write_yaml_lines(node, is_deep)) text += line.text + '\n';
  return text;
}

std::string write_yaml_flow(const TextNode& node) { return flow_text(node); }

}  // namespace shard
