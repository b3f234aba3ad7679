#include "config/sizes.h"

#include <algorithm>
#include <cctype>

#include "base/nearest.h"
#include "config/scalars.h"
#include "config/text_cursor.h"
#include "text/number.h"

namespace shard {
namespace {

constexpr std::string_view expected_size = ", expected a whole number of 1 or more";

// A word that starts like a number was meant as one.
bool looks_like_number(std::string_view text) {
  return !text.empty() && (std::isdigit(static_cast<unsigned char>(text.front())) != 0 ||
                           text.front() == '-' || text.front() == '+' || text.front() == '.');
}

}  // namespace

std::optional<std::int64_t> read_positive(std::string_view text, const Location& at,
                                          std::string_view what, Diagnostics& diagnostics) {
  const IntegerReading read = read_integer(text);
  const std::string found =
      std::string(what) + " is " + (text.empty() ? "nothing" : std::string(text));
  if (read.fault == NumberFault::too_large) {
    diagnostics.error("size-overflow", at, found + ", which is over 2^63 - 1");
  } else if (read.fault == NumberFault::leading_zero) {
    diagnostics.error("bad-size", at, found + std::string(expected_size),
                      "remove the leading zero");
  } else if (read.fault || read.value < 1) {
    diagnostics.error("bad-size", at, found + std::string(expected_size));
  } else {
    return read.value;
  }
  return std::nullopt;
}

Sizes::Sizes(const TextNode* node, Diagnostics& diagnostics) {
  if (node == nullptr) return;
  for (const TextEntry& entry : node->entries) {
    if (!check_name(entry, "a size", diagnostics)) continue;
    order_.push_back(entry.key);
    sizes_[entry.key].entry = &entry;
  }
  for (const std::string& name : order_) resolve(sizes_.find(name)->second, diagnostics);
  for (const std::string& name : order_) {
    const Size& size = sizes_.find(name)->second;
    if (size.state == State::done) all_.push_back({name, size.value, size.entry->value.at});
  }
}

bool Sizes::is_declared(std::string_view name) const { return sizes_.contains(name); }

std::optional<std::int64_t> Sizes::value(std::string_view name) const {
  const auto found = sizes_.find(name);
  if (found == sizes_.end() || found->second.state != State::done) return std::nullopt;
  return found->second.value;
}

std::vector<std::string> Sizes::names() const { return order_; }

void Sizes::resolve(Size& size, Diagnostics& diagnostics) {
  if (size.state != State::untouched) return;
  size.state = State::in_progress;
  path_.push_back(size.entry->key);
  const auto value = product(*size.entry, diagnostics);
  path_.pop_back();
  // A cycle found further in has refused this one already.
  if (!value || size.state == State::refused) {
    size.state = State::refused;
    return;
  }
  size.state = State::done;
  size.value = *value;
}

std::optional<std::int64_t> Sizes::product(const TextEntry& entry, Diagnostics& diagnostics) {
  const TextNode& node = entry.value;
  if (!node.is_scalar() || node.scalar.empty()) {
    diagnostics.error("bad-size", node.at,
                      "size '" + entry.key + "' is " + describe(node) +
                          ", expected a number, a size's name or a product");
    return std::nullopt;
  }
  std::int64_t result = 1;
  bool is_good = true;
  TextCursor cursor(node.scalar, content_at(node));
  do {
    cursor.skip_blanks();
    const std::size_t start = cursor.offset();
    std::string_view text = cursor.take_until("*");
    while (text.ends_with(' ')) text.remove_suffix(1);
    const auto factor = term(entry.key, text, cursor.place(start, text.size()), diagnostics);
    if (!factor) {
      is_good = false;
    } else if (is_good && __builtin_mul_overflow(result, *factor, &result)) {
      diagnostics.error("size-overflow", node.at, "size '" + entry.key + "' is over 2^63 - 1");
      return std::nullopt;
    }
  } while (cursor.take('*'));
  if (!is_good) return std::nullopt;
  return result;
}

std::optional<std::int64_t> Sizes::term(const std::string& owner, std::string_view text,
                                        const Location& at, Diagnostics& diagnostics) {
  if (text.empty()) {
    diagnostics.error("bad-size", at, "a factor of size '" + owner + "' is missing");
    return std::nullopt;
  }
  if (looks_like_number(text)) {
    return read_positive(text, at, "size '" + owner + "'", diagnostics);
  }
  const auto found = sizes_.find(text);
  if (found == sizes_.end()) {
    const std::string hint = is_identifier(text)
                                 ? did_you_mean(text, order_, "sizes")
                                 : "a size is a number, another size, or a product such as a * b";
    diagnostics.error("unknown-size", at, "'" + std::string(text) + "' is not a size", hint);
    return std::nullopt;
  }
  if (found->second.state == State::in_progress) {
    report_cycle(found->first, at, diagnostics);
    return std::nullopt;
  }
  resolve(found->second, diagnostics);
  return value(text);
}

void Sizes::report_cycle(const std::string& from, const Location& at, Diagnostics& diagnostics) {
  const auto start = std::find(path_.begin(), path_.end(), from);
  std::string way;
  for (auto name = start; name != path_.end(); ++name) {
    way += *name + " -> ";
    sizes_.find(*name)->second.state = State::refused;
  }
  diagnostics.error("size-cycle", at, "size '" + from + "' is made of itself: " + way + from,
                    "give one of them a number");
}

}  // namespace shard
