#pragma once
// A graph evaluated element by element in double precision: small, slow and, for the ops that
// training is made of, written apart from everything that runs graphs for users; the others are
// those of the executor's reference.

#include <random>
#include <vector>

#include "model/graph.h"

namespace shard::tests {

/// Row-major elements of an array.
struct Array {
  TensorType type;
  std::vector<double> data;
};

Array filled(const TensorType& type, double value);
/// Uniform on [low, high).
Array random_array(const TensorType& type, std::mt19937_64& random, double low, double high);

/// One array per graph output.
std::vector<Array> evaluate(const Graph& graph, const std::vector<Array>& inputs);

/// The largest difference between `gradients` (of the scalar `loss` with respect to each input of
/// the graph at `wrt`) and central differences, relative to the larger of 1 and the gradient.
/// `graph` must have the outputs [loss, gradients...].
double gradient_error(const Graph& graph, const std::vector<std::size_t>& wrt,
                      std::vector<Array> inputs);

}  // namespace shard::tests
