#include "model/equation.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "base/units.h"

namespace shard {
namespace {

constexpr std::string_view dots = "...";
constexpr std::string_view dot_digits = "0123456789";
constexpr std::size_t most_exact_inputs = 6;

struct Written {
  std::vector<std::string> inputs;
  std::string result;
  bool has_result = false;
};

/// Without blanks, cut at the commas and the arrow.
Written cut_equation(std::string_view text) {
  Written written;
  std::string bare(text);
  std::erase(bare, ' ');
  const std::size_t arrow = bare.find("->");
  written.has_result = arrow != bare.npos;
  if (written.has_result) written.result = bare.substr(arrow + 2);
  const std::string sources = bare.substr(0, arrow);
  for (std::size_t start = 0; start <= sources.size();) {
    const std::size_t end = std::min(sources.find(',', start), sources.size());
    written.inputs.push_back(sources.substr(start, end - start));
    start = end + 1;
  }
  return written;
}

bool are_letters(std::string term) {
  const std::size_t at = term.find(dots);
  if (at != term.npos) term.erase(at, dots.size());
  return std::all_of(term.begin(), term.end(),
                     [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
}

/// `...` as the digits of its `count` dims.
std::string with_digits(const std::string& term, std::size_t count) {
  const std::size_t at = term.find(dots);
  if (at == term.npos) return term;
  return term.substr(0, at) + std::string(dot_digits.substr(dot_digits.size() - count)) +
         term.substr(at + dots.size());
}

std::string shape_words(const Shape& shape) {
  return shape.size() == 1 ? "1 dim" : std::to_string(shape.size()) + " dims";
}

class EquationReader {
 public:
  EquationReader(std::string_view text, const std::vector<Shape>& shapes)
      : written_(cut_equation(text)), shapes_(shapes) {}

  std::variant<Equation, std::string> read() {
    if (written_.inputs.size() != shapes_.size()) {
      return "it has " + std::to_string(written_.inputs.size()) + " inputs, the layer has " +
             std::to_string(shapes_.size());
    }
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      if (const std::string mistake = add_input(k); !mistake.empty()) return mistake;
    }
    if (std::string mistake = set_result(); !mistake.empty()) return mistake;
    if (std::string mistake = unequal_sizes(); !mistake.empty()) return mistake;
    return equation_;
  }

 private:
  std::string add_input(std::size_t k) {
    const std::string& term = written_.inputs[k];
    if (!are_letters(term)) return "'" + term + "' is not made of letters";
    const bool has_dots = term.find(dots) != term.npos;
    const std::size_t letters = term.size() - (has_dots ? dots.size() : 0);
    const std::size_t rank = shapes_[k].size();
    if (has_dots ? letters > rank : letters != rank) {
      return "'" + term + "' has " + std::to_string(letters) + " letters, input " +
             std::to_string(k + 1) + " has " + shape_words(shapes_[k]);
    }
    if (rank - letters > dot_digits.size()) {
      return "'...' stands for " + std::to_string(rank - letters) + " dims, at most " +
             std::to_string(dot_digits.size()) + " are read";
    }
    most_dots_ = std::max(most_dots_, rank - letters);
    equation_.inputs.push_back(with_digits(term, rank - letters));
    all_ += equation_.inputs.back();
    return "";
  }

  std::string set_result() {
    equation_.result = written_.has_result ? with_digits(written_.result, most_dots_) : implied();
    const std::string& result = equation_.result;
    if (!are_letters(written_.result)) return "'" + written_.result + "' is not made of letters";
    for (const char letter : result) {
      if (!has_letter(all_, letter)) {
        return std::string("'") + letter + "' of the result is in no input";
      }
      if (std::count(result.begin(), result.end(), letter) > 1) {
        return std::string("the result has '") + letter + "' twice";
      }
    }
    return "";
  }

  std::string implied() const {
    std::string letters(dot_digits.substr(dot_digits.size() - most_dots_));
    std::string once;
    for (const char letter : all_) {
      const bool is_dot = has_letter(dot_digits, letter);
      if (!is_dot && std::count(all_.begin(), all_.end(), letter) == 1) once += letter;
    }
    std::sort(once.begin(), once.end());
    return letters + once;
  }

  /// Of the first letter that has two sizes which are not 1.
  std::string unequal_sizes() const {
    std::map<char, std::int64_t> seen;
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      for (std::size_t dim = 0; dim < shapes_[k].size(); ++dim) {
        const char letter = equation_.inputs[k][dim];
        const std::int64_t size = shapes_[k][dim];
        if (size == 1) continue;
        const auto [at, is_new] = seen.emplace(letter, size);
        if (is_new || at->second == size) continue;
        const std::string word =
            has_letter(dot_digits, letter) ? "a dim of '...'" : std::string("'") + letter + "'";
        return word + " is " + std::to_string(at->second) + " and, in input " +
               std::to_string(k + 1) + ", " + std::to_string(size);
      }
    }
    return "";
  }

  Written written_;
  const std::vector<Shape>& shapes_;
  Equation equation_;
  std::string all_;
  std::size_t most_dots_ = 0;
};

/// A multiplication per point, and an addition where something is summed.
double product_cost(const Equation& equation, const LetterSizes& sizes, std::size_t left,
                    std::size_t right) {
  std::string seen;
  double points = 1;
  for (const char letter : equation.inputs[left] + equation.inputs[right]) {
    if (has_letter(seen, letter)) continue;
    seen += letter;
    points *= static_cast<double>(sizes.at(letter));
  }
  return points * (seen.size() > product_letters(equation, left, right).size() ? 2 : 1);
}

Equation after_product(Equation equation, std::size_t left, std::size_t right) {
  std::string letters = product_letters(equation, left, right);
  equation.inputs.erase(equation.inputs.begin() + static_cast<std::ptrdiff_t>(right));
  equation.inputs.erase(equation.inputs.begin() + static_cast<std::ptrdiff_t>(left));
  equation.inputs.push_back(std::move(letters));
  return equation;
}

struct CheapestProduct {
  double cost = std::numeric_limits<double>::infinity();
  std::pair<std::size_t, std::size_t> pair;
};

/// The first of the cheapest ways to multiply all inputs, or the cheapest pair where there are too
/// many ways.
CheapestProduct cheapest_product(const Equation& equation, const LetterSizes& sizes) {
  const std::size_t count = equation.inputs.size();
  if (count < 2) return {0, {}};
  CheapestProduct best;
  for (std::size_t left = 0; left < count; ++left) {
    for (std::size_t right = left + 1; right < count; ++right) {
      double cost = product_cost(equation, sizes, left, right);
      if (count <= most_exact_inputs) {
        cost += cheapest_product(after_product(equation, left, right), sizes).cost;
      }
      if (cost < best.cost) best = {cost, {left, right}};
    }
  }
  return best;
}

}  // namespace

bool has_letter(std::string_view letters, char letter) {
  return letters.find(letter) != letters.npos;
}

std::variant<Equation, std::string> read_equation(std::string_view written,
                                                  const std::vector<Shape>& shapes) {
  return EquationReader(written, shapes).read();
}

LetterSizes letter_sizes(const Equation& equation, const std::vector<Shape>& shapes) {
  LetterSizes sizes;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    for (std::size_t dim = 0; dim < shapes[k].size(); ++dim) {
      std::int64_t& size = sizes.emplace(equation.inputs[k][dim], 1).first->second;
      size = std::max(size, shapes[k][dim]);
    }
  }
  return sizes;
}

std::string product_letters(const Equation& equation, std::size_t left, std::size_t right) {
  std::string others = equation.result;
  for (std::size_t k = 0; k < equation.inputs.size(); ++k) {
    if (k != left && k != right) others += equation.inputs[k];
  }
  const std::string &a = equation.inputs[left], &b = equation.inputs[right];
  std::string shared, alone;
  for (const char letter : a) {
    if (has_letter(others, letter)) (has_letter(b, letter) ? shared : alone) += letter;
  }
  for (const char letter : b) {
    if (has_letter(others, letter) && !has_letter(a, letter)) alone += letter;
  }
  return shared + alone;
}

std::pair<std::size_t, std::size_t> next_product(const Equation& equation,
                                                 const LetterSizes& sizes) {
  return cheapest_product(equation, sizes).pair;
}

}  // namespace shard
