#include "support/model_configs.h"

namespace shard::tests {

ModelBuilder::ModelBuilder(std::vector<std::pair<std::string, std::int64_t>> sizes) {
  config.name = "hand-made";
  config.file = "model.yaml";
  for (const auto& [name, value] : sizes) config.sizes.push_back({name, value, line(1)});
}

TypeConfig ModelBuilder::type(const std::vector<std::string>& labels, DType dtype) const {
  TypeConfig result;
  result.dtype = dtype;
  for (const std::string& label : labels) {
    for (const SizeConfig& size : config.sizes) {
      if (size.name == label) result.dims.push_back({label, size.value, {}, line(2)});
    }
  }
  result.placement = logical_spec(labels);
  result.at = line(2);
  return result;
}

ModelBuilder& ModelBuilder::input(const std::string& name, const std::vector<std::string>& labels,
                                  DType dtype) {
  config.inputs.push_back({name, type(labels, dtype), line(2)});
  return *this;
}

ModelBuilder& ModelBuilder::block(const std::string& name, std::vector<LayerConfig> layers) {
  BlockConfig block;
  block.name = name;
  int at = 30 + 10 * static_cast<int>(config.blocks.size());
  block.at = line(at);
  for (LayerConfig& layer : layers) {
    layer.at = line(++at);
    block.layers.push_back(std::move(layer));
  }
  config.blocks.push_back(std::move(block));
  return *this;
}

ModelBuilder& ModelBuilder::layer(LayerConfig layer) {
  layer.at = line(10 + static_cast<int>(config.layers.size()));
  config.layers.push_back(std::move(layer));
  return *this;
}

ModelBuilder& ModelBuilder::output(const std::string& name,
                                   const std::vector<std::string>& labels) {
  OutputConfig output;
  output.name = name;
  if (!labels.empty()) output.type = type(labels);
  output.at = line(3);
  config.outputs.push_back(std::move(output));
  return *this;
}

ModelBuilder& ModelBuilder::train(const std::string& optimizer, const std::string& loss) {
  TrainConfig train;
  train.loss = loss;
  train.loss_at = line(5, 15);
  train.optimizer.kind = optimizer;
  train.optimizer.arguments = {{"learning_rate", 0.001}};
  train.optimizer.at = line(5, 31);
  train.at = line(5);
  config.train = std::move(train);
  return *this;
}

SpecConfig mesh_spec(const std::vector<std::string>& entries) {
  PartitionSpec spec;
  for (const std::string& axis : entries) {
    PartitionEntry entry;
    if (!axis.empty()) entry.axes.emplace_back(axis);
    spec.entries.push_back(std::move(entry));
  }
  return {std::move(spec), line(4)};
}

SpecConfig logical_spec(const std::vector<std::string>& names) {
  LogicalSpec spec;
  for (const std::string& name : names) {
    spec.names.push_back(name.empty() ? std::nullopt : std::optional(LogicalAxis(name)));
  }
  return {std::move(spec), line(4)};
}

CountConfig count_of(const std::string& label) { return {0, label, "", line(6)}; }
CountConfig count_of(std::int64_t value) { return {value, "", "", line(6)}; }

LayerConfig word(const std::string& kind) {
  LayerConfig layer;
  layer.kind = kind;
  return layer;
}

LayerConfig of(LayerConfig layer, const std::vector<std::string>& names) {
  layer.of = names;
  layer.of_at = line(7, 20);
  return layer;
}

LayerConfig named(LayerConfig layer, const std::string& name) {
  layer.name = name;
  layer.name_at = line(7, 30);
  return layer;
}

LayerConfig dense(const std::string& features, bool use_bias) {
  LayerConfig layer = word("dense");
  layer.features = count_of(features);
  layer.use_bias = use_bias;
  return layer;
}

LayerConfig product(const std::string& name, const std::string& features) {
  LayerConfig layer = named(word("dot"), name);
  layer.features = count_of(features);
  return layer;
}

LayerConfig constrain(SpecConfig spec) {
  LayerConfig layer = word("constrain");
  layer.spec = std::move(spec);
  return layer;
}

LayerConfig let(const std::string& text) {
  LayerConfig layer = word("let");
  layer.let = read_assignment(text, line(8, 10));
  return layer;
}

LayerConfig param(const std::string& name, TypeConfig type, const std::string& init) {
  LayerConfig layer = word("param");
  layer.param = ParamConfig{name, std::move(type), false, {init, {}, line(9)}, line(9)};
  return layer;
}

LayerConfig repeat(const std::string& block, std::int64_t times, bool scan) {
  LayerConfig layer = word("repeat");
  layer.repeat = RepeatConfig{{block}, count_of(times), scan, std::nullopt, false, line(7)};
  return layer;
}

LayerConfig over(const std::string& kind, const std::vector<std::string>& dims) {
  LayerConfig layer = word(kind);
  layer.dims = dims;
  return layer;
}

LayerConfig with_number(const std::string& kind, double number) {
  LayerConfig layer = word(kind);
  layer.number = number;
  return layer;
}

LayerConfig chain(const std::string& kind, std::vector<LayerConfig> layers) {
  LayerConfig layer = word(kind);
  layer.layers = std::move(layers);
  return layer;
}

ModelConfig guide(bool scan, std::int64_t layers, std::int64_t batch, std::int64_t embed,
                  std::int64_t hidden) {
  ModelBuilder builder({{"batch", batch}, {"embed", embed}, {"hidden", hidden}});
  builder.config.name = "mlp";
  builder.input("x", {"batch", "embed"});
  builder.config.inputs.front().type.placement = mesh_spec({"data", ""});
  LayerConfig first = dense("hidden");
  first.kernel = mesh_spec({"", "model"});
  first.kernel_init = InitConfig{"xavier_normal", {}, line(4)};
  LayerConfig second = product("W2", "embed");
  second.kernel = mesh_spec({"model", ""});
  second.kernel_init = first.kernel_init;
  builder.block("DotReluDot", {first, word("relu"), constrain(mesh_spec({"data", "model"})), second,
                               constrain(mesh_spec({"data", ""}))});
  builder.layer(repeat("DotReluDot", layers, scan));
  builder.output("y", {"batch", "embed"});
  builder.config.outputs.front().type->placement = mesh_spec({"data", ""});
  builder.train("adam");
  builder.config.train->returns_loss = false;
  return builder.config;
}

}  // namespace shard::tests
