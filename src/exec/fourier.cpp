#include "exec/fourier.h"

#include <algorithm>
#include <array>
#include <numbers>

namespace shard {
namespace {

using Complex = FourierLine::Complex;

constexpr std::size_t largest_factor = 13;

Complex times(Complex x, Complex y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

/// exp(-2 pi i k / length).
Complex root_of_one(std::size_t k, std::size_t length) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length);
  return std::polar(1.0, angle);
}

/// The prime factors, or none when one of them is too large.
std::vector<std::size_t> small_factors(std::size_t length) {
  std::vector<std::size_t> factors;
  for (std::size_t prime = 2; prime <= largest_factor; ++prime) {
    for (; length % prime == 0; length /= prime) factors.push_back(prime);
  }
  return length == 1 ? factors : std::vector<std::size_t>();
}

std::size_t power_of_two_from(std::size_t least) {
  std::size_t power = 1;
  while (power < least) power *= 2;
  return power;
}

}  // namespace

FourierLine::FourierLine(std::size_t length) : factors_(small_factors(length)) {
  for (std::size_t k = 0; k < length; ++k) roots_.push_back(root_of_one(k, length));
  if (!factors_.empty() || length == 1) return;
  // jk = (j^2 + k^2 - (k - j)^2) / 2
  padded_ = std::make_unique<FourierLine>(power_of_two_from(2 * length - 1));
  answer_.assign(padded_->length(), Complex());
  for (std::size_t k = 0; k < length; ++k) {
    chirp_.push_back(root_of_one(k * k % (2 * length), 2 * length));
    answer_[k] = std::conj(chirp_.back());
    if (k > 0) answer_[padded_->length() - k] = answer_[k];
  }
  std::vector<Complex> room(padded_->space());
  padded_->run(answer_.data(), room.data(), false);
}

std::size_t FourierLine::space() const {
  return padded_ == nullptr ? length() : padded_->length() + padded_->space();
}

void FourierLine::run(Complex* line, Complex* space, bool is_inverse) const {
  const std::size_t count = length();
  if (is_inverse) {
    for (std::size_t i = 0; i < count; ++i) line[i] = std::conj(line[i]);
  }
  if (padded_ != nullptr) {
    run_chirp(line, space);
  } else {
    std::copy_n(line, count, space);
    run_factors(space, 1, line, count, 0);
  }
  if (!is_inverse) return;
  for (std::size_t i = 0; i < count; ++i) {
    line[i] = std::conj(line[i]) / static_cast<double>(count);
  }
}

/// Every `stride`-th of the numbers: of each residue of the first factor by itself, then together.
void FourierLine::run_factors(const Complex* in, std::size_t stride, Complex* out,
                              std::size_t count, std::size_t factor) const {
  if (count == 1) {
    *out = *in;
    return;
  }
  const std::size_t parts = factors_[factor], part = count / parts;
  for (std::size_t j = 0; j < parts; ++j) {
    run_factors(in + j * stride, stride * parts, out + j * part, part, factor + 1);
  }
  const std::size_t step = length() / count;
  std::array<Complex, largest_factor> turned;
  for (std::size_t k = 0; k < part; ++k) {
    turned[0] = out[k];
    for (std::size_t j = 1; j < parts; ++j) {
      turned[j] = times(out[j * part + k], roots_[j * k * step]);
    }
    if (parts == 2) {
      out[k] = turned[0] + turned[1];
      out[part + k] = turned[0] - turned[1];
      continue;
    }
    for (std::size_t q = 0; q < parts; ++q) {
      Complex sum = turned[0];
      for (std::size_t j = 1; j < parts; ++j) {
        sum += times(turned[j], roots_[j * q % parts * (length() / parts)]);
      }
      out[q * part + k] = sum;
    }
  }
}

void FourierLine::run_chirp(Complex* line, Complex* space) const {
  Complex* const padded = space;
  std::fill_n(padded, padded_->length(), Complex());
  for (std::size_t k = 0; k < length(); ++k) padded[k] = times(line[k], chirp_[k]);
  padded_->run(padded, space + padded_->length(), false);
  for (std::size_t k = 0; k < padded_->length(); ++k) padded[k] = times(padded[k], answer_[k]);
  padded_->run(padded, space + padded_->length(), true);
  for (std::size_t k = 0; k < length(); ++k) line[k] = times(padded[k], chirp_[k]);
}

}  // namespace shard
