#include "config/outline.h"

#include <sstream>

namespace shard {
namespace {

// Places matter where a message will point; here `line:column` is enough.
std::string place(const Location& at) {
  return "@" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

std::string number(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::string shown(const CountConfig& count) {
  std::string text = std::to_string(count.value);
  if (!count.label.empty()) text += "/" + count.label;
  if (!count.argument.empty()) text += "/arg " + count.argument;
  return text;
}

std::string shown(const TypeConfig& type) {
  std::string dims;
  for (const DimConfig& dim : type.dims) {
    dims += (dims.empty() ? "" : ", ") + dim.label + "=" + std::to_string(dim.size);
  }
  return std::string(info(type.dtype).name) + "[" + dims + "] " + to_string(type.placement);
}

template <class Kind>
std::string shown_call(const Kind& call) {
  std::string text = call.kind;
  for (const auto& [key, value] : call.arguments) text += " " + key + "=" + number(value);
  return text;
}

std::string shown(const Expression& node) {
  std::string text = node.kind == Expression::Kind::binary ? "" : node.text;
  if (node.arguments.empty()) return text;
  for (const Expression& one : node.arguments) text += (text.empty() ? "" : " ") + shown(one);
  return "(" + (node.kind == Expression::Kind::binary ? node.text + " " : "") + text + ")";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

std::string shown(const RepeatConfig& repeat) {
  std::string text = " pattern=" + joined(repeat.pattern) + " times=" + shown(repeat.times);
  if (repeat.scan) text += " scan";
  if (repeat.has_axis) text += " axis=" + (repeat.axis ? repeat.axis->text() : "None");
  return text;
}

std::string shown(const LayerConfig& layer, const std::string& indent) {
  std::string text = indent + layer.kind + place(layer.at);
  const auto field = [&](const char* key, const std::string& value) {
    text += std::string(" ") + key + "=" + value;
  };
  if (!layer.name.empty()) field("name", layer.name + place(layer.name_at));
  if (!layer.of.empty()) field("of", joined(layer.of) + place(layer.of_at));
  if (layer.dtype) field("dtype", std::string(info(*layer.dtype).name));
  if (layer.out_sharding) field("out_sharding", to_string(*layer.out_sharding));
  if (layer.features) field("features", shown(*layer.features));
  if (layer.kernel) field("kernel", to_string(*layer.kernel));
  if (layer.bias) field("bias", to_string(*layer.bias));
  for (const auto& [key, spec] : layer.params) field(("params." + key).c_str(), to_string(spec));
  if (layer.kernel_init) field("kernel_init", shown_call(*layer.kernel_init));
  if (layer.bias_init) field("bias_init", shown_call(*layer.bias_init));
  if (layer.use_bias) field("use_bias", *layer.use_bias ? "true" : "false");
  if (layer.spec) field("spec", to_string(*layer.spec) + place(layer.spec->at));
  if (layer.let) field("let", layer.let->name + " = " + shown(layer.let->value));
  if (layer.param) {
    const ParamConfig& param = *layer.param;
    field("param", param.name + " " + shown(param.type) + (param.has_dtype ? " typed" : "") + " " +
                       shown_call(param.init));
  }
  if (layer.repeat) text += shown(*layer.repeat);
  if (!layer.dims.empty()) field("dims", joined(layer.dims));
  if (layer.keep_dims) text += " keep_dims";
  if (layer.number) field("number", number(*layer.number));
  for (const auto& [key, value] : layer.arguments) field(("args." + key).c_str(), shown(value));
  text += "\n";
  for (const LayerConfig& inner : layer.layers) text += shown(inner, indent + "  ");
  return text;
}

std::string shown(const BlockConfig& block) {
  std::string text = "block " + block.name + place(block.at) + "(" + joined(block.inputs) + ")";
  for (const auto& [key, value] : block.arguments) text += " " + key + "=" + shown(value);
  text += "\n";
  for (const LayerConfig& layer : block.layers) text += shown(layer, "  ");
  return text;
}

std::string shown(const TrainConfig& train) {
  std::string text = "train loss=" + train.loss + place(train.loss_at) + " " +
                     shown_call(train.optimizer) + " returns";
  if (train.returns_state) text += " state";
  if (train.returns_loss) text += " loss";
  if (train.returns_grads) text += " grads";
  if (train.returns_outputs) text += " outputs";
  return text + (train.donate ? " donate\n" : "\n");
}

std::string shown(const PartitionEntry& entry) {
  if (entry.is_unconstrained) return "UNCONSTRAINED";
  std::string text;
  for (const MeshAxis& axis : entry.axes) text += (text.empty() ? "" : "+") + axis.text();
  return text.empty() ? "None" : text;
}

std::string shown(const std::vector<RuleConfig>& rules) {
  std::string text;
  for (const RuleConfig& rule : rules) {
    text += "  " + rule.logical.text() + " -> " + shown(rule.target) + place(rule.at) + "\n";
  }
  return text;
}

const char* word(Naming naming) {
  return naming == Naming::linen ? "linen" : naming == Naming::nnx ? "nnx" : "plain";
}

const char* word(Part part) {
  static constexpr const char* words[] = {"inputs",    "params",    "activations",
                                          "gradients", "optimizer", "outputs"};
  return words[static_cast<int>(part)];
}

const char* word(Unmatched unmatched) {
  static constexpr const char* words[] = {"unsharded", "error", "no-constraint"};
  return words[static_cast<int>(unmatched)];
}

}  // namespace

std::string outline(const ModelConfig& model) {
  std::string text = model.name + " from " + model.file + " naming " + word(model.naming) +
                     " seed " + std::to_string(model.seed) + " dtypes " +
                     std::string(info(model.dtypes.params).name) + " " +
                     std::string(info(model.dtypes.compute).name) + " " +
                     std::string(info(model.dtypes.state).name) + "\nsizes";
  for (const SizeConfig& size : model.sizes) {
    text += " " + size.name + "=" + std::to_string(size.value);
  }
  text += "\n";
  for (const InputConfig& input : model.inputs) {
    text += "input " + input.name + place(input.at) + " " + shown(input.type) + "\n";
  }
  for (const BlockConfig& block : model.blocks) text += shown(block);
  for (const LayerConfig& layer : model.layers) text += shown(layer, "");
  for (const OutputConfig& output : model.outputs) {
    text += "output " + output.name + place(output.at) +
            (output.type ? " " + shown(*output.type) : "") + "\n";
  }
  if (model.train) text += shown(*model.train);
  return text;
}

namespace {

std::string placement_outline(const RulesConfig& rules) {
  std::string text = rules.paths.empty() ? "" : "paths\n";
  for (const PathRuleConfig& path : rules.paths) {
    text += "  " + path.glob + " -> " + to_string(path.spec) + place(path.at) + "\n";
  }
  if (rules.given.resolver) {
    text += rules.resolver == RuleResolver::nnx ? "resolver nnx\n" : "resolver linen\n";
  }
  constexpr const char* misfits[] = {"error", "drop-axes", "pad"};
  if (rules.given.misfit) {
    text += std::string("misfit ") + misfits[static_cast<int>(rules.misfit)] + "\n";
  }
  for (const Diagnostic& remark : rules.remarks) text += to_string(remark) + "\n";
  return text;
}

std::string hardware_outline(const RulesConfig& rules) {
  std::string text = rules.dcn.empty() ? "" : "dcn";
  for (const MeshAxisConfig& axis : rules.dcn) {
    text += " " + axis.name.text() + "=" + std::to_string(axis.size);
  }
  text += rules.dcn.empty() ? "" : "\n";
  for (const AxisTypeConfig& type : rules.axis_types) {
    text += "axis type " + (type.axis ? type.axis->text() : "of all") + " " + type.word + "\n";
  }
  constexpr const char* orders[] = {"auto", "split", "contiguous", "ids", "listed"};
  if (rules.device_order_at.is_known()) {
    text += std::string("device order ") + orders[static_cast<int>(rules.device_order)];
    for (const std::int64_t id : rules.device_ids) text += " " + std::to_string(id);
    text += "\n";
  }
  return text;
}

}  // namespace

std::string outline(const RulesConfig& rules) {
  std::string text = rules.name + " from " + rules.file + " unmatched " + word(rules.unmatched) +
                     (rules.devices.empty() ? "" : " devices " + rules.devices) + "\nmesh";
  for (const MeshAxisConfig& axis : rules.mesh) {
    text += " " + axis.name.text() + "=" + std::to_string(axis.size);
  }
  text += "\nrules\n" + shown(rules.rules);
  for (const PartRulesConfig& part : rules.rules_for) {
    text += std::string("rules for ") + word(part.part) + "\n" + shown(part.rules);
  }
  return text + placement_outline(rules) + hardware_outline(rules);
}

}  // namespace shard
