#pragma once
// The models of the recording `auto/models.json` as our files write them.

#include <string>
#include <utility>
#include <vector>

namespace shard::tests {

struct RecordedModel {
  std::string text;
  /// Parameters as the recording calls them and as they are called here.
  std::vector<std::pair<std::string, std::string>> leaves;
};

/// `guide_mlp_loop`, `guide_mlp_scan`, `llama`, `llama_tied`, `moe`, `gpt2`; `returns` and
/// `optimizer` are those of its train step.
RecordedModel recorded_model(const std::string& name, const std::string& train);

struct RecordedActivation {
  std::string name;  ///< of the value here
  bool is_unstacked = false;
};

/// The values that the recording calls `layer0.attention` and the like: one, or the three of `qkv`.
std::vector<RecordedActivation> recorded_activations(const std::string& model,
                                                     const std::string& recorded);

/// Rules of a strategy (`dp`, `fsdp`, `tp`, `fsdp_tp`, `sp`) on this many devices.
std::string recorded_rules(const std::string& strategy, int devices);

}  // namespace shard::tests
