#include "yaml_stories.h"

#include <array>
#include <utility>

namespace shard::tests {
namespace {

bool starts(const std::string& code, const std::string& with) { return code.starts_with(with); }

/// The bracketed text behind `after`, brackets included; empty when there is none.
std::string brackets_behind(const std::string& code, const std::string& after) {
  const std::size_t found = code.find(after);
  if (found == code.npos) return "";
  const std::size_t start = code.find('(', found + after.size());
  int depth = 0;
  for (std::size_t end = start; end < code.size(); ++end) {
    if (code[end] == '(') ++depth;
    if (code[end] == ')' && --depth == 0) return code.substr(start, end - start + 1);
  }
  return "";
}

/// `, out_sharding: "P('data',)"` as the code has it, or nothing.
std::string out_key(const std::string& code, const std::string& after = "out_sharding=P") {
  const std::string written = brackets_behind(code, after);
  return written.empty() ? "" : ", out_sharding: \"P" + written + "\"";
}

const char* const because_of_closure = "a closed-over value that keeps its type";

}  // namespace

std::optional<SaidInYaml> YamlTeller::not_said(std::string why) {
  why_not_ = std::move(why);
  return std::nullopt;
}

std::optional<SaidInYaml> YamlTeller::say(const std::string& code) {
  why_not_.clear();
  if (starts(story_, "linear")) return linear(code);
  if (starts(story_, "kernel sharding")) return metadata(code);
  if (starts(story_, "embedding")) return embedding(code);
  if (starts(story_, "SwiGLU")) return swiglu(code);
  if (starts(story_, "other")) return other(code);
  return not_said("stacks made by vmap, and the state of optimizers");
}

std::optional<SaidInYaml> YamlTeller::linear(const std::string& code) {
  const std::string inputs = "x: \"f32[batch=64@data, embed=32]\"";
  const auto dense = [](const std::string& name, const std::string& more) {
    return "  - dense: {name: " + name + ", features: 32, kernel: \"P(None, data)\"" + more + "}\n";
  };
  const std::string plain = ", use_bias: false", split = ", bias: P(data)";
  const std::string out = out_key(code);
  const std::string legal = ", out_sharding: P(data)";
  if (starts(code, "model = ")) {
    return SaidInYaml{inputs, dense("model", plain + legal), "params/model/kernel"};
  }
  if (starts(code, "x = ")) return SaidInYaml{inputs, dense("model", plain + legal), "x"};
  if (starts(code, "jax.sharding.auto_axes(lambda x: ")) return not_said(because_of_closure);
  if (starts(code, "jax.sharding.auto_axes(lambda x, k: ")) {
    return SaidInYaml{inputs,
                      "  - param: {name: k, axes: [embed=32, out=32@data]}\n"
                      "  - auto_axes: {of: [x, k]" +
                          out + ", layers: [dot: {of: [x, k]}]}\n"};
  }
  if (starts(code, "graph, state = ")) {
    return SaidInYaml{inputs, "  - auto_axes:\n      out_sharding: P(data)\n      layers:\n      " +
                                  dense("model", plain).substr(2)};
  }
  if (starts(code, "g = ")) return not_said("the type of a gradient");
  if (starts(code, "biased = ")) {
    return SaidInYaml{inputs, dense("biased", legal), "params/biased/bias"};
  }
  if (starts(code, "both = ")) {
    return SaidInYaml{inputs, dense("both", split + ", out_sharding: \"P(None, data)\""),
                      "params/both/bias"};
  }
  if (starts(code, "biased(x")) return SaidInYaml{inputs, dense("biased", out)};
  if (starts(code, "both(x")) return SaidInYaml{inputs, dense("both", split + out)};
  return SaidInYaml{inputs, dense("model", plain + out)};
}

std::optional<SaidInYaml> YamlTeller::metadata(const std::string& code) {
  if (starts(code, "nnx.get_partition_spec")) return not_said("the metadata of a variable");
  const bool is_eager = story_.ends_with(" on");
  const bool is_initializer = code.find("partial(") != code.npos;
  if (code.find(": both: ") != code.npos) return not_said("a kernel with two placements");
  const bool is_default = code.find(": default ") != code.npos;
  if (!is_eager && !is_initializer && !is_default) {
    return not_said("the metadata of a variable");
  }
  std::string kernel = "null";
  for (const char* after : {"lecun_normal(), ", "out_sharding=P", "'out_sharding': "}) {
    const std::string written = brackets_behind(code, after);
    if (!is_default && !written.empty()) kernel = "\"P" + written + "\"";
  }
  const std::string features = code.find("16x30") == code.npos ? "32" : "30";
  return SaidInYaml{
      "x: \"f32[batch=8, embed=16]\"",
      "  - dense: {name: model, features: " + features + ", kernel: " + kernel + "}\n",
      "params/model/kernel"};
}

std::optional<SaidInYaml> YamlTeller::embedding(const std::string& code) {
  if (starts(code, "nnx.get_partition_spec")) return not_said("the metadata of a variable");
  const std::string rules =
      "[[vocab, model], [embed, null], [batch, data], [mlp, model], [b, null], [l, null]]";
  if (starts(code, "nnx.Param(")) {
    if (code.find("sharding_rules") != code.npos) return not_said("rules of one parameter");
    return SaidInYaml{"x: \"f32[batch=8]\"", "  - param: {name: p, axes: [embed=16, mlp=32]}\n",
                      "params/p", rules};
  }
  const auto table = [&](const std::string& out) {
    return "  - embedding: {name: e, of: tokens, vocab: 64, features: 16, params: {embedding: " +
           before_ + "}" + out + "}\n";
  };
  const std::string legal = ", out_sharding: P(data)";
  const std::string split = "tokens: \"i32[batch=8@data, length=4]\"";
  if (starts(code, "nnx.Embed(")) {
    std::string names = brackets_behind(code, "normal(), ");
    names.front() = '[';
    names.back() = ']';
    for (std::size_t at = names.find("None"); at != names.npos; at = names.find("None")) {
      names.replace(at, 4, "null");
    }
    before_ = names;
    return SaidInYaml{split, table(legal), "params/e/embedding", rules};
  }
  const std::string out = out_key(code);
  if (starts(code, "embed.attend(")) {
    return SaidInYaml{split + ", query: \"f32[b=8@data, l=4, d=16]\"",
                      table(legal) + "  - attend: {of: query, embedding: e" + out + "}\n", "",
                      rules};
  }
  const bool is_split = code.find("P('data',)") < code.find("out_sharding");
  return SaidInYaml{is_split ? split : "tokens: \"i32[b=8, l=4]\"", table(out), "", rules};
}

std::optional<SaidInYaml> YamlTeller::swiglu(const std::string& code) {
  const std::string length = story_.find("seq=64 ") == story_.npos ? "4096" : "64";
  const std::string inputs = "x: \"bf16[batch=8@fsdp, length=" + length + ", embed=128]\"";
  const std::string hidden =
      "  - dense: {name: gate_proj, features: 256, kernel: \"P(fsdp, model)\"}\n"
      "  - dense: {name: up_proj, of: x, features: 256, kernel: \"P(fsdp, model)\"}\n"
      "  - let: h = silu(gate_proj) * up_proj\n";
  const auto down = [&](const std::string& more) {
    return "  - dense: {name: down_proj, features: 128, kernel: \"P(model, fsdp)\"" + more + "}\n";
  };
  const std::string kernel = "  - param: {name: k, axes: [mlp=256@model, embed=128@fsdp]}\n";
  const std::string product = "[convert: {of: k, dtype: bf16, name: c}, dot: {of: [h, c]}]";
  const std::string legal = ", out_sharding: P(fsdp)";
  for (const char* name : {"gate_proj", "up_proj", "down_proj"}) {
    if (code == std::string(name) + ".kernel") {
      return SaidInYaml{inputs, hidden + down(legal), "params/" + std::string(name) + "/kernel"};
    }
  }
  if (starts(code, "x: ")) return SaidInYaml{inputs, hidden, "x"};
  const std::string first = hidden.substr(0, hidden.find('\n') + 1);
  if (code == "gate_proj(x)") return SaidInYaml{inputs, first};
  if (code == "up_proj(x)") {
    return SaidInYaml{inputs, hidden.substr(0, hidden.find("  - let"))};
  }
  if (starts(code, "silu(")) return SaidInYaml{inputs, hidden};
  if (starts(code, "down_proj(h")) return SaidInYaml{inputs, hidden + down(out_key(code))};
  if (code.find("dot_general=partial") != code.npos) return not_said("a product of one's own");
  if (code.find("dot_general=a function") != code.npos) {
    return SaidInYaml{inputs, hidden + down(out_key(code, "with P"))};
  }
  if (starts(code, "auto_axes(lambda h, k: ")) {
    return SaidInYaml{inputs, hidden + kernel + "  - auto_axes: {of: [h, k]" + legal +
                                  ", layers: " + product + "}\n"};
  }
  if (starts(code, "auto_axes(lambda h: ")) return not_said(because_of_closure);
  if (starts(code, "graph, state = ")) {
    return SaidInYaml{inputs, hidden + "  - auto_axes:\n      out_sharding: P(fsdp)\n" +
                                  "      layers:\n      " + down("").substr(2)};
  }
  if (starts(code, "auto_axes(whole block")) {
    return SaidInYaml{inputs,
                      "  - param: {name: g, axes: [embed=128@fsdp, mlp=256@model]}\n"
                      "  - param: {name: u, axes: [embed=128@fsdp, mlp=256@model]}\n" +
                          kernel + "  - auto_axes: {of: [x, g, u, k]" + legal +
                          ", layers: [let: a = x @ g, let: b = x @ u, let: h = silu(a) * b, "
                          "dot: {of: [h, k]}]}\n"};
  }
  const auto moved = [&](const std::string& to, const std::string& out) {
    return SaidInYaml{inputs, hidden + kernel + "  - reshard: {of: k, spec: " + to +
                                  ", name: m}\n  - convert: {dtype: bf16, name: c}\n" +
                                  "  - dot: {of: [h, c]" + out + "}\n"};
  };
  if (starts(code, "reshard the down kernel to P('model')")) return moved("P(model)", legal);
  if (starts(code, "reshard the down kernel to P()")) return moved("P()", "");
  return SaidInYaml{inputs, hidden + "  - reshard: {of: h, spec: P(fsdp)}\n" + down("")};
}

std::optional<SaidInYaml> YamlTeller::other(const std::string& code) {
  const std::string inputs = "x: \"f32[batch=8@fsdp, length=16, embed=32]\"";
  const std::string wide = "x: \"f32[batch=8@fsdp, length=16, embed=32@model]\"";
  const auto einsum = [&](const std::string& heads) {
    return "  - param: {name: k, axes: [embed=32, " + heads +
           ", head_dim=8]}\n  - einsum: {of: [x, k], equation: \"btd,dhk->bthk\"";
  };
  const std::string conv =
      "  - conv: {features: 16, window: 3, padding: same, kernel: \"P(None, None, model)\"";
  if (starts(code, "x: ")) return SaidInYaml{inputs, "  - relu\n", "x"};
  if (code == "nnx.RMSNorm(32).scale") {
    return SaidInYaml{inputs, "  - rms_norm: {name: n}\n", "params/n/scale"};
  }
  if (code == "nnx.RMSNorm(32)(x)") return SaidInYaml{inputs, "  - rms_norm\n"};
  if (starts(code, "nnx.RMSNorm(32, ")) {
    return SaidInYaml{inputs, "  - rms_norm: {params: {scale: P(model)}}\n"};
  }
  if (starts(code, "nnx.LayerNorm(32)(x P(")) return SaidInYaml{wide, "  - layer_norm\n"};
  if (starts(code, "nnx.LayerNorm")) return SaidInYaml{inputs, "  - layer_norm\n"};
  if (starts(code, "nnx.Einsum")) {
    before_ = einsum("heads=4@model");
    return SaidInYaml{inputs, before_ + "}\n"};
  }
  if (starts(code, "  with out_sharding") && !before_.empty()) {
    return SaidInYaml{inputs, before_ + out_key(code) + "}\n"};
  }
  if (code == "nnx.LinearGeneral(32, (4,8))(x)") {
    return SaidInYaml{inputs, einsum("heads=4") + "}\n"};
  }
  if (starts(code, "nnx.LinearGeneral")) {
    const bool is_kernel = code.ends_with(".kernel");
    return SaidInYaml{inputs, einsum("heads=4@model") + "}\n", is_kernel ? "params/k" : ""};
  }
  if (starts(code, "nnx.Conv(")) {
    return SaidInYaml{inputs, "  - conv: {features: 16, window: 3, padding: same}\n"};
  }
  if (starts(code, "nnx.Conv with kernel")) {
    before_ = conv;
    return SaidInYaml{inputs, conv + "}\n"};
  }
  before_.clear();
  return not_said("attention whose inside is placed, low-rank products and dropout");
}

}  // namespace shard::tests
