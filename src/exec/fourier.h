#pragma once
// The discrete Fourier transform of one line of numbers, in n log n steps for every length: by its
// prime factors where they are small, else as a convolution with a chirp (Bluestein, "A linear
// filtering approach to the computation of discrete Fourier transform", 1970).

#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

namespace shard {

class FourierLine {
 public:
  using Complex = std::complex<double>;

  explicit FourierLine(std::size_t length);

  std::size_t length() const { return roots_.size(); }
  /// Numbers that `run` needs for a moment.
  std::size_t space() const;
  /// The sums over j of line[j] exp(-2 pi i j k / length), in place; `is_inverse`: with +i, divided
  /// by the length.
  void run(Complex* line, Complex* space, bool is_inverse) const;

 private:
  void run_factors(const Complex* in, std::size_t stride, Complex* out, std::size_t count,
                   std::size_t factor) const;
  void run_chirp(Complex* line, Complex* space) const;

  std::vector<Complex> roots_;        ///< exp(-2 pi i k / length)
  std::vector<std::size_t> factors_;  ///< prime; empty: by a chirp
  std::vector<Complex> chirp_;        ///< exp(-pi i k^2 / length)
  std::vector<Complex> answer_;       ///< the transform of the conjugate chirp
  std::unique_ptr<FourierLine> padded_;
};

}  // namespace shard
