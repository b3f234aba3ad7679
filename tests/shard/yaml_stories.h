#pragma once
// Lines of code with NNX layers, said again as a model file.

#include <optional>
#include <string>

namespace shard::tests {

/// A model and what of it is asked for.
struct SaidInYaml {
  std::string inputs;      ///< `x: "f32[batch=8, embed=16]"`
  std::string layers;      ///< the list, each layer with its dash, two blanks in
  std::string asks = "";   ///< an input's path; empty: the last value
  std::string rules = "";  ///< `[[vocab, model]]`
};

/// Says the lines of one story in their order: a line may be about one before it.
class YamlTeller {
 public:
  explicit YamlTeller(std::string story) : story_(std::move(story)) {}

  /// Nothing for what a model file cannot say: see `why_not`.
  std::optional<SaidInYaml> say(const std::string& code);
  /// Why the last line was not said.
  const std::string& why_not() const { return why_not_; }

 private:
  std::optional<SaidInYaml> linear(const std::string& code);
  std::optional<SaidInYaml> metadata(const std::string& code);
  std::optional<SaidInYaml> embedding(const std::string& code);
  std::optional<SaidInYaml> swiglu(const std::string& code);
  std::optional<SaidInYaml> other(const std::string& code);
  std::optional<SaidInYaml> not_said(std::string why);

  std::string story_;
  std::string why_not_;
  std::string before_;  ///< the table or the layer that following lines are about
};

}  // namespace shard::tests
