#include "recorded_models.h"

#include <map>

namespace shard::tests {
namespace {

const char* const sizes =
    "sizes: {batch: 32, seq: 64, embed: 128, heads: 8, kv: 4, head_dim: 16, ff: 256, vocab: 512,"
    " expert: 8}\n"
    "inputs: {tokens: \"i32[batch, seq]\", labels: \"i32[batch, seq]\"}\n";

std::string norm(const std::string& kind) {
  return kind == "rms_norm" ? "rms_norm: {params: {scale: null}}"
                            : "layer_norm: {eps: 1e-5, params: {scale: null, bias: null}}";
}

std::string decoder(const std::string& norm_layer, const std::string& attention,
                    const std::string& hidden) {
  return "blocks:\n"
         "  Block:\n"
         "    - residual: [" +
         norm_layer + ", " + attention +
         "]\n"
         "    - constrain: [batch, seq, null]\n"
         "    - residual: [" +
         norm_layer + ", " + hidden +
         "]\n"
         "    - constrain: [batch, seq, null]\n";
}

std::string layers_of(const std::string& before, const std::string& norm_layer,
                      const std::string& head) {
  return "layers:\n"
         "  - embedding: {name: embed, vocab: vocab, features: embed}\n" +
         before +
         "  - constrain: [batch, seq, null]\n"
         "  - repeat: {block: Block, times: 2}\n"
         "  - " +
         norm_layer + "\n  - " + head + "\n";
}

const char* const llama_attention =
    "attention: {heads: heads, kv_heads: kv, head_dim: head_dim, rotary: 10000, mask: causal,"
    " use_bias: false}";
const char* const attend_head = "attend: {embedding: embed, name: logits}";
const char* const own_head = "dense: {name: head, features: vocab, use_bias: false}";

std::string llama_text(const std::string& hidden, const std::string& head) {
  return sizes + decoder(norm("rms_norm"), llama_attention, hidden) +
         layers_of("", norm("rms_norm"), head);
}

std::string gpt2_text() {
  return std::string(sizes) +
         decoder(norm("layer_norm"),
                 "attention: {heads: heads, head_dim: head_dim, mask: causal, fused_qkv: true,"
                 " params: {out/bias: null}}",
                 "mlp: {features: ff, params: {down/bias: null}}") +
         layers_of("  - position_embedding: {name: wpe, params: {embedding: [null, embed]}}\n",
                   norm("layer_norm"), attend_head);
}

const std::vector<std::pair<std::string, std::string>> attention_leaves = {
    {"wq", "Attention_0/query/kernel"}, {"wk", "Attention_0/key/kernel"},
    {"wv", "Attention_0/value/kernel"}, {"wo", "Attention_0/out/kernel"},
    {"attn_norm", "RMSNorm_0/scale"},   {"mlp_norm", "RMSNorm_1/scale"}};
const std::vector<std::pair<std::string, std::string>> dense_leaves = {
    {"w_gate", "SwiGLU_0/gate/kernel"},
    {"w_up", "SwiGLU_0/up/kernel"},
    {"w_down", "SwiGLU_0/down/kernel"}};
const std::vector<std::pair<std::string, std::string>> expert_leaves = {
    {"router", "MoE_0/router/kernel"}, {"w_in", "MoE_0/up/kernel"}, {"w_out", "MoE_0/down/kernel"}};
const std::vector<std::pair<std::string, std::string>> gpt2_leaves = {
    {"ln1.g", "LayerNorm_0/scale"},       {"ln1.b", "LayerNorm_0/bias"},
    {"qkv.w", "Attention_0/qkv/kernel"},  {"qkv.b", "Attention_0/qkv/bias"},
    {"proj.w", "Attention_0/out/kernel"}, {"proj.b", "Attention_0/out/bias"},
    {"ln2.g", "LayerNorm_1/scale"},       {"ln2.b", "LayerNorm_1/bias"},
    {"fc.w", "MLP_0/up/kernel"},          {"fc.b", "MLP_0/up/bias"},
    {"out.w", "MLP_0/down/kernel"},       {"out.b", "MLP_0/down/bias"}};

void add_layers(RecordedModel& model, const std::string& prefix,
                const std::vector<std::pair<std::string, std::string>>& leaves) {
  for (int layer = 0; layer < 2; ++layer) {
    const std::string number = std::to_string(layer);
    for (const auto& [theirs, ours] : leaves) {
      model.leaves.emplace_back(prefix + number + "." + theirs, "Block_" + number + "/" + ours);
    }
  }
}

/// The guide's four blocks, one after another or as a loop over stacked parameters.
RecordedModel guide(bool is_scanned, const std::string& train) {
  RecordedModel model;
  model.text =
      "sizes: {batch: 8, embed: 1024, ff: 1024, layers: 4}\n"
      "inputs: {x: \"f32[batch, embed]\"}\n"
      "defaults: {use_bias: false}\n"
      "blocks:\n"
      "  DotReluDot:\n"
      "    - dense: ff\n"
      "    - relu\n"
      "    - constrain: [batch, ff]\n"
      "    - dot: {name: W2, features: embed}\n"
      "    - constrain: [batch, null]\n"
      "layers:\n"
      "  - repeat: {block: DotReluDot, times: layers, scan: " +
      std::string(is_scanned ? "true, axis: null" : "false") + "}\ntrain: {loss: sum, " + train +
      "}\n";
  for (int layer = 0; layer < (is_scanned ? 1 : 4); ++layer) {
    const std::string theirs = is_scanned ? "" : "DotReluDot_" + std::to_string(layer) + ".";
    const std::string ours =
        is_scanned ? "ScanDotReluDot_0/" : "DotReluDot_" + std::to_string(layer) + "/";
    model.leaves.emplace_back(theirs + "Dense_0", ours + "Dense_0/kernel");
    model.leaves.emplace_back(theirs + "W2", ours + "W2");
  }
  return model;
}

}  // namespace

RecordedModel recorded_model(const std::string& name, const std::string& train) {
  if (name.starts_with("guide")) return guide(name == "guide_mlp_scan", train);
  RecordedModel model;
  const std::string step =
      "train: {loss: {cross_entropy: {targets: labels, ignore_negative: "
      "false}}, " +
      train + "}\n";
  if (name == "gpt2") {
    // Its hidden dim is four times the features.
    model.text = gpt2_text() + "set: {sizes.ff: 512}\n" + step;
    model.leaves = {{"wte", "embed/embedding"},
                    {"wpe", "wpe/embedding"},
                    {"lnf.g", "LayerNorm_0/scale"},
                    {"lnf.b", "LayerNorm_0/bias"}};
    add_layers(model, "h", gpt2_leaves);
    return model;
  }
  const bool is_moe = name == "moe";
  const std::string hidden =
      is_moe ? "moe: {experts: expert, features: ff, top_k: 2, gated: false, activation: relu, "
               "renormalize: false, dispatch: capacity, capacity: 32, params: {router/kernel: "
               "[embed, null]}, constrain: {dispatched: "
               "[expert, batch, null, null]}}"
             : "swiglu: ff";
  model.text = llama_text(hidden, name == "llama_tied" ? attend_head : own_head) + step;
  model.leaves = {{"embed", "embed/embedding"}, {"final_norm", "RMSNorm_0/scale"}};
  if (name != "llama_tied") model.leaves.emplace_back("head", "head/kernel");
  add_layers(model, "layer", attention_leaves);
  add_layers(model, "layer", is_moe ? expert_leaves : dense_leaves);
  return model;
}

std::vector<RecordedActivation> recorded_activations(const std::string& model,
                                                     const std::string& recorded) {
  static const std::map<std::string, std::string> own = {
      {"q", "Attention_0/query"},        {"k", "Attention_0/key"},
      {"v", "Attention_0/value"},        {"attention", "Attention_0/mixed"},
      {"residual", "residual_0"},        {"out", "residual_1"},
      {"ff", "SwiGLU_0/hidden"},         {"fc", "MLP_0/hidden"},
      {"combine", "MoE_0/combine"},      {"dispatched", "MoE_0/dispatched"},
      {"expert_out", "MoE_0/expert_out"}};
  if (recorded == "logits") return {{model == "llama" || model == "moe" ? "head" : "logits"}};
  const std::size_t dot = recorded.find('.');
  const std::string layer = recorded.substr(recorded.find_first_of("0123456789"), 1);
  if (dot == std::string::npos) return {{"DotReluDot_" + layer + "/W2"}};
  const std::string block = "Block_" + layer + "/", name = recorded.substr(dot + 1);
  if (name != "qkv") return {{block + own.at(name)}};
  return {{block + own.at("q"), true}, {block + own.at("k"), true}, {block + own.at("v"), true}};
}

std::string recorded_rules(const std::string& strategy, int devices) {
  const bool has_model = strategy != "dp" && strategy != "fsdp";
  const std::string data = std::to_string(devices == 8 ? 2 : devices == 16 ? 4 : 8);
  const std::string mesh =
      has_model ? "{data: " + data + ", model: 4}" : "{data: " + std::to_string(devices) + "}";
  std::string params, activations = "[batch, data]";
  if (strategy == "fsdp" || strategy == "fsdp_tp") params = "[embed, data]";
  if (has_model) {
    params += params.empty() ? "" : ", ";
    params += "[expert, model], [heads, model], [kv, model], [ff, model], [vocab, model]";
    activations += ", [expert, model], [heads, model], [ff, model]";
  }
  if (strategy == "sp") activations += ", [seq, model]";
  return "mesh: " + mesh + "\nrules: [" + activations + "]\nrules_for: {params: [" + params +
         "], optimizer: [" + params + "]}\n";
}

}  // namespace shard::tests
