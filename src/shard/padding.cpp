#include "shard/padding.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "ops/index_dims.h"
#include "ops/neutral.h"
#include "shard/legal_sizes.h"
#include "shard/padded_ops.h"

namespace shard {
namespace {

/// The factors along which the op bears padding, by the row of padded_ops.h: of each dim that it
/// does bear, the first.
std::vector<char> borne_factors(const Graph& graph, const Node& node, const FactorRule& rule) {
  std::vector<char> borne(rule.factors.size(), 0);
  const PaddedOp* row = padded_op(node.op);
  if (row == nullptr) return borne;
  const std::vector<TensorType> operands = types_of(graph, node.operands),
                                results = types_of(graph, node.results);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (std::size_t dim = 0; dim < operands[i].shape.size(); ++dim) {
      if (!row->bears({graph, node, operands, results}, i, dim)) continue;
      borne[static_cast<std::size_t>(rule.operands[i][dim].front())] = 1;
    }
  }
  return borne;
}

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
    const std::vector<char> is_borne = borne_factors(graph_, node, rule);
    std::vector<std::optional<std::size_t>> of_factor(rule.factors.size());
    const auto add = [&](ValueId value, const TensorFactors& dims) {
      for (std::size_t dim = 0; dim < dims.size(); ++dim) {
        const std::size_t own = class_of(value, dim);
        for (const int factor : dims[dim]) {
          const bool bears = is_borne[static_cast<std::size_t>(factor)] != 0;
          if (!bears && (dims[dim].size() > 1 || !can_pad(rule, factor))) fix(own, id);
          std::optional<std::size_t>& known = of_factor[static_cast<std::size_t>(factor)];
          if (!known) {
            known = own;
          } else {
            join(find(*known), find(own));
          }
          if (bears) break;  // the others are the op's own affair
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
  /// What a node must not see of an operand, and what it sees instead; worked out before the
  /// operands are enlarged.
  struct Masked {
    std::size_t operand = 0;
    std::size_t dim = 0;
    double instead = 0;
  };

  void collect_rules() {
    masks_.resize(graph_.nodes.size());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (node.region != RegionId::none || def(node.op).factor_rule == nullptr) continue;
      const FactorRule rule = rule_of(graph_, node);
      const std::vector<TensorType> operands = types_of(graph_, node.operands),
                                    results = types_of(graph_, node.results);
      for (std::size_t operand = 0; operand < operands.size(); ++operand) {
        for (std::size_t dim = 0; dim < rule.operands[operand].size(); ++dim) {
          if (!is_padded(node.operands[operand], dim)) continue;
          const std::optional<double> instead =
              instead_of_padding({graph_, node, operands, results}, rule, operand, dim);
          if (instead) masks_[i].push_back({operand, dim, *instead});
        }
      }
    }
  }

  static std::optional<double> instead_of_padding(const PaddedNode& node, const FactorRule& rule,
                                                  std::size_t operand, std::size_t dim) {
    const PaddedOp* row = padded_op(node.node.op);
    if (row != nullptr && row->bears(node, operand, dim)) {
      if (const auto ignored = row->ignored(node, operand, dim)) return ignored;
    }
    if (rule.reduction == Reduction::none || !sums(rule, rule.operands[operand][dim])) return {};
    return neutral_of(rule.reduction, node.operands[operand].dtype);
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
    const PaddedOp* row = padded_op(node.op);
    if (row != nullptr && row->attributes != nullptr) {
      node.attributes =
          row->attributes({graph_, node, whole_types(node.operands), whole_types(node.results)},
                          types_of(graph_, node.operands), types_of(graph_, node.results));
    }
    if (row != nullptr && row->rewrite != nullptr) return true;
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

  std::vector<TensorType> whole_types(const std::vector<ValueId>& values) const {
    std::vector<TensorType> types = types_of(graph_, values);
    for (std::size_t i = 0; i < values.size(); ++i) types[i].shape = whole_[index_of(values[i])];
    return types;
  }

  void write(std::size_t region) {
    std::vector<NodeId> nodes;
    const std::vector<NodeId> given = graph_.regions[region].nodes;
    for (const NodeId id : given) {
      const std::vector<TensorType> operands = whole_types(graph_.node(id).operands),
                                    results = whole_types(graph_.node(id).results);
      for (const Masked& masked : masks_[index_of(id)]) {
        const ValueId operand = graph_.node(id).operands[masked.operand];
        const ValueId hidden = mask(id, operand, masked, nodes);
        graph_.nodes[index_of(id)].operands[masked.operand] = hidden;
      }
      rewrite(id, operands, results, nodes);
      nodes.push_back(id);
    }
    graph_.regions[region].nodes = std::move(nodes);
    made_.clear();  // a mask of one region is not seen in another
  }

  /// Adds nodes for another one.
  class NodeBuilder : public Builder {
   public:
    NodeBuilder(Padder& padder, NodeId user, std::vector<NodeId>& nodes)
        : padder_(padder), user_(user), nodes_(nodes) {}

    const TensorType& type(ValueId value) const override {
      return padder_.graph_.value(value).type;
    }
    ValueId emit(Op op, std::span<const ValueId> operands, Attributes attributes) override {
      const std::vector<ValueId> ids(operands.begin(), operands.end());
      std::vector<TensorType> made = result_types(op, types_of(padder_.graph_, ids), attributes);
      return padder_.add(user_, op, ids, std::move(made.front()), nodes_, std::move(attributes));
    }
    std::vector<ValueId> emit_all(Op op, std::span<const ValueId> operands,
                                  Attributes attributes) override {
      return {emit(op, operands, std::move(attributes))};
    }

   private:
    Padder& padder_;
    NodeId user_;
    std::vector<NodeId>& nodes_;
  };

  void rewrite(NodeId id, const std::vector<TensorType>& operands,
               const std::vector<TensorType>& results, std::vector<NodeId>& nodes) {
    const PaddedOp* row = padded_op(graph_.node(id).op);
    if (row == nullptr || row->rewrite == nullptr) return;
    const Node whole = graph_.node(id);
    Node made = whole;
    NodeBuilder builder(*this, id, nodes);
    const TensorType result = graph_.value(whole.results.front()).type;
    row->rewrite(builder, {graph_, whole, operands, results}, result, made);
    graph_.nodes[index_of(id)] = std::move(made);
  }

  /// The value with something else in the place of padding.
  ValueId mask(NodeId user, ValueId value, const Masked& masked, std::vector<NodeId>& nodes) {
    const std::tuple key{value, masked.dim, masked.instead};
    if (const auto known = made_.find(key); known != made_.end()) return known->second;
    const TensorType type = graph_.value(value).type;
    const std::size_t dim = masked.dim;
    const std::int64_t size = whole_size(value, dim);
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
    const ValueId instead = scalar(user, masked.instead, type.dtype, nodes);
    const ValueId hidden = add(user, Op::select, {everywhere, value, instead}, type, nodes, {});
    graph_.values[index_of(hidden)].labels = graph_.value(value).labels;
    made_.emplace(key, hidden);
    unmasked_[hidden] = value;
    return hidden;
  }

  /// Without padding; of a value that was masked already, that of what it was.
  std::int64_t whole_size(ValueId value, std::size_t dim) const {
    for (auto found = unmasked_.find(value); found != unmasked_.end();
         found = unmasked_.find(value)) {
      value = found->second;
    }
    return whole_[index_of(value)][dim];
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
  std::map<std::tuple<ValueId, std::size_t, double>, ValueId> made_;
  std::map<ValueId, ValueId> unmasked_;  ///< by what `mask` made
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
