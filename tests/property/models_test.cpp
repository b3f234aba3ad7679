// Small models of named blocks against the numbers recorded from JAX: a llama over three clipped
// steps on a schedule, one pass of a GPT-2 and of a mixture of experts. Each on one device and on
// eight.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <utility>

#include "exec/cluster.h"
#include "score.h"
#include "support/pipeline.h"

using namespace shard;
using namespace shard::test;
using namespace shard::tests;

namespace {

using Recorded = std::map<std::string, HostTensor>;
/// Leaves of the recording and what they are called here.
using LeafNames = std::vector<std::pair<std::string, std::string>>;

/// `layer1.wq` for `layerN.wq` and `Decoder_1/...` for `Decoder_N/...`.
std::string numbered(std::string text, int number) {
  const auto at = text.find('#');
  if (at != std::string::npos) text.replace(at, 1, std::to_string(number));
  return text;
}

LeafNames with_layers(LeafNames names, const LeafNames& of_layer, int layers) {
  for (int layer = 0; layer < layers; ++layer) {
    for (const auto& [theirs, ours] : of_layer) {
      names.emplace_back(numbered(theirs, layer), numbered(ours, layer));
    }
  }
  return names;
}

/// A planned train step with everything zero but what is written.
class Run {
 public:
  Run(const std::string& model, const std::string& rules)
      : planned_(plan_texts(model, rules)), cluster_(planned_.program, {}) {
    for (const StateLeaf& leaf : planned_.model.state) write(leaf.path, zeros(leaf.type));
  }

  void write(const std::string& path, const HostTensor& tensor) {
    cluster_.write_input(input_at(planned_.program, path), tensor);
  }
  HostTensor read(const std::string& path) const {
    return cluster_.read_output(output_at(planned_.program, path));
  }
  void step() { cluster_.run(); }

 private:
  Planned planned_;
  Cluster cluster_;
};

const char* const one_device = "mesh: {data: 1}\nrules: []\n";

// --- llama ---------------------------------------------------------------------------------------

const char* const llama_model = R"(
sizes: {batch: 4, length: 16, embed: 32, heads: 4, kv_heads: 2, head_dim: 8, mlp: 64, vocab: 64}
inputs: {tokens: "i32[batch, length]", targets: "i32[batch, length]"}
defaults: {use_bias: false}
blocks:
  Decoder:
    - residual:
        - rms_norm: {eps: 1e-5}
        - attention: {heads: heads, kv_heads: kv_heads, head_dim: head_dim, rotary: 10000, mask: causal}
    - residual: [rms_norm: {eps: 1e-5}, swiglu: mlp]
layers:
  - embedding: {name: embed, vocab: vocab, features: embed}
  - repeat: {block: Decoder, times: 2}
  - rms_norm: {eps: 1e-5}
  - dense: {name: lm_head, features: vocab}
outputs: {logits: null}
train:
  loss: {cross_entropy: targets}
  optimizer:
    chain:
      - clip_by_global_norm: 1.0
      - adamw:
          learning_rate: {warmup_cosine_decay: {peak_value: 1e-2, warmup_steps: 2, decay_steps: 10, end_value: 1e-3}}
          b2: 0.95
          weight_decay: 0.1
  returns: [state, loss, grads, outputs]
)";

const char* const llama_rules =
    "mesh: {data: 2, fsdp: 2, tensor: 2}\n"
    "rules: [[batch, [data, fsdp]], [embed, fsdp], [heads, tensor], [kv_heads, tensor],"
    " [mlp, tensor], [vocab, tensor]]\n";

LeafNames llama_leaves() {
  return with_layers({{"embedding", "embed/embedding"},
                      {"unembedding", "lm_head/kernel"},
                      {"final_norm", "RMSNorm_0/scale"}},
                     {{"layer#.attention_norm", "Decoder_#/RMSNorm_0/scale"},
                      {"layer#.wq", "Decoder_#/Attention_0/query/kernel"},
                      {"layer#.wk", "Decoder_#/Attention_0/key/kernel"},
                      {"layer#.wv", "Decoder_#/Attention_0/value/kernel"},
                      {"layer#.wo", "Decoder_#/Attention_0/out/kernel"},
                      {"layer#.mlp_norm", "Decoder_#/RMSNorm_1/scale"},
                      {"layer#.gate", "Decoder_#/SwiGLU_0/gate/kernel"},
                      {"layer#.up", "Decoder_#/SwiGLU_0/up/kernel"},
                      {"layer#.down", "Decoder_#/SwiGLU_0/down/kernel"}},
                     2);
}

double relative(const HostTensor& found, const HostTensor& wanted) {
  return relative_difference(found, wanted);
}

void score_llama(Score& score, const char* rules, const std::string& where,
                 const Recorded& recorded) {
  const auto at = [&](const std::string& name) -> const HostTensor& {
    return recorded.at("decoder/" + name);
  };
  Run run(llama_model, rules);
  for (const auto& [theirs, ours] : llama_leaves())
    run.write("params/" + ours, at("params0/" + theirs));
  run.write("tokens", at("tokens"));
  run.write("targets", at("targets"));
  constexpr std::array<double, 3> rates = {0, 5e-3, 1e-2};
  double largest_rate = 0;
  for (int step = 1; step <= 3; ++step) {
    run.step();
    const std::string prefix = "step" + std::to_string(step) + "/";
    largest_rate = std::max(largest_rate, rates[static_cast<std::size_t>(step - 1)]);
    score.check(prefix + "loss" + where, relative(run.read("loss"), at(prefix + "loss")), 1e-5);
    score.check(prefix + "logits" + where, relative(run.read("logits"), at(prefix + "logits")),
                1e-5);
    for (const auto& [theirs, ours] : llama_leaves()) {
      score.check(prefix + "grads/" + theirs + where,
                  relative(run.read("grads/" + ours), at(prefix + "grads/" + theirs)), 5e-5);
      score.check(prefix + "mu/" + theirs + where,
                  relative(run.read("opt_state/1/0/mu/" + ours), at(prefix + "mu/" + theirs)),
                  5e-5);
      score.check(prefix + "nu/" + theirs + where,
                  relative(run.read("opt_state/1/0/nu/" + ours), at(prefix + "nu/" + theirs)),
                  5e-5);
      std::vector<const HostTensor*> grads;
      for (int past = 1; past <= step; ++past) {
        grads.push_back(&at("step" + std::to_string(past) + "/grads/" + theirs));
      }
      score.check(prefix + "params/" + theirs + where,
                  worst_clear_element(run.read("params/" + ours), at(prefix + "params/" + theirs),
                                      grads, step, largest_rate, 1e-5),
                  1e-5);
    }
  }
}

// --- one pass ------------------------------------------------------------------------------------

struct OnePass {
  std::string recorded;
  std::string model;
  std::string rules;
  LeafNames leaves;
  std::vector<std::string> inputs;
  std::string output;
};

OnePass gpt2() {
  return {"gpt2",
          R"(
sizes: {batch: 2, length: 12, embed: 24, heads: 3, head_dim: 8, mlp: 48, vocab: 40, positions: 16}
inputs: {tokens: "i32[batch, length]", targets: "i32[batch, length]"}
blocks:
  Block:
    - residual: [layer_norm: {eps: 1e-5}, attention: {heads: heads, head_dim: head_dim, mask: causal}]
    - residual: [layer_norm: {eps: 1e-5}, mlp: mlp]
layers:
  - embedding: {name: wte, vocab: vocab, features: embed}
  - position_embedding: {name: wpe, positions: positions}
  - repeat: {block: Block, times: 2}
  - layer_norm: {eps: 1e-5}
  - attend: wte
outputs: {logits: null}
train: {loss: {cross_entropy: targets}, optimizer: {sgd: 0.1}, returns: [loss, grads, outputs]}
)",
          "mesh: {data: 2, tensor: 4}\n"
          "rules: [[batch, data], [mlp, tensor], [vocab, tensor], [embed, data]]\n",
          with_layers({{"token_embedding", "wte/embedding"},
                       {"position_embedding", "wpe/embedding"},
                       {"ln_f_scale", "LayerNorm_0/scale"},
                       {"ln_f_bias", "LayerNorm_0/bias"}},
                      {{"layer#.ln1_scale", "Block_#/LayerNorm_0/scale"},
                       {"layer#.ln1_bias", "Block_#/LayerNorm_0/bias"},
                       {"layer#.wq", "Block_#/Attention_0/query/kernel"},
                       {"layer#.bq", "Block_#/Attention_0/query/bias"},
                       {"layer#.wk", "Block_#/Attention_0/key/kernel"},
                       {"layer#.wv", "Block_#/Attention_0/value/kernel"},
                       {"layer#.bv", "Block_#/Attention_0/value/bias"},
                       {"layer#.wo", "Block_#/Attention_0/out/kernel"},
                       {"layer#.bo", "Block_#/Attention_0/out/bias"},
                       {"layer#.ln2_scale", "Block_#/LayerNorm_1/scale"},
                       {"layer#.ln2_bias", "Block_#/LayerNorm_1/bias"},
                       {"layer#.w_in", "Block_#/MLP_0/up/kernel"},
                       {"layer#.b_in", "Block_#/MLP_0/up/bias"},
                       {"layer#.w_out", "Block_#/MLP_0/down/kernel"},
                       {"layer#.b_out", "Block_#/MLP_0/down/bias"},
                       // Softmax does not see it: its gradient is noise on both sides.
                       {"layer#.bk", "Block_#/Attention_0/key/bias"}},
                      2),
          {"tokens", "targets"},
          "logits"};
}

OnePass moe(const std::string& recorded, const std::string& dispatch) {
  return {recorded,
          "sizes: {tokens: 24, embed: 16, mlp: 32, expert: 6}\n"
          "inputs: {x: \"f32[tokens, embed]\"}\n"
          "layers: [moe: {experts: expert, top_k: 2, features: mlp, balance: 0.01, " +
              dispatch +
              "}]\n"
              "outputs: {out: null}\n"
              "train: {loss: mse, optimizer: {sgd: 0.1}, returns: [loss, grads, outputs]}\n",
          "mesh: {data: 2, tensor: 4}\n"
          "rules: [[expert, data], [mlp, tensor], [tokens, [data, tensor]]]\n",
          {{"router", "MoE_0/router/kernel"},
           {"gate", "MoE_0/gate/kernel"},
           {"up", "MoE_0/up/kernel"},
           {"down", "MoE_0/down/kernel"}},
          {"x"},
          "out"};
}

void score_pass(Score& score, const OnePass& pass, const std::string& rules,
                const std::string& where, const Recorded& recorded) {
  const auto at = [&](const std::string& name) -> const HostTensor& {
    return recorded.at(pass.recorded + "/" + name);
  };
  Run run(pass.model, rules);
  double most = 0;  // of all gradients
  for (const auto& [theirs, ours] : pass.leaves) {
    run.write("params/" + ours, at("params/" + theirs));
    most = std::max(most, largest(at("grads/" + theirs)));
  }
  for (const std::string& input : pass.inputs) run.write(input, at("inputs/" + input));
  run.step();
  const std::string prefix = pass.recorded + "/";
  score.check(prefix + "loss" + where, relative(run.read("loss"), at("loss")), 1e-5);
  score.check(prefix + pass.output + where,
              relative(run.read(pass.output), at("between/" + pass.output)), 1e-5);
  for (const auto& [theirs, ours] : pass.leaves) {
    const HostTensor& wanted = at("grads/" + theirs);
    // What is nothing beside the other gradients is held against a thousandth of the largest.
    const double scale = std::max(1.0, 1e-3 * most / std::max(largest(wanted), 1e-30));
    score.check(prefix + "grads/" + theirs + where,
                relative(run.read("grads/" + ours), wanted) / scale, 5e-5);
  }
}

}  // namespace

TEST_CASE("three clipped steps of a llama give the numbers JAX gave") {
  const Recorded recorded = recorded_tensors("numerics/llama.safetensors");
  if (recorded.empty()) return;
  Score score("numerics/llama.safetensors");
  score_llama(score, one_device, "", recorded);
  score_llama(score, llama_rules, " on 8 devices", recorded);
  score.report();
}

TEST_CASE("one pass of small models gives the numbers JAX gave") {
  const Recorded recorded = recorded_tensors("numerics/models.safetensors");
  if (recorded.empty()) return;
  Score score("numerics/models.safetensors (gpt2 moe_dense moe_capacity moe_ragged)");
  for (const OnePass& pass : {gpt2(), moe("moe_dense", "dispatch: dense"),
                              moe("moe_capacity", "dispatch: capacity, capacity: 5"),
                              moe("moe_ragged", "dispatch: ragged")}) {
    CAPTURE(pass.recorded);
    if (!has_case(recorded, pass.recorded)) continue;
    score_pass(score, pass, one_device, "", recorded);
    score_pass(score, pass, pass.rules, " on 8 devices", recorded);
  }
  score.report();
}
