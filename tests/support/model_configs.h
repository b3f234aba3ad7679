#pragma once
// Model configs by hand: what the reader would make of a few lines of YAML.

#include <string>
#include <vector>

#include "config/model_config.h"

namespace shard::tests {

/// Line `line` of the model file that a hand-made config pretends to come from.
inline Location line(int number, int column = 5) { return {"model.yaml", number, column, 1}; }

/// A model whose layers stand in lines 10, 11, ... of `model.yaml`.
class ModelBuilder {
 public:
  explicit ModelBuilder(std::vector<std::pair<std::string, std::int64_t>> sizes);

  ModelBuilder& input(const std::string& name, const std::vector<std::string>& labels,
                      DType dtype = DType::f32);
  ModelBuilder& block(const std::string& name, std::vector<LayerConfig> layers);
  ModelBuilder& layer(LayerConfig layer);
  ModelBuilder& output(const std::string& name, const std::vector<std::string>& labels);
  ModelBuilder& train(const std::string& optimizer, const std::string& loss = "sum");

  TypeConfig type(const std::vector<std::string>& labels, DType dtype = DType::f32) const;

  ModelConfig config;
};

SpecConfig mesh_spec(const std::vector<std::string>& entries);   ///< empty text is None
SpecConfig logical_spec(const std::vector<std::string>& names);  ///< empty text is None
CountConfig count_of(const std::string& label);
CountConfig count_of(std::int64_t value);

LayerConfig word(const std::string& kind);
LayerConfig of(LayerConfig layer, const std::vector<std::string>& names);
LayerConfig named(LayerConfig layer, const std::string& name);
LayerConfig dense(const std::string& features, bool use_bias = false);
LayerConfig product(const std::string& name, const std::string& features);
LayerConfig constrain(SpecConfig spec);
LayerConfig let(const std::string& text);
LayerConfig param(const std::string& name, TypeConfig type, const std::string& init = "ones");
LayerConfig repeat(const std::string& block, std::int64_t times, bool scan = false);
LayerConfig over(const std::string& kind, const std::vector<std::string>& dims);
LayerConfig with_number(const std::string& kind, double number);
LayerConfig chain(const std::string& kind, std::vector<LayerConfig> layers);

/// The Flax guide's MLP (mesh axes, adam, returns the state), by default small.
ModelConfig guide(bool scan = false, std::int64_t layers = 2, std::int64_t batch = 2,
                  std::int64_t embed = 4, std::int64_t hidden = 8);

}  // namespace shard::tests
