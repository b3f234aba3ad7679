#include "spmd/parts_builder.h"

#include <utility>

#include "base/check.h"
#include "spmd/local_op.h"
#include "spmd/reshard.h"
#include "spmd/words.h"

namespace shard::spmd {

PartsBuilder::PartsBuilder(Program& program, int body, const Instruction& node, std::string name)
    : program_(program), body_(body), name_(std::move(name)) {
  node_.node = node.node;
  node_.phase = node.phase;
  node_.iteration = node.iteration;
}

BufferId PartsBuilder::emit(Op op, std::vector<BufferId> operands, Attributes attributes) {
  const std::vector<BufferId> results = emit_all(op, std::move(operands), std::move(attributes));
  SHARD_CHECK(results.size() == 1, "the op has one result");
  return results.front();
}

std::vector<BufferId> PartsBuilder::emit_all(Op op, std::vector<BufferId> operands,
                                             Attributes attributes) {
  std::vector<TensorType> types;
  for (const BufferId operand : operands) types.push_back(type(operand));
  Instruction instruction = node_;
  instruction.op = op;
  for (TensorType& made : result_types(op, types, attributes)) {
    instruction.results.push_back(new_buffer(std::move(made), def(op).name));
  }
  instruction.operands = std::move(operands);
  instruction.attributes = std::move(attributes);
  std::vector<BufferId> results = instruction.results;
  program_.bodies[static_cast<std::size_t>(body_)].instructions.push_back(std::move(instruction));
  return results;
}

BufferId PartsBuilder::all_reduce(BufferId operand, const Axes& axes, Reduction reduction) {
  Collective made;
  made.kind = CollectiveKind::all_reduce;
  made.axes = axes;
  made.reduction = reduction;
  return collective(std::move(made), operand, type(operand));
}

BufferId PartsBuilder::all_gather(BufferId operand, const Axes& axes, int dim) {
  TensorType result = type(operand);
  result.shape[static_cast<std::size_t>(dim)] *= product(axes);
  Collective made;
  made.kind = CollectiveKind::all_gather;
  made.axes = axes;
  made.dim = dim;
  return collective(std::move(made), operand, std::move(result));
}

BufferId PartsBuilder::all_slice(BufferId operand, const Axes& axes, int dim) {
  TensorType result = type(operand);
  result.shape[static_cast<std::size_t>(dim)] /= product(axes);
  Collective made;
  made.kind = CollectiveKind::all_slice;
  made.axes = axes;
  made.dim = dim;
  return collective(std::move(made), operand, std::move(result));
}

BufferId PartsBuilder::broadcast(BufferId operand, const Axes& axes, std::int64_t source) {
  Collective made;
  made.kind = CollectiveKind::collective_broadcast;
  made.axes = axes;
  made.source = static_cast<int>(source);
  return collective(std::move(made), operand, type(operand));
}

BufferId PartsBuilder::fetch(BufferId operand, const Axes& axes, int dim,
                             const PartWindow& window) {
  TensorType result = type(operand);
  result.shape[static_cast<std::size_t>(dim)] = window.size;
  Collective made;
  made.kind = CollectiveKind::collective_permute;
  made.axes = axes;
  made.dim = dim;
  made.window = window;
  return collective(std::move(made), operand, std::move(result));
}

BufferId PartsBuilder::all_to_all(BufferId operand, const Axes& axes, int dim, int split_dim) {
  TensorType result = type(operand);
  result.shape[static_cast<std::size_t>(dim)] *= product(axes);
  result.shape[static_cast<std::size_t>(split_dim)] /= product(axes);
  Collective made;
  made.kind = CollectiveKind::all_to_all;
  made.axes = axes;
  made.dim = dim;
  made.split_dim = split_dim;
  return collective(std::move(made), operand, std::move(result));
}

BufferId PartsBuilder::send(BufferId operand, const Axes& axes, std::vector<int> senders,
                            CollectiveReason::Kind why) {
  Collective made;
  made.kind = CollectiveKind::collective_permute;
  made.axes = axes;
  made.senders = std::move(senders);
  made.why.kind = why;
  return collective(std::move(made), operand, type(operand));
}

BufferId PartsBuilder::ragged_all_to_all(const std::vector<BufferId>& operands, const Axes& axes) {
  Collective made;
  made.kind = CollectiveKind::ragged_all_to_all;
  made.axes = axes;
  made.why.kind = CollectiveReason::Kind::asked;
  return collective(std::move(made), operands, type(operands[1]));
}

BufferId PartsBuilder::collective(Collective collective, BufferId operand, TensorType result) {
  return this->collective(std::move(collective), std::vector{operand}, std::move(result));
}

BufferId PartsBuilder::collective(Collective collective, std::vector<BufferId> operands,
                                  TensorType result) {
  const std::int64_t parts = product(collective.axes);
  const TensorType& before = type(operands.front());
  if (collective.window) {
    collective.wire = window_bytes(*collective.window, before, collective.dim, parts);
    collective.payload = collective.wire;
  } else if (!collective.senders.empty()) {
    collective.wire = sent_bytes(collective.senders, bytes_of(before));
    collective.payload = collective.wire;
  } else {
    const bool gathers = collective.kind == CollectiveKind::all_gather;
    collective.payload = bytes_of(gathers ? result : before);
    collective.wire = wire_bytes(collective.kind, bytes_of(before), parts);
  }
  const bool is_asked = collective.why.kind == CollectiveReason::Kind::asked;
  collective.why = {is_asked ? CollectiveReason::Kind::asked : CollectiveReason::Kind::neighbours,
                    node_.phase,
                    node_.node,
                    "",
                    "",
                    ""};
  Instruction instruction = node_;
  instruction.kind = Instruction::Kind::collective;
  instruction.operands = std::move(operands);
  instruction.results = {new_buffer(std::move(result), shard::name(collective.kind))};
  instruction.collective = std::move(collective);
  const BufferId made = instruction.results.front();
  program_.bodies[static_cast<std::size_t>(body_)].instructions.push_back(std::move(instruction));
  return made;
}

BufferId PartsBuilder::number(std::int64_t value) {
  return constant(static_cast<double>(value), DType::i32);
}

BufferId PartsBuilder::constant(double value, DType dtype) {
  return emit(Op::constant, {},
              {{"shape", Shape{}}, {"value", value}, {"dtype", std::string(info(dtype).name)}});
}

BufferId PartsBuilder::part_number(const Axes& axes) {
  const DimPart part = part_along(program_.mesh, axes);
  Attributes attributes{{"shape", Shape{1}},
                        {"dim", std::int64_t{0}},
                        {"dtype", std::string("i32")},
                        {"part_dims", Shape(part.sizes.size(), 0)},
                        {"part_strides", part.strides},
                        {"part_sizes", part.sizes}};
  return emit(Op::reshape, {emit(Op::iota, {}, std::move(attributes))}, {{"shape", Shape{}}});
}

BufferId PartsBuilder::positions(const Axes& axes, const PartWindow& window) {
  const BufferId moved = emit(Op::multiply, {part_number(axes), number(window.step)});
  const BufferId begin = emit(Op::add, {moved, number(window.start)});
  const BufferId inside = emit(
      Op::iota, {},
      {{"shape", Shape{window.size}}, {"dim", std::int64_t{0}}, {"dtype", std::string("i32")}});
  return emit(Op::add, {inside, begin});
}

BufferId PartsBuilder::along(BufferId x, const Shape& shape, int dim) {
  return emit(Op::broadcast, {x}, {{"shape", shape}, {"dims", Shape{dim}}});
}

BufferId PartsBuilder::slice(BufferId x, int dim, std::int64_t start, std::int64_t limit,
                             std::int64_t stride) {
  const Shape& shape = type(x).shape;
  const auto d = static_cast<std::size_t>(dim);
  if (start == 0 && limit == shape[d] && stride == 1) return x;
  Shape starts(shape.size(), 0), limits = shape, strides(shape.size(), 1);
  starts[d] = start;
  limits[d] = limit;
  strides[d] = stride;
  return emit(Op::slice, {x}, {{"start", starts}, {"limit", limits}, {"stride", strides}});
}

BufferId PartsBuilder::new_buffer(TensorType type, std::string_view what) {
  Buffer buffer;
  buffer.name = name_ + ":" + std::string(what);
  buffer.type = std::move(type);
  program_.buffers.push_back(std::move(buffer));
  return id_at<BufferId>(program_.buffers.size() - 1);
}

}  // namespace shard::spmd
