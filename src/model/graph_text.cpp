#include <span>

#include "base/check.h"
#include "model/graph.h"

namespace shard {
namespace {

std::string name_of(ValueId id) { return "%" + std::to_string(static_cast<std::int32_t>(id)); }

/// What a region parameter of a `repeat` is, by its position.
std::string_view parameter_kind(const Attributes& attributes, std::size_t position) {
  const auto carries = static_cast<std::size_t>(attributes.integer("carries"));
  const auto stacked = static_cast<std::size_t>(attributes.integer("stacked"));
  if (position < carries) return "carry";
  return position < carries + stacked ? "slice" : "invariant";
}

class GraphPrinter {
 public:
  GraphPrinter(const Graph& graph, const std::vector<std::string>& annotations)
      : graph_(graph), annotations_(annotations) {
    SHARD_CHECK(annotations.empty() || annotations.size() == graph.values.size(),
                "there is one annotation per value, or none");
  }

  std::string text() {
    text_ = graph_.name + "\n";
    for (const GraphInput& input : graph_.inputs) input_line(input);
    nodes(graph_.body(), "  ");
    for (const GraphOutput& output : graph_.outputs) output_line(output);
    return std::move(text_);
  }

 private:
  std::string typed(ValueId id) const {
    std::string text = to_string(graph_.value(id).type);
    if (annotations_.empty() || annotations_[index_of(id)].empty()) return text;
    return text + " " + annotations_[index_of(id)];
  }

  void input_line(const GraphInput& input) {
    text_ += "  in  " + name_of(input.value) + " : " + typed(input.value) + "  # " + input.path +
             "  " + to_string(input.placement) + "\n";
  }

  void output_line(const GraphOutput& output) {
    text_ += "  out " + name_of(output.value) + " : " + typed(output.value) + "  # " + output.path;
    if (output.placement) text_ += "  " + to_string(*output.placement);
    if (output.donates >= 0) {
      text_ += "  over " + name_of(graph_.inputs[static_cast<std::size_t>(output.donates)].value);
    }
    text_ += "\n";
  }

  void nodes(const Region& region, const std::string& indent) {
    for (const NodeId id : region.nodes) {
      const Node& node = graph_.node(id);
      node_line(node, indent);
      if (node.region != RegionId::none) loop_body(node, indent + "  ");
    }
  }

  void node_line(const Node& node, const std::string& indent) {
    text_ += indent + names(node.results) + " = " + std::string(def(node.op).name) + "(" +
             names(node.operands) + ")";
    if (!node.attributes.empty()) text_ += " " + to_string(node.attributes);
    text_ += " : ";
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      text_ += (i == 0 ? "" : ", ") + typed(node.results[i]);
    }
    text_ += comment(node) + "\n";
  }

  std::string comment(const Node& node) const {
    static constexpr std::string_view words[] = {"", "backward ", "update "};
    std::string text(words[static_cast<std::size_t>(node.phase)]);
    text += node.name;
    if (node.attributes.has("placement")) {
      const auto index = static_cast<std::size_t>(node.attributes.integer("placement"));
      text += "  " + to_string(graph_.placements[index]);
    }
    return text.empty() ? text : "  # " + text;
  }

  void loop_body(const Node& node, const std::string& indent) {
    const Region& region = graph_.region(node.region);
    for (std::size_t i = 0; i < region.parameters.size(); ++i) {
      text_ += indent + "in  " + name_of(region.parameters[i]) + " : " +
               typed(region.parameters[i]) + "  # " +
               std::string(parameter_kind(node.attributes, i)) + "\n";
    }
    nodes(region, indent);
    for (const ValueId id : region.results) {
      text_ += indent + "out " + name_of(id) + " : " + typed(id) + "\n";
    }
  }

  std::string names(const std::vector<ValueId>& values) const {
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i) {
      text += (i == 0 ? "" : ", ") + name_of(values[i]);
    }
    return text;
  }

  const Graph& graph_;
  const std::vector<std::string>& annotations_;
  std::string text_;
};

}  // namespace

std::string to_string(const Graph& graph, const std::vector<std::string>& annotations) {
  return GraphPrinter(graph, annotations).text();
}

}  // namespace shard
