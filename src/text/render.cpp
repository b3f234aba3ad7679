#include "text/render.h"

#include <algorithm>

#include "text/utf8.h"

namespace shard {
namespace {

constexpr std::size_t widest_excerpt = 120;
constexpr std::size_t kept_before_place = 40;

/// A piece of a line and the place in it, in bytes from 0.
struct Excerpt {
  std::string text;
  std::size_t start = 0;
  std::size_t length = 1;
};

bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

// A place inside a code point moves to its start, so that a cut never splits one.
std::size_t code_point_start(std::string_view line, std::size_t at) {
  at = std::min(at, line.size());
  while (at > 0 && at < line.size() && !starts_code_point(line[at])) --at;
  return at;
}

Excerpt cut(std::string_view line, std::size_t start, std::size_t length) {
  start = std::min(start, line.size());
  std::size_t first = 0;
  std::string lead;
  if (line.size() > widest_excerpt && start > kept_before_place) {
    first = code_point_start(line, start - kept_before_place);
    lead = "...";
  }
  const std::size_t end = code_point_start(line, std::min(line.size(), first + widest_excerpt));
  std::string text = lead + std::string(line.substr(first, end - first));
  if (end < line.size()) text += "...";
  return {std::move(text), start - first + lead.size(),
          std::max<std::size_t>(1, std::min(length, end - std::min(start, end)))};
}

std::string without_control_characters(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7F) c = '?';
  }
  return text;
}

// Blanks as wide as the text before the place; tabs stay tabs, so both lines bend alike.
std::string padding(std::string_view before) {
  std::string pad;
  for (const char c : before) {
    if (starts_code_point(c)) pad += c == '\t' ? '\t' : ' ';
  }
  return pad;
}

std::string gutter(const std::string& number) {
  return std::string(number.size() < 5 ? 5 - number.size() : 0, ' ') + number + " | ";
}

std::string excerpt_text(const Location& at, std::string_view line) {
  const Excerpt part =
      cut(line, static_cast<std::size_t>(at.column - 1), static_cast<std::size_t>(at.length));
  const std::string_view text = part.text;
  const std::string number = std::to_string(at.line);
  const std::size_t run = std::max<std::size_t>(
      1, code_points(text.substr(std::min(part.start, text.size()), part.length)));
  return gutter(number) + without_control_characters(part.text) + '\n' +
         gutter(std::string(number.size(), ' ')) + padding(text.substr(0, part.start)) + '^' +
         std::string(run - 1, '~') + '\n';
}

}  // namespace

std::string render(const Diagnostic& diagnostic, const Sources& sources) {
  Diagnostic head = diagnostic;
  head.hint.clear();
  std::string text = to_string(head) + '\n';
  const Location& at = diagnostic.at;
  if (at.is_known() && at.column > 0) {
    if (const auto line = sources.line(at.file, at.line)) text += excerpt_text(at, *line);
  }
  if (!diagnostic.hint.empty()) text += "  hint: " + diagnostic.hint + '\n';
  return text;
}

std::string render(const std::vector<Diagnostic>& diagnostics, const Sources& sources) {
  std::string text;
  for (const Diagnostic& one : diagnostics) text += render(one, sources);
  return text;
}

}  // namespace shard
