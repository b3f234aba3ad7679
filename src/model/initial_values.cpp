#include "model/initial_values.h"

#include <array>
#include <cmath>

#include "base/nearest.h"

namespace shard {
namespace {

enum class Fan { none, in, average };

/// `scale` is `factor` times the argument (or its default), or, with a fan, the square root of
/// `factor / fan`.
struct InitRow {
  std::string_view word;
  std::string_view kind;
  std::string_view argument;  ///< empty: takes none
  double value;               ///< of the argument when it is not given
  Fan fan;
};

// A uniform on [-w, w) has variance w^2 / 3, hence the factors three.
constexpr std::array<InitRow, 13> rows = {{
    {"zeros", "zeros", "", 0, Fan::none},
    {"ones", "ones", "", 1, Fan::none},
    {"constant", "constant", "value", 0, Fan::none},
    {"normal", "normal", "stddev", 0.01, Fan::none},
    {"truncated_normal", "truncated_normal", "stddev", 0.01, Fan::none},
    {"lecun_normal", "truncated_normal", "", 1, Fan::in},
    {"lecun_uniform", "uniform", "", 3, Fan::in},
    {"he_normal", "truncated_normal", "", 2, Fan::in},
    {"he_uniform", "uniform", "", 6, Fan::in},
    {"xavier_normal", "truncated_normal", "", 1, Fan::average},
    {"xavier_uniform", "uniform", "", 3, Fan::average},
    {"glorot_normal", "truncated_normal", "", 1, Fan::average},
    {"glorot_uniform", "uniform", "", 3, Fan::average},
}};

const InitRow* row_of(const std::string& word) {
  for (const InitRow& row : rows) {
    if (row.word == word) return &row;
  }
  return nullptr;
}

double fan_of(Fan fan, const Shape& shape) {
  const auto out = static_cast<double>(shape[shape.size() - 1]);
  const auto in = static_cast<double>(shape[shape.size() - 2]);
  double field = 1;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) field *= static_cast<double>(shape[i]);
  return field * (fan == Fan::in ? in : (in + out) / 2);
}

}  // namespace

std::vector<std::string> initial_value_words() {
  std::vector<std::string> words;
  for (const InitRow& row : rows) words.emplace_back(row.word);
  return words;
}

std::optional<InitialValue> initial_value(const InitConfig& init, const Shape& shape,
                                          Diagnostics& diagnostics) {
  const InitRow* row = row_of(init.kind);
  if (init.kind == "uniform") {
    // Flax's is on [0, scale); ours are symmetric.
    diagnostics.error("not-yet", init.at, "initial value 'uniform' is not built by this version",
                      "use one of: normal, truncated_normal, xavier_uniform");
    return std::nullopt;
  }
  if (row == nullptr) {
    const std::vector<std::string> words = initial_value_words();
    diagnostics.error("unknown-init", init.at, "there is no initial value '" + init.kind + "'",
                      did_you_mean(init.kind, words, "valid", words.size()));
    return std::nullopt;
  }
  double value = row->value;
  for (const auto& [key, given] : init.arguments) {
    if (key == row->argument) {
      value = given;
      continue;
    }
    diagnostics.error(
        "unknown-argument", init.at, init.kind + " takes no '" + key + "'",
        row->argument.empty() ? "it takes no arguments" : "valid: " + std::string(row->argument));
    return std::nullopt;
  }
  if (row->fan == Fan::none) return InitialValue{std::string(row->kind), value};
  if (shape.size() < 2) {
    diagnostics.error("init-rank", init.at,
                      init.kind + " needs a shape of at least two dims, this one is [" +
                          (shape.empty() ? std::string() : to_string(shape)) + "]",
                      "use zeros, ones, constant or normal");
    return std::nullopt;
  }
  return InitialValue{std::string(row->kind), std::sqrt(value / fan_of(row->fan, shape))};
}

}  // namespace shard
