#pragma once
// What names mean inside one body of layers: the model's own or one call of a block.
//
// Naming follows the library. Linen: a module without a name is called after its class and a count
// per class and scope (`Dense_0`); a module with a name does not count. Ops are not modules, their
// values are named the same way (`relu_0`). Plain: the same with the words of the model file. NNX,
// where modules are called after attributes: the same with `linear_0` and `dot_relu_dot_0`.

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/ids.h"
#include "config/model_config.h"

namespace shard {

class Scope {
 public:
  /// `prefix` is empty or ends in a slash; `layers` outlives the scope.
  Scope(std::string prefix, const std::vector<LayerConfig>& layers)
      : prefix_(std::move(prefix)), layers_(&layers) {}

  /// `Dense` becomes `DotReluDot_0/Dense_0`.
  std::string counted(const std::string& word);
  /// The next `count` of these at once, `Dense_{4..7}`; claims each of them.
  std::string counted_range(const std::string& word, std::int64_t count);
  std::string path(const std::string& name) const { return prefix_ + name; }
  /// Takes a full name for a layer; false when another layer has it.
  bool claim(const std::string& full_name) { return taken_.insert(full_name).second; }

  void bind(const std::string& name, ValueId value) { values_[name] = value; }
  /// As a `let` does: the second value called `x` is `x.1`. Returns the name it got.
  std::string rebind(const std::string& name, ValueId value);

  bool has(const std::string& name) const { return values_.contains(name); }

  /// The value called `name`. When there is none it says so in `diagnostics` (`used-before-made`,
  /// `unknown-value`) and returns none; also none for a value that an earlier mistake spoiled.
  ValueId find(const std::string& name, const Location& at, Diagnostics& diagnostics) const;

  /// The argument of the block called `name`, or nullptr.
  const CountConfig* argument(const std::string& name) const;

  ValueId running = ValueId::none;
  std::vector<std::pair<std::string, CountConfig>> arguments;

 private:
  std::string prefix_;
  const std::vector<LayerConfig>* layers_;
  std::unordered_map<std::string, ValueId> values_;
  std::unordered_map<std::string, std::int64_t> counts_;
  std::unordered_map<std::string, int> repeats_;
  std::unordered_set<std::string> taken_;
};

/// The library's word for the module or value that a layer of this kind makes.
std::string word_for(const std::string& kind, Naming naming);

/// The name under which a layer binds its value, or nullptr: `name:`, `let: NAME =`, `param`.
const std::string* bound_name(const LayerConfig& layer);

}  // namespace shard
