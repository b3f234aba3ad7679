#pragma once
// The words of a `let` line.

#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace shard {

struct ExpressionToken {
  enum class Kind { name, number, string, symbol, end };
  Kind kind = Kind::end;
  std::string_view text;  ///< of a string: without its quotes
  double number = 0;
  Location at;

  bool is(std::string_view symbol) const { return kind == Kind::symbol && text == symbol; }
};

/// The tokens of `text`, which must outlive them; the last one has kind `end`. Throws `Error`
/// `expression-syntax`.
std::vector<ExpressionToken> expression_tokens(std::string_view text, const Location& at);

}  // namespace shard
