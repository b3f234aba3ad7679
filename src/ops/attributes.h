#pragma once
// Attributes of an op: a short ordered list of named values, printable and readable as text.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace shard {

using AttributeValue =
    std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>>;

/// Keys are unique and kept in the order they were set; equality includes the order. Asking for a
/// key that is absent or of another type is a bug (`InternalError`).
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<std::string, AttributeValue>> entries)
      : entries_(entries) {}

  void set(std::string key, AttributeValue value);
  void reserve(std::size_t count) { entries_.reserve(count); }
  bool has(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  double number(std::string_view key) const;
  const std::vector<std::int64_t>& integers(std::string_view key) const;
  const std::string& text(std::string_view key) const;

  const std::vector<std::pair<std::string, AttributeValue>>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }
  friend bool operator==(const Attributes&, const Attributes&) = default;

 private:
  std::vector<std::pair<std::string, AttributeValue>> entries_;
};

/// The attributes of `dot`: positions of the paired dims of both sides.
Attributes dot_attributes(std::vector<std::int64_t> lhs_batch, std::vector<std::int64_t> rhs_batch,
                          std::vector<std::int64_t> lhs_contract,
                          std::vector<std::int64_t> rhs_contract);

/// `{dims=[0,1], value=0.5}`; empty text for no attributes. Numbers round-trip (a double always has
/// a point, an exponent or `inf`/`nan`, so that it reads back as a double).
std::string to_string(const Attributes& attributes);

/// The inverse of `to_string`. Throws `std::invalid_argument` with what was expected.
Attributes read_attributes(std::string_view text);

}  // namespace shard
