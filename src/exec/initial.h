#pragma once
// Initial values: a pure function of (seed, parameter name, global index), whatever the sharding,
// the device count or the number of workers.

#include <cstdint>
#include <span>
#include <string>

#include "base/host_tensor.h"
#include "model/model.h"

namespace shard {

/// Element `index` (row-major in the global array) of the leaf called `name`.
/// Normal and truncated normal (at two standard deviations, corrected so that `scale` is the
/// standard deviation of the result, as Flax's variance_scaling does) go through the inverse of the
/// normal distribution; uniform is on [-scale, scale).
double initial_element(const InitialValue& init, std::uint64_t seed, std::uint64_t name_hash,
                       std::int64_t index);

/// Stable 64-bit hash of a parameter's name (FNV-1a).
std::uint64_t hash_name(const std::string& name);

/// `initial_element` with everything but the index bound, for filling arrays. An unknown kind is a
/// bug: the model refuses it.
class InitialFunction {
 public:
  InitialFunction(const InitialValue& init, std::uint64_t seed, std::uint64_t name_hash);
  double operator()(std::int64_t index) const;
  /// The same bits for the elements from `first` on.
  void fill(std::int64_t first, std::span<double> to) const;
  /// Every element is the same.
  bool is_constant() const { return is_constant_; }

 private:
  using Draw = double (*)(double uniform, double scale);
  using DrawAll = void (*)(std::span<double> uniform, double scale);
  Draw draw_ = nullptr;
  DrawAll draw_all_ = nullptr;
  bool is_constant_ = false;
  double scale_ = 0;
  std::uint64_t key_ = 0;
};

/// What an array's numbers are drawn from: of a complex element both parts, each with its share of
/// the deviation.
InitialValue number_of(const InitialValue& init, DType dtype);

/// The whole array. A constant is real.
HostTensor initial_tensor(const InitialValue& init, const TensorType& type, std::uint64_t seed,
                          const std::string& name);

/// The example inputs of a run: floats are standard normal, integers count up from 0 modulo 128,
/// both pure functions of (seed, name, index).
HostTensor example_input(const TensorType& type, std::uint64_t seed, const std::string& name);

}  // namespace shard
