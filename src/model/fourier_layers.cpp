// Fourier transforms along any dims, and the angle of complex numbers.

#include <algorithm>
#include <numeric>

#include "model/op_arguments.h"
#include "ops/complex_ops.h"

namespace shard {
namespace {

using Dims = std::vector<std::int64_t>;

/// The dims to transform, the last one when none is named. Nothing after a diagnostic.
std::optional<Dims> transformed_dims(const OpArguments& op, ValueId x) {
  const int rank = op.type(x).rank();
  if (rank == 0) {
    op.fail("rank-mismatch",
            op.layer.kind + " needs at least one dim, found " + op.lowering.described(x));
    return std::nullopt;
  }
  auto dims = op.lowering.dim_positions(x, op.layer.dims, op.layer.at);
  if (dims && dims->empty()) dims->push_back(rank - 1);
  return dims;
}

/// The order in which `dims` come last, as they are named.
Dims with_last(const Dims& dims, int rank) {
  Dims order;
  for (std::int64_t dim = 0; dim < rank; ++dim) {
    if (std::find(dims.begin(), dims.end(), dim) == dims.end()) order.push_back(dim);
  }
  order.insert(order.end(), dims.begin(), dims.end());
  return order;
}

Dims inverse_of(const Dims& order) {
  Dims inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  return inverse;
}

ValueId ordered(Lowering& lowering, ValueId x, const Dims& order) {
  if (std::is_sorted(order.begin(), order.end())) return x;
  return lowering.emit(Op::transpose, {x}, Attributes{{"order", order}});
}

/// Numbers of the dtype that the transform takes; what cannot be is left to the op to refuse.
ValueId taken(Lowering& lowering, ValueId x, const FftKind& kind) {
  const DType dtype = lowering.type(x).dtype;
  if (kind.takes_real && !info(dtype).is_complex) return lowering.converted(x, DType::f32);
  return kind.takes_real ? x : lowering.converted(x, DType::c64);
}

}  // namespace

ValueId lower_angle(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  const ValueId x = op.input();
  if (!info(op.type(x).dtype).is_complex) {
    return op.fail("dtype-mismatch", "angle needs complex numbers, found " + lowering.described(x));
  }
  const ValueId imag = lowering.emit(Op::imag, {x}), real = lowering.emit(Op::real, {x});
  return op.named(lowering.emit(Op::atan2, {imag, real}));
}

ValueId lower_fft(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  const bool has_length = !call.layer.counts.empty();
  const auto length = has_length ? op.count("length") : std::nullopt;
  if (op.is_spoiled() || (has_length && !length)) return ValueId::none;
  const FftKind kind = *fft_kind(op.layer.kind);
  ValueId x = op.input();
  const auto dims = transformed_dims(op, x);
  if (!dims) return ValueId::none;
  std::vector<std::string> labels = op.labels(x);
  const Dims order = with_last(*dims, op.type(x).rank());
  x = ordered(lowering, taken(lowering, x, kind), order);
  const Shape& shape = op.type(x).shape;
  Dims lengths(shape.end() - static_cast<std::ptrdiff_t>(dims->size()), shape.end());
  if (kind.gives_real) {
    lengths.back() =
        has_length ? length->value : std::max<std::int64_t>(1, 2 * (lengths.back() - 1));
  }
  x = lowering.emit(Op::fft, {x},
                    Attributes{{"kind", std::string(kind.name)}, {"lengths", lengths}});
  if (x == ValueId::none) return x;
  x = ordered(lowering, x, inverse_of(order));
  if (kind.takes_real || kind.gives_real) {
    labels[static_cast<std::size_t>(dims->back())] = has_length ? length->label : "";
  }
  op.set_labels(x, std::move(labels));
  return op.named(x);
}

}  // namespace shard
