// Kernels of random bits, of rounding to fewer bits and of bits read as another dtype.

#include <array>
#include <bit>
#include <cmath>

#include "exec/element.h"
#include "exec/kernel.h"
#include "exec/strided_copy.h"
#include "exec/whole_numbers.h"
#include "ops/local_form.h"

namespace shard {
namespace {

/// One block of Threefry-2x32 with 20 rounds (Salmon et al., "Parallel Random Numbers: As Easy as
/// 1, 2, 3", 2011): bits that depend on the key and the counter alone.
std::uint32_t threefry(std::array<std::uint32_t, 2> key, std::uint64_t counter) {
  constexpr int rotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  const std::uint32_t keys[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDAU};
  std::uint32_t x = static_cast<std::uint32_t>(counter >> 32U) + keys[0];
  std::uint32_t y = static_cast<std::uint32_t>(counter) + keys[1];
  for (std::uint32_t round = 0; round < 20; ++round) {
    x += y;
    y = std::rotl(y, rotations[round % 8]) ^ x;
    if (round % 4 != 3) continue;
    const std::uint32_t group = round / 4 + 1;
    x += keys[group % 3];
    y += keys[(group + 1) % 3] + group;
  }
  return x;
}

/// The row-major number, in an array of shape `counts`, of every element of a device's part. Parts
/// and padding do not change the counts, and so not the numbers.
class WholeNumbering {
 public:
  WholeNumbering(const Shape& local, const Shape& counts, const LocalParts& parts, int device)
      : local_(local), strides_(row_major_strides(counts)) {
    for (std::size_t d = 0; d < local.size(); ++d) {
      if (counts[d] == 1) strides_[d] = 0;  // all elements along it are one
      first_ += parts.part(static_cast<std::int64_t>(d), device) * local[d] * strides_[d];
    }
  }

  /// Calls `use(position, number)` for every element, in row-major order.
  template <class Use>
  void each(Use use) const {
    const std::int64_t count = element_count(local_);
    const std::int64_t columns = local_.empty() ? 1 : local_.back();
    const std::int64_t step = local_.empty() ? 0 : strides_.back();
    for (std::int64_t row = 0; row < count; row += columns) {
      auto number = static_cast<std::uint64_t>(number_of(row));
      for (std::int64_t column = 0; column < columns; ++column) {
        use(row + column, number);
        number += static_cast<std::uint64_t>(step);
      }
    }
  }

 private:
  std::int64_t number_of(std::int64_t position) const {
    std::int64_t number = first_;
    for (std::size_t d = local_.size(); d-- > 0;) {
      number += position % local_[d] * strides_[d];
      position /= local_[d];
    }
    return number;
  }

  const Shape& local_;
  std::vector<std::int64_t> strides_;
  std::int64_t first_ = 0;
};

/// Cut to fewer bits, to even from the middle; what lies beyond the exponents is infinite or zero.
double with_precision(double x, int exponent_bits, int mantissa_bits) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = 0;
  std::frexp(x, &exponent);  // 0.5 <= |x| / 2^exponent < 1
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(x, mantissa_bits + 1 - exponent)),
                                    exponent - mantissa_bits - 1);
  const double largest = std::ldexp(2 - std::ldexp(1, -mantissa_bits), bias);
  if (std::fabs(rounded) > largest) return std::copysign(HUGE_VAL, x);
  return std::fabs(rounded) < std::ldexp(1, 1 - bias) ? std::copysign(0, x) : rounded;
}

}  // namespace

KernelResult make_random_bits(const KernelSite& site) {
  const DType seed_dtype = site.operands[0].dtype;
  const Shape shape = site.results[0].shape, counts = site.attributes.integers("counts");
  const auto stream = static_cast<std::uint32_t>(site.attributes.integer("stream"));
  const LocalParts parts(site.attributes);
  return [=](const KernelCall& call) {
    std::int64_t seed = 0;
    to_integers(seed_dtype, call.operands[0], &seed, 1);
    const WholeNumbering numbering(shape, counts, parts, call.device);
    std::uint32_t* bits = reinterpret_cast<std::uint32_t*>(call.results[0]);
    const std::array<std::uint32_t, 2> key = {static_cast<std::uint32_t>(seed), stream};
    numbering.each([&](std::int64_t i, std::uint64_t number) { bits[i] = threefry(key, number); });
  };
}

KernelResult make_dropout(const KernelSite& site) {
  const DType dtype = site.operands[0].dtype, seed_dtype = site.operands[1].dtype;
  const Shape shape = site.results[0].shape, counts = site.attributes.integers("counts");
  const auto stream = static_cast<std::uint32_t>(site.attributes.integer("stream"));
  const double rate = site.attributes.number("rate");
  const auto count = static_cast<std::size_t>(element_count(shape));
  const LocalParts parts(site.attributes);
  return [=](const KernelCall& call) {
    std::int64_t seed = 0;
    to_integers(seed_dtype, call.operands[1], &seed, 1);
    const std::array<std::uint32_t, 2> key = {static_cast<std::uint32_t>(seed), stream};
    const auto least_kept = static_cast<std::uint64_t>(std::ceil(std::ldexp(rate, 32)));
    double* numbers = call.scratch.take_array<double>(count);
    to_doubles(dtype, call.operands[0], numbers, count);
    WholeNumbering(shape, counts, parts, call.device)
        .each([&](std::int64_t i, std::uint64_t number) {
          numbers[i] = threefry(key, number) < least_kept ? 0 : numbers[i] / (1 - rate);
        });
    from_doubles(numbers, dtype, call.results[0], count);
  };
}

KernelResult make_reduce_precision(const KernelSite& site) {
  const DType dtype = site.results[0].dtype;
  const int exponent = static_cast<int>(site.attributes.integer("exponent_bits"));
  const int mantissa = static_cast<int>(site.attributes.integer("mantissa_bits"));
  const auto count = static_cast<std::size_t>(element_count(site.results[0].shape));
  return [=](const KernelCall& call) {
    double* numbers = call.scratch.take_array<double>(count);
    to_doubles(dtype, call.operands[0], numbers, count);
    for (std::size_t i = 0; i < count; ++i) {
      numbers[i] = with_precision(numbers[i], exponent, mantissa);
    }
    from_doubles(numbers, dtype, call.results[0], count);
  };
}

KernelResult make_bitcast(const KernelSite& site) {
  return copy_kernel(static_cast<std::size_t>(bytes_of(site.results[0]).count()));
}

}  // namespace shard
