#include "model/check_layers.h"

#include <algorithm>
#include <unordered_map>

#include "base/nearest.h"
#include "model/layer_kinds.h"

namespace shard {
namespace {

class LayerChecker {
 public:
  LayerChecker(const ModelConfig& config, Diagnostics& diagnostics)
      : config_(config), diagnostics_(diagnostics) {}

  bool run() {
    for (const BlockConfig& block : config_.blocks) declare(block);
    for (const BlockConfig& block : config_.blocks) check(block.layers);
    check(config_.layers);
    bool ends = true;
    for (const BlockConfig& block : config_.blocks) ends &= check_calls(block);
    return ends;
  }

 private:
  enum class Visit { unseen, open, done };

  void declare(const BlockConfig& block) {
    if (layer_kind(block.name) != nullptr || is_later_layer(block.name) || op_named(block.name)) {
      diagnostics_.error("reserved-name", block.at,
                         "a block may not be called '" + block.name + "', that is a layer",
                         "give the block another name");
    }
    if (!blocks_.emplace(block.name, &block).second) {
      diagnostics_.error("duplicate-name", block.at,
                         "there is a block '" + block.name + "' already");
    }
  }

  void check(const std::vector<LayerConfig>& layers) {
    for (const LayerConfig& layer : layers) {
      check(layer);
      check(layer.layers);
    }
  }

  void check(const LayerConfig& layer) {
    if (const LayerKind* kind = layer_kind(layer.kind)) {
      check_keys(layer, kind->keys);
      check_parts(layer, kind->keys);
    } else if (const auto block = blocks_.find(layer.kind); block != blocks_.end()) {
      check_keys(layer, key_name | key_of | key_out_sharding | key_arguments);
      check_arguments(layer, *block->second);
    } else if (is_later_layer(layer.kind)) {
      diagnostics_.error("not-yet", layer.at,
                         "layer '" + layer.kind + "' is not built by this version",
                         "build it from dense, dot, let and the elementwise ops");
    } else {
      unknown(layer);
    }
  }

  void unknown(const LayerConfig& layer) {
    std::vector<std::string> known = block_names();
    for (const LayerKind& kind : layer_kinds()) known.emplace_back(kind.word);
    std::string hint = did_you_mean(layer.kind, known, "layers");
    if (const auto op = op_named(layer.kind)) {
      hint = "'" + std::string(def(*op).name) + "' is an op, but not one that can be a layer";
    }
    diagnostics_.error("unknown-layer", layer.at,
                       "there is no layer, op or block '" + layer.kind + "'", std::move(hint));
  }

  std::vector<std::string> block_names() const {
    std::vector<std::string> names;
    for (const BlockConfig& block : config_.blocks) names.push_back(block.name);
    return names;
  }

  void check_keys(const LayerConfig& layer, unsigned allowed) {
    if ((allowed & key_arguments) == 0) check_loose_arguments(layer, allowed);
    const unsigned extra = keys_of(layer) & ~allowed & ~key_arguments;
    for (unsigned bit = 1; bit <= extra && bit != 0; bit <<= 1U) {
      if ((extra & bit) == 0) continue;
      diagnostics_.error(
          "unknown-key", layer.at,
          layer.kind + " takes no '" + std::string(key_word(static_cast<LayerKey>(bit))) + "'",
          "valid: " + words(allowed));
    }
  }

  /// Keys that the reader did not know; a bare size is the op's number where it takes one.
  void check_loose_arguments(const LayerConfig& layer, unsigned allowed) {
    for (const auto& [key, count] : layer.arguments) {
      if (key.empty() && (allowed & key_number) != 0 && !layer.number) continue;
      diagnostics_.error("unknown-key", count.at,
                         layer.kind + " takes no " + (key.empty() ? "size" : "'" + key + "'"),
                         "valid: " + words(allowed));
    }
  }

  static std::string words(unsigned keys) {
    std::string text;
    for (unsigned bit = 1; bit <= keys && bit != 0; bit <<= 1U) {
      if ((keys & bit) == 0) continue;
      text += (text.empty() ? "" : ", ") + std::string(key_word(static_cast<LayerKey>(bit)));
    }
    return text;
  }

  /// Parts without which the layer's function has nothing to work on.
  void check_parts(const LayerConfig& layer, unsigned keys) {
    for (const LayerKey part : {key_let, key_param, key_repeat, key_layers}) {
      if ((keys & part) == 0 || (keys_of(layer) & part) != 0) continue;
      diagnostics_.error("missing-key", layer.at,
                         layer.kind + " needs " + std::string(key_word(part)));
    }
    if (!layer.repeat) return;
    if (layer.repeat->pattern.empty()) {
      diagnostics_.error("missing-key", layer.repeat->at, "repeat needs a block",
                         "write repeat: {block: NAME, times: 4}");
    }
    for (const std::string& name : layer.repeat->pattern) {
      if (blocks_.contains(name)) continue;
      diagnostics_.error("unknown-block", layer.repeat->at,
                         "there is no block '" + name + "' in this file",
                         did_you_mean(name, block_names(), "blocks"));
    }
  }

  void check_arguments(const LayerConfig& layer, const BlockConfig& block) {
    std::vector<std::string> known;
    for (const auto& [key, count] : block.arguments) known.push_back(key);
    for (const auto& [key, count] : layer.arguments) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      diagnostics_.error(
          "unknown-argument", count.at, "block '" + block.name + "' has no argument '" + key + "'",
          known.empty() ? "it has no arguments" : did_you_mean(key, known, "arguments"));
    }
  }

  /// Depth first over the calls; a block that is still open calls itself.
  bool check_calls(const BlockConfig& block) {
    Visit& visit = visits_[block.name];
    if (visit == Visit::done) return true;
    if (visit == Visit::open) {
      report_circle(block);
      return false;
    }
    visit = Visit::open;
    chain_.push_back(&block);
    const bool ends = check_calls(block.layers);
    chain_.pop_back();
    visits_[block.name] = Visit::done;
    return ends;
  }

  bool check_calls(const std::vector<LayerConfig>& layers) {
    bool ends = true;
    for (const LayerConfig& layer : layers) {
      std::vector<std::string> called{layer.kind};
      if (layer.repeat) called = layer.repeat->pattern;
      if (layer.kind == "cond") {
        for (const auto& [key, word] : layer.words) called.push_back(word);
      }
      for (const std::string& name : called) {
        const auto block = blocks_.find(name);
        // A layer's word wins over a block's name; that clash is reported elsewhere.
        if (block == blocks_.end() || layer_kind(name) != nullptr) continue;
        call_at_ = layer.at;
        ends &= check_calls(*block->second);
      }
      ends &= check_calls(layer.layers);
    }
    return ends;
  }

  void report_circle(const BlockConfig& block) {
    const auto start = std::find(chain_.begin(), chain_.end(), &block);
    std::string circle;
    for (auto call = start; call != chain_.end(); ++call) circle += (*call)->name + " -> ";
    diagnostics_.error("recursive-block", call_at_,
                       "block '" + block.name + "' refers to itself: " + circle + block.name,
                       "a block may only use other blocks");
  }

  const ModelConfig& config_;
  Diagnostics& diagnostics_;
  std::unordered_map<std::string, const BlockConfig*> blocks_;
  std::unordered_map<std::string, Visit> visits_;
  std::vector<const BlockConfig*> chain_;
  Location call_at_;
};

}  // namespace

bool check_layers(const ModelConfig& config, Diagnostics& diagnostics) {
  return LayerChecker(config, diagnostics).run();
}

}  // namespace shard
