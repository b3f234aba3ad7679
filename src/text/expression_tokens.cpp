#include "text/expression_tokens.h"

#include <cctype>
#include <string>

#include "text/characters.h"
#include "text/number.h"

namespace shard {
namespace {

using TokenKind = ExpressionToken::Kind;

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}
class Tokenizer {
 public:
  Tokenizer(std::string_view text, const Location& at) : text_(text), at_(at) {}

  std::vector<ExpressionToken> all() {
    std::vector<ExpressionToken> tokens;
    do {
      tokens.push_back(next());
    } while (tokens.back().kind != TokenKind::end);
    return tokens;
  }

 private:
  Location place(std::size_t start, std::size_t length) const {
    return {at_.file, at_.line, at_.column + static_cast<int>(start), static_cast<int>(length)};
  }

  ExpressionToken token(TokenKind kind, std::size_t start) const {
    return {kind, text_.substr(start, next_ - start), 0, place(start, next_ - start)};
  }

  ExpressionToken next() {
    next_ = std::min(text_.size(), text_.find_first_not_of(" \t\r\n", next_));
    const std::size_t start = next_;
    if (start == text_.size()) return {TokenKind::end, {}, 0, place(start, 1)};
    const char first = text_[start];
    const bool is_number =
        is_digit(first) || (first == '.' && start + 1 < text_.size() && is_digit(text_[start + 1]));
    if (is_number) return number(start);
    if (is_name_start(first)) {
      while (next_ < text_.size() && is_name_part(text_[next_])) ++next_;
      return token(TokenKind::name, start);
    }
    if (first == '"' || first == '\'') return string(start);
    if (std::string_view("+-*/@()[],=").find(first) == std::string_view::npos) {
      throw Error("expression-syntax", place(start, 1),
                  "'" + std::string(1, first) + "' means nothing in an expression",
                  "an expression has values, numbers, + - * / @ and op(args, key=value)");
    }
    ++next_;
    return token(TokenKind::symbol, start);
  }

  ExpressionToken number(std::size_t start) {
    const auto is_part = [this](std::size_t i) {
      if (is_name_part(text_[i])) return true;
      const bool is_sign = text_[i] == '+' || text_[i] == '-';
      return is_sign && (text_[i - 1] == 'e' || text_[i - 1] == 'E');
    };
    while (next_ < text_.size() && is_part(next_)) ++next_;
    ExpressionToken found = token(TokenKind::number, start);
    const auto value = read_number(found.text);
    if (!value) {
      throw Error("expression-syntax", found.at,
                  "'" + std::string(found.text) + "' is not a number",
                  "a name starts with a letter");
    }
    found.number = *value;
    return found;
  }

  ExpressionToken string(std::size_t start) {
    const std::size_t end = text_.find(text_[start], start + 1);
    if (end == text_.npos) {
      throw Error("expression-syntax", place(start, 1), "this quote is never closed");
    }
    next_ = end + 1;
    ExpressionToken found = token(TokenKind::string, start);
    found.text = text_.substr(start + 1, end - start - 1);
    return found;
  }

  std::string_view text_;
  const Location& at_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<ExpressionToken> expression_tokens(std::string_view text, const Location& at) {
  return Tokenizer(text, at).all();
}

}  // namespace shard
