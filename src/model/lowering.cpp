#include "model/lowering.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/check.h"
#include "base/nearest.h"
#include "model/initial_values.h"
#include "model/stacked_spec.h"
#include "model/state_paths.h"

namespace shard {
namespace {

std::size_t entries_of(const SpecConfig& spec) {
  if (const LogicalSpec* logical = spec.logical()) return logical->names.size();
  if (const PartitionSpec* mesh = spec.mesh()) return mesh->entries.size();
  return 0;
}

SpecConfig placed_by_labels(const std::vector<std::string>& labels, const Location& at) {
  LogicalSpec spec;
  for (const std::string& label : labels) {
    spec.names.push_back(label.empty() ? std::nullopt : std::optional(LogicalAxis(label)));
  }
  return {std::move(spec), at};
}

}  // namespace

DType promoted(DType a, DType b) {
  if (a == b) return a;
  const DTypeInfo& left = info(a);
  const DTypeInfo& right = info(b);
  if (left.is_complex != right.is_complex) return left.is_complex ? a : b;
  if (left.is_float != right.is_float) return left.is_float ? a : b;
  if (left.bytes != right.bytes) return left.bytes > right.bytes ? a : b;
  return left.is_float ? DType::f32 : DType::i64;
}

Lowering::Lowering(const ModelConfig& model_config, const BuildOptions& build_options, Graph& graph,
                   Diagnostics& messages)
    : config(model_config), options(build_options), diagnostics(messages), builder(graph) {
  for (const BlockConfig& block : config.blocks) blocks_.emplace(block.name, &block);
}

const BlockConfig* Lowering::block_named(std::string_view name) const {
  const auto found = blocks_.find(name);
  return found == blocks_.end() ? nullptr : found->second;
}

ValueId Lowering::emit(Op op, std::span<const ValueId> operands, Attributes attributes,
                       std::optional<std::vector<std::string>> labels) {
  std::vector<TensorType> types;
  types.reserve(operands.size());
  for (const ValueId operand : operands) {
    if (operand == ValueId::none) return ValueId::none;
    types.push_back(type(operand));
  }
  const OpDef& row = def(op);
  ShapeResult result = row.shape_rule(types, attributes);
  if (const auto* mistake = std::get_if<std::string>(&result)) {
    std::string text(row.name);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      text += (i == 0 ? " of " : " and ") + described(operands[i]);
    }
    const bool is_dtype = mistake->starts_with("needs ") || mistake->starts_with("dtypes ") ||
                          mistake->find(" needs a whole number") != std::string::npos;
    diagnostics.error(is_dtype ? "dtype-mismatch" : "shape-mismatch", builder.origin.at,
                      text + ": " + *mistake);
    return ValueId::none;
  }
  auto& results = std::get<std::vector<TensorType>>(result);
  for (const TensorType& each : results) {
    if (!fits(each, builder.origin.at)) return ValueId::none;
  }
  return builder
      .emit_typed(op, operands, std::move(attributes), std::move(results), std::move(labels))
      .front();
}

bool Lowering::fits(const TensorType& type, const Location& at) {
  std::int64_t bytes = 0;
  const auto elements = checked_product(type.shape);
  if (elements && !__builtin_mul_overflow(*elements, info(type.dtype).bytes, &bytes)) return true;
  diagnostics.error("size-overflow", at,
                    to_string(type) + " has more bytes than a 63-bit count can hold");
  return false;
}

ValueId Lowering::emit_binary(Op op, ValueId left, ValueId right) {
  if (left == ValueId::none || right == ValueId::none) return ValueId::none;
  const DType dtype = promoted(type(left).dtype, type(right).dtype);
  left = converted(left, dtype);
  right = converted(right, dtype);
  const Shape a = type(left).shape;
  const Shape b = type(right).shape;
  Shape shape(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) {
      diagnostics.error("shape-mismatch", builder.origin.at,
                        std::string(def(op).name) + " of " + described(left) + " and " +
                            described(right) + ": sizes " + std::to_string(x) + " and " +
                            std::to_string(y) + " differ and neither is 1");
      return ValueId::none;
    }
    shape[shape.size() - 1 - i] = x == 1 ? y : x;
  }
  return emit(op, {broadcast_to(left, shape), broadcast_to(right, shape)});
}

ValueId Lowering::converted(ValueId value, DType dtype) {
  if (value == ValueId::none || type(value).dtype == dtype) return value;
  return emit(Op::convert, {value}, Attributes{{"dtype", std::string(info(dtype).name)}});
}

ValueId Lowering::broadcast_to(ValueId value, const Shape& shape) {
  if (value == ValueId::none || type(value).rank() == 0 || type(value).shape == shape) return value;
  std::vector<std::int64_t> dims(type(value).shape.size());
  std::iota(dims.begin(), dims.end(), static_cast<std::int64_t>(shape.size() - dims.size()));
  return emit(Op::broadcast, {value}, Attributes{{"shape", shape}, {"dims", std::move(dims)}});
}

ValueId Lowering::number(double value, DType dtype) {
  return emit(
      Op::constant, {},
      Attributes{{"shape", Shape{}}, {"value", value}, {"dtype", std::string(info(dtype).name)}});
}

ValueId Lowering::matrix_product(ValueId left, ValueId right) {
  if (left == ValueId::none || right == ValueId::none) return ValueId::none;
  const int a = type(left).rank();
  const int b = type(right).rank();
  const int batch = a > 2 && b > 2 ? b - 2 : 0;
  if (a == 0 || b == 0 || (b > 2 && a != b)) {
    diagnostics.error("rank-mismatch", builder.origin.at,
                      "product of " + described(left) + " and " + described(right) +
                          ": the right side must be a vector, a matrix, or as deep as the left");
    return ValueId::none;
  }
  const DType dtype = promoted(type(left).dtype, type(right).dtype);
  std::vector<std::int64_t> paired(static_cast<std::size_t>(batch));
  std::iota(paired.begin(), paired.end(), 0);
  return emit(Op::dot, {converted(left, dtype), converted(right, dtype)},
              dot_attributes(paired, paired, {a - 1}, {b == 1 ? 0 : b - 2}));
}

ValueId Lowering::constrained(ValueId value, const SpecConfig& spec, PlacementAsk ask) {
  if (value == ValueId::none) return value;
  const GraphValue& array = builder.graph().value(value);
  const std::size_t entries = entries_of(spec);
  if (entries > array.type.shape.size()) {
    diagnostics.error("rank-mismatch", spec.at,
                      to_string(spec) + " has " + std::to_string(entries) + " entries, " +
                          described(value) + " has " + std::to_string(array.type.rank()) + " dims");
    return ValueId::none;
  }
  if (const LogicalSpec* logical = spec.logical()) {
    for (std::size_t dim = 0; dim < logical->names.size(); ++dim) {
      if (!logical->names[dim]) continue;
      const std::string& name = logical->names[dim]->text();
      const auto size = size_named(name);
      if (!size || *size == array.type.shape[dim]) continue;
      diagnostics.error("constrain-size", spec.at,
                        "'" + name + "' is " + std::to_string(*size) + ", but dim " +
                            std::to_string(dim) + " of " + described(value) + " is " +
                            std::to_string(array.type.shape[dim]),
                        "name the dim by a size that is equal, or write null to leave it whole");
      return ValueId::none;
    }
  }
  Attributes attributes{{"placement", placement_index(spec)}};
  if (ask != PlacementAsk::constraint) attributes.set("asks", static_cast<std::int64_t>(ask));
  return emit(Op::constrain, {value}, std::move(attributes));
}

ValueId Lowering::entered(ValueId value, const std::vector<std::string>& axes, PlacementAsk ask,
                          const SpecConfig& spec) {
  std::string names;
  for (const std::string& axis : axes) names += (names.empty() ? "" : ",") + axis;
  Attributes attributes{{"placement", placement_index(spec)}};
  attributes.set("asks", static_cast<std::int64_t>(ask));
  attributes.set("axes", std::move(names));
  return emit(Op::constrain, {value}, std::move(attributes));
}

/// Each written spec once, so that equal iterations of a repeat have equal nodes.
std::int64_t Lowering::placement_index(const SpecConfig& spec) {
  std::vector<SpecConfig>& placements = builder.graph().placements;
  const auto same = [&](const SpecConfig& other) {
    return other.at == spec.at && other.spec == spec.spec;
  };
  const auto found = std::find_if(placements.begin(), placements.end(), same);
  const std::int64_t index = found - placements.begin();
  if (found == placements.end()) placements.push_back(spec);
  return index;
}

ValueId Lowering::parameter(ParameterRequest request) {
  auto init = initial_value(request.init, request.fans.empty() ? request.type.shape : request.fans,
                            diagnostics);
  SpecConfig placement = request.placement ? std::move(*request.placement)
                                           : placed_by_labels(request.labels, request.at);
  const std::size_t entries = entries_of(placement);
  if (entries > request.type.shape.size()) {
    diagnostics.error("rank-mismatch", placement.at,
                      to_string(placement) + " has " + std::to_string(entries) +
                          " entries, the parameter " + request.path + " has " +
                          std::to_string(request.type.rank()) + " dims");
    return ValueId::none;
  }
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    if ((*frame)->is_branch) continue;
    const std::optional<LogicalAxis>& axis = (*frame)->axis;
    request.type.shape.insert(request.type.shape.begin(), (*frame)->times);
    request.labels.insert(request.labels.begin(), axis ? axis->text() : std::string());
    placement = stacked_in_front(std::move(placement), axis);
  }
  if (!fits(request.type, request.at) || !init) return ValueId::none;

  StateLeaf leaf;
  leaf.path = std::string(state_paths_of(config.naming, "params/").parameters) + request.path;
  leaf.type = request.type;
  leaf.labels = request.labels;
  leaf.placement = std::move(placement);
  leaf.init = std::move(*init);
  leaf.iteration = builder.origin.iteration;
  leaf.at = request.at;
  ValueId value = builder.add_value(leaf.type, leaf.path, leaf.labels, leaf.at);
  leaf_values.push_back(value);
  leaves.push_back(std::move(leaf));
  for (LoopFrame* frame : frames) {
    if (!frame->is_branch) {
      request.type.shape.erase(request.type.shape.begin());
      request.labels.erase(request.labels.begin());
    }
    frame->stacks.push_back(value);
    value = builder.add_value(request.type, "", request.labels, request.at);
    frame->slices.push_back(value);
  }
  return value;
}

ValueId Lowering::seed() {
  if (step == ValueId::none) step = builder.add_value({DType::i32, {}}, "", {}, builder.origin.at);
  ValueId seed = step;
  for (LoopFrame* frame : frames) {
    if (frame->seed == ValueId::none && frame->is_branch) {
      frame->seed = builder.add_value(TensorType(type(seed)), "", {}, builder.origin.at);
      frame->stacks.push_back(seed);
      frame->slices.push_back(frame->seed);
    }
    if (frame->seed == ValueId::none) {
      const RegionId inside = builder.enter(frame->around);
      const Shape times = {frame->times};
      const ValueId seeds = builder.emit(
          Op::random_bits, {seed},
          Attributes{{"shape", times}, {"counts", times}, {"stream", std::int64_t{0}}});
      builder.enter(inside);
      frame->seed = builder.add_value({DType::u32, {}}, "", {}, builder.origin.at);
      frame->stacks.push_back(seeds);
      frame->slices.push_back(frame->seed);
    }
    seed = frame->seed;
  }
  return seed;
}

void Lowering::add_to_loss(ValueId scalar) {
  (frames.empty() ? losses : frames.back()->losses).push_back(scalar);
}

std::optional<CountConfig> Lowering::count(const CountConfig& written, const Scope& scope) {
  CountConfig found = written;
  if (!written.argument.empty()) {
    const CountConfig* argument = scope.argument(written.argument);
    SHARD_CHECK(argument != nullptr, "a count names an argument of the block it stands in");
    found.value = argument->value;
    found.label = argument->label;
    if (found.value == 0) {
      diagnostics.error("missing-argument", written.at,
                        "the argument '" + written.argument + "' of the block has no value",
                        "give it where the block is used, or a default in args");
      return std::nullopt;
    }
  } else if (found.value == 0 && !written.label.empty()) {
    const auto size = size_named(written.label);
    if (!size) {
      std::vector<std::string> known;
      for (const SizeConfig& entry : config.sizes) known.push_back(entry.name);
      diagnostics.error("unknown-dim", written.at, "there is no size '" + written.label + "'",
                        did_you_mean(written.label, known, "sizes"));
      return std::nullopt;
    }
    found.value = *size;
  }
  if (found.value > 0) return found;
  diagnostics.error("bad-size", written.at,
                    "a size must be at least 1, found " + std::to_string(found.value));
  return std::nullopt;
}

std::optional<std::int64_t> Lowering::size_named(const std::string& name) const {
  for (const SizeConfig& size : config.sizes) {
    if (size.name == name) return size.value;
  }
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> Lowering::dim_positions(
    ValueId value, const std::vector<std::string>& dims, const Location& at) {
  const GraphValue& array = builder.graph().value(value);
  std::vector<std::int64_t> positions;
  for (const std::string& word : dims) {
    std::int64_t position = -1;
    const char* const end = word.data() + word.size();
    const auto read = std::from_chars(word.data(), end, position);
    if (read.ec == std::errc() && read.ptr == end) {
      if (position < 0) position += array.type.rank();
    } else {
      const auto label = std::find(array.labels.begin(), array.labels.end(), word);
      position = label == array.labels.end() ? -1 : label - array.labels.begin();
    }
    if (position < 0 || position >= array.type.rank()) {
      std::vector<std::string> known;
      std::copy_if(array.labels.begin(), array.labels.end(), std::back_inserter(known),
                   [](const std::string& label) { return !label.empty(); });
      diagnostics.error("unknown-dim", at, "there is no dim '" + word + "' in " + described(value),
                        did_you_mean(word, known, "dims"));
      return std::nullopt;
    }
    if (std::find(positions.begin(), positions.end(), position) != positions.end()) {
      diagnostics.error("duplicate-dim", at,
                        "dim '" + word + "' of " + described(value) + " is named twice");
      return std::nullopt;
    }
    positions.push_back(position);
  }
  return positions;
}

std::string Lowering::described(ValueId value) const {
  const GraphValue& array = builder.graph().value(value);
  std::string text(info(array.type.dtype).name);
  text += "[";
  for (std::size_t dim = 0; dim < array.type.shape.size(); ++dim) {
    if (dim > 0) text += ", ";
    if (!array.labels[dim].empty()) text += array.labels[dim] + "=";
    text += std::to_string(array.type.shape[dim]);
  }
  return text + "]";
}

void Lowering::name_value(ValueId value, const std::string& name) {
  if (value == ValueId::none) return;
  std::string& held = builder.graph().values[index_of(value)].name;
  if (held.empty()) held = name;
}

}  // namespace shard
