// Shape rules of ops that move elements: reshape, slices, pads, concatenations.

#include "ops/shape_mistakes.h"
#include "ops/shape_rules.h"

namespace shard {
namespace {

using Types = std::span<const TensorType>;
using Dims = std::vector<std::int64_t>;

std::string no_dim(std::int64_t dim, int rank) {
  return "there is no dim " + std::to_string(dim) + " in rank " + std::to_string(rank);
}

std::string range_mistake(const Dims& start, const Dims& limit, const Dims& stride,
                          const Shape& shape) {
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (stride[dim] < 1) return "the stride of dim " + std::to_string(dim) + " is not positive";
    if (start[dim] >= 0 && start[dim] <= limit[dim] && limit[dim] <= shape[dim]) continue;
    return "dim " + std::to_string(dim) + " of size " + std::to_string(shape[dim]) +
           " has no range " + std::to_string(start[dim]) + " to " + std::to_string(limit[dim]);
  }
  return "";
}

std::string sizes_mistake(const Dims& sizes, const Shape& shape) {
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (sizes[dim] >= 0 && sizes[dim] <= shape[dim]) continue;
    return "dim " + std::to_string(dim) + " of size " + std::to_string(shape[dim]) +
           " has no slice of " + std::to_string(sizes[dim]);
  }
  return "";
}

std::string first_of(std::initializer_list<std::string> mistakes) {
  for (const std::string& mistake : mistakes) {
    if (!mistake.empty()) return mistake;
  }
  return "";
}

}  // namespace

std::string length_mistake(const Dims& list, int rank, const char* what) {
  if (static_cast<int>(list.size()) == rank) return "";
  return std::string(what) + " has " + std::to_string(list.size()) + " entries for " +
         std::to_string(rank) + " dims";
}

std::string start_mistake(Types starts, int rank) {
  if (static_cast<int>(starts.size()) != rank) {
    return std::to_string(starts.size()) + " starts for " + std::to_string(rank) + " dims";
  }
  for (const TensorType& start : starts) {
    if (start.rank() != 0 || !is_whole(start.dtype))
      return "a start is " + to_string(start) + ", not i32[]";
  }
  return "";
}

ShapeResult reshape_shape(Types operands, const Attributes& attributes) {
  const Shape& shape = attributes.integers("shape");
  const std::optional<std::int64_t> count = checked_product(shape);
  if (!count || *count != element_count(operands[0].shape)) {
    return to_string(operands[0]) + " has " + std::to_string(element_count(operands[0].shape)) +
           " elements, not those of " + to_string(shape);
  }
  return one_result({operands[0].dtype, shape});
}

ShapeResult slice_shape(Types operands, const Attributes& attributes) {
  const Dims &start = attributes.integers("start"), &limit = attributes.integers("limit"),
             &stride = attributes.integers("stride");
  const int rank = operands[0].rank();
  std::string mistake =
      first_of({length_mistake(start, rank, "start"), length_mistake(limit, rank, "limit"),
                length_mistake(stride, rank, "stride")});
  if (mistake.empty()) mistake = range_mistake(start, limit, stride, operands[0].shape);
  if (!mistake.empty()) return mistake;
  TensorType result{operands[0].dtype, {}};
  for (std::size_t dim = 0; dim < start.size(); ++dim) {
    result.shape.push_back((limit[dim] - start[dim] + stride[dim] - 1) / stride[dim]);
  }
  return one_result(std::move(result));
}

ShapeResult concatenate_shape(Types operands, const Attributes& attributes) {
  if (operands.empty()) return "there is nothing to concatenate";
  const std::int64_t dim = attributes.integer("dim");
  TensorType result = operands[0];
  if (dim < 0 || dim >= result.rank()) return no_dim(dim, result.rank());
  const auto at = static_cast<std::size_t>(dim);
  result.shape[at] = 0;
  for (const TensorType& type : operands) {
    if (type.dtype != result.dtype) {
      return "dtypes differ: " + dtype_word(result.dtype) + " and " + dtype_word(type.dtype);
    }
    Shape others = type.shape;
    if (others.size() == result.shape.size()) others[at] = result.shape[at];
    if (others != result.shape) {
      return "shapes differ beside dim " + std::to_string(dim) + ": " + to_string(operands[0]) +
             " and " + to_string(type);
    }
    result.shape[at] += type.shape[at];
  }
  return one_result(std::move(result));
}

ShapeResult pad_shape(Types operands, const Attributes& attributes) {
  const Dims &low = attributes.integers("low"), &high = attributes.integers("high"),
             &interior = attributes.integers("interior");
  const int rank = operands[0].rank();
  std::string mistake =
      first_of({length_mistake(low, rank, "low"), length_mistake(high, rank, "high"),
                length_mistake(interior, rank, "interior")});
  if (!mistake.empty()) return mistake;
  if (operands[1] != TensorType{operands[0].dtype, {}}) {
    return "the padding is " + to_string(operands[1]) + ", the array " + to_string(operands[0]);
  }
  TensorType result{operands[0].dtype, {}};
  for (std::size_t dim = 0; dim < low.size(); ++dim) {
    if (interior[dim] < 0) return "interior padding of dim " + std::to_string(dim) + " is negative";
    const std::int64_t size = operands[0].shape[dim];
    const std::int64_t spread = size == 0 ? 0 : size + (size - 1) * interior[dim];
    const std::int64_t padded = low[dim] + spread + high[dim];
    if (padded < 0) return "nothing is left of dim " + std::to_string(dim);
    result.shape.push_back(padded);
  }
  return one_result(std::move(result));
}

ShapeResult reverse_shape(Types operands, const Attributes& attributes) {
  std::string mistake = position_mistake(attributes.integers("dims"), operands[0].rank());
  if (!mistake.empty()) return mistake;
  return one_result(operands[0]);
}

ShapeResult ppermute_shape(Types operands, const Attributes& attributes) {
  const std::int64_t dim = attributes.integer("dim");
  std::string mistake = position_mistake({dim}, operands[0].rank());
  if (!mistake.empty()) return mistake;
  const Dims& source = attributes.integers("source");
  const std::int64_t size = operands[0].shape[static_cast<std::size_t>(dim)];
  if (static_cast<std::int64_t>(source.size()) != size) {
    return "source has " + std::to_string(source.size()) + " places, the dim " +
           std::to_string(size);
  }
  std::vector<char> sends(source.size());
  for (const std::int64_t from : source) {
    if (from == -1) continue;
    if (from < 0 || from >= size) {
      return "there is no place " + std::to_string(from) + " among " + std::to_string(size);
    }
    if (sends[static_cast<std::size_t>(from)]++ != 0) {
      return "place " + std::to_string(from) + " is sent twice";
    }
  }
  return one_result(operands[0]);
}

ShapeResult iota_shape(Types, const Attributes& attributes) {
  const std::optional<DType> dtype = dtype_named(attributes.text("dtype"));
  if (!dtype) return "there is no dtype '" + attributes.text("dtype") + "'";
  if (*dtype == DType::boolean) return "needs numbers, not bool";
  if (info(*dtype).is_complex) return "needs real numbers, not " + dtype_word(*dtype);
  const Shape& shape = attributes.integers("shape");
  const std::int64_t dim = attributes.integer("dim");
  const int rank = static_cast<int>(shape.size());
  if (dim < 0 || dim >= rank) return no_dim(dim, rank);
  return one_result({*dtype, shape});
}

ShapeResult dynamic_slice_shape(Types operands, const Attributes& attributes) {
  if (operands.empty()) return "there is no array";
  const Dims& sizes = attributes.integers("sizes");
  const int rank = operands[0].rank();
  std::string mistake =
      first_of({length_mistake(sizes, rank, "sizes"), start_mistake(operands.subspan(1), rank)});
  if (mistake.empty()) mistake = sizes_mistake(sizes, operands[0].shape);
  if (!mistake.empty()) return mistake;
  return one_result({operands[0].dtype, sizes});
}

ShapeResult dynamic_update_slice_shape(Types operands, const Attributes& attributes) {
  if (operands.size() < 2) return "there is no update";
  if (operands[0].dtype != operands[1].dtype) {
    return "dtypes differ: " + dtype_word(operands[0].dtype) + " and " +
           dtype_word(operands[1].dtype);
  }
  const int rank = operands[0].rank();
  if (operands[1].rank() != rank) {
    return "the update is " + to_string(operands[1]) + ", the array " + to_string(operands[0]);
  }
  std::string mistake = start_mistake(operands.subspan(2), rank);
  // A device that has a part of the array may get an update of the whole.
  const LocalParts parts(attributes);
  Shape whole = operands[0].shape;
  for (std::int64_t dim = 0; dim < rank; ++dim) {
    whole[static_cast<std::size_t>(dim)] *= parts.count(dim);
  }
  if (mistake.empty()) mistake = sizes_mistake(operands[1].shape, whole);
  if (!mistake.empty()) return mistake;
  return one_result(operands[0]);
}

}  // namespace shard
