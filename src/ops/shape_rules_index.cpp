// Shape rules of ops that look elements up, order them or run along a dim.

#include "ops/index_dims.h"
#include "ops/shape_mistakes.h"
#include "ops/shape_rules.h"

namespace shard {
namespace {

using Types = std::span<const TensorType>;
using Dims = std::vector<std::int64_t>;

std::string index_dtype_mistake(const TensorType& indices) {
  return is_whole(indices.dtype) ? "" : "the indices are " + to_string(indices) + ", not integers";
}

/// The vector of an index has an entry for each dim that slices start at.
std::string vector_mistake(const IndexDims& dims, const TensorType& indices) {
  if (dims.vector < 0 || dims.vector > indices.rank()) {
    return "there is no dim " + std::to_string(dims.vector) + " in rank " +
           std::to_string(indices.rank());
  }
  const std::int64_t size =
      dims.vector == indices.rank() ? 1 : indices.shape[static_cast<std::size_t>(dims.vector)];
  if (size == static_cast<std::int64_t>(dims.start.size())) return "";
  return "indices of " + std::to_string(size) + " numbers start slices along " +
         std::to_string(dims.start.size()) + " dims";
}

std::string batch_mistake(const IndexDims& dims, const TensorType& array,
                          const TensorType& indices) {
  if (dims.batch.size() != dims.index_batch.size()) {
    return "both sides need as many batch dims: " + std::to_string(dims.batch.size()) + " and " +
           std::to_string(dims.index_batch.size());
  }
  for (std::size_t i = 0; i < dims.batch.size(); ++i) {
    const std::int64_t size = array.shape[static_cast<std::size_t>(dims.batch[i])];
    const std::int64_t other = indices.shape[static_cast<std::size_t>(dims.index_batch[i])];
    if (size == other) continue;
    return "batch sizes differ: " + std::to_string(size) + " and " + std::to_string(other);
  }
  return "";
}

/// Positions are dims, none has two roles, and the sizes of array and indices go together.
std::string index_mistake(const IndexDims& dims, const TensorType& array, const TensorType& indices,
                          int slices_rank) {
  std::string mistake = index_dtype_mistake(indices);
  if (mistake.empty()) mistake = position_mistake(dims.collapsed, array.rank());
  if (mistake.empty()) mistake = position_mistake(dims.batch, array.rank(), dims.collapsed);
  if (mistake.empty()) mistake = position_mistake(dims.start, array.rank(), dims.batch);
  if (mistake.empty()) mistake = position_mistake(dims.index_batch, indices.rank(), {dims.vector});
  if (mistake.empty()) mistake = position_mistake(dims.window, slices_rank);
  if (mistake.empty()) mistake = vector_mistake(dims, indices);
  if (mistake.empty()) mistake = batch_mistake(dims, array, indices);
  return mistake;
}

/// The rank of the array of slices.
int slices_rank(const IndexDims& dims, const TensorType& array, const TensorType& indices) {
  return static_cast<int>(dims.windowed(array.rank()).size() +
                          dims.index_dims(indices.rank()).size());
}

std::string slice_sizes_mistake(const IndexDims& dims, const Dims& sizes, const Shape& array) {
  for (std::size_t dim = 0; dim < array.size(); ++dim) {
    const bool is_one = dims.is_window(static_cast<std::int64_t>(dim)) || sizes[dim] == 1;
    if (!is_one)
      return "slices have size " + std::to_string(sizes[dim]) + " where they drop dim " +
             std::to_string(dim);
    if (sizes[dim] >= 0 && sizes[dim] <= array[dim]) continue;
    return "dim " + std::to_string(dim) + " of size " + std::to_string(array[dim]) +
           " has no slice of " + std::to_string(sizes[dim]);
  }
  return "";
}

/// The dims of an array of slices: windows of these sizes, and the dims of the indices.
Shape slices_shape(const IndexDims& dims, const Dims& sizes, const TensorType& indices, int rank) {
  const Dims windowed = dims.windowed(static_cast<int>(sizes.size()));
  const Dims index = dims.index_dims(indices.rank());
  Shape shape(static_cast<std::size_t>(rank));
  const Dims batch = dims.slice_batch(rank);
  for (std::size_t i = 0; i < windowed.size(); ++i) {
    shape[static_cast<std::size_t>(dims.window[i])] = sizes[static_cast<std::size_t>(windowed[i])];
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    shape[static_cast<std::size_t>(batch[i])] = indices.shape[static_cast<std::size_t>(index[i])];
  }
  return shape;
}

std::string window_count_mistake(const IndexDims& dims, const TensorType& array) {
  const std::size_t windowed = dims.windowed(array.rank()).size();
  if (dims.window.size() == windowed) return "";
  return "window_dims names " + std::to_string(dims.window.size()) + " dims, slices have " +
         std::to_string(windowed);
}

std::string mode_mistake(const Attributes& attributes) {
  const std::string& mode = attributes.text("mode");
  return mode == "clip" || mode == "fill" ? "" : "there is no mode '" + mode + "'";
}

std::string line_mistake(const Attributes& attributes, int rank) {
  return position_mistake({attributes.integer("dim")}, rank);
}

}  // namespace

ShapeResult gather_shape(Types operands, const Attributes& attributes) {
  const IndexDims dims(attributes);
  const TensorType &array = operands[0], &indices = operands[1];
  const Dims& sizes = attributes.integers("slice_sizes");
  const int rank = slices_rank(dims, array, indices);
  std::string mistake = length_mistake(sizes, array.rank(), "slice_sizes");
  if (mistake.empty()) mistake = mode_mistake(attributes);
  if (mistake.empty()) mistake = index_mistake(dims, array, indices, rank);
  if (mistake.empty()) mistake = window_count_mistake(dims, array);
  if (mistake.empty()) mistake = slice_sizes_mistake(dims, sizes, array.shape);
  if (!mistake.empty()) return mistake;
  return one_result({array.dtype, slices_shape(dims, sizes, indices, rank)});
}

ShapeResult scatter_shape(Types operands, const Attributes& attributes) {
  const IndexDims dims(attributes);
  const TensorType &array = operands[0], &indices = operands[1], &updates = operands[2];
  if (array.dtype != updates.dtype) {
    return "dtypes differ: " + dtype_word(array.dtype) + " and " + dtype_word(updates.dtype);
  }
  const int rank = slices_rank(dims, array, indices);
  if (updates.rank() != rank) {
    return "the updates are " + to_string(updates) + ", not of rank " + std::to_string(rank);
  }
  std::string mistake = mode_mistake(attributes);
  if (mistake.empty()) mistake = index_mistake(dims, array, indices, rank);
  if (mistake.empty()) mistake = window_count_mistake(dims, array);
  if (!mistake.empty()) return mistake;
  const Dims sizes = window_sizes(dims, array.rank(), updates.shape);
  mistake = slice_sizes_mistake(dims, sizes, array.shape);
  if (!mistake.empty()) return mistake;
  if (updates.shape != slices_shape(dims, sizes, indices, rank)) {
    return "the updates are " + to_string(updates) + " for indices " + to_string(indices);
  }
  return one_result(array);
}

ShapeResult arg_extremum_shape(Types operands, const Attributes& attributes) {
  std::string mistake = complex_mistake(operands);
  if (mistake.empty()) mistake = line_mistake(attributes, operands[0].rank());
  if (!mistake.empty()) return mistake;
  const std::int64_t dim = attributes.integer("dim");
  if (operands[0].shape[static_cast<std::size_t>(dim)] == 0) {
    return "dim " + std::to_string(dim) + " has no elements";
  }
  TensorType result{DType::i32, operands[0].shape};
  result.shape.erase(result.shape.begin() + dim);
  return one_result(std::move(result));
}

ShapeResult truth_reduce_shape(Types operands, const Attributes& attributes) {
  if (operands[0].dtype != DType::boolean) {
    return "needs bool, not " + dtype_word(operands[0].dtype);
  }
  const Dims& dims = attributes.integers("dims");
  std::string mistake = position_mistake(dims, operands[0].rank());
  if (!mistake.empty()) return mistake;
  TensorType result{DType::boolean, {}};
  for (std::size_t dim = 0; dim < operands[0].shape.size(); ++dim) {
    const bool is_reduced =
        std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(dim)) != dims.end();
    if (!is_reduced) result.shape.push_back(operands[0].shape[dim]);
  }
  return one_result(std::move(result));
}

ShapeResult cumulative_shape(Types operands, const Attributes& attributes) {
  std::string mistake = line_mistake(attributes, operands[0].rank());
  if (!mistake.empty()) return mistake;
  for (const TensorType& type : operands) {
    if (type.dtype == DType::boolean) return "needs numbers, not bool";
    if (type == operands[0]) continue;
    return "operands differ: " + to_string(operands[0]) + " and " + to_string(type);
  }
  return one_result(operands[0]);
}

ShapeResult real_cumulative_shape(Types operands, const Attributes& attributes) {
  if (std::string mistake = complex_mistake(operands); !mistake.empty()) return mistake;
  return cumulative_shape(operands, attributes);
}

ShapeResult ordered_scatter_shape(Types operands, const Attributes& attributes) {
  if (std::string mistake = complex_mistake(operands); !mistake.empty()) return mistake;
  return scatter_shape(operands, attributes);
}

ShapeResult float_cumulative_shape(Types operands, const Attributes& attributes) {
  if (!info(operands[0].dtype).is_float) {
    return "needs floating point, not " + dtype_word(operands[0].dtype);
  }
  return cumulative_shape(operands, attributes);
}

ShapeResult sort_shape(Types operands, const Attributes& attributes) {
  if (operands.empty()) return "there is nothing to sort";
  std::string mistake = line_mistake(attributes, operands[0].rank());
  if (!mistake.empty()) return mistake;
  const std::int64_t keys = attributes.integer("keys");
  if (keys < 1 || keys > static_cast<std::int64_t>(operands.size())) {
    return std::to_string(keys) + " of " + std::to_string(operands.size()) +
           " operands cannot be the keys";
  }
  mistake = complex_mistake(operands.first(static_cast<std::size_t>(keys)));
  if (!mistake.empty()) return mistake;
  for (const TensorType& type : operands) {
    if (type.shape == operands[0].shape) continue;
    return "shapes differ: " + to_string(operands[0]) + " and " + to_string(type);
  }
  return std::vector<TensorType>(operands.begin(), operands.end());
}

ShapeResult top_k_shape(Types operands, const Attributes& attributes) {
  const int rank = operands[0].rank();
  if (rank == 0) return "a scalar has no largest elements";
  if (std::string mistake = complex_mistake(operands); !mistake.empty()) return mistake;
  const std::int64_t k = attributes.integer("k");
  TensorType values = operands[0];
  if (k < 0 || k > values.shape.back()) {
    return "there are no " + std::to_string(k) + " largest of " +
           std::to_string(values.shape.back());
  }
  values.shape.back() = k;
  return std::vector<TensorType>{values, {DType::i32, values.shape}};
}

std::vector<std::int64_t> window_sizes(const IndexDims& dims, int rank, const Shape& slices) {
  Dims sizes(static_cast<std::size_t>(rank), 1);
  const Dims windowed = dims.windowed(rank);
  for (std::size_t i = 0; i < windowed.size(); ++i) {
    sizes[static_cast<std::size_t>(windowed[i])] = slices[static_cast<std::size_t>(dims.window[i])];
  }
  return sizes;
}

}  // namespace shard
