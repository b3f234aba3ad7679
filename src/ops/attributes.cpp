#include "ops/attributes.h"

#include <charconv>
#include <cmath>
#include <stdexcept>

#include "base/check.h"

namespace shard {
namespace {

const AttributeValue* find(const Attributes& attributes, std::string_view key) {
  for (const auto& [name, value] : attributes.entries()) {
    if (name == key) return &value;
  }
  return nullptr;
}

template <class T>
const T& typed(const Attributes& attributes, std::string_view key) {
  const AttributeValue* value = find(attributes, key);
  if (value == nullptr) throw InternalError("an op has its attribute '" + std::string(key) + "'");
  const T* held = std::get_if<T>(value);
  if (held == nullptr) {
    throw InternalError("the attribute '" + std::string(key) + "' has the type its op expects");
  }
  return *held;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  // Without a point or an exponent it would read back as an integer.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

struct ValueText {
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return number_text(value); }
  std::string operator()(const std::string& value) const { return quoted(value); }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    std::string text = "[";
    for (std::size_t i = 0; i < values.size(); ++i)
      text += (i == 0 ? "" : ",") + (*this)(values[i]);
    return text + "]";
  }
};

/// Reads the text form; every failure names what was expected and where.
class AttributeReader {
 public:
  explicit AttributeReader(std::string_view text) : text_(text) {}

  Attributes read() {
    Attributes attributes;
    if (text_.empty()) return attributes;
    expect('{');
    while (!take('}')) {
      if (!attributes.empty()) expect(',');
      skip_spaces();
      std::string key = word();
      if (attributes.has(key)) fail("another key than '" + key + "', which is there already");
      expect('=');
      attributes.set(std::move(key), value());
    }
    if (position_ != text_.size()) fail("nothing after '}'");
    return attributes;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw std::invalid_argument("attributes: expected " + expected + " at character " +
                                std::to_string(position_ + 1) + " of '" + std::string(text_) + "'");
  }

  void skip_spaces() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
  }

  bool take(char c) {
    skip_spaces();
    if (position_ >= text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  void expect(char c) {
    if (!take(c)) fail(std::string("'") + c + "'");
  }

  std::string word() {
    const std::size_t start = position_;
    while (
        position_ < text_.size() &&
        (std::isalnum(static_cast<unsigned char>(text_[position_])) || text_[position_] == '_')) {
      ++position_;
    }
    if (position_ == start) fail("a key");
    return std::string(text_.substr(start, position_ - start));
  }

  AttributeValue value() {
    skip_spaces();
    if (take('"')) return string_value();
    if (take('[')) return list_value();
    return number_value();
  }

  std::string string_value() {
    std::string out;
    while (position_ < text_.size() && text_[position_] != '"') {
      if (text_[position_] == '\\') ++position_;
      if (position_ < text_.size()) out += text_[position_++];
    }
    expect('"');
    return out;
  }

  AttributeValue list_value() {
    std::vector<std::int64_t> integers;
    std::vector<double> numbers;
    while (!take(']')) {
      if (!integers.empty() || !numbers.empty()) expect(',');
      const AttributeValue item = number_value();
      if (const auto* integer = std::get_if<std::int64_t>(&item)) {
        integers.push_back(*integer);
      } else {
        numbers.push_back(std::get<double>(item));
      }
      if (!integers.empty() && !numbers.empty()) fail("a list of one type");
    }
    if (!numbers.empty()) return numbers;
    return integers;
  }

  AttributeValue number_value() {
    skip_spaces();
    const std::size_t length = text_.find_first_of(",]} ", position_);
    const std::string_view token = text_.substr(position_, length - position_);
    const char* const first = token.data();
    const char* const last = first + token.size();
    std::int64_t integer = 0;
    const auto as_integer = std::from_chars(first, last, integer);
    double number = 0;
    const auto as_number = std::from_chars(first, last, number);
    const bool is_integer = as_integer.ec == std::errc() && as_integer.ptr == last;
    const bool is_number = as_number.ec == std::errc() && as_number.ptr == last;
    if (token.empty() || (!is_integer && !is_number)) fail("a number, a list or quoted text");
    position_ += token.size();
    if (is_integer) return integer;
    return number;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace

void Attributes::set(std::string key, AttributeValue value) {
  for (auto& [name, held] : entries_) {
    if (name == key) {
      held = std::move(value);
      return;
    }
  }
  entries_.emplace_back(std::move(key), std::move(value));
}

bool Attributes::has(std::string_view key) const { return find(*this, key) != nullptr; }

std::int64_t Attributes::integer(std::string_view key) const {
  return typed<std::int64_t>(*this, key);
}

double Attributes::number(std::string_view key) const { return typed<double>(*this, key); }

const std::vector<std::int64_t>& Attributes::integers(std::string_view key) const {
  return typed<std::vector<std::int64_t>>(*this, key);
}

const std::string& Attributes::text(std::string_view key) const {
  return typed<std::string>(*this, key);
}

Attributes dot_attributes(std::vector<std::int64_t> lhs_batch, std::vector<std::int64_t> rhs_batch,
                          std::vector<std::int64_t> lhs_contract,
                          std::vector<std::int64_t> rhs_contract) {
  Attributes attributes;
  attributes.reserve(4);
  attributes.set("lhs_batch", std::move(lhs_batch));
  attributes.set("rhs_batch", std::move(rhs_batch));
  attributes.set("lhs_contract", std::move(lhs_contract));
  attributes.set("rhs_contract", std::move(rhs_contract));
  return attributes;
}

std::string to_string(const Attributes& attributes) {
  if (attributes.empty()) return "";
  std::string text = "{";
  for (const auto& [key, value] : attributes.entries()) {
    text += (text.size() == 1 ? "" : ", ") + key + "=" + std::visit(ValueText{}, value);
  }
  return text + "}";
}

Attributes read_attributes(std::string_view text) { return AttributeReader(text).read(); }

}  // namespace shard
