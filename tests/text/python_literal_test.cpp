#include "text/python_literal.h"

#include <doctest/doctest.h>

#include "text/rendered.h"

namespace shard {
namespace {

using Kind = PythonValue::Kind;

PythonValue literal(const std::string& text) { return read_python_literal("a.py", text); }

std::string refused_literal(const std::string& text) {
  MemoryReader reader({});
  Sources sources(reader);
  sources.add("a.py", text);
  return rendered(sources, [&] { literal(text); });
}

// The value as one text that shows its kinds.
std::string shown(const PythonValue& value) {
  const auto items = [](const std::vector<PythonValue>& list) {
    std::string text;
    for (const PythonValue& item : list) text += (text.empty() ? "" : " ") + shown(item);
    return text;
  };
  std::string entries;
  for (const PythonEntry& entry : value.entries) {
    entries += " " + shown(entry.key) + ":" + shown(entry.value);
  }
  switch (value.kind) {
    case Kind::none:
      return "None";
    case Kind::string:
      return "'" + value.text + "'";
    case Kind::tuple:
      return "(" + items(value.items) + ")";
    case Kind::list:
      return "[" + items(value.items) + "]";
    case Kind::set:
      return "{" + items(value.items) + "}";
    case Kind::dict:
      return "dict" + entries;
    case Kind::call:
      return value.text + "<" + items(value.items) + entries + ">";
    case Kind::code:
      return "code`" + value.text + "`";
    default:
      return value.text;
  }
}

Location in_python(int line, int column, int length = 1) { return {"a.py", line, column, length}; }

}  // namespace

TEST_CASE("literals of every kind are read") {
  CHECK(shown(literal("None")) == "None");
  CHECK(shown(literal("[True, False, null]")) == "[True False null]");
  CHECK(shown(literal("(1, -2, 0x1F, 1_000, 1.5e-3, .5, 1., + 3)")) ==
        "(1 -2 0x1F 1_000 1.5e-3 .5 1. 3)");
  CHECK(shown(literal("()")) == "()");
  CHECK(shown(literal("('a')")) == "'a'");
  CHECK(shown(literal("('a',)")) == "('a')");
  CHECK(shown(literal("'a', 'b'")) == "('a' 'b')");
  CHECK(shown(literal("{'a': [1], 'b': {}}")) == "dict 'a':[1] 'b':dict");
  CHECK(shown(literal("{'a', 'b'}")) == "{'a' 'b'}");
  CHECK(shown(literal("P('x', None, unreduced={'y'})")) == "P<'x' None unreduced:{'y'}>");
  CHECK(shown(literal("jax.sharding.PartitionSpec()")) == "jax.sharding.PartitionSpec<>");
  CHECK(shown(literal("b'x'")) == "b'x'");
}

TEST_CASE("strings have prefixes and escapes and neighbours") {
  CHECK(literal(R"('it\'s')").text == "it's");
  CHECK(literal(R"("a\tb\\n\n")").text == "a\tb\\n\n");
  CHECK(literal(R"('\x41\101\u00e9\U0001F600')").text == "AA\xC3\xA9\xF0\x9F\x98\x80");
  CHECK(literal(R"('\q')").text == "\\q");
  CHECK(literal(R"(r'\d\'')").text == R"(\d\')");
  CHECK(literal("'em' \"bed\"").text == "embed");
  CHECK(literal("('em'  # half\n 'bed')").text == "embed");
  CHECK(literal("'''two\nlines'''").text == "two\nlines");
  CHECK(literal("'a\\\nb'").text == "ab");
  CHECK(literal("u'x'").text == "x");
}

TEST_CASE("blanks and comments and joined lines do not matter inside brackets") {
  const PythonValue rules = literal(
      "# rules\n"
      "(\n"
      "  ('batch', 'data'),  # first\n"
      "\n"
      "  ('embed',\n"
      "     None),\n"
      ")\n"
      "# end\n");
  CHECK(shown(rules) == "(('batch' 'data') ('embed' None))");
  CHECK(rules.at == in_python(2, 1));
  CHECK(rules.items[0].items[1].at == in_python(3, 13, 6));
  CHECK(rules.items[1].items[1].at == in_python(6, 6, 4));
  CHECK(shown(literal("[1, \\\r\n 2]\r\n")) == "[1 2]");
}

TEST_CASE("a text inside another file is placed there") {
  const PythonValue value = read_python_literal("f.json", "('a',\n 'b')", {"f.json", 7, 20, 1});
  CHECK(value.items[0].at == Location{"f.json", 7, 21, 3});
  CHECK(value.items[1].at == Location{"f.json", 8, 2, 3});
}

TEST_CASE("code in a literal is named with its place") {
  CHECK(refused_literal("[('a', x + 1), f'{y}', [z for z in q]]") ==
        "a.py:1:8: error: 'x + 1' is code, expected a literal value [not-a-literal]\n"
        "    1 | [('a', x + 1), f'{y}', [z for z in q]]\n"
        "      |        ^~~~~\n"
        "  hint: paste the value that Python prints for it\n"
        "a.py:1:16: error: 'f'{y}'' is code, expected a literal value [not-a-literal]\n"
        "    1 | [('a', x + 1), f'{y}', [z for z in q]]\n"
        "      |                ^~~~~~\n"
        "  hint: paste the value that Python prints for it\n"
        "a.py:1:25: error: 'z for z in q' is code, expected a literal value [not-a-literal]\n"
        "    1 | [('a', x + 1), f'{y}', [z for z in q]]\n"
        "      |                         ^~~~~~~~~~~~\n"
        "  hint: paste the value that Python prints for it\n");
}

TEST_CASE("what does not close is shown where it opened") {
  CHECK(refused_literal("[('a', 'b'), ('c'") ==
        "a.py:1:14: error: this '(' is never closed [python-syntax]\n"
        "    1 | [('a', 'b'), ('c'\n"
        "      |              ^\n");
  CHECK(refused_literal("['a', 'b]\n") ==
        "a.py:1:7: error: this quote is never closed [python-syntax]\n"
        "    1 | ['a', 'b]\n"
        "      |       ^\n");
  CHECK(refused_literal("('''a\nb'") ==
        "a.py:1:2: error: this quote is never closed [python-syntax]\n"
        "    1 | ('''a\n"
        "      |  ^~~\n");
}

TEST_CASE("what stands in the wrong place is named with what was expected") {
  CHECK(refused_literal("[('a', 'b'}]") ==
        "a.py:1:11: error: found '}', expected ',' or ')' [python-syntax]\n"
        "    1 | [('a', 'b'}]\n"
        "      |           ^\n");
  CHECK(refused_literal("[,]") ==
        "a.py:1:2: error: found ',', expected a value [python-syntax]\n"
        "    1 | [,]\n"
        "      |  ^\n");
  CHECK(refused_literal("('a', 'b')\n('c', 'd')\n") ==
        "a.py:2:1: error: found '(', expected the end of the text [python-syntax]\n"
        "    2 | ('c', 'd')\n"
        "      | ^\n");
  CHECK(refused_literal("[1, 12x]") ==
        "a.py:1:5: error: '12x' is not a number [python-syntax]\n"
        "    1 | [1, 12x]\n"
        "      |     ^~~\n");
  CHECK(refused_literal("  \n") ==
        "a.py:1:1: error: the text ends here, expected a value [python-syntax]\n"
        "    1 |   \n"
        "      | ^\n");
  CHECK(refused_literal("[x(]") ==
        "a.py:1:4: error: found ']', expected a value [python-syntax]\n"
        "    1 | [x(]\n"
        "      |    ^\n");
}

TEST_CASE("escapes that are no characters are refused") {
  CHECK(refused_literal(R"('\x4')") ==
        "a.py:1:2: error: this escape needs 2 hexadecimal digits [python-syntax]\n"
        "    1 | '\\x4'\n"
        "      |  ^~\n");
  CHECK(refused_literal(R"('\ud800')") ==
        "a.py:1:2: error: this escape is not a character [python-syntax]\n"
        "    1 | '\\ud800'\n"
        "      |  ^~~~~~\n");
  CHECK(refused_literal(R"('\N{DASH}')") ==
        "a.py:1:2: error: a character given by its name is not read here [python-syntax]\n"
        "    1 | '\\N{DASH}'\n"
        "      |  ^~\n"
        "  hint: write the character itself\n");
  CHECK(refused_literal("'\xFF'") ==
        "a.py:1:2: error: this byte is not UTF-8 text [python-syntax]\n"
        "    1 | '\xFF'\n"
        "      |  ^\n");
}

TEST_CASE("brackets nest a hundred deep and no deeper") {
  CHECK(shown(literal(std::string(100, '(') + ")" + std::string(99, ')'))) == "()");
  CHECK_THROWS_WITH(literal(std::string(101, '(') + std::string(101, ')')),
                    "a.py:1:101: error: brackets are nested more than 100 deep [too-deep]");
  std::string calls;
  for (int i = 0; i < 101; ++i) calls += "f(";
  CHECK_THROWS_WITH(literal(calls),
                    "a.py:1:202: error: brackets are nested more than 100 deep [too-deep]");
}

namespace {

std::string statements(const std::string& text) {
  std::string lines;
  for (const PythonStatement& one : read_python_statements("a.py", text)) {
    lines += std::to_string(one.at.line) + " " + one.target + (one.is_added ? " += " : " = ");
    for (const Diagnostic& problem : one.problems) lines += to_string(problem);
    lines += (one.problems.empty() ? shown(one.value) : "") + "\n";
  }
  return lines;
}

}  // namespace

TEST_CASE("the values of a source are found between its other statements") {
  CHECK(statements("import jax\n"
                   "from x import (a,\n"
                   "               b)\n"
                   "RULES: Rules = (('batch', 'data'),)\n"
                   "RULES += [('a', None)]; z = 3\n"
                   "@decorated(x=1)\n"
                   "def f(a, b=(1, 2)):\n"
                   "  '''doc\n"
                   "  string = 'no statement' '''\n"
                   "  return [('x', 'y')]\n"
                   "with rules_of([('p', 'q')]) as r, other():\n"
                   "  pass\n"
                   "a = b = 'c', 'd'\n"
                   "x[0] = 1\n"
                   "f(y := 3, lambda q: q == 1)\n"
                   "return\n") ==
        "4 RULES = (('batch' 'data'))\n"
        "5 RULES += [('a' None)]\n"
        "5 z = 3\n"
        "8  = 'doc\n  string = 'no statement' '\n"
        "10  = [('x' 'y')]\n"
        "11  = rules_of<[('p' 'q')]>\n"
        "13 a = ('c' 'd')\n"
        "14 x[0] = 1\n"
        "15  = f<code`y := 3` code`lambda q: q == 1`>\n");
}

TEST_CASE("gin's scopes and blocks are part of the names") {
  CHECK(statements("include 'base.gin'\n"
                   "train/f.x = 2\n"
                   "m.Partitioner:\n"
                   "  n = 2\n"
                   "  rules = @m.standard_rules()\n"
                   "k = %MACRO\n") ==
        "2 train/f.x = 2\n"
        "4 m.Partitioner.n = 2\n"
        "5 m.Partitioner.rules = code`@m.standard_rules()`\n"
        "6 k = code`%MACRO`\n");
}

TEST_CASE("a statement that cannot be read does not hide the next one") {
  CHECK(statements("bad = [(1, 2\n"
                   "worse = 'open\n"
                   "good = 1\n"
                   "odd = ) 2\n"
                   "fine = 2\n") ==
        "1 bad = a.py:2:9: error: this quote is never closed [python-syntax]\n"
        "2 worse = a.py:2:9: error: this quote is never closed [python-syntax]\n"
        "3 good = 1\n"
        "4 odd = a.py:4:7: error: found ')', expected a value [python-syntax]\n"
        "5 fine = 2\n");
}

TEST_CASE("a text with too many unreadable statements is given up") {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "f(\n";
  CHECK(read_python_statements("a.py", text).size() == 20);
}

TEST_CASE("values are described as messages call them") {
  CHECK(describe(literal("None")) == "None");
  CHECK(describe(literal("'a'")) == "text 'a'");
  CHECK(describe(literal("(1, 2)")) == "a tuple of 2");
  CHECK(describe(literal("[1]")) == "a list of 1");
  CHECK(describe(literal("{1}")) == "a set");
  CHECK(describe(literal("{}")) == "a dict");
  CHECK(describe(literal("f(1)")) == "a call of 'f'");
  CHECK(describe(literal("x.y")) == "'x.y'");
  CHECK(describe(read_python_statements("a.py", "x = 1 + 1\n")[0].value) == "the code '1 + 1'");
}

}  // namespace shard
