#include "check/annotations.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "config/keys.h"
#include "config/read_spec.h"
#include "model/placement_ask.h"

namespace shard {
namespace {

constexpr std::size_t most_annotations = 8;

/// A layer of the file: in whose list, and where there.
struct LayerPlace {
  std::vector<LayerConfig>* list = nullptr;
  std::size_t position = 0;

  LayerConfig& layer() const { return (*list)[position]; }
};

std::optional<LayerPlace> layer_in(std::vector<LayerConfig>& list, const Location& at) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].at == at) return LayerPlace{&list, i};
    if (auto inside = layer_in(list[i].layers, at)) return inside;
  }
  return std::nullopt;
}

std::optional<LayerPlace> layer_at(ModelConfig& config, const Location& at) {
  if (!at.is_known()) return std::nullopt;
  if (auto found = layer_in(config.layers, at)) return found;
  for (BlockConfig& block : config.blocks) {
    if (auto found = layer_in(block.layers, at)) return found;
  }
  return std::nullopt;
}

/// Whether the layer takes `out_sharding`.
bool takes_out_sharding(const ModelConfig& config, const LayerConfig& layer) {
  const bool is_own_block =
      std::any_of(config.blocks.begin(), config.blocks.end(),
                  [&](const BlockConfig& block) { return block.name == layer.kind; });
  const KeyTable* known = find_table(layer_tables(), layer.kind);
  const KeyTable& table = is_own_block       ? block_call_table()
                          : known != nullptr ? *known
                                             : generic_layer_table();
  return table.find("out_sharding") != nullptr;
}

std::string quoted(const SpecConfig& spec) { return '"' + to_string(spec) + '"'; }

void put(std::vector<std::pair<std::string, SpecConfig>>& entries, const std::string& key,
         const SpecConfig& spec) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const auto& entry) { return entry.first == key; });
  if (found == entries.end()) {
    entries.emplace_back(key, spec);
  } else {
    found->second = spec;
  }
}

/// Changes the spec written at `at`, wherever a layer has one.
bool replace_spec(std::vector<LayerConfig>& layers, const Location& at, const SpecConfig& spec) {
  bool is_done = false;
  const auto replace = [&](SpecConfig& own) {
    if (own.at != at) return;
    own.spec = spec.spec;
    is_done = true;
  };
  for (LayerConfig& layer : layers) {
    if (layer.spec) replace(*layer.spec);
    if (layer.out_sharding) replace(*layer.out_sharding);
    for (auto& [name, own] : layer.constrain) replace(own);
    is_done = replace_spec(layer.layers, at, spec) || is_done;
  }
  return is_done;
}

/// The name of a parameter within its layer: `kernel`, `query/kernel`; `W2` for the bare product
/// that is called so. Nothing when it belongs to another layer.
std::optional<std::string> name_in_layer(const std::string& path, const std::string& layer) {
  const auto inside = path.find('/' + layer + '/');
  if (inside != std::string::npos) return path.substr(inside + layer.size() + 2);
  if (path.ends_with('/' + layer)) return layer.substr(layer.rfind('/') + 1);
  return std::nullopt;
}

class Annotator {
 public:
  Annotator(const ModelConfig& config, const ShardedGraph& sharded, const Reshard& reshard)
      : config_(config), sharded_(sharded), graph_(sharded.graph), reshard_(reshard) {
    for (const Node& node : graph_.nodes) {
      if (node.region == RegionId::none) continue;
      const Region& region = graph_.region(node.region);
      const auto carries = static_cast<std::size_t>(node.attributes.integer("carries"));
      for (std::size_t i = 0; i < region.parameters.size(); ++i) {
        outside_.emplace_back(region.parameters[i],
                              i < carries ? region.results[i] : node.operands[i]);
      }
    }
  }

  std::vector<Annotation> run() {
    const auto from = spec_of(reshard_.why.from_spec), to = spec_of(reshard_.why.to_spec);
    if (!from || !to || reshard_.value == ValueId::none) return {};
    place(reshard_.value, *to);
    gather_beside();
    for (const ValueId other : values_of_layer()) {
      place(other, *to);
      place(other, *from);
    }
    return std::move(found_);
  }

 private:
  static std::optional<SpecConfig> spec_of(const std::string& text) {
    try {
      return SpecConfig{read_partition_text(text, {}), {}};
    } catch (const Error&) {
      return std::nullopt;  // parts of axes have no form in a file
    }
  }

  /// What the layer behind the op makes and works on that has the moved value's shape.
  std::vector<ValueId> values_of_layer() const {
    std::vector<ValueId> values;
    if (reshard_.why.node == NodeId::none) return values;
    const Node& own = graph_.node(reshard_.why.node);
    const Shape& shape = graph_.value(reshard_.value).type.shape;
    const auto add = [&](ValueId value) {
      const bool is_known = std::find(values.begin(), values.end(), value) != values.end();
      if (!is_known && graph_.value(value).type.shape == shape) values.push_back(value);
    };
    for (const bool is_result : {true, false}) {
      for (const Node& node : graph_.nodes) {
        if (node.phase != Phase::forward || node.at != own.at || node.name != own.name) continue;
        for (const ValueId value : is_result ? node.results : node.operands) add(value);
      }
    }
    return values;
  }

  /// Parameters that the layer works on, with the axes that the reshard is about whole where they
  /// are used: then the moved value may stay as it is.
  void gather_beside() {
    if (reshard_.why.node == NodeId::none) return;
    const Node& own = graph_.node(reshard_.why.node);
    for (const Node& node : graph_.nodes) {
      if (node.phase != Phase::forward || node.at != own.at || node.name != own.name) continue;
      for (const ValueId operand : node.operands) {
        if (operand != reshard_.value) gather_in_use(operand, operand);
      }
    }
  }

  void gather_in_use(ValueId value, ValueId used, int depth = 0) {
    constexpr int deepest = 8;
    const NodeId producer = graph_.value(value).producer;
    if (depth > deepest) return;
    if (producer != NodeId::none) {
      const Node& node = graph_.node(producer);
      if (node.op == Op::convert) gather_in_use(node.operands.front(), used, depth + 1);
      return;
    }
    for (const auto& [inner, outer] : outside_) {
      if (inner == value) return gather_in_use(outer, used, depth + 1);
    }
    for (const GraphInput& input : graph_.inputs) {
      if (input.value != value || input.role != Role::parameter) continue;
      const auto spec = without_moved_axes(used);
      const Node& user = graph_.node(reshard_.why.node);
      const auto name = name_in_layer(input.path, user.name);
      ModelConfig copy = config_;
      const auto layer = layer_at(copy, user.at);
      if (spec && name && layer) constrain_in_use(layer->layer(), *name, *spec);
    }
  }

  /// Nothing when the value has none of them.
  std::optional<SpecConfig> without_moved_axes(ValueId value) const {
    Sharding sharding = sharded_.sharding(value);
    bool is_changed = false;
    for (DimSharding& dim : sharding.dims) {
      const auto is_moved = [&](const AxisRef& axis) {
        for (const ReshardMove& move : reshard_.moves) {
          for (const AxisRef& one : move.axes) {
            if (one.axis == axis.axis) return true;
          }
        }
        return false;
      };
      is_changed = std::erase_if(dim.axes, is_moved) > 0 || is_changed;
    }
    if (!is_changed) return std::nullopt;
    return spec_of(spec_text(sharded_.mesh, sharding));
  }

  /// Follows the value to where the file can place it.
  void place(ValueId value, const SpecConfig& spec, int depth = 0) {
    constexpr int deepest = 8;
    if (depth > deepest) return;
    const GraphValue& of = graph_.value(value);
    if (of.producer == NodeId::none) return place_argument(value, spec, depth);
    const Node& node = graph_.node(of.producer);
    if (node.op == Op::constrain) return change_constraint(node, spec);
    if (node.phase != Phase::forward) return;
    const bool is_copy = node.op == Op::convert && of.name.empty();
    if (is_copy) return place(node.operands.front(), spec, depth + 1);
    place_result(of, node, spec);
  }

  void place_argument(ValueId value, const SpecConfig& spec, int depth) {
    for (const GraphInput& input : graph_.inputs) {
      if (input.value != value) continue;
      if (input.role == Role::parameter) place_parameter(input.path, spec);
      if (input.role == Role::input) place_input(input, spec);
      return;
    }
    for (const auto& [inner, outer] : outside_) {
      if (inner == value) return place(outer, spec, depth + 1);
    }
  }

  void place_parameter(const std::string& path, const SpecConfig& spec) {
    if (reshard_.why.node == NodeId::none) return;
    const Node& user = graph_.node(reshard_.why.node);
    const auto name = name_in_layer(path, user.name);
    ModelConfig edited = config_;
    const auto found = layer_at(edited, user.at);
    if (!name || !found) return;
    LayerConfig& layer = found->layer();
    constrain_in_use(layer, *name, spec);
    const bool is_kernel = layer.kind == "dot" || (layer.kind == "dense" && *name == "kernel");
    const bool is_bias = layer.kind == "dense" && *name == "bias";
    std::string words;
    if (is_kernel) {
      layer.kernel = spec;
      words = "kernel: " + quoted(spec);
    } else if (is_bias) {
      layer.bias = spec;
      words = "bias: " + quoted(spec);
    } else {
      put(layer.params, *name, spec);
      words = "params: {" + *name + ": " + quoted(spec) + '}';
    }
    add(words + on_the(layer), std::move(edited));
  }

  /// The parameter stays as it is and is moved, as asked, where the layer uses it.
  void constrain_in_use(const LayerConfig& layer, const std::string& name, const SpecConfig& spec) {
    const KeyTable* table = find_table(layer_tables(), layer.kind);
    if (table == nullptr || table->find("constrain") == nullptr) return;
    ModelConfig edited = config_;
    put(layer_at(edited, layer.at)->layer().constrain, name, spec);
    add("constrain: {" + name + ": " + quoted(spec) + '}' + on_the(layer), std::move(edited));
  }

  void place_input(const GraphInput& input, const SpecConfig& spec) {
    ModelConfig edited = config_;
    for (InputConfig& one : edited.inputs) {
      if (one.name != input.path) continue;
      one.type.placement.spec = spec.spec;
      add("the input " + one.name + " placed " + to_string(spec) + ", " + to_string(one.at),
          std::move(edited));
      return;
    }
  }

  void change_constraint(const Node& node, const SpecConfig& spec) {
    const PlacementAsk ask = ask_of(node.attributes);
    if (ask > PlacementAsk::reshard) return;  // of regions, which say where they begin and end
    const SpecConfig& own =
        graph_.placements[static_cast<std::size_t>(node.attributes.integer("placement"))];
    ModelConfig edited = config_;
    bool is_done = replace_spec(edited.layers, own.at, spec);
    for (BlockConfig& block : edited.blocks) {
      is_done = replace_spec(block.layers, own.at, spec) || is_done;
    }
    if (!is_done) return;
    add(to_string(spec) + " instead of " + to_string(own) + " at " + to_string(own.at),
        std::move(edited));
  }

  void place_result(const GraphValue& value, const Node& node, const SpecConfig& spec) {
    ModelConfig edited = config_;
    const auto found = layer_at(edited, node.at);
    if (!found) return;
    LayerConfig& layer = found->layer();
    const std::string inside = node.name + '/';
    if (value.name.starts_with(inside) && value.name.size() > inside.size()) {
      const std::string name = value.name.substr(inside.size());
      put(layer.constrain, name, spec);
      add("constrain: {" + name + ": " + quoted(spec) + '}' + on_the(layer), std::move(edited));
      return;
    }
    if (value.name.empty() && !is_result_of_layer(node)) return;
    if (takes_out_sharding(config_, layer)) {
      layer.out_sharding = spec;
      add("out_sharding: " + quoted(spec) + on_the(layer), std::move(edited));
      return;
    }
    const std::string words = "`- constrain: " + to_string(spec) + "` behind the " + layer.kind +
                              " at " + to_string(layer.at);
    LayerConfig constraint;
    constraint.kind = "constrain";
    constraint.spec = spec;
    constraint.at = layer.at;
    found->list->insert(found->list->begin() + static_cast<std::ptrdiff_t>(found->position) + 1,
                        std::move(constraint));
    add(words, std::move(edited));
  }

  /// Whether the last op of its layer: nothing of the same layer works on what it makes.
  bool is_result_of_layer(const Node& node) const {
    return std::none_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const Node& other) {
      return other.phase == Phase::forward && other.at == node.at && other.name == node.name &&
             std::find(other.operands.begin(), other.operands.end(), node.results.front()) !=
                 other.operands.end();
    });
  }

  static std::string on_the(const LayerConfig& layer) {
    return " on the " + layer.kind + " at " + to_string(layer.at);
  }

  void add(const std::string& words, ModelConfig edited) {
    const bool is_known = std::any_of(found_.begin(), found_.end(),
                                      [&](const Annotation& one) { return one.words == words; });
    if (is_known || found_.size() == most_annotations) return;
    found_.push_back({words, std::move(edited)});
  }

  const ModelConfig& config_;
  const ShardedGraph& sharded_;
  const Graph& graph_;
  const Reshard& reshard_;
  std::vector<std::pair<ValueId, ValueId>> outside_;  ///< what a loop's parameters stand for
  std::vector<Annotation> found_;
};

}  // namespace

std::vector<Annotation> annotations_against(const ModelConfig& config, const ShardedGraph& sharded,
                                            const Reshard& reshard) {
  return Annotator(config, sharded, reshard).run();
}

}  // namespace shard
