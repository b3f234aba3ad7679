#include "model/block_builder.h"

#include <algorithm>

#include "base/nearest.h"

namespace shard {
namespace {

template <class Value>
const Value* entry_of(const std::vector<std::pair<std::string, Value>>& entries,
                      std::string_view key) {
  for (const auto& [name, value] : entries) {
    if (name == key) return &value;
  }
  return nullptr;
}

void add_once(std::vector<std::string>& names, std::string_view name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

}  // namespace

BlockBuilder::BlockBuilder(Lowering& the_lowering, LayerCall& call)
    : lowering(the_lowering), compose(the_lowering.builder), layer(call.layer), call_(call) {}

ValueId BlockBuilder::fail(const char* id, const std::string& message, const std::string& hint) {
  lowering.diagnostics.error(id, layer.at, message, hint);
  return ValueId::none;
}

ValueId BlockBuilder::input(std::size_t position, int least_rank, bool is_float) {
  const ValueId x = call_.inputs[position];
  if (x == ValueId::none) return x;
  const TensorType type = lowering.type(x);
  if (type.rank() < least_rank) {
    return fail("rank-mismatch", layer.kind + " needs at least " + std::to_string(least_rank) +
                                     (least_rank == 1 ? " dim" : " dims") + ", found " +
                                     lowering.described(x));
  }
  const bool is_right = is_float ? info(type.dtype).is_float : type.dtype == DType::i32;
  if (is_right) return x;
  return fail("dtype-mismatch", layer.kind + " needs " +
                                    (is_float ? "floating-point numbers" : "integers (i32)") +
                                    ", found " + lowering.described(x));
}

bool BlockBuilder::has(std::string_view key) const {
  return entry_of(layer.counts, key) != nullptr || entry_of(layer.numbers, key) != nullptr ||
         entry_of(layer.flags, key) != nullptr || entry_of(layer.words, key) != nullptr;
}

double BlockBuilder::number(std::string_view key, double standard) const {
  const double* found = entry_of(layer.numbers, key);
  return found == nullptr ? standard : *found;
}

bool BlockBuilder::flag(std::string_view key, bool standard) const {
  const bool* found = nullptr;
  for (const auto& entry : layer.flags) {
    if (entry.first == key) found = &entry.second;
  }
  return found == nullptr ? standard : *found;
}

std::string BlockBuilder::word(std::string_view key, std::string_view standard) const {
  const std::string* found = entry_of(layer.words, key);
  return found == nullptr ? std::string(standard) : *found;
}

DType BlockBuilder::compute() const { return layer.dtype.value_or(lowering.config.dtypes.compute); }

std::string BlockBuilder::label(std::string written, std::string_view word) {
  const bool is_new = std::find(labels_.begin(), labels_.end(), std::string(word)) == labels_.end();
  if (is_new) {
    labels_.emplace_back(word);
    record(BlockPart::Kind::label, labels_.back(), "", ValueId::none);
  }
  for (const RenamedLabel& name : layer.names) {
    if (name.from == word) return name.to;
  }
  return written.empty() ? std::string(word) : written;
}

std::optional<BlockDim> BlockBuilder::dim(std::string_view key, std::string_view word) {
  const CountConfig* written = entry_of(layer.counts, key);
  if (written == nullptr && key == "features" && layer.features) written = &*layer.features;
  if (written == nullptr) return std::nullopt;
  const auto count = lowering.count(*written, call_.scope);
  if (!count) return std::nullopt;
  return BlockDim{count->value, label(count->label, word)};
}

BlockDim BlockBuilder::dim_of(ValueId x, int position, std::string_view word) {
  const GraphValue& value = lowering.builder.graph().value(x);
  const auto at = static_cast<std::size_t>(position < 0 ? position + value.type.rank() : position);
  const std::int64_t size = value.type.shape[at];
  return {size, label(value.labels[at], word)};
}

std::optional<SpecConfig> BlockBuilder::placement_of(std::string_view parameter) const {
  const SpecConfig* found = entry_of(layer.params, parameter);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

ValueId BlockBuilder::parameter(std::string_view name, const std::vector<BlockDim>& dims,
                                InitConfig init, Shape fans) {
  return as_asked(name, leaf(name, dims, std::move(init), std::move(fans)));
}

ValueId BlockBuilder::leaf(std::string_view name, const std::vector<BlockDim>& dims,
                           InitConfig init, Shape fans) {
  add_once(parameters_, name);
  ParameterRequest request;
  request.path = call_.path + "/" + std::string(name);
  request.type.dtype = lowering.config.dtypes.params;
  for (const BlockDim& dim : dims) {
    request.type.shape.push_back(dim.size);
    request.labels.push_back(dim.label);
  }
  request.placement = placement_of(name);
  request.at = request.placement ? request.placement->at : layer.at;
  request.init = std::move(init);
  request.fans = std::move(fans);
  const ValueId value = lowering.parameter(std::move(request));
  record(BlockPart::Kind::parameter, std::string(name), "", value);
  return value;
}

ValueId BlockBuilder::kernel(std::string_view name, const std::vector<BlockDim>& dims,
                             std::size_t inputs, std::size_t batch) {
  Shape fans{1, 1};
  for (std::size_t i = batch; i < dims.size(); ++i) {
    std::int64_t& fan = fans[i < batch + inputs ? 0 : 1];
    if (__builtin_mul_overflow(fan, dims[i].size, &fan)) fan = dims[i].size;
  }
  InitConfig init = layer.kernel_init.value_or(InitConfig{"lecun_normal", {}, layer.at});
  const ValueId value = leaf(name, dims, std::move(init), std::move(fans));
  if (value == ValueId::none) return value;
  return as_asked(name, compose.converted(value, compute()));
}

ValueId BlockBuilder::as_asked(std::string_view name, ValueId x) {
  const SpecConfig* spec = entry_of(layer.constrain, name);
  if (spec == nullptr || x == ValueId::none) return x;
  const Location at = lowering.builder.origin.at;
  lowering.builder.origin.at = spec->at;
  x = lowering.constrained(x, *spec);
  lowering.builder.origin.at = at;
  return x;
}

ValueId BlockBuilder::with_bias(ValueId x, std::string_view name, const std::vector<BlockDim>& dims,
                                bool standard) {
  if (!layer.use_bias.value_or(standard)) return x;
  const InitConfig init = layer.bias_init.value_or(InitConfig{"zeros", {}, layer.at});
  const ValueId bias = parameter(name, dims, init);
  if (x == ValueId::none || bias == ValueId::none) return ValueId::none;
  return lowering.emit_binary(Op::add, x, compose.converted(bias, lowering.type(x).dtype));
}

ValueId BlockBuilder::product(ValueId x, ValueId y, const Attributes& dims) {
  if (x == ValueId::none || y == ValueId::none) return ValueId::none;
  return lowering.emit(Op::dot, {compose.converted(x, compute()), compose.converted(y, compute())},
                       dims);
}

ValueId BlockBuilder::value(std::string_view name, ValueId x, std::string_view help,
                            std::vector<std::string> labels) {
  add_once(values_, name);
  if (x == ValueId::none) return x;
  if (!labels.empty()) compose.set_labels(x, std::move(labels));
  lowering.name_value(x, call_.path + "/" + std::string(name));
  record(BlockPart::Kind::value, std::string(name), help, x);
  return as_asked(name, x);
}

ValueId BlockBuilder::finish(ValueId x) {
  for (const auto& [name, spec] : layer.constrain) {
    const bool is_value = std::find(values_.begin(), values_.end(), name) != values_.end();
    const bool is_parameter =
        std::find(parameters_.begin(), parameters_.end(), name) != parameters_.end();
    if (is_value || is_parameter) continue;
    lowering.diagnostics.error("unknown-value", spec.at,
                               layer.kind + " has no value '" + name + "' inside",
                               did_you_mean(name, values_, "values", 12));
  }
  for (const auto& [name, spec] : layer.params) {
    if (std::find(parameters_.begin(), parameters_.end(), name) != parameters_.end()) continue;
    lowering.diagnostics.error("unknown-parameter", spec.at,
                               layer.kind + " has no parameter '" + name + "'",
                               did_you_mean(name, parameters_, "parameters", 12));
  }
  for (const RenamedLabel& name : layer.names) {
    if (std::find(labels_.begin(), labels_.end(), name.from) != labels_.end()) continue;
    lowering.diagnostics.error("unknown-label", name.at,
                               layer.kind + " has no label '" + name.from + "'",
                               did_you_mean(name.from, labels_, "labels", 12));
  }
  if (x == ValueId::none) return x;
  const ValueId result = compose.converted(x, compute());
  lowering.name_value(result, call_.path);
  return result;
}

void BlockBuilder::record(BlockPart::Kind kind, std::string name, std::string_view help,
                          ValueId value) {
  if (!lowering.options.lists_parts) return;
  BlockPart part{kind, call_.path, std::move(name), std::string(help)};
  if (value != ValueId::none) {
    part.type = lowering.type(value);
    part.labels = lowering.builder.graph().value(value).labels;
  }
  lowering.parts.push_back(std::move(part));
}

Attributes paired(Pairing pairing) {
  return dot_attributes(std::move(pairing.left_batch), std::move(pairing.right_batch),
                        std::move(pairing.left_sum), std::move(pairing.right_sum));
}

}  // namespace shard
