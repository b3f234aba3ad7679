// `dropout`: what is dropped depends on the step, the layer's name and the place in the whole array
// alone, so it is the same on any mesh, and in every run.

#include "model/op_arguments.h"

namespace shard {
namespace {

/// A stream of random bits for each layer of a model (FNV-1a of its name and the model's seed).
std::int64_t stream_of(const std::string& name, std::int64_t seed) {
  std::uint32_t hash = 2166136261U;
  const std::string text = name + "#" + std::to_string(seed);
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619U;
  return hash;
}

/// The sizes that elements are told apart by: 1 where all are dropped together.
std::optional<Shape> counts_of(const OpArguments& op, ValueId x) {
  Shape counts = op.type(x).shape;
  const auto shared = op.lowering.dim_positions(x, op.layer.dims, op.layer.at);
  if (!shared) return std::nullopt;
  for (const std::int64_t dim : *shared) counts[static_cast<std::size_t>(dim)] = 1;
  return counts;
}

}  // namespace

ValueId lower_dropout(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  const double rate = op.number("rate", 0);
  if (!(rate >= 0 && rate < 1)) {
    return op.fail("bad-size", "the rate of dropout is the chance that an element is dropped",
                   "a number from 0 up to, and without, 1");
  }
  if (lowering.manual != nullptr) {
    return op.fail("manual-dropout", "dropout cannot stand inside a manual region",
                   "drop before the region or behind it");
  }
  const ValueId x = op.input();
  auto counts = counts_of(op, x);
  if (!counts || rate == 0) return counts ? op.named(x) : ValueId::none;
  if (!lowering.options.training) {
    lowering.differs_in_training = true;
    return op.named(x);
  }
  std::string name = call.path;
  if (name.empty()) {
    name = lowering.builder.origin.name + "/" + std::to_string(lowering.unnamed_dropouts++);
  }
  return op.named(lowering.emit(Op::dropout, {x, lowering.seed()},
                                Attributes{{"rate", rate},
                                           {"stream", stream_of(name, lowering.config.seed)},
                                           {"counts", std::move(*counts)}}));
}

}  // namespace shard
