#include "model/optimizer.h"

#include <algorithm>
#include <array>

#include "base/nearest.h"

namespace shard {
namespace {

constexpr OptimizerArgument rate = {"learning_rate", "learning_rate", 0, true, false};
constexpr OptimizerArgument b1 = {"b1", "b1", 0.9, false, false};
constexpr OptimizerArgument b2 = {"b2", "b2", 0.999, false, false};
constexpr OptimizerArgument eps = {"eps", "eps", 1e-8, false, false};
constexpr OptimizerArgument eps_root = {"eps_root", "eps_root", 0, false, false};

constexpr std::array<OptimizerArgument, 1> sgd_arguments = {{rate}};
constexpr std::array<OptimizerArgument, 3> momentum_arguments = {
    {rate, {"momentum", "decay", 0.9, false, false}, {"nesterov", "nesterov", 0, false, true}}};
constexpr std::array<OptimizerArgument, 5> adam_arguments = {{rate, b1, b2, eps, eps_root}};
constexpr std::array<OptimizerArgument, 6> adamw_arguments = {
    {rate, b1, b2, eps, eps_root, {"weight_decay", "weight_decay", 1e-4, false, false}}};

constexpr std::array<std::string_view, 1> trace = {"trace"};
constexpr std::array<std::string_view, 2> moments = {"mu", "nu"};
constexpr std::array<std::string_view, 1> no_decay = {"weight_decay"};

constexpr std::array<OptimizerKind, 4> kinds = {{
    {"sgd", Op::sgd_update, {}, false, sgd_arguments, {}},
    {"momentum", Op::momentum_update, trace, false, momentum_arguments, {}},
    {"adam", Op::adam_update, moments, true, adam_arguments, no_decay},
    {"adamw", Op::adam_update, moments, true, adamw_arguments, {}},
}};

constexpr std::array<std::string_view, 10> later_kinds = {
    "chain", "adafactor", "lion", "adagrad", "rmsprop", "lamb", "nadam", "adamax", "radam", "muon"};

}  // namespace

const OptimizerKind* optimizer_kind(const OptimizerConfig& config, Diagnostics& diagnostics) {
  std::vector<std::string> known;
  for (const OptimizerKind& kind : kinds) {
    if (kind.word == config.kind) return &kind;
    known.emplace_back(kind.word);
  }
  if (std::find(later_kinds.begin(), later_kinds.end(), config.kind) != later_kinds.end()) {
    diagnostics.error("not-yet", config.at,
                      "optimizer '" + config.kind + "' is not built by this version",
                      "use one of: sgd, momentum, adam, adamw");
  } else {
    diagnostics.error("unknown-optimizer", config.at, "there is no optimizer '" + config.kind + "'",
                      did_you_mean(config.kind, known));
  }
  return nullptr;
}

Attributes update_attributes(const OptimizerKind& kind, const OptimizerConfig& config,
                             Diagnostics& diagnostics) {
  std::vector<std::string> known;
  for (const OptimizerArgument& argument : kind.arguments) known.emplace_back(argument.word);
  for (const auto& [key, value] : config.arguments) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    diagnostics.error("unknown-argument", config.at, config.kind + " takes no '" + key + "'",
                      did_you_mean(key, known));
  }
  Attributes attributes;
  for (const OptimizerArgument& argument : kind.arguments) {
    const auto given =
        std::find_if(config.arguments.begin(), config.arguments.end(),
                     [&](const auto& entry) { return entry.first == argument.word; });
    if (given == config.arguments.end() && argument.is_required) {
      diagnostics.error("missing-argument", config.at,
                        config.kind + " needs " + std::string(argument.word),
                        "write " + config.kind + ": {" + std::string(argument.word) + ": 1e-3}");
    }
    const double value = given == config.arguments.end() ? argument.standard : given->second;
    if (argument.is_flag) {
      attributes.set(std::string(argument.attribute), std::int64_t{value != 0 ? 1 : 0});
    } else {
      attributes.set(std::string(argument.attribute), value);
    }
  }
  for (const std::string_view name : kind.zeros) attributes.set(std::string(name), 0.0);
  return attributes;
}

}  // namespace shard
