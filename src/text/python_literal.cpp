#include "text/python_literal.h"

#include <algorithm>
#include <array>

#include "text/python_parser.h"

namespace shard {
namespace {

using Kind = PythonValue::Kind;

// Statements that hold no value we could read, by their first word.
constexpr std::array<std::string_view, 22> valueless = {
    "assert", "async",   "break",    "case",    "class", "continue", "def",    "del",
    "elif",   "else",    "except",   "finally", "for",   "from",     "global", "if",
    "import", "include", "nonlocal", "pass",    "raise", "while"};

// After so many statements that cannot be read the text is not Python, and reading on only costs.
constexpr std::size_t max_problems = 20;

std::string first_line_of(const std::string& text) {
  constexpr std::size_t most = 40;
  const std::string line = text.substr(0, text.find('\n'));
  if (line.size() <= most) return line.size() == text.size() ? line : line + " ...";
  return line.substr(0, most) + "...";
}

void collect_code(const PythonValue& value, std::vector<Diagnostic>& found) {
  if (value.kind == Kind::code) {
    found.push_back({Severity::error, "not-a-literal", value.at,
                     "'" + first_line_of(value.text) + "' is code, expected a literal value",
                     "paste the value that Python prints for it"});
  }
  for (const PythonValue& item : value.items) collect_code(item, found);
  for (const PythonEntry& entry : value.entries) {
    collect_code(entry.key, found);
    collect_code(entry.value, found);
  }
}

class StatementReader {
 public:
  StatementReader(const std::string& file, std::string_view text) : parser_(file, text) {}

  std::vector<PythonStatement> read();

 private:
  void read_line();
  void read_statement();
  void read_assigned(PythonStatement statement);
  /// A header is followed by its lines, indented further.
  bool take_block_header(const PythonValue& header, std::size_t start);
  std::string_view word() const;

  PythonParser parser_;
  std::vector<PythonStatement> statements_;
  std::size_t problems_ = 0;
  std::string block_;
  int block_column_ = 0;
};

std::string_view StatementReader::word() const {
  const std::string_view name = parser_.dotted_name();
  return name.substr(0, name.find('.'));
}

std::vector<PythonStatement> StatementReader::read() {
  parser_.check_bytes();
  while (problems_ < max_problems) {
    parser_.skip_blank(true);
    while (parser_.take(";")) parser_.skip_blank(true);
    if (parser_.at_end()) break;
    read_line();
  }
  return std::move(statements_);
}

void StatementReader::read_line() {
  const std::size_t start = parser_.offset();
  const int column = parser_.place(start, 1).column;
  if (column <= block_column_) {
    block_.clear();
    block_column_ = 0;
  }
  const bool has_no_value =
      parser_.peek() == '@' ||
      std::find(valueless.begin(), valueless.end(), parser_.dotted_name()) != valueless.end();
  if (has_no_value) {
    if (!parser_.skip_logical_line()) ++problems_;
    return;
  }
  try {
    read_statement();
  } catch (const Error& error) {  // one statement that we cannot read must not hide the others
    PythonStatement statement;
    statement.at = parser_.place(start, 1);
    const std::string_view text = parser_.text();
    const std::size_t equals = text.find('=', start);
    if (equals < text.find('\n', start)) {  // enough of it stands to name it
      statement.target = text.substr(start, equals - start);
      statement.target.erase(statement.target.find_last_not_of(" \t+") + 1);
    }
    statement.problems = error.diagnostics();
    statements_.push_back(std::move(statement));
    ++problems_;
    parser_.go_to(start);
    parser_.skip_logical_line();
  }
}

void StatementReader::read_statement() {
  const std::string_view first = word();
  const bool is_bare = first == "return" || first == "yield" || first == "with";
  PythonStatement statement;
  if (is_bare) {
    parser_.advance(first.size());
    parser_.skip_blank(false);
    if (parser_.at_end() || parser_.peek() == '\n') return;  // a bare `return`
  }
  const std::size_t start = parser_.offset();
  if (first == "with") {  // `as NAME` and more managers may follow
    statement.value = parser_.operand({.colon = true, .equals = false, .line = true});
    statement.at = statement.value.at;
    statements_.push_back(std::move(statement));
    parser_.skip_logical_line();
    return;
  }
  statement.value = parser_.expression_list({.colon = true, .equals = true, .line = true});
  statement.at = statement.value.at;
  if (parser_.take(":")) {
    if (take_block_header(statement.value, start)) return;
    parser_.expression({.colon = false, .equals = true, .line = true});  // an annotation
    if (parser_.peek() != '=') return;
  }
  read_assigned(std::move(statement));
}

bool StatementReader::take_block_header(const PythonValue& header, std::size_t start) {
  parser_.skip_blank(false);
  if (!parser_.at_end() && parser_.peek() != '\n') return false;
  block_ = header.text;
  block_column_ = parser_.place(start, 1).column;
  return true;
}

void StatementReader::read_assigned(PythonStatement statement) {
  bool is_assigned = false;
  while (true) {
    const char sign = parser_.peek();
    const bool is_update = sign != '=' && parser_.peek(1) == '=';
    if (sign != '=' && !is_update) break;
    parser_.advance(is_update ? 2 : 1);
    if (!is_assigned) {
      statement.target =
          block_.empty() ? statement.value.text : block_ + "." + statement.value.text;
      statement.is_added = is_update && sign == '+';
    }
    is_assigned = true;
    parser_.skip_blank(false);
    statement.value = parser_.expression_list({.colon = false, .equals = true, .line = true});
  }
  if (!parser_.at_end() && parser_.peek() != '\n' && parser_.peek() != ';') {
    parser_.unexpected("the end of the line");
  }
  statements_.push_back(std::move(statement));
}

}  // namespace

std::string describe(const PythonValue& value) {
  switch (value.kind) {
    case Kind::none:
      return "None";
    case Kind::boolean:
    case Kind::number:
    case Kind::bytes:
    case Kind::name:
      return "'" + value.text + "'";
    case Kind::string:
      return "text '" + value.text + "'";
    case Kind::tuple:
      return "a tuple of " + std::to_string(value.items.size());
    case Kind::list:
      return "a list of " + std::to_string(value.items.size());
    case Kind::set:
      return "a set";
    case Kind::dict:
      return "a dict";
    case Kind::call:
      return "a call of '" + value.text + "'";
    case Kind::code:
      return "the code '" + first_line_of(value.text) + "'";
  }
  return "nothing";
}

std::vector<Diagnostic> code_in(const PythonValue& value) {
  std::vector<Diagnostic> found;
  collect_code(value, found);
  return found;
}

PythonValue read_python_literal(const std::string& file, std::string_view text,
                                const Location& start) {
  PythonParser parser(file, text, start);
  parser.check_bytes();
  parser.skip_blank(true);
  PythonValue value = parser.expression_list({.colon = false, .equals = false, .line = true});
  parser.skip_blank(true);
  if (!parser.at_end()) parser.unexpected("the end of the text");
  std::vector<Diagnostic> code = code_in(value);
  if (!code.empty()) throw Error(std::move(code));
  return value;
}

std::vector<PythonStatement> read_python_statements(const std::string& file,
                                                    std::string_view text) {
  return StatementReader(file, text).read();
}

}  // namespace shard
