#include "model/composer.h"

#include <algorithm>

namespace shard {
namespace {

std::vector<std::int64_t> dims_without(std::size_t rank, const std::vector<std::int64_t>& dims) {
  std::vector<std::int64_t> kept;
  for (std::int64_t dim = 0; dim < static_cast<std::int64_t>(rank); ++dim) {
    if (std::find(dims.begin(), dims.end(), dim) == dims.end()) kept.push_back(dim);
  }
  return kept;
}

}  // namespace

std::int64_t Composer::size(ValueId x, int dim) const {
  return type(x).shape[static_cast<std::size_t>(dim)];
}

ValueId Composer::times(ValueId x, double factor) {
  return builder_.emit(Op::scale, {x}, Attributes{{"value", factor}});
}

ValueId Composer::plus(ValueId x, double term) {
  return builder_.emit(Op::shift, {x}, Attributes{{"value", term}});
}

ValueId Composer::number(double value, DType dtype) {
  return builder_.emit(
      Op::constant, {},
      Attributes{{"shape", Shape{}}, {"value", value}, {"dtype", std::string(info(dtype).name)}});
}

ValueId Composer::converted(ValueId x, DType dtype) {
  if (type(x).dtype == dtype) return x;
  return builder_.emit(Op::convert, {x}, Attributes{{"dtype", std::string(info(dtype).name)}});
}

ValueId Composer::where(ValueId mask, ValueId on_true, double otherwise) {
  return builder_.emit(Op::select, {mask, on_true, number(otherwise, type(on_true).dtype)});
}

ValueId Composer::reduced(Op op, ValueId x, const std::vector<std::int64_t>& dims) {
  if (dims.empty()) return x;
  return builder_.emit(op, {x}, Attributes{{"dims", dims}});
}

ValueId Composer::spread(ValueId x, const Shape& shape, const std::vector<std::int64_t>& dims) {
  return placed(x, shape, dims_without(shape.size(), dims));
}

ValueId Composer::placed(ValueId x, const Shape& shape, std::vector<std::int64_t> at) {
  return builder_.emit(Op::broadcast, {x}, Attributes{{"shape", shape}, {"dims", std::move(at)}});
}

ValueId Composer::mean(ValueId x, const std::vector<std::int64_t>& dims) {
  double elements = 1;
  for (const std::int64_t dim : dims) {
    elements *= static_cast<double>(type(x).shape[static_cast<std::size_t>(dim)]);
  }
  return times(reduced(Op::reduce_sum, x, dims), 1 / elements);
}

ValueId Composer::reshaped(ValueId x, Shape shape) {
  return builder_.emit(Op::reshape, {x}, Attributes{{"shape", std::move(shape)}});
}

ValueId Composer::transposed(ValueId x, std::vector<std::int64_t> order) {
  if (std::is_sorted(order.begin(), order.end())) return x;
  return builder_.emit(Op::transpose, {x}, Attributes{{"order", std::move(order)}});
}

ValueId Composer::sliced(ValueId x, int dim, std::int64_t start, std::int64_t limit) {
  const Shape shape = type(x).shape;
  std::vector<std::int64_t> starts(shape.size(), 0), limits = shape, strides(shape.size(), 1);
  starts[static_cast<std::size_t>(dim)] = start;
  limits[static_cast<std::size_t>(dim)] = limit;
  return builder_.emit(Op::slice, {x},
                       Attributes{{"start", std::move(starts)},
                                  {"limit", std::move(limits)},
                                  {"stride", std::move(strides)}});
}

ValueId Composer::padded(ValueId x, double value, std::vector<std::int64_t> low,
                         std::vector<std::int64_t> high) {
  std::vector<std::int64_t> interior(low.size(), 0);
  return builder_.emit(
      Op::pad, {x, number(value, type(x).dtype)},
      Attributes{
          {"low", std::move(low)}, {"high", std::move(high)}, {"interior", std::move(interior)}});
}

ValueId Composer::concatenated(const std::vector<ValueId>& parts, int dim) {
  return builder_.emit(Op::concatenate, parts, Attributes{{"dim", std::int64_t{dim}}});
}

ValueId Composer::iota(const Shape& shape, int dim, DType dtype) {
  return builder_.emit(
      Op::iota, {},
      Attributes{
          {"shape", shape}, {"dim", std::int64_t{dim}}, {"dtype", std::string(info(dtype).name)}});
}

ValueId Composer::shifted_down(ValueId x, const std::vector<std::int64_t>& dims) {
  const ValueId most = stopped(reduced(Op::reduce_max, x, dims));
  return two(Op::subtract, x, spread(most, type(x).shape, dims));
}

ValueId Composer::softmax(ValueId x, const std::vector<std::int64_t>& dims) {
  const ValueId powers = one(Op::exp, shifted_down(x, dims));
  const ValueId sum = reduced(Op::reduce_sum, powers, dims);
  return two(Op::divide, powers, spread(sum, type(x).shape, dims));
}

ValueId Composer::log_softmax(ValueId x, const std::vector<std::int64_t>& dims) {
  const ValueId down = shifted_down(x, dims);
  const ValueId sum = reduced(Op::reduce_sum, one(Op::exp, down), dims);
  return two(Op::subtract, down, spread(one(Op::log, sum), type(x).shape, dims));
}

void Composer::set_labels(ValueId x, std::vector<std::string> labels) {
  builder_.graph().values[index_of(x)].labels = std::move(labels);
}

}  // namespace shard
