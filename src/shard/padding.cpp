#include "shard/padding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "ops/index_dims.h"
#include "shard/legal_sizes.h"

namespace shard {
namespace {

/// Dims of all values in classes of the same factor: what one of them is padded to, all are.
class DimClasses {
 public:
  explicit DimClasses(const Graph& graph) : graph_(graph) {
    for (const GraphValue& value : graph.values) {
      first_.push_back(parent_.size());
      for (std::size_t dim = 0; dim < value.type.shape.size(); ++dim) {
        parent_.push_back(parent_.size());
      }
    }
    fixed_by_.resize(parent_.size(), NodeId::none);
    multiple_.resize(parent_.size(), 1);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) add_node(id_at<NodeId>(i));
  }

  std::size_t class_of(ValueId value, std::size_t dim) {
    return find(first_[index_of(value)] + dim);
  }

  /// The node that keeps the dim from being padded, or none.
  NodeId fixed_by(std::size_t one) const { return fixed_by_[one]; }
  void require(std::size_t one, std::int64_t parts) {
    multiple_[one] = std::lcm(multiple_[one], parts);
  }

  std::int64_t padded(ValueId value, std::size_t dim) {
    const std::int64_t size = graph_.value(value).type.shape[dim];
    const std::int64_t multiple = multiple_[class_of(value, dim)];
    return (size + multiple - 1) / multiple * multiple;
  }

 private:
  void join(std::size_t a, std::size_t b) {
    if (a == b) return;
    parent_[b] = a;
    if (fixed_by_[a] == NodeId::none) fixed_by_[a] = fixed_by_[b];
  }

  void add_node(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.region != RegionId::none) return add_loop(id);
    if (def(node.op).factor_rule == nullptr) return;
    const FactorRule rule = rule_of(graph_, node);
    std::vector<std::optional<std::size_t>> of_factor(rule.factors.size());
    const auto add = [&](ValueId value, const TensorFactors& dims) {
      for (std::size_t dim = 0; dim < dims.size(); ++dim) {
        const std::size_t own = class_of(value, dim);
        for (const int factor : dims[dim]) {
          if (dims[dim].size() > 1 || !can_pad(rule, factor)) {
            fix(own, id);
          }
          std::optional<std::size_t>& known = of_factor[static_cast<std::size_t>(factor)];
          if (!known) {
            known = own;
          } else {
            join(find(*known), find(own));
          }
        }
      }
    };
    for (std::size_t i = 0; i < node.operands.size(); ++i) add(node.operands[i], rule.operands[i]);
    for (std::size_t i = 0; i < node.results.size(); ++i) add(node.results[i], rule.results[i]);
  }

  /// A reduction that cannot be combined (the position of the largest) sees padding too.
  static bool can_pad(const FactorRule& rule, int number) {
    const Factor& factor = rule.factors[static_cast<std::size_t>(number)];
    if (factor.needs_neighbours) return false;
    return factor.kind == FactorKind::pass_through ||
           (factor.kind == FactorKind::reduction && rule.reduction != Reduction::none);
  }

  std::size_t find(std::size_t at) {
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }

  void fix(std::size_t one, NodeId by) {
    if (fixed_by_[find(one)] == NodeId::none) fixed_by_[find(one)] = by;
  }

  /// What goes into a loop is what the body has; of stacked arrays all but the leading dim.
  void add_loop(NodeId id) {
    const Node& node = graph_.node(id);
    const Region& region = graph_.region(node.region);
    const auto carries = static_cast<std::size_t>(node.attributes.integer("carries"));
    const auto stacked = static_cast<std::size_t>(node.attributes.integer("stacked"));
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      tie(node.operands[i], region.parameters[i], i >= carries && i < carries + stacked, id);
    }
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      tie(node.results[i], region.results[i], i >= carries, id);
      if (i < carries) tie(node.results[i], region.parameters[i], false, id);
    }
  }

  void tie(ValueId outside, ValueId inside, bool is_stacked, NodeId loop) {
    if (is_stacked) fix(class_of(outside, 0), loop);
    const std::size_t rank = graph_.value(inside).type.shape.size();
    for (std::size_t dim = 0; dim < rank; ++dim) {
      join(class_of(outside, dim + (is_stacked ? 1 : 0)), class_of(inside, dim));
    }
  }

  const Graph& graph_;
  std::vector<std::size_t> first_, parent_;
  std::vector<NodeId> fixed_by_;        ///< by class
  std::vector<std::int64_t> multiple_;  ///< by class
};

/// Writes the padded graph.
class Padder {
 public:
  Padder(Graph& graph, DimClasses& classes) : graph_(graph), count_(graph.values.size()) {
    for (std::size_t i = 0; i < count_; ++i) {
      Shape shape = graph.values[i].type.shape;
      for (std::size_t dim = 0; dim < shape.size(); ++dim) {
        shape[dim] = classes.padded(id_at<ValueId>(i), dim);
      }
      padded_.push_back(std::move(shape));
    }
  }

  /// False when an op does not give results of the padded shapes; `refuser` is that node.
  bool run(NodeId& refuser) {
    collect_rules();
    for (std::size_t i = 0; i < count_; ++i) {
      whole_.push_back(std::exchange(graph_.values[i].type.shape, std::move(padded_[i])));
    }
    const std::size_t nodes = graph_.nodes.size();
    for (std::size_t i = 0; i < nodes; ++i) {
      if (fits(graph_.nodes[i])) continue;
      refuser = id_at<NodeId>(i);
      return false;
    }
    for (std::size_t region = 0; region < graph_.regions.size(); ++region) write(region);
    return true;
  }

 private:
  /// What a node reduces, worked out before its operands are enlarged.
  struct Masked {
    std::size_t operand = 0;
    std::vector<std::size_t> dims;
    Reduction reduction = Reduction::none;
  };

  void collect_rules() {
    masks_.resize(graph_.nodes.size());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (node.region != RegionId::none || def(node.op).factor_rule == nullptr) continue;
      const FactorRule rule = rule_of(graph_, node);
      for (std::size_t operand = 0; operand < node.operands.size(); ++operand) {
        Masked masked{operand, {}, rule.reduction};
        for (std::size_t dim = 0; dim < rule.operands[operand].size(); ++dim) {
          if (is_padded(node.operands[operand], dim) && sums(rule, rule.operands[operand][dim])) {
            masked.dims.push_back(dim);
          }
        }
        if (!masked.dims.empty()) masks_[i].push_back(std::move(masked));
      }
    }
  }

  bool is_padded(ValueId value, std::size_t dim) const {
    return padded_[index_of(value)][dim] != graph_.value(value).type.shape[dim];
  }

  static bool sums(const FactorRule& rule, const std::vector<int>& factors) {
    return std::any_of(factors.begin(), factors.end(), [&](int factor) {
      return rule.factors[static_cast<std::size_t>(factor)].kind == FactorKind::reduction;
    });
  }

  /// Gives the node's attributes the padded shape, and asks the op whether that is what it makes.
  bool fits(Node& node) {
    if (node.region != RegionId::none) return true;
    if (node.attributes.has("shape")) {
      node.attributes.set("shape", graph_.value(node.results.front()).type.shape);
    }
    if (IndexDims::are_in(node.attributes)) {
      const ValueId array = node.operands.front();
      const Shape& whole = whole_[index_of(array)];
      if (graph_.value(array).type.shape != whole) node.attributes.set("counts", whole);
    }
    const std::vector<TensorType> operands = types_of(graph_, node.operands);
    const ShapeResult made = def(node.op).shape_rule(operands, node.attributes);
    const auto* types = std::get_if<std::vector<TensorType>>(&made);
    return types != nullptr && *types == types_of(graph_, node.results);
  }

  void write(std::size_t region) {
    std::vector<NodeId> nodes;
    for (const NodeId id : graph_.regions[region].nodes) {
      for (const Masked& masked : masks_[index_of(id)]) {
        const ValueId operand = graph_.node(id).operands[masked.operand];
        const ValueId hidden = mask(id, operand, masked, nodes);
        graph_.nodes[index_of(id)].operands[masked.operand] = hidden;
      }
      nodes.push_back(id);
    }
    graph_.regions[region].nodes = std::move(nodes);
    made_.clear();  // a mask of one region is not seen in another
  }

  /// The value with what the reduction ignores in the place of padding.
  ValueId mask(NodeId user, ValueId value, const Masked& masked, std::vector<NodeId>& nodes) {
    ValueId now = value;
    for (const std::size_t dim : masked.dims) {
      const std::tuple key{now, dim, masked.reduction};
      if (const auto known = made_.find(key); known != made_.end()) {
        now = known->second;
        continue;
      }
      const TensorType type = graph_.value(now).type;
      const std::int64_t size = whole_[index_of(value)][dim];
      const TensorType line{DType::i32, {type.shape[dim]}};
      const ValueId positions =
          add(user, Op::iota, {}, line, nodes,
              {{"shape", line.shape}, {"dim", std::int64_t{0}}, {"dtype", std::string("i32")}});
      const ValueId limit = scalar(user, static_cast<double>(size), DType::i32, nodes);
      const ValueId is_real =
          add(user, Op::lt, {positions, limit}, {DType::boolean, line.shape}, nodes, {});
      const ValueId everywhere =
          add(user, Op::broadcast, {is_real}, {DType::boolean, type.shape}, nodes,
              {{"shape", type.shape},
               {"dims", std::vector<std::int64_t>{static_cast<std::int64_t>(dim)}}});
      const ValueId neutral =
          scalar(user, neutral_of(masked.reduction, type.dtype), type.dtype, nodes);
      const ValueId hidden = add(user, Op::select, {everywhere, now, neutral}, type, nodes, {});
      graph_.values[index_of(hidden)].labels = graph_.value(value).labels;
      made_.emplace(key, hidden);
      now = hidden;
    }
    return now;
  }

  /// What changes no result of the reduction.
  static double neutral_of(Reduction reduction, DType dtype) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const DTypeInfo& of = info(dtype);
    const double most =
        of.is_float ? infinity : std::ldexp(1.0, 8 * of.bytes - (of.is_signed ? 1 : 0)) - 1;
    const double least = of.is_float ? -infinity : of.is_signed ? -most - 1 : 0;
    switch (reduction) {
      case Reduction::max:
        return least;
      case Reduction::min:
        return most;
      case Reduction::prod:
        return 1;
      case Reduction::none:
      case Reduction::sum:
        break;
    }
    return 0;
  }

  ValueId scalar(NodeId user, double value, DType dtype, std::vector<NodeId>& nodes) {
    return add(user, Op::constant, {}, {dtype, {}}, nodes,
               {{"shape", Shape{}}, {"value", value}, {"dtype", std::string(info(dtype).name)}});
  }

  ValueId add(NodeId user, Op op, std::vector<ValueId> operands, TensorType type,
              std::vector<NodeId>& nodes, Attributes attributes) {
    const Node& of = graph_.node(user);
    Node node;
    node.op = op;
    node.attributes = std::move(attributes);
    node.operands = std::move(operands);
    node.phase = of.phase;
    node.iteration = of.iteration;
    node.name = of.name;
    node.at = of.at;
    const NodeId id = id_at<NodeId>(graph_.nodes.size());
    GraphValue value;
    value.type = std::move(type);
    value.labels.resize(value.type.shape.size());
    value.producer = id;
    value.at = of.at;
    node.results = {id_at<ValueId>(graph_.values.size())};
    graph_.values.push_back(std::move(value));
    graph_.nodes.push_back(std::move(node));
    nodes.push_back(id);
    return graph_.nodes.back().results.front();
  }

  Graph& graph_;
  std::size_t count_;  ///< values before any were added
  std::vector<Shape> padded_, whole_;
  std::vector<std::vector<Masked>> masks_;  ///< by node
  std::map<std::tuple<ValueId, std::size_t, Reduction>, ValueId> made_;
};

void refuse(const Graph& graph, const PaddingNeed& need, NodeId by, Diagnostics& diagnostics) {
  const GraphValue& value = graph.value(need.value);
  const std::int64_t size = value.type.shape[static_cast<std::size_t>(need.dim)];
  const Node& node = graph.node(by);
  const std::string place = node.at.is_known() ? " (" + to_string(node.at) + ')' : "";
  diagnostics.error("indivisible", need.at,
                    "dim " + std::to_string(need.dim) + " of " + need.what + " has size " +
                        std::to_string(size) + ", and cannot be padded for " +
                        std::to_string(need.parts) + " pieces: " + std::string(def(node.op).name) +
                        place + " works on the whole dim",
                    "nearest legal sizes: " + nearest_sizes(size, need.parts));
}

}  // namespace

void pad_graph(Graph& graph, std::span<const PaddingNeed> needs, Diagnostics& diagnostics) {
  if (needs.empty()) return;
  DimClasses classes(graph);
  bool is_good = true;
  for (const PaddingNeed& need : needs) {
    const std::size_t one = classes.class_of(need.value, static_cast<std::size_t>(need.dim));
    classes.require(one, need.parts);
    if (classes.fixed_by(one) == NodeId::none) continue;
    refuse(graph, need, classes.fixed_by(one), diagnostics);
    is_good = false;
  }
  if (!is_good) return;
  Graph padded = graph;
  NodeId refuser = NodeId::none;
  if (Padder(padded, classes).run(refuser)) {
    graph = std::move(padded);
  } else {
    refuse(graph, needs.front(), refuser, diagnostics);
  }
}

}  // namespace shard
