#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>

#include "text/lines.h"
#include "text/read.h"
#include "text/tree_builder.h"
#include "text/utf8.h"

namespace shard {
namespace {

// nlohmann's SAX interface tells no positions, so its iterator moves a cursor that we can see.
class CursorIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CursorIterator(const char** cursor, const char* end) : cursor_(cursor), end_(end) {}
  reference operator*() const { return **cursor_; }
  CursorIterator& operator++() {
    ++*cursor_;
    return *this;
  }
  // The end iterator carries no cursor.
  friend bool operator==(const CursorIterator& a, const CursorIterator& b) {
    return a.here() == b.here();
  }

 private:
  const char* here() const { return cursor_ ? *cursor_ : end_; }

  const char** cursor_;
  const char* end_;
};

bool is_number_character(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/// Builds the tree; the parser calls it right after it has read each token.
class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonEvents(const std::string& file, std::string_view text)
      : file_(file), lines_(text), cursor_(text.data()), builder_(diagnostics_) {}

  const char** cursor() { return &cursor_; }
  const Diagnostics& diagnostics() const { return diagnostics_; }
  TextNode take_root() { return builder_.take_root(); }

  bool null() override {
    TextNode node;
    const std::size_t start = next_token();
    node.at = place(start, 4);
    done_ = start + 4;
    builder_.leaf(std::move(node), 0);
    return true;
  }
  bool boolean(bool value) override { return plain(next_token(), value ? "true" : "false"); }
  bool number_integer(number_integer_t) override { return number(); }
  bool number_unsigned(number_unsigned_t) override { return number(); }
  bool number_float(number_float_t, const string_t&) override { return number(); }
  bool string(string_t& value) override {
    const std::size_t start = next_token();
    TextNode node;
    node.kind = TextNode::Kind::scalar;
    node.quoted = true;
    node.at = place(start, read_so_far() - start);
    node.scalar = std::move(value);
    done_ = read_so_far();
    builder_.leaf(std::move(node), 0);
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(TextNode::Kind::map); }
  bool start_array(std::size_t) override { return open(TextNode::Kind::sequence); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    const std::size_t start = next_token();
    done_ = read_so_far();
    builder_.key(std::move(value), place(start, done_ - start));
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& problem) override;

 private:
  std::size_t read_so_far() const {
    return static_cast<std::size_t>(cursor_ - lines_.text().data());
  }
  // Where the token starts that was read last: behind the one before it, blanks, `,` and `:`.
  std::size_t next_token() const { return lines_.text().find_first_not_of(" \t\r\n,:", done_); }
  Location place(std::size_t offset, std::size_t length) const {
    return lines_.location_of(file_, offset, length);
  }

  bool plain(std::size_t start, std::string_view text) {
    TextNode node;
    node.kind = TextNode::Kind::scalar;
    node.scalar = text;
    node.at = place(start, text.size());
    done_ = start + text.size();
    builder_.leaf(std::move(node), 0);
    return true;
  }
  bool number() {
    const std::size_t start = next_token();
    std::size_t end = start;
    while (end < lines_.text().size() && is_number_character(lines_.text()[end])) ++end;
    return plain(start, lines_.text().substr(start, end - start));
  }
  bool open(TextNode::Kind kind) {
    const std::size_t start = next_token();
    done_ = start + 1;
    builder_.start(kind, place(start, 1), true, 0);
    return true;
  }
  bool close() {
    done_ = read_so_far();
    builder_.end();
    return true;
  }

  const std::string& file_;
  LineTable lines_;
  const char* cursor_;
  std::size_t done_ = 0;
  Diagnostics diagnostics_;
  TreeBuilder builder_;
};

// "[json...] parse error at line 1, column 5: syntax error while parsing value - WHAT; last read:
// 'TEXT'; expected X": keep `parsing value - WHAT; expected X`, the excerpt shows the rest.
std::string words_of(const std::string& what) {
  const std::size_t place_end = what.find(": ");
  std::string words = place_end == what.npos ? what : what.substr(place_end + 2);
  constexpr std::string_view prefix = "syntax error while ";
  if (words.starts_with(prefix)) words.erase(0, prefix.size());
  if (const std::size_t read = words.find("; last read: '"); read != words.npos) {
    const std::size_t end = words.rfind('\'');
    words.erase(read, end - read + 1);
  }
  return words;
}

bool JsonEvents::parse_error(std::size_t position, const std::string&,
                             const nlohmann::detail::exception& problem) {
  const std::size_t size = lines_.text().size();
  const std::size_t offset = position == 0 ? 0 : std::min(position - 1, size == 0 ? 0 : size - 1);
  diagnostics_.error("json-syntax", place(offset, 1), words_of(problem.what()));
  return false;
}

}  // namespace

TextNode read_json(const std::string& file, std::string_view text) {
  text = without_byte_order_mark(text);
  JsonEvents events(file, text);
  const char* end = text.data() + text.size();
  nlohmann::json::sax_parse(CursorIterator(events.cursor(), end), CursorIterator(nullptr, end),
                            &events);
  events.diagnostics().throw_if_errors();
  return events.take_root();
}

}  // namespace shard
