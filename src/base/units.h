#pragma once
// Numbers with units. A raw integer or an element count never becomes bytes by accident.

#include <compare>
#include <cstdint>
#include <string>

namespace shard {

/// A count of bytes. An element count or a raw integer does not convert to it.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t count) : count_(count) {}

  constexpr std::int64_t count() const { return count_; }

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.count_ + b.count_); }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes(a.count_ - b.count_); }
  friend constexpr Bytes operator*(std::int64_t n, Bytes b) { return Bytes(n * b.count_); }
  constexpr Bytes& operator+=(Bytes other) {
    count_ += other.count_;
    return *this;
  }

 private:
  std::int64_t count_ = 0;
};

/// A duration. Fractions and ratios are meaningful, hence double.
struct Seconds {
  double value = 0;
  friend constexpr auto operator<=>(Seconds, Seconds) = default;
};

/// `25,165,832`: exact, thousands separated by commas.
std::string with_commas(std::int64_t number);
inline std::string with_commas(Bytes bytes) { return with_commas(bytes.count()); }

/// `24.0 MiB`: three significant digits with a binary unit (1 GiB = 2^30); for --human.
std::string human(Bytes bytes);

}  // namespace shard
