#pragma once
// The equation of an einsum: a letter for each dim of the inputs and of the result, and in which
// order a product of several inputs costs least.

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/tensor_type.h"

namespace shard {

/// `...` is written out in digits, one per dim, the last dim as the last digit; letters stay.
struct Equation {
  std::vector<std::string> inputs;
  std::string result;
};

/// The equation for inputs of these shapes, or a sentence that says what is wrong. Without an arrow
/// the result has the dims of `...`, then the letters that occur once, in alphabetical order. All
/// sizes of a letter agree, but for 1, which is repeated.
std::variant<Equation, std::string> read_equation(std::string_view written,
                                                  const std::vector<Shape>& shapes);

/// Size of every letter.
using LetterSizes = std::map<char, std::int64_t>;
LetterSizes letter_sizes(const Equation& equation, const std::vector<Shape>& shapes);

/// Which two inputs to multiply next, left first, so that all products together cost least: exactly
/// for up to six inputs, else the cheapest pair.
std::pair<std::size_t, std::size_t> next_product(const Equation& equation,
                                                 const LetterSizes& sizes);

/// Letters of the product of two inputs that the result or another input has, in the order a
/// `dot` gives them: shared ones, of the left alone, of the right alone.
std::string product_letters(const Equation& equation, std::size_t left, std::size_t right);

bool has_letter(std::string_view letters, char letter);

}  // namespace shard
