// The text form of a PartitionSpec: `P('data', None)`, as Python prints it, quotes optional.
#include <algorithm>

#include "config/read_spec.h"
#include "config/text_cursor.h"
#include "text/number.h"

namespace shard {
namespace {

bool is_none_word(std::string_view word) { return word == "None" || word == "null" || word == "~"; }

bool is_value_word(std::string_view word) {
  return word == "True" || word == "False" || read_number(word).has_value();
}

/// An entry of a spec or a member of a tuple, with the text it was read from.
struct Item {
  PartitionEntry entry;
  std::string_view word;
  Location at;
};

class SpecParser {
 public:
  SpecParser(std::string_view text, const Location& at) : cursor_(text, at) {}

  PartitionSpec spec() {
    cursor_.skip_blanks();
    cursor_.step();  // the P
    cursor_.take('(');
    PartitionSpec result;
    while (cursor_.peek() != ')') {
      if (!axis_set(result)) result.entries.push_back(entry());
      if (!cursor_.take(',')) break;
    }
    if (!cursor_.take(')')) fail(cursor_.found() + ", expected ',' or ')'");
    if (!cursor_.is_at_end()) fail(cursor_.found() + " behind the closing parenthesis");
    return result;
  }

 private:
  [[noreturn]] void fail(std::string message, std::string hint = "") const {
    throw Error("spec-syntax", cursor_.here(), std::move(message), std::move(hint));
  }

  PartitionEntry entry() {
    if (has_set_) fail("a dim behind unreduced= or reduced=", "write the dims first");
    for (const auto& [open, close] : {std::pair('(', ')'), std::pair('[', ']')}) {
      if (!cursor_.take(open)) continue;
      const std::vector<Item> items = items_until(close);
      // One member stands for itself, whatever it is.
      return items.size() == 1 ? items.front().entry : PartitionEntry{axes_of(items), false};
    }
    return item().entry;
  }

  /// `unreduced={'x', 'y'}` or `reduced={...}`, if that is what comes.
  bool axis_set(PartitionSpec& spec) {
    const std::size_t start = cursor_.offset();
    const std::string name(cursor_.take_word());
    const Location at = cursor_.place(start, name.size());
    if (name.empty() || !cursor_.take('=')) {
      cursor_.rewind(start);
      return false;
    }
    if (name != "unreduced" && name != "reduced") {
      throw Error("spec-syntax", at,
                  "'" + name + "=' is no part of a spec, expected unreduced= or reduced=",
                  "mesh axes stand without a name: P(data, None)");
    }
    std::set<MeshAxis>& axes = name == "unreduced" ? spec.unreduced : spec.reduced;
    if (!axes.empty()) throw Error("spec-syntax", at, "'" + name + "=' is given twice");
    axes = axis_names(name);
    has_set_ = true;
    check_apart(spec, at);
    return true;
  }

  std::set<MeshAxis> axis_names(const std::string& what) {
    for (const auto& [open, close] :
         {std::pair('{', '}'), std::pair('(', ')'), std::pair('[', ']')}) {
      if (!cursor_.take(open)) continue;
      const std::vector<Item> items = items_until(close);
      for (const Item& one : items) {
        if (one.entry.axes.size() == 1) continue;
        throw Error("spec-syntax", one.at,
                    what + " cannot contain " + std::string(one.word) + ", expected a mesh axis");
      }
      const std::vector<MeshAxis> axes = axes_of(items);
      return {axes.begin(), axes.end()};
    }
    fail(cursor_.found() + ", expected the mesh axes: " + what + "={x, y}");
  }

  /// An axis has one place: a dim, the unreduced ones or the reduced ones.
  static void check_apart(const PartitionSpec& spec, const Location& at) {
    for (const MeshAxis& axis : spec.unreduced) {
      if (spec.reduced.count(axis) == 0) continue;
      throw Error(
          "spec-syntax", at,
          "unreduced and reduced axes cannot overlap, and '" + axis.text() + "' is in both");
    }
    for (const PartitionEntry& entry : spec.entries) {
      for (const MeshAxis& axis : entry.axes) {
        const bool is_unreduced = spec.unreduced.count(axis) > 0;
        if (!is_unreduced && spec.reduced.count(axis) == 0) continue;
        throw Error("spec-syntax", at,
                    "partitions cannot overlap with " +
                        std::string(is_unreduced ? "unreduced" : "reduced") + " axes, and '" +
                        axis.text() + "' splits a dim too");
      }
    }
  }

  /// Behind the opening bracket, to the closing one.
  std::vector<Item> items_until(char close) {
    std::vector<Item> items;
    while (cursor_.peek() != close) {
      if (cursor_.peek() == '(' || cursor_.peek() == '[') {
        fail("a tuple inside a tuple", "one dim is split by one flat tuple of mesh axes");
      }
      items.push_back(item());
      if (!cursor_.take(',')) break;
    }
    if (!cursor_.take(close)) {
      fail(cursor_.found() + ", expected ',' or '" + std::string(1, close) + "'");
    }
    return items;
  }

  static std::vector<MeshAxis> axes_of(const std::vector<Item>& items) {
    std::vector<MeshAxis> axes;
    for (const Item& one : items) {
      if (one.entry.axes.size() != 1) {
        throw Error("spec-syntax", one.at,
                    "'" + std::string(one.word) + "' inside a tuple, expected a mesh axis");
      }
      axes.push_back(one.entry.axes.front());
    }
    return axes;
  }

  Item item() {
    Item made;
    const std::size_t start = cursor_.offset();
    const bool is_quoted = cursor_.peek() == '\'' || cursor_.peek() == '"';
    const std::string_view name = is_quoted ? quoted_name() : cursor_.take_word();
    if (name.empty() && !is_quoted) fail(cursor_.found() + ", expected a mesh axis or None");
    made.word = cursor_.since(start);
    made.at = cursor_.place(start, made.word.size());
    cursor_.skip_blanks();
    if (is_quoted) {
      if (!name.empty()) made.entry.axes.emplace_back(std::string(name));
    } else if (name == "UNCONSTRAINED" || name == "P.UNCONSTRAINED") {
      made.entry.is_unconstrained = true;
    } else if (is_value_word(name)) {
      throw Error("spec-syntax", made.at,
                  "'" + std::string(name) + "' is no name, expected a mesh axis or None");
    } else if (!is_none_word(name)) {
      made.entry.axes.emplace_back(std::string(name));
    }
    return made;
  }

  std::string_view quoted_name() {
    const std::size_t start = cursor_.offset();
    const char quote = cursor_.peek();
    cursor_.step();
    const std::string_view name = cursor_.take_until(std::string_view(&quote, 1));
    if (cursor_.is_at_end()) {
      throw Error("spec-syntax", cursor_.place(start, 1), "this quote is never closed");
    }
    cursor_.step();
    return name;
  }

  TextCursor cursor_;
  bool has_set_ = false;
};

}  // namespace

bool is_partition_text(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\n");
  return start != text.npos && text.substr(start).starts_with("P(");
}

PartitionSpec read_partition_text(std::string_view text, const Location& at) {
  if (!is_partition_text(text)) {
    throw Error("spec-syntax", at, "'" + std::string(text) + "' does not start with P(");
  }
  return SpecParser(text, at).spec();
}

}  // namespace shard
