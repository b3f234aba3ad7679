#include "score.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "checkpoint/safetensors.h"
#include "exec/element.h"
#include "support/recordings.h"

namespace shard::tests {
namespace {

/// Elements as doubles, whatever the dtype.
std::vector<double> elements_of(const HostTensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(element_count(tensor.type.shape)));
  to_doubles(tensor.type.dtype, tensor.bytes.data(), values.data(), values.size());
  return values;
}

}  // namespace

void Score::check(const std::string& what, double difference, double bound) {
  ++total;
  if (difference <= bound) {
    ++matched;
  } else {
    misses.push_back(what + ": found difference " + std::to_string(difference) +
                     ", expected at most " + std::to_string(bound));
  }
}

void Score::report() const {
  std::cout << "conformance " << name << ": " << matched << "/" << total << "\n";
  for (const std::string& miss : misses) std::cout << "  " << miss << "\n";
  CHECK(total > 0);
  CHECK(matched == total);
}

double largest(const HostTensor& tensor) {
  double most = 0;
  for (const double value : elements_of(tensor)) most = std::max(most, std::abs(value));
  return most;
}

double relative_difference(const HostTensor& actual, const HostTensor& expected) {
  REQUIRE(actual.type == expected.type);
  const std::vector<double> found = elements_of(actual), wanted = elements_of(expected);
  double most = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double difference = std::abs(found[i] - wanted[i]);
    if (!(difference <= most)) most = difference;
  }
  const double scale = largest(expected);
  return scale > 0 ? most / scale : most;
}

double worst_clear_element(const HostTensor& actual, const HostTensor& expected,
                           const std::vector<const HostTensor*>& grads, int step,
                           double learning_rate, double bound) {
  const std::vector<double> found = elements_of(actual), wanted = elements_of(expected);
  std::vector<std::vector<double>> slopes;
  std::vector<double> least;  // what counts as well above zero
  for (const HostTensor* grad : grads) {
    slopes.push_back(elements_of(*grad));
    least.push_back(1e-5 * largest(*grad));
  }
  const double scale = largest(expected);
  double worst = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    bool is_clear = true;
    for (std::size_t g = 0; g < slopes.size(); ++g) {
      is_clear = is_clear && (slopes[g][i] == 0 || std::abs(slopes[g][i]) > least[g]);
    }
    const double allowed = is_clear ? bound * scale : 2 * learning_rate * step;
    const double ratio = std::abs(found[i] - wanted[i]) / allowed;
    if (!(ratio <= worst)) worst = ratio;
  }
  return worst * bound;
}

std::map<std::string, HostTensor> recorded_tensors(const std::string& file) {
  const std::string path = goldens_folder() + "/" + file;
  std::map<std::string, HostTensor> tensors;
  if (!std::filesystem::exists(path)) {
    std::cout << "conformance " << file << ": skipped\n";
    return tensors;
  }
  DiskReader disk;
  for (NamedTensor& one : read_safetensors(path, disk)) {
    tensors[one.name] = std::move(one.tensor);
  }
  return tensors;
}

bool has_case(const std::map<std::string, HostTensor>& recorded, const std::string& name) {
  const auto first = recorded.lower_bound(name + "/");
  return first != recorded.end() && first->first.starts_with(name + "/");
}

}  // namespace shard::tests
