#include "config/read_spec.h"

#include "config/checked_map.h"
#include "config/scalars.h"
#include "config/text_cursor.h"

namespace shard {
namespace {

bool is_none_word(std::string_view word) { return word == "None" || word == "null" || word == "~"; }

class SpecParser {
 public:
  SpecParser(std::string_view text, const Location& at) : cursor_(text, at) {}

  PartitionSpec spec() {
    cursor_.skip_blanks();
    cursor_.step();  // the P
    cursor_.take('(');
    PartitionSpec result;
    while (cursor_.peek() != ')') {
      result.entries.push_back(entry());
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
    if (cursor_.take('(')) return tuple(')');
    if (cursor_.take('[')) return tuple(']');
    PartitionEntry result;
    const std::size_t start = cursor_.offset();
    const bool is_quoted = cursor_.peek() == '\'' || cursor_.peek() == '"';
    const std::string_view name = is_quoted ? quoted_name() : cursor_.take_word();
    if (name.empty() && !is_quoted) fail(cursor_.found() + ", expected a mesh axis or None");
    const Location at = cursor_.place(start, cursor_.offset() - start);
    refuse_keyword(name, at);
    if (!is_quoted && (name == "UNCONSTRAINED" || name == "P.UNCONSTRAINED")) {
      result.is_unconstrained = true;
    } else if (!name.empty() && (is_quoted || !is_none_word(name))) {
      result.axes.emplace_back(std::string(name));
    }
    return result;
  }

  // Behind the opening bracket.
  PartitionEntry tuple(char close) {
    PartitionEntry result;
    while (cursor_.peek() != close) {
      if (cursor_.peek() == '(' || cursor_.peek() == '[') {
        fail("a tuple inside a tuple", "one dim is split by one flat tuple of mesh axes");
      }
      const std::size_t start = cursor_.offset();
      const PartitionEntry member = entry();
      if (member.axes.size() != 1) {
        const std::string_view word = cursor_.since(start);
        throw Error("spec-syntax", cursor_.place(start, word.size()),
                    "'" + std::string(word) + "' inside a tuple, expected a mesh axis");
      }
      result.axes.push_back(member.axes.front());
      if (!cursor_.take(',')) break;
    }
    if (!cursor_.take(close)) {
      fail(cursor_.found() + ", expected ',' or '" + std::string(1, close) + "'");
    }
    return result;
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

  void refuse_keyword(std::string_view name, const Location& at) {
    cursor_.skip_blanks();
    if (cursor_.peek() != '=') return;
    if (name == "unreduced" || name == "reduced") {
      throw Error("not-yet", at, "'" + std::string(name) + "=' is not supported yet in a spec",
                  "leave it out: partial sums are completed where they arise");
    }
    fail("found '=', expected ',' or ')'");
  }

  TextCursor cursor_;
};

std::optional<SpecConfig> logical_spec(const TextNode& node, std::string_view what,
                                       Diagnostics& diagnostics) {
  LogicalSpec spec;
  bool is_good = true;
  for (const TextNode& item : node.items) {
    if (is_none(item)) {
      spec.names.emplace_back(std::nullopt);
    } else if (item.is_scalar() && !is_partition_text(item.scalar)) {
      spec.names.emplace_back(LogicalAxis(item.scalar));
    } else {
      is_good = false;
      report_type(item, "an item of " + std::string(what), "a logical axis or null", diagnostics,
                  "mesh axes are written P(...), without a list around it");
    }
  }
  if (!is_good) return std::nullopt;
  return SpecConfig{std::move(spec), node.at};
}

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

std::optional<SpecConfig> read_spec(const TextNode& node, std::string_view what,
                                    Diagnostics& diagnostics) {
  if (is_none(node)) return SpecConfig{std::monostate{}, node.at};
  if (node.is_sequence()) return logical_spec(node, what, diagnostics);
  if (!node.is_scalar()) {
    report_type(node, what, row_of(ValueKind::spec).expected, diagnostics);
    return std::nullopt;
  }
  if (!is_partition_text(node.scalar)) {
    const bool is_bare_axis = is_identifier(node.scalar);
    report_type(node, what, row_of(ValueKind::spec).expected, diagnostics,
                is_bare_axis ? "write [" + node.scalar + "] for a logical axis, P(" + node.scalar +
                                   ") for a mesh axis"
                             : "");
    return std::nullopt;
  }
  try {
    return SpecConfig{read_partition_text(node.scalar, content_at(node)), node.at};
  } catch (const Error& problem) {
    diagnostics.append(problem.diagnostics());
    return std::nullopt;
  }
}

}  // namespace shard
