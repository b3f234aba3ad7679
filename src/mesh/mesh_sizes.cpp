#include "mesh/mesh_sizes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>

namespace shard {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Digits with single underscores between them, without the underscores; nothing otherwise.
std::optional<std::string> plain_digits(std::string_view text) {
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_digit(text[i])) {
      digits += text[i];
    } else if (text[i] != '_' || i == 0 || i + 1 == text.size() || text[i - 1] == '_') {
      return std::nullopt;
    }
  }
  if (digits.empty()) return std::nullopt;
  return digits;
}

std::optional<std::int64_t> whole(const std::string& written) {
  std::string_view text = trimmed(written);
  const bool is_negative = !text.empty() && text.front() == '-';
  if (is_negative || (!text.empty() && text.front() == '+')) text.remove_prefix(1);
  const std::optional<std::string> digits = plain_digits(text);
  if (!digits) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, failure] =
      std::from_chars(digits->data(), digits->data() + digits->size(), value);
  if (failure != std::errc()) return std::nullopt;
  return is_negative ? -value : value;
}

std::optional<std::int64_t> whole(double written) {
  constexpr double limit = 9.0e18;  // inside 63 bits; also false for a NaN
  if (!(std::abs(written) < limit)) return std::nullopt;
  return static_cast<std::int64_t>(std::trunc(written));
}

std::optional<std::int64_t> whole(std::int64_t written) { return written; }
std::optional<std::int64_t> whole(bool written) { return written ? 1 : 0; }
std::optional<std::int64_t> whole(std::monostate) { return std::nullopt; }

std::string shown(const WrittenSize& size) {
  struct Shown {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool value) const { return value ? "True" : "False"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const {
      std::array<char, 32> text{};
      return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
    }
    std::string operator()(const std::string& value) const { return "'" + value + "'"; }
  };
  return std::visit(Shown{}, size);
}

void check_each_size(const Shape& sizes, const SizeGroup& group, const MeshOrigin& origin) {
  std::optional<std::size_t> unknown;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    if (sizes[axis] == -1) {
      if (unknown) {
        throw Error("bad-mesh-size", origin.at,
                    "the " + group.name + " sizes " + tuple_text(sizes) +
                        " hold more than one -1: " + axis_text(origin, *unknown) + " and " +
                        axis_text(origin, axis),
                    "at most one size of a group can be left to fill in");
      }
      unknown = axis;
    } else if (sizes[axis] < 1) {
      throw Error("bad-mesh-size", origin.at,
                  "the " + group.name + " size of " + axis_text(origin, axis) + " is " +
                      std::to_string(sizes[axis]) + ", expected 1 or more, or -1 to fill in");
    }
  }
}

}  // namespace

Shape whole_sizes(const std::vector<WrittenSize>& written, const Location& at) {
  Shape sizes;
  for (const WrittenSize& size : written) {
    const auto number = std::visit([](const auto& value) { return whole(value); }, size);
    if (!number) {
      throw Error(
          "bad-mesh-size", at,
          "the sizes of a mesh should be a sequence of ints, but one of them is " + shown(size));
    }
    sizes.push_back(*number);
  }
  return sizes;
}

std::optional<std::int64_t> size_product(const Shape& sizes) {
  std::int64_t product = 1;
  bool overflows = false;
  for (const std::int64_t size : sizes) {
    if (size == 0) return 0;
    overflows = overflows || __builtin_mul_overflow(product, size, &product);
  }
  if (overflows) return std::nullopt;
  return product;
}

std::string tuple_text(const Shape& sizes) {
  std::string text = "(";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(sizes[i]);
  }
  return text + (sizes.size() == 1 ? ",)" : ")");
}

std::string product_text(const Shape& sizes) {
  if (sizes.size() == 1) return tuple_text(sizes);
  const std::optional<std::int64_t> product = size_product(sizes);
  return tuple_text(sizes) + " = " + (product ? std::to_string(*product) : "more than 2^63");
}

std::string axis_text(const MeshOrigin& origin, std::size_t axis) {
  if (axis >= origin.axis_names.size()) return "axis " + std::to_string(axis);
  return "axis '" + origin.axis_names[axis] + "'";
}

Shape filled_sizes(const Shape& sizes, std::int64_t count, const SizeGroup& group,
                   const MeshOrigin& origin) {
  check_each_size(sizes, group, origin);
  Shape filled = sizes;
  const auto unknown = std::find(filled.begin(), filled.end(), -1);
  if (unknown == filled.end()) {
    if (size_product(sizes) == count) return filled;
    throw Error("mesh-size", origin.at,
                "the number of " + group.counted + " (" + std::to_string(count) +
                    ") must equal the product of the " + group.name + " sizes " +
                    product_text(sizes),
                "change a size, or write -1 for one of them to have it filled in");
  }
  *unknown = 1;
  const std::optional<std::int64_t> others = size_product(filled);
  if (!others || count < *others || count % *others != 0) {
    throw Error("mesh-size", origin.at,
                "-1 in the " + group.name + " sizes " + tuple_text(sizes) +
                    " cannot be filled in: " + std::to_string(count) + " " + group.counted +
                    " are not a multiple of the others, " + product_text(filled),
                "the other sizes have to divide " + std::to_string(count));
  }
  *unknown = count / *others;
  return filled;
}

}  // namespace shard
