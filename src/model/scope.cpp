#include "model/scope.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/nearest.h"

namespace shard {
namespace {

/// The first layer, nested ones included, that binds `name`.
const LayerConfig* maker_of(const std::string& name, const std::vector<LayerConfig>& layers) {
  for (const LayerConfig& layer : layers) {
    const std::string* bound = bound_name(layer);
    if (bound != nullptr && *bound == name) return &layer;
    if (const LayerConfig* inner = maker_of(name, layer.layers)) return inner;
  }
  return nullptr;
}

/// The modules of Flax among our layers; everything else keeps its word.
struct ModuleWords {
  std::string_view kind;
  std::string_view linen;  ///< the class
  std::string_view nnx;    ///< an attribute of that class
};
constexpr std::array<ModuleWords, 12> module_words = {{
    {"dense", "Dense", "linear"},
    {"conv", "Conv", "conv"},
    {"embedding", "Embed", "embed"},
    {"position_embedding", "PositionEmbedding", "position_embedding"},
    {"rms_norm", "RMSNorm", "rms_norm"},
    {"layer_norm", "LayerNorm", "layer_norm"},
    {"attention", "Attention", "attention"},
    {"swiglu", "SwiGLU", "swiglu"},
    {"geglu", "GeGLU", "geglu"},
    {"mlp", "MLP", "mlp"},
    {"moe", "MoE", "moe"},
    {"dropout", "Dropout", "dropout"},
}};

/// `DotReluDot` as an attribute of a module is called: `dot_relu_dot`.
std::string attribute_word(const std::string& kind) {
  std::string word;
  for (const char c : kind) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    if (is_upper && !word.empty() && word.back() != '_') word += '_';
    word += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return word;
}

}  // namespace

std::string Scope::counted(const std::string& word) {
  return prefix_ + word + "_" + std::to_string(counts_[word]++);
}

std::string Scope::counted_range(const std::string& word, std::int64_t count) {
  const std::string first = counted(word);
  claim(first);
  for (std::int64_t i = 1; i < count; ++i) claim(counted(word));
  const std::int64_t next = counts_[word];
  return prefix_ + word + "_{" + std::to_string(next - count) + ".." + std::to_string(next - 1) +
         '}';
}

std::string Scope::rebind(const std::string& name, ValueId value) {
  std::string unique = name;
  if (values_.contains(name)) unique += "." + std::to_string(++repeats_[name]);
  values_[name] = value;
  values_[unique] = value;
  return unique;
}

ValueId Scope::find(const std::string& name, const Location& at, Diagnostics& diagnostics) const {
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  if (const LayerConfig* maker = maker_of(name, *layers_)) {
    diagnostics.error("used-before-made", at,
                      "'" + name + "' is used before it is made (" + to_string(maker->at) + ")",
                      "move the layer that makes it before this one");
    return ValueId::none;
  }
  std::vector<std::string> known;
  for (const auto& entry : values_) known.push_back(entry.first);
  std::sort(known.begin(), known.end());
  diagnostics.error("unknown-value", at, "there is no value '" + name + "' here",
                    did_you_mean(name, known, "values"));
  return ValueId::none;
}

const CountConfig* Scope::argument(const std::string& name) const {
  for (const auto& [key, count] : arguments) {
    if (key == name) return &count;
  }
  return nullptr;
}

std::string word_for(const std::string& kind, Naming naming) {
  for (const ModuleWords& words : module_words) {
    if (words.kind != kind) continue;
    return std::string(naming == Naming::linen ? words.linen
                       : naming == Naming::nnx ? words.nnx
                                               : words.kind);
  }
  return naming == Naming::nnx ? attribute_word(kind) : kind;
}

const std::string* bound_name(const LayerConfig& layer) {
  if (!layer.name.empty()) return &layer.name;
  if (layer.let && !layer.let->name.empty()) return &layer.let->name;
  if (layer.param && !layer.param->name.empty()) return &layer.param->name;
  return nullptr;
}

}  // namespace shard
