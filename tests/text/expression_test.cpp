#include "text/expression.h"

#include <doctest/doctest.h>

#include "text/rendered.h"

namespace shard {
namespace {

// Fully parenthesised, so that a test shows precedence.
std::string shown(const Expression& node) {
  using Kind = Expression::Kind;
  std::string inside;
  for (const Expression& one : node.arguments) inside += (inside.empty() ? "" : ", ") + shown(one);
  for (const KeywordArgument& one : node.keywords) {
    inside += (inside.empty() ? "" : ", ") + one.key + "=" + shown(one.value.front());
  }
  switch (node.kind) {
    case Kind::number:
    case Kind::name:
      return node.text;
    case Kind::call:
      return node.text + "(" + inside + ")";
    case Kind::unary:
      return "(-" + inside + ")";
    case Kind::binary:
      return "(" + shown(node.arguments[0]) + " " + node.text + " " + shown(node.arguments[1]) +
             ")";
    case Kind::list:
      return "[" + inside + "]";
    case Kind::string:
      return "'" + node.text + "'";
  }
  return "";
}

std::string shown(const std::string& text) {
  const Assignment read = read_assignment(text, {"m.yaml", 3, 10, 1});
  return (read.name.empty() ? "" : read.name + " = ") + shown(read.value);
}

std::string refused_assignment(const std::string& text) {
  MemoryReader reader({});
  Sources sources(reader);
  sources.add("--let", text);
  return rendered(sources, [&] { read_assignment(text, {"--let", 1, 1, 1}); });
}

}  // namespace

TEST_CASE("read_assignment knows precedence and is left associative") {
  CHECK(shown("h = silu(gate) * up") == "h = (silu(gate) * up)");
  CHECK(shown("a + b * c - d") == "((a + (b * c)) - d)");
  CHECK(shown("a / b / c @ w") == "(((a / b) / c) @ w)");
  CHECK(shown("-a * b") == "((-a) * b)");
  CHECK(shown("a * -(b + 1)") == "(a * (-(b + 1)))");
  CHECK(shown("--x") == "(-(-x))");
}

TEST_CASE("read_assignment reads calls with lists and strings and keywords") {
  CHECK(shown("y = reduce_sum(x, axes=[embed, 1], keep=true)") ==
        "y = reduce_sum(x, axes=[embed, 1], keep=true)");
  CHECK(shown("einsum('ij,jk->ik', x, w)") == "einsum('ij,jk->ik', x, w)");
  CHECK(shown("f()") == "f()");
  CHECK(shown("f(a,)") == "f(a)");
  CHECK(shown("x.1 + 1e-3") == "(x.1 + 1e-3)");
}

TEST_CASE("read_assignment reads numbers as numbers") {
  CHECK(read_assignment("1e-3", {}).value.number == 1e-3);
  CHECK(read_assignment("4_096", {}).value.number == 4096);
}

TEST_CASE("an expression counts columns from where its text starts") {
  const Assignment read = read_assignment("h = silu(gate) * up", {"m.yaml", 3, 10, 1});
  CHECK(read.name_at == Location{"m.yaml", 3, 10, 1});
  CHECK(read.value.at == Location{"m.yaml", 3, 25, 1});
  CHECK(read.value.arguments[0].at == Location{"m.yaml", 3, 14, 4});
  CHECK(read.value.arguments[0].arguments[0].at == Location{"m.yaml", 3, 19, 4});
  CHECK(read.value.arguments[1].at == Location{"m.yaml", 3, 27, 2});
}

TEST_CASE("a bad expression is shown with the place inside it") {
  CHECK(refused_assignment("h = silu(gate * up") ==
        "--let:1:19: error: the line ends, expected ')' after the arguments of 'silu' "
        "[expression-syntax]\n"
        "    1 | h = silu(gate * up\n"
        "      |                   ^\n");
  CHECK(refused_assignment("a +") ==
        "--let:1:4: error: the line ends, expected a value, a number or op(...) "
        "[expression-syntax]\n"
        "    1 | a +\n"
        "      |    ^\n");
  CHECK(refused_assignment("a b") ==
        "--let:1:3: error: found 'b' after the end of the expression [expression-syntax]\n"
        "    1 | a b\n"
        "      |   ^\n"
        "  hint: an operator or a ',' is missing\n");
  CHECK(refused_assignment("a = b = c") ==
        "--let:1:7: error: found '=' after the end of the expression [expression-syntax]\n"
        "    1 | a = b = c\n"
        "      |       ^\n"
        "  hint: one value is made per line: NAME = EXPRESSION\n");
  CHECK(refused_assignment("a)") ==
        "--let:1:2: error: found ')', but nothing is open [expression-syntax]\n"
        "    1 | a)\n"
        "      |  ^\n");
  CHECK(refused_assignment("a % b") ==
        "--let:1:3: error: '%' means nothing in an expression [expression-syntax]\n"
        "    1 | a % b\n"
        "      |   ^\n"
        "  hint: an expression has values, numbers, + - * / @ and op(args, key=value)\n");
  CHECK(refused_assignment("2x") ==
        "--let:1:1: error: '2x' is not a number [expression-syntax]\n"
        "    1 | 2x\n"
        "      | ^~\n"
        "  hint: a name starts with a letter\n");
  CHECK(refused_assignment("f('ij)") ==
        "--let:1:3: error: this quote is never closed [expression-syntax]\n"
        "    1 | f('ij)\n"
        "      |   ^\n");
  CHECK(refused_assignment("f(a=1, a=2)") ==
        "--let:1:8: error: argument 'a' is given twice [expression-syntax]\n"
        "    1 | f(a=1, a=2)\n"
        "      |        ^\n");
  CHECK(refused_assignment("f(a=1, b)") ==
        "--let:1:8: error: an argument without a name follows one with a name "
        "[expression-syntax]\n"
        "    1 | f(a=1, b)\n"
        "      |        ^\n"
        "  hint: write key=value\n");
  CHECK(refused_assignment("x.1 = x") ==
        "--let:1:1: error: a new value's name has no '.' [expression-syntax]\n"
        "    1 | x.1 = x\n"
        "      | ^~~\n");
  CHECK(refused_assignment("[a, b") ==
        "--let:1:6: error: the line ends, expected ']' at the end of the list "
        "[expression-syntax]\n"
        "    1 | [a, b\n"
        "      |      ^\n");
  CHECK(refused_assignment("(a") ==
        "--let:1:3: error: the line ends, expected ')' after the expression in parentheses "
        "[expression-syntax]\n"
        "    1 | (a\n"
        "      |   ^\n");
}

TEST_CASE("deep nesting in an expression is refused before the stack ends") {
  const std::string text = std::string(100000, '(') + "x";
  CHECK_THROWS_WITH_AS(read_assignment(text, {"m.yaml", 1, 1, 1}),
                       "m.yaml:1:101: error: the expression is nested more than 100 deep "
                       "[expression-syntax]",
                       Error);
  CHECK_THROWS_AS(read_assignment(std::string(100000, '-') + "x", {"m.yaml", 1, 1, 1}), Error);
}

}  // namespace shard
