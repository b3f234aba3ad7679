// The typing rule of einsum: sums of letters that one operand alone has, then products of two
// operands at a time, then the letters in the order asked for.

#include <algorithm>
#include <limits>
#include <map>

#include "shard/explicit_rules.h"

namespace shard::typing {
namespace {

struct Term {
  ShardedType value;
  std::string letters;
};

/// `...` as letters of its own, one per dim that the other letters leave.
constexpr std::string_view ellipsis_letters = "0123456789";

class Einsum {
 public:
  explicit Einsum(const TypingCall& call) : call_(call) {
    std::string text = find(call.parameters, "subscripts")->text();
    std::erase(text, ' ');
    const std::size_t arrow = text.find("->");
    std::vector<std::string> inputs = split_text(text.substr(0, arrow));
    for (std::size_t k = 0; k < call.operands.size(); ++k) {
      const std::string letters = expand(inputs[k], call.operands[k].rank());
      written_ += letters;
      terms_.push_back(without_repeats({call.operands[k], letters}));
    }
    asked_ = arrow == text.npos ? implied() : expand(text.substr(arrow + 2), most_dots_);
  }

  ShardedTypes type() {
    if (terms_.size() == 1) return single();
    for (std::size_t k = 0; k < terms_.size(); ++k) sum_lone(k);
    if (terms_.size() > 2) return several();
    const Term product = pair(terms_[0], terms_[1], asked_, call_.out);
    return ordered(product, call_.out);
  }

 private:
  static std::vector<std::string> split_text(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char letter : text) {
      if (letter == ',') {
        parts.emplace_back();
      } else {
        parts.back() += letter;
      }
    }
    return parts;
  }

  /// `rank` is the operand's, or for the result the number of dims that `...` stands for there.
  std::string expand(const std::string& term, std::size_t rank) {
    const std::size_t dots = term.find("...");
    if (dots == term.npos) return term;
    const bool is_result = terms_.size() == call_.operands.size();
    const std::size_t count = is_result ? rank : rank - (term.size() - 3);
    most_dots_ = std::max(most_dots_, count);
    const std::string letters(ellipsis_letters.substr(ellipsis_letters.size() - count));
    return term.substr(0, dots) + letters + term.substr(dots + 3);
  }

  /// A letter twice is the diagonal, which is picked by a mask that is whole.
  Term without_repeats(Term term) const {
    Dims repeats;
    for (std::size_t dim = 0; dim < term.letters.size(); ++dim) {
      if (term.letters.find(term.letters[dim]) < dim) repeats.push_back(dim);
    }
    if (repeats.empty()) return term;
    const ShardedType mask = make_type(call_.mesh, {"bool"}, term.value.shape, {});
    check_cases(call_, mask, {term.value});
    term.value.shape = without(term.value.shape, repeats);
    term.value.entries = without(term.value.entries, repeats);
    for (auto dim = repeats.rbegin(); dim != repeats.rend(); ++dim) term.letters.erase(*dim, 1);
    return term;
  }

  /// Without an arrow: the letters that occur once, in alphabetical order.
  std::string implied() const {
    std::map<char, int> counts;
    for (const char letter : written_) ++counts[letter];
    std::string letters;
    for (const auto& [letter, count] : counts) {
      if (count == 1 || ellipsis_letters.find(letter) != ellipsis_letters.npos) letters += letter;
    }
    return letters;
  }

  static bool has(const std::string& letters, char letter) {
    return letters.find(letter) != letters.npos;
  }

  Term summed(const Term& term, const std::string& others, const PartitionSpec* out) const {
    Dims lone;
    Term kept;
    for (std::size_t dim = 0; dim < term.letters.size(); ++dim) {
      if (has(others, term.letters[dim])) {
        kept.letters += term.letters[dim];
      } else {
        lone.push_back(dim);
      }
    }
    if (lone.empty()) return term;
    kept.value = type_one(call_.mesh, "lax.reduce_sum", {term.value}, {{"axes", lone}}, out);
    return kept;
  }

  void sum_lone(std::size_t at) {
    std::string others = asked_;
    for (std::size_t k = 0; k < terms_.size(); ++k) {
      if (k != at) others += terms_[k].letters;
    }
    terms_[at] = summed(terms_[at], others, nullptr);
  }

  /// Of one operand only a sum uses the out_sharding, in the sum's own order of dims.
  ShardedTypes single() const {
    if (call_.out != nullptr) written_entries(call_.mesh, call_.op, *call_.out);
    return ordered(summed(terms_[0], asked_, call_.out), nullptr);
  }

  ShardedTypes ordered(const Term& term, const PartitionSpec* out) const {
    Dims dims;
    for (const char letter : asked_) dims.push_back(term.letters.find(letter));
    if (out != nullptr) {
      return {written_type(call_.mesh, call_.op, term.value.element, picked(term.value.shape, dims),
                           *out)};
    }
    if (dims.empty()) return {term.value};
    return type_op({call_.mesh, "lax.transpose", {term.value}, {{"permutation", dims}}});
  }

  /// The product of two terms; they change sides unless their order gives `letters` at once.
  Term pair(const Term& first, const Term& second, const std::string& letters,
            const PartitionSpec* out) const {
    const Term* lhs = &first;
    const Term* rhs = &second;
    std::string order = order_of(*lhs, *rhs, letters);
    if (order != letters) {
      std::swap(lhs, rhs);
      order = order_of(*lhs, *rhs, letters);
    }
    std::string batch;
    std::string contracted;
    for (const char letter : first.letters) {
      if (!has(second.letters, letter)) continue;
      (has(letters, letter) ? batch : contracted) += letter;
    }
    const auto dims = [](const Term& term, const std::string& group) {
      Dims all;
      for (const char letter : group) all.push_back(term.letters.find(letter));
      return all;
    };
    Parameters parameters = {
        {"dimension_numbers",
         Parameter::List{Parameter::List{dims(*lhs, contracted), dims(*rhs, contracted)},
                         Parameter::List{dims(*lhs, batch), dims(*rhs, batch)}}}};
    if (const Parameter* element = find(call_.parameters, "preferred_element_type")) {
      parameters.emplace("preferred_element_type", *element);
    }
    std::optional<PartitionSpec> permuted;
    if (out != nullptr) permuted = permute(*out, letters, order);
    return {type_one(call_.mesh, "lax.dot_general", {lhs->value, rhs->value}, parameters,
                     permuted ? &*permuted : nullptr),
            order};
  }

  static std::string order_of(const Term& lhs, const Term& rhs, const std::string& letters) {
    std::string batch;
    std::string left;
    for (const char letter : lhs.letters) {
      const bool is_shared = has(rhs.letters, letter);
      if (is_shared && has(letters, letter)) batch += letter;
      if (!is_shared) left += letter;
    }
    std::string right;
    for (const char letter : rhs.letters) {
      if (!has(lhs.letters, letter)) right += letter;
    }
    return batch + left + right;
  }

  /// The spec that is written for `letters` for dims in `order`.
  static PartitionSpec permute(const PartitionSpec& spec, const std::string& letters,
                               const std::string& order) {
    if (spec.entries.size() > letters.size()) return spec;
    PartitionSpec permuted = spec;
    permuted.entries.assign(order.size(), {});
    for (std::size_t k = 0; k < spec.entries.size(); ++k) {
      const std::size_t place = order.find(letters[k]);
      if (place == order.npos) return spec;
      permuted.entries[place] = spec.entries[k];
    }
    return permuted;
  }

  /// With an out_sharding the whole runs with automatic axes; else pair by pair, in the cheapest
  /// order.
  ShardedTypes several() {
    std::map<char, std::int64_t> sizes;
    for (const Term& term : terms_) {
      for (std::size_t dim = 0; dim < term.letters.size(); ++dim) {
        sizes[term.letters[dim]] = term.value.shape[dim];
      }
    }
    if (call_.out != nullptr) {
      Shape shape;
      for (const char letter : asked_) shape.push_back(sizes[letter]);
      return {written_type(call_.mesh, call_.op, terms_[0].value.element, std::move(shape),
                           *call_.out)};
    }
    std::vector<std::string> letters;
    for (const Term& term : terms_) letters.push_back(term.letters);
    for (const auto& [left, right] : cheapest(letters, sizes).pairs) contract(left, right);
    return ordered(terms_.front(), nullptr);
  }

  std::string result_letters(const std::vector<std::string>& letters, std::size_t left,
                             std::size_t right) const {
    std::string others = asked_;
    for (std::size_t k = 0; k < letters.size(); ++k) {
      if (k != left && k != right) others += letters[k];
    }
    std::string kept;
    for (const char letter : letters[left] + letters[right]) {
      if (has(others, letter) && !has(kept, letter)) kept += letter;
    }
    return kept;
  }

  struct Order {
    double cost = std::numeric_limits<double>::infinity();
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
  };

  /// Tries every order: there are few operands.
  Order cheapest(const std::vector<std::string>& letters,
                 const std::map<char, std::int64_t>& sizes) const {
    if (letters.size() == 1) return {0, {}};
    Order best;
    for (std::size_t left = 0; left < letters.size(); ++left) {
      for (std::size_t right = left + 1; right < letters.size(); ++right) {
        const std::string kept = result_letters(letters, left, right);
        double cost = 1;
        std::string seen;
        for (const char letter : letters[left] + letters[right]) {
          if (has(seen, letter)) continue;
          seen += letter;
          cost *= static_cast<double>(sizes.at(letter));
        }
        // A multiplication per point, and an addition where something is summed.
        cost *= seen.size() > kept.size() ? 2 : 1;
        std::vector<std::string> rest = letters;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(right));
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(left));
        rest.push_back(kept);
        const Order after = cheapest(rest, sizes);
        if (cost + after.cost >= best.cost) continue;
        best.cost = cost + after.cost;
        best.pairs = {{left, right}};
        best.pairs.insert(best.pairs.end(), after.pairs.begin(), after.pairs.end());
      }
    }
    return best;
  }

  void contract(std::size_t left, std::size_t right) {
    std::vector<std::string> letters;
    for (const Term& term : terms_) letters.push_back(term.letters);
    const std::string kept = terms_.size() == 2 ? asked_ : result_letters(letters, left, right);
    Term product = pair(terms_[left], terms_[right], kept, nullptr);
    terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(right));
    terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(left));
    terms_.push_back(std::move(product));
  }

  const TypingCall& call_;
  std::vector<Term> terms_;
  std::string written_;  ///< the letters of all operands
  std::string asked_;    ///< those of the result
  std::size_t most_dots_ = 0;
};

}  // namespace

ShardedTypes einsum(const TypingCall& call) { return Einsum(call).type(); }

}  // namespace shard::typing
