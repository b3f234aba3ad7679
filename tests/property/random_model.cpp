#include "property/random_model.h"

#include <random>
#include <vector>

namespace shard::test {
namespace {

/// Draws small numbers from the engine's bits alone, so that a seed means the same with every
/// library.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

const std::vector<std::string> features = {"embed", "hidden", "wide"};
const std::vector<std::string> activations = {"relu", "tanh", "sigmoid", "silu", "gelu", "sin"};

/// One of the meshes, and what specs may say on it.
class Placement {
 public:
  explicit Placement(Dice& dice) : dice_(dice) {
    static const std::vector<std::vector<int>> shapes = {
        {1},       {2},       {4},       {8},  {2, 2}, {2, 4},    {4, 2}, {3, 4}, {1, 4},
        {2, 2, 2}, {2, 2, 4}, {2, 3, 2}, {16}, {4, 4}, {2, 1, 2}, {3},    {6, 2}};
    sizes_ = dice.pick(shapes);
  }

  std::string mesh() const {
    std::string text = "mesh: {";
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      text += (i == 0 ? "" : ", ") + names()[i] + ": " + std::to_string(sizes_[i]);
    }
    return text + "}\n";
  }

  std::string rules() {
    std::string text = "rules:\n";
    const std::vector<std::string> logical = {"batch", "embed", "hidden", "wide", "stack"};
    const int count = 2 + dice_.below(6);
    for (int i = 0; i < count; ++i) text += "  - [" + dice_.pick(logical) + ", " + target() + "]\n";
    return text;
  }

  /// Every product of axis sizes divides `size`.
  bool divides(int size) const {
    int product = 1;
    for (const int one : sizes_) product *= one;
    return size % product == 0;
  }

  /// `P(...)` of rank 2 with no axis used twice.
  std::string spec() {
    std::vector<std::string> entries(2, "None");
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const int dim = dice_.below(3);
      if (dim == 2) continue;
      std::string& entry = entries[static_cast<std::size_t>(dim)];
      if (entry == "None") {
        entry = names()[i];
      } else {
        entry = "(" + entry + ", " + names()[i] + ")";
        if (sizes_.size() > 2) break;  // no nesting of three
      }
    }
    return "P(" + entries[0] + ", " + entries[1] + ")";
  }

 private:
  static const std::vector<std::string>& names() {
    static const std::vector<std::string> all = {"data", "model", "extra"};
    return all;
  }

  std::string target() {
    const int first = dice_.below(static_cast<int>(sizes_.size()) + 1);
    if (first == static_cast<int>(sizes_.size())) return "null";
    const int second = dice_.below(static_cast<int>(sizes_.size()));
    const std::string& name = names()[static_cast<std::size_t>(first)];
    if (second == first || dice_.chance(60)) return name;
    return "[" + name + ", " + names()[static_cast<std::size_t>(second)] + "]";
  }

  Dice& dice_;
  std::vector<int> sizes_;
};

/// Writes layers on a running value of shape [batch, FEATURE], keeping track of FEATURE.
class Writer {
 public:
  Writer(Dice& dice, Placement& placement) : dice_(dice), placement_(placement) {}

  /// Lines of a chain of `count` layers at `indent` that starts and, when `keep`, ends with feature
  /// `in`.
  std::string chain(int count, const std::string& indent, const std::string& in, bool keep) {
    feature_ = in;
    std::string text;
    for (int i = 0; i < count; ++i) text += layer(indent);
    if (keep && feature_ != in) {
      text += indent + "- dense: " + in + "\n";
      feature_ = in;
    }
    return text;
  }
  const std::string& feature() const { return feature_; }

 private:
  std::string layer(const std::string& indent) {
    const int kind = dice_.below(10);
    if (kind < 3) return indent + "- " + dense() + "\n";
    if (kind < 4) return indent + "- " + product() + "\n";
    if (kind < 7) return indent + "- " + dice_.pick(activations) + "\n";
    if (kind < 9) return indent + "- constrain: " + constraint() + "\n";
    return indent + "- residual: [" + dice_.pick(activations) + ", {" +
           dense_to(feature_, feature_) + "}]\n";
  }

  std::string dense() {
    const std::string from = feature_;
    feature_ = dice_.pick(features);
    return dense_to(feature_, from);
  }
  /// A kernel whose dims share a label cannot go through the rules, so that one is placed by mesh
  /// axes.
  std::string dense_to(const std::string& out, const std::string& from) {
    std::string text = "dense: {features: " + out;
    if (out == from || dice_.chance(25)) text += ", kernel: \"" + placement_.spec() + "\"";
    if (dice_.chance(30)) text += ", use_bias: true";
    return text + "}";
  }
  std::string product() {
    const std::string from = feature_;
    feature_ = dice_.pick(features);
    std::string text = "dot: {name: W" + std::to_string(++products_) + ", features: " + feature_;
    if (feature_ == from) text += ", kernel: \"" + placement_.spec() + "\"";
    return text + "}";
  }
  std::string constraint() {
    if (dice_.chance(50)) return placement_.spec();
    return "[batch, " + (dice_.chance(70) ? feature_ : std::string("null")) + "]";
  }

  Dice& dice_;
  Placement& placement_;
  std::string feature_;
  int products_ = 0;
};

}  // namespace

RandomCase random_case(std::uint64_t seed) {
  Dice dice(seed);
  Placement placement(dice);
  RandomCase one;
  one.rules = placement.mesh() + placement.rules();
  Writer block(dice, placement);
  Writer body(dice, placement);
  const bool is_scan = dice.chance(50);
  std::string& text = one.model;
  text = "name: random\nsizes: {batch: 48, embed: 48, hidden: 96, wide: 144}\n";
  text += "inputs:\n  x: " + std::string(dice.chance(50) ? "[batch, embed]" : "f32[batch, embed]") +
          "\n";
  text += "defaults: {use_bias: false}\n";
  text += "blocks:\n  Block:\n" + block.chain(1 + dice.below(5), "    ", "embed", true);
  text += "layers:\n" + body.chain(dice.below(3), "  ", "embed", true);
  // A partition name on a kernel placed by mesh axes would be taken for a mesh axis; and a stack
  // that the rules split must divide by the axes (deeper ones lose their gradients to underflow).
  const bool is_stack_named =
      dice.chance(40) && placement.divides(12) && text.find("kernel:") == std::string::npos;
  const int times = is_stack_named ? 12 : 1 + dice.below(3);
  text += "  - repeat: {block: Block, times: " + std::to_string(times) +
          ", scan: " + (is_scan ? "true" : "false") +
          ", axis: " + (is_stack_named ? "stack" : "null") + "}\n";
  text += body.chain(1 + dice.below(3), "  ", "embed", false);
  if (dice.chance(40)) text += "outputs:\n  y: [batch, " + body.feature() + "]\n";
  static const std::vector<std::string> optimizers = {
      "{sgd: {learning_rate: 0.01}}", "{momentum: {learning_rate: 0.01, momentum: 0.9}}",
      "{adam: {learning_rate: 0.001}}", "{adamw: {learning_rate: 0.001, weight_decay: 0.1}}"};
  static const std::vector<std::string> returns = {
      "[state]", "[state, loss]", "[state, loss, grads, outputs]", "[loss, grads]"};
  text += "train: {loss: " + std::string(dice.chance(50) ? "sum" : "mean") +
          ", optimizer: " + dice.pick(optimizers) + ", returns: " + dice.pick(returns) +
          (dice.chance(20) ? ", donate: false" : "") + "}\n";
  return one;
}

RandomCase padded_case(std::uint64_t seed) {
  RandomCase one = random_case(seed);
  Dice dice(seed + 1'000'000);
  const std::string even = "{batch: 48, embed: 48, hidden: 96, wide: 144}";
  const auto size = [&](int least) { return std::to_string(least + dice.below(16)); };
  one.model.replace(one.model.find(even), even.size(),
                    "{batch: " + size(3) + ", embed: " + size(5) + ", hidden: " + size(9) +
                        ", wide: " + size(7) + "}");
  one.rules += "misfit: pad\n";
  return one;
}

}  // namespace shard::test
