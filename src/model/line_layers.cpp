// Layers that work along dims: running sums, sorting, the largest, means.

#include <algorithm>

#include "base/check.h"
#include "model/expressions.h"
#include "model/op_arguments.h"

namespace shard {
namespace {

Op op_of_word(const LayerConfig& layer) {
  const auto op = op_named(layer.kind);
  SHARD_CHECK(op.has_value(), "a layer of this function is called as its op");
  return *op;
}

/// Positions along `dim`, of the shape of x.
ValueId positions_along(Lowering& lowering, ValueId x, std::int64_t dim) {
  return lowering.emit(Op::iota, {},
                       Attributes{{"shape", lowering.type(x).shape},
                                  {"dim", dim},
                                  {"dtype", std::string(info(DType::i32).name)}});
}

/// Dims that are written, or all of them, in order.
std::optional<std::vector<std::int64_t>> some_or_all(const OpArguments& op, ValueId x) {
  auto dims = op.lowering.dim_positions(x, op.layer.dims, op.layer.at);
  if (!dims) return dims;
  for (int dim = 0; op.layer.dims.empty() && dim < op.type(x).rank(); ++dim) dims->push_back(dim);
  std::sort(dims->begin(), dims->end());
  return dims;
}

/// `reduced`, which lacks these dims of x, with size 1 for each of them.
ValueId with_units(const OpArguments& op, ValueId reduced, ValueId x,
                   const std::vector<std::int64_t>& dims) {
  if (!op.layer.keep_dims || reduced == ValueId::none) return reduced;
  Shape shape = op.type(x).shape;
  std::vector<std::int64_t> kept;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    const auto position = static_cast<std::int64_t>(dim);
    if (std::binary_search(dims.begin(), dims.end(), position)) {
      shape[dim] = 1;
    } else {
      kept.push_back(position);
    }
  }
  return op.lowering.emit(Op::broadcast, {reduced},
                          Attributes{{"shape", std::move(shape)}, {"dims", std::move(kept)}});
}

bool needs_floats(const OpArguments& op, ValueId x) {
  if (info(op.type(x).dtype).is_float) return true;
  op.fail("dtype-mismatch",
          op.layer.kind + " needs floating-point numbers, found " + op.lowering.described(x));
  return false;
}

}  // namespace

ValueId lower_cumulative(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  const ValueId x = op.input();
  const auto dim = op.dim(x);
  if (!dim) return ValueId::none;
  const std::int64_t reverse = op.flag("reverse") ? 1 : 0;
  return op.named(
      lowering.emit(op_of_word(op.layer), {x}, Attributes{{"dim", *dim}, {"reverse", reverse}}));
}

ValueId lower_arg_extremum(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  const ValueId x = op.input();
  const auto dim = op.dim(x);
  if (!dim) return ValueId::none;
  return op.named(lowering.emit(op_of_word(op.layer), {x}, Attributes{{"dim", *dim}}));
}

ValueId lower_sort(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  const ValueId x = op.input();
  const auto dim = op.dim(x);
  if (!dim) return ValueId::none;
  const Attributes attributes{{"dim", *dim}, {"keys", std::int64_t{1}}};
  const std::string positions = op.word("positions", "");
  if (positions.empty()) return op.named(lowering.emit(Op::sort, {x}, attributes));
  const std::array<ValueId, 2> operands{x, positions_along(lowering, x, *dim)};
  const std::vector<ValueId> sorted = lowering.builder.emit_all(Op::sort, operands, attributes);
  op.bind(positions, sorted[1]);
  return op.named(sorted[0]);
}

ValueId lower_top_k(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  const auto k = op.count("k");
  if (op.is_spoiled() || !k) return ValueId::none;
  const ValueId x = op.input();
  const TensorType& type = op.type(x);
  if (type.rank() == 0 || k->value > type.shape.back()) {
    return op.fail("shape-mismatch", "top_k of " + lowering.described(x) + ": there are no " +
                                         std::to_string(k->value) + " elements in its last dim");
  }
  std::vector<std::string> labels = op.labels(x);
  labels.back() = k->label;
  const std::array<ValueId, 1> operands{x};
  const std::vector<ValueId> found =
      lowering.builder.emit_all(Op::top_k, operands, Attributes{{"k", k->value}});
  for (const ValueId value : found) op.set_labels(value, labels);
  const std::string positions = op.word("positions", "");
  if (!positions.empty()) op.bind(positions, found[1]);
  return op.named(found[0]);
}

ValueId lower_reduce_mean(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  const ValueId x = op.input();
  const auto dims = some_or_all(op, x);
  if (!dims || !needs_floats(op, x)) return ValueId::none;
  Composer compose(lowering.builder);
  return op.named(with_units(op, compose.mean(x, *dims), x, *dims));
}

ValueId lower_logsumexp(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  const ValueId x = op.input();
  const auto dims = some_or_all(op, x);
  if (!dims || !needs_floats(op, x)) return ValueId::none;
  if (dims->empty()) return op.named(x);
  Composer compose(lowering.builder);
  const Shape shape = op.type(x).shape;
  const ValueId largest = compose.stopped(compose.reduced(Op::reduce_max, x, *dims));
  const ValueId down = compose.two(Op::subtract, x, compose.spread(largest, shape, *dims));
  const ValueId sum = compose.reduced(Op::reduce_sum, compose.one(Op::exp, down), *dims);
  const ValueId total = compose.two(Op::add, compose.one(Op::log, sum), largest);
  return op.named(with_units(op, total, x, *dims));
}

}  // namespace shard
