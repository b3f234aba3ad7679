#pragma once
// The expressions of `let`: values, numbers, `+ - * / @`, and `op(args, key=value)` on one line.

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace shard {

struct Expression;

struct KeywordArgument {
  std::string key;
  Location at;
  std::vector<Expression> value;  ///< exactly one; a vector because Expression is incomplete here
};

/// A parsed expression; `at` counts columns inside the line of the file.
struct Expression {
  enum class Kind {
    number,  ///< `number`
    name,    ///< `text`: a value; dots allowed (`x.1`)
    call,    ///< `text(arguments..., keywords...)`
    unary,   ///< `-` arguments[0]
    binary,  ///< `text` is one of + - * / @
    list,    ///< `[a, b]` as an argument, e.g. axes=[embed]
    string,  ///< quoted text as an argument
  };
  Kind kind = Kind::number;
  std::string text;
  double number = 0;
  std::vector<Expression> arguments;
  std::vector<KeywordArgument> keywords;
  Location at;
};

struct Assignment {
  std::string name;  ///< empty when the text has no `NAME =`
  Location name_at;
  Expression value;
};

/// Reads `NAME = EXPRESSION` or `EXPRESSION`. Usual precedence, left associative; unary minus binds
/// tighter than `*`. `at` is where the text starts. Throws `Error` `expression-syntax`.
Assignment read_assignment(std::string_view text, const Location& at);

}  // namespace shard
