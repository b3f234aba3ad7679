#include "text/expression.h"

#include <array>
#include <cstddef>
#include <utility>

#include "text/expression_tokens.h"

namespace shard {
namespace {

using Token = ExpressionToken;

constexpr int deepest = 100;

/// Operators by how tightly they bind; the rows of one level are left associative.
struct Level {
  std::string_view symbols;
};
constexpr std::array<Level, 2> levels = {{{"+-"}, {"*/@"}}};

std::string found(const Token& token) {
  if (token.kind == Token::Kind::end) return "the line ends";
  return "found '" + std::string(token.text) + "'";
}

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Assignment assignment() {
    Assignment result;
    if (peek().kind == Token::Kind::name && peek(1).is("=")) {
      result.name = std::string(peek().text);
      result.name_at = peek().at;
      if (result.name.find('.') != result.name.npos) {
        fail(peek(), "a new value's name has no '.'", "");
      }
      next_ += 2;
    }
    result.value = expression(0);
    if (peek().is(")") || peek().is("]")) fail(peek(), found(peek()) + ", but nothing is open", "");
    if (peek().kind != Token::Kind::end) {
      fail(peek(), found(peek()) + " after the end of the expression",
           peek().is("=") ? "one value is made per line: NAME = EXPRESSION"
                          : "an operator or a ',' is missing");
    }
    return result;
  }

 private:
  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
  }
  Token take() { return tokens_[std::min(next_++, tokens_.size() - 1)]; }

  [[noreturn]] static void fail(const Token& token, std::string message, std::string hint) {
    throw Error("expression-syntax", token.at, std::move(message), std::move(hint));
  }

  void expect(std::string_view symbol, std::string_view why) {
    if (!peek().is(symbol)) {
      fail(peek(), found(peek()) + ", expected '" + std::string(symbol) + "' " + std::string(why),
           "");
    }
    ++next_;
  }

  Expression expression(std::size_t level) {
    if (level == levels.size()) return unary();
    Expression left = expression(level + 1);
    while (peek().kind == Token::Kind::symbol &&
           levels[level].symbols.find(peek().text) != std::string_view::npos) {
      Expression node;
      node.kind = Expression::Kind::binary;
      node.text = std::string(peek().text);
      node.at = take().at;
      node.arguments.push_back(std::move(left));
      node.arguments.push_back(expression(level + 1));
      left = std::move(node);
    }
    return left;
  }

  Expression unary() {
    if (depth_ >= deepest) fail(peek(), "the expression is nested more than 100 deep", "");
    ++depth_;
    Expression node;
    if (peek().is("-")) {
      node.kind = Expression::Kind::unary;
      node.text = "-";
      node.at = take().at;
      node.arguments.push_back(unary());
    } else {
      node = primary();
    }
    --depth_;
    return node;
  }

  Expression primary() {
    Expression node;
    node.at = peek().at;
    if (peek().kind == Token::Kind::number) {
      node.kind = Expression::Kind::number;
      node.number = peek().number;
      node.text = std::string(take().text);
      return node;
    }
    if (peek().kind == Token::Kind::string) {
      node.kind = Expression::Kind::string;
      node.text = std::string(take().text);
      return node;
    }
    if (peek().kind == Token::Kind::name) return name_or_call();
    if (peek().is("[")) {
      ++next_;
      node.kind = Expression::Kind::list;
      while (!peek().is("]")) {
        node.arguments.push_back(expression(0));
        if (!peek().is(",")) break;
        ++next_;
      }
      expect("]", "at the end of the list");
      return node;
    }
    if (peek().is("(")) {
      ++next_;
      node = expression(0);
      expect(")", "after the expression in parentheses");
      return node;
    }
    fail(peek(), found(peek()) + ", expected a value, a number or op(...)", "");
  }

  Expression name_or_call() {
    Expression node;
    node.kind = Expression::Kind::name;
    node.text = std::string(peek().text);
    node.at = take().at;
    if (!peek().is("(")) return node;
    ++next_;
    node.kind = Expression::Kind::call;
    while (!peek().is(")")) {
      argument(node);
      if (!peek().is(",")) break;
      ++next_;
    }
    expect(")", "after the arguments of '" + node.text + "'");
    return node;
  }

  void argument(Expression& call) {
    if (peek().kind == Token::Kind::name && peek(1).is("=")) {
      KeywordArgument keyword;
      keyword.key = std::string(peek().text);
      keyword.at = peek().at;
      next_ += 2;
      for (const KeywordArgument& earlier : call.keywords) {
        if (earlier.key == keyword.key) {
          throw Error("expression-syntax", keyword.at,
                      "argument '" + keyword.key + "' is given twice");
        }
      }
      keyword.value.push_back(expression(0));
      call.keywords.push_back(std::move(keyword));
      return;
    }
    if (!call.keywords.empty()) {
      fail(peek(), "an argument without a name follows one with a name", "write key=value");
    }
    call.arguments.push_back(expression(0));
  }

  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  int depth_ = 0;
};

}  // namespace

Assignment read_assignment(std::string_view text, const Location& at) {
  return Parser(expression_tokens(text, at)).assignment();
}

}  // namespace shard
