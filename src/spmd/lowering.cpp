#include "spmd/lowering.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "spmd/axes.h"
#include "spmd/common_factors.h"
#include "spmd/local_op.h"
#include "spmd/parts_form.h"
#include "spmd/reshard.h"

namespace shard::spmd {
namespace {

using ReasonOf = CollectiveReason::Kind;

/// A value as it exists somewhere in the program: split like this, in that buffer.
struct Variant {
  Sharding sharding;
  BufferId buffer = BufferId::none;
};

/// The dims of a slice of an array: the leading one is gone.
Sharding without_leading_dim(Sharding sharding) {
  sharding.dims.erase(sharding.dims.begin());
  return sharding;
}

/// The dims of an array of such slices: the leading one is whole.
Sharding with_leading_dim(Sharding slice) {
  slice.dims.insert(slice.dims.begin(), DimSharding{});
  return slice;
}

class Lowering {
 public:
  explicit Lowering(const ShardedGraph& source)
      : source_(source), graph_(source.graph), variants_(source.graph.values.size()) {
    shardings_.reserve(source.shardings.size());
    for (const Sharding& sharding : source.shardings) shardings_.push_back(canonical(sharding));
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      SHARD_CHECK(divides_evenly(graph_.values[i].type.shape, shardings_[i]),
                  "shardings are even when a graph is partitioned");
    }
  }

  Program run() {
    program_.name = graph_.name;
    program_.mesh = source_.mesh;
    program_.bodies.emplace_back();
    for (const GraphInput& input : graph_.inputs) add_input(input);
    lower_nodes(graph_.body());
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) add_output(i);
    return std::move(program_);
  }

 private:
  const Sharding& declared(ValueId value) const { return shardings_[index_of(value)]; }
  Body& body() { return program_.bodies[static_cast<std::size_t>(body_)]; }

  void add_input(const GraphInput& input) {
    const BufferId buffer = new_buffer(input.value, declared(input.value), input.path);
    remember(input.value, declared(input.value), buffer);
    body().parameters.push_back(buffer);
    program_.inputs.push_back({buffer, input.path, input.role, input.state_leaf,
                               source_.given_type(input.value), source_.sharding(input.value),
                               padded_shape(input.value)});
  }

  void add_output(std::size_t position) {
    const GraphOutput& output = graph_.outputs[position];
    const Sharding& wanted = source_.output_shardings[position];
    const NodeId producer = graph_.value(output.value).producer;
    const BufferId buffer = use(output.value, canonical(wanted), ReasonOf::output, producer);
    body().results.push_back(buffer);
    program_.outputs.push_back({buffer, output.path, output.role, output.state_leaf,
                                usable_donation(output, buffer), source_.given_type(output.value),
                                wanted, padded_shape(output.value)});
  }

  /// Empty for a value without padding.
  Shape padded_shape(ValueId value) const {
    const Shape& shape = graph_.value(value).type.shape;
    return shape == source_.given_type(value).shape ? Shape{} : shape;
  }

  /// An input's place is of use only to an output of the same local type, as in JAX.
  int usable_donation(const GraphOutput& output, BufferId buffer) const {
    if (output.donates < 0) return -1;
    const BufferId input = program_.inputs[static_cast<std::size_t>(output.donates)].buffer;
    const bool fits = program_.buffer(input).type == program_.buffer(buffer).type;
    return fits ? output.donates : -1;
  }

  void lower_nodes(const Region& region) {
    for (const NodeId node : region.nodes) lower_node(node);
  }

  void lower_node(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.region != RegionId::none) return lower_loop(id);
    if (node.op == Op::constrain) return lower_constraint(id);
    if (def(node.op).factor_rule == nullptr) return lower_source(id);
    lower_op(id);
  }

  /// A constraint is a reshard; one that changes nothing is the operand itself.
  void lower_constraint(NodeId id) {
    const Node& node = graph_.node(id);
    const ValueId result = node.results.front();
    const BufferId buffer = use(node.operands.front(), declared(result), ReasonOf::constraint, id);
    remember(result, declared(result), buffer);
  }

  /// An op that reads nothing makes its part directly.
  void lower_source(NodeId id) {
    SHARD_CHECK(graph_.node(id).operands.empty(), "an op with operands has a factor rule");
    for (const ValueId result : graph_.node(id).results) {
      remember(result, declared(result), make_source(id, result, declared(result)));
    }
  }

  /// Its only result, split like this.
  BufferId make_source(NodeId id, ValueId result, const Sharding& sharding) {
    Instruction instruction = compute(id);
    const BufferId buffer = new_buffer(result, sharding, name_of(result, id));
    instruction.results.push_back(buffer);
    CommonFactors common;
    common.tensors.push_back(axes_of(sharding));
    localize(instruction, common);
    emit(std::move(instruction));
    return buffer;
  }

  /// Whether the value is made from nothing, so that it can be made again wherever it is wanted
  /// otherwise: nothing has to be sent.
  bool is_source(ValueId value) const {
    const NodeId producer = graph_.value(value).producer;
    if (producer == NodeId::none) return false;
    const Node& node = graph_.node(producer);
    return node.region == RegionId::none && node.operands.empty() && node.results.size() == 1 &&
           def(node.op).factor_rule == nullptr;
  }

  /// How an op is computed: whole where parts would need each other, or by a form in parts.
  struct Way {
    FactorRule rule;
    CommonFactors common;
    const PartsForm* form = nullptr;
  };

  void lower_op(NodeId id) {
    const Node& node = graph_.node(id);
    const Way way = choose_way(id);
    std::vector<BufferId> operands;
    for (std::size_t i = 0; i < node.operands.size(); ++i)
      operands.push_back(
          use(node.operands[i], with_axes(way.common.tensors[i]), ReasonOf::operand, id));
    const std::vector<BufferId> results = way.form == nullptr ? compute_plainly(id, way, operands)
                                                              : compute_in_parts(id, way, operands);
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      Sharding natural = with_axes(way.common.tensors[operands.size() + i]);
      const BufferId whole = reduce(results[i], natural, node.results[i], id, way.rule, way.common);
      finish(node.results[i], natural, whole, ReasonOf::result, id);
    }
  }

  std::vector<BufferId> compute_plainly(NodeId id, const Way& way,
                                        const std::vector<BufferId>& operands) {
    const Node& node = graph_.node(id);
    Instruction instruction = compute(id);
    instruction.operands = operands;
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      const Sharding natural = with_axes(way.common.tensors[operands.size() + i]);
      instruction.results.push_back(
          new_buffer(node.results[i], natural, result_name(node.results[i], id, way)));
    }
    std::vector<BufferId> results = instruction.results;
    localize(instruction, way.common);
    emit(std::move(instruction));
    return results;
  }

  std::vector<BufferId> compute_in_parts(NodeId id, const Way& way,
                                         const std::vector<BufferId>& operands) {
    const Node& node = graph_.node(id);
    PartsBuilder builder(program_, body_, compute(id), name_of(node.results.front(), id));
    std::vector<BufferId> results = way.form->emit(builder, parts_site(node, way), operands);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (std::find(operands.begin(), operands.end(), results[i]) != operands.end()) continue;
      Buffer& buffer = program_.buffers[index_of(results[i])];
      buffer.name = result_name(node.results[i], id, way);
      buffer.value = node.results[i];
    }
    return results;
  }

  std::string result_name(ValueId result, NodeId id, const Way& way) const {
    return name_of(result, id) + (way.common.reduced.empty() ? "" : ":partial");
  }

  PartsSite parts_site(const Node& node, const Way& way) const {
    return {graph_, node, types_of(graph_, node.operands), types_of(graph_, node.results),
            way.common};
  }

  /// In parts where that sends less.
  Way choose_way(NodeId id) {
    const Node& node = graph_.node(id);
    Way plain;
    plain.rule = rule_of_parts(rule_of(graph_, node));
    plain.common = choose(node, plain.rule);
    Way parts;
    parts.form = parts_form(node.op);
    if (parts.form == nullptr) return plain;
    parts.rule = parts.form->rule(rule_of(graph_, node), node);
    parts.common = choose(node, parts.rule);
    if (parts.common.tensors == plain.common.tensors) return plain;
    const PartsSite site = parts_site(node, parts);
    if (!fits(*parts.form, site)) return plain;
    const Bytes exchanged = exchanged_bytes(program_, body_, *parts.form, site);
    return exchanged + sent_around(node, parts) < sent_around(node, plain) ? parts : plain;
  }

  /// Bytes for bringing operands to the op and results to their values' own shardings.
  Bytes sent_around(const Node& node, const Way& way) const {
    Bytes sent;
    for (std::size_t i = 0; i < node.operands.size(); ++i)
      sent += sent_for(node.operands[i], with_axes(way.common.tensors[i]));
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      const Sharding natural = with_axes(way.common.tensors[node.operands.size() + i]);
      const TensorType& type = graph_.value(node.results[i]).type;
      if (!way.common.reduced.empty())
        sent += wire_bytes(CollectiveKind::all_reduce, bytes_of(local_type(type, natural)),
                           product(way.common.reduced));
      sent += reshard_bytes(source_.mesh, type, natural, declared(node.results[i]));
    }
    return sent;
  }

  Bytes sent_for(ValueId value, const Sharding& wanted) const {
    const std::vector<Variant>& known = variants_[index_of(value)];
    const bool exists = std::any_of(known.begin(), known.end(), [&](const Variant& variant) {
      return variant.sharding == wanted;
    });
    if (exists || is_source(value)) return {};
    return reshard_bytes(source_.mesh, graph_.value(value).type, known.front().sharding, wanted);
  }

  CommonFactors choose(const Node& node, const FactorRule& rule) const {
    std::vector<Shape> shapes;
    std::vector<AxesPerDim> axes;
    for (const std::vector<ValueId>* values : {&node.operands, &node.results}) {
      for (const ValueId value : *values) {
        shapes.push_back(graph_.value(value).type.shape);
        axes.push_back(axes_of(declared(value)));
      }
    }
    return choose_common_factors(rule, shapes, axes);
  }

  /// Brings the attributes to the form that they have on a device's parts.
  void localize(Instruction& instruction, const CommonFactors& common) const {
    if (def(instruction.op).local_form == nullptr) return;
    instruction.attributes =
        local_attributes(program_.mesh, instruction.op, instruction.attributes,
                         types(instruction.operands), types(instruction.results), common);
  }

  std::vector<TensorType> types(const std::vector<BufferId>& buffers) const {
    std::vector<TensorType> types;
    for (const BufferId id : buffers) types.push_back(program_.buffer(id).type);
    return types;
  }

  /// The instruction of a node, its attributes still those of whole arrays.
  Instruction compute(NodeId id) const {
    const Node& node = graph_.node(id);
    Instruction instruction;
    instruction.op = node.op;
    instruction.attributes = node.attributes;
    instruction.node = id;
    instruction.phase = node.phase;
    instruction.iteration = node.iteration;
    return instruction;
  }

  /// All-reduces partial results over the axes of reduction factors, minus those over which the
  /// value is declared unreduced.
  BufferId reduce(BufferId partial, Sharding& natural, ValueId value, NodeId id,
                  const FactorRule& rule, const CommonFactors& common) {
    Axes axes;
    for (const AxisRef& axis : common.reduced) {
      const auto holds = [&](const AxisRef& one) { return contains(one, axis); };
      const Axes& kept = declared(value).unreduced;
      const bool stays = std::any_of(kept.begin(), kept.end(), holds);
      (stays ? natural.unreduced : axes).push_back(axis);
    }
    if (axes.empty()) return partial;
    Collective collective;
    collective.kind = CollectiveKind::all_reduce;
    collective.axes = axes;
    collective.reduction = rule.reduction;
    collective.payload = bytes_of(program_.buffer(partial).type);
    collective.wire = wire_bytes(collective.kind, collective.payload, product(axes));
    collective.why = {
        ReasonOf::partial_sum, graph_.node(id).phase, id, reduced_labels(id, rule, common), "", ""};
    const BufferId whole = new_buffer(value, natural, name_of(value, id));
    emit_collective(std::move(collective), partial, whole, id);
    return whole;
  }

  /// Labels of the dims that are summed over and split: `hidden`; several joined by `, `.
  std::string reduced_labels(NodeId id, const FactorRule& rule, const CommonFactors& common) const {
    std::string labels;
    for (std::size_t factor = 0; factor < rule.factors.size(); ++factor) {
      if (rule.factors[factor].kind != FactorKind::reduction || common.factors[factor].empty())
        continue;
      const std::string label = label_of(graph_.node(id), rule, static_cast<int>(factor));
      if (!label.empty()) labels += (labels.empty() ? "" : ", ") + label;
    }
    return labels;
  }

  std::string label_of(const Node& node, const FactorRule& rule, int factor) const {
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const std::vector<std::string>& labels = graph_.value(node.operands[i]).labels;
      for (std::size_t dim = 0; dim < rule.operands[i].size() && dim < labels.size(); ++dim) {
        const std::vector<int>& factors = rule.operands[i][dim];
        const bool has_it = std::find(factors.begin(), factors.end(), factor) != factors.end();
        if (has_it && !labels[dim].empty()) return labels[dim];
      }
    }
    return "";
  }

  void lower_loop(NodeId id) {
    const Node& node = graph_.node(id);
    const Region& region = graph_.region(node.region);
    const auto carries = static_cast<std::size_t>(node.attributes.integer("carries"));
    const auto stacked = static_cast<std::size_t>(node.attributes.integer("stacked"));
    Instruction loop = compute(id);
    loop.kind = Instruction::Kind::loop;
    loop.op = Op::repeat;
    loop.body = static_cast<int>(program_.bodies.size());
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const bool is_slice = i >= carries && i < carries + stacked;
      const Sharding& inner = declared(region.parameters[i]);
      loop.operands.push_back(use(node.operands[i], is_slice ? with_leading_dim(inner) : inner,
                                  i < carries ? ReasonOf::carry : ReasonOf::operand, id));
    }
    const std::vector<Sharding> results = lower_body(id, loop, carries, stacked);
    for (std::size_t i = 0; i < node.results.size(); ++i)
      loop.results.push_back(new_buffer(node.results[i], results[i], name_of(node.results[i], id)));
    const std::vector<BufferId> buffers = loop.results;
    emit(std::move(loop));
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      finish(node.results[i], results[i], buffers[i],
             i < carries ? ReasonOf::carry : ReasonOf::result, id);
    }
  }

  /// Lowers the region into a body of its own; the shardings of the loop's results.
  std::vector<Sharding> lower_body(NodeId id, const Instruction& loop, std::size_t carries,
                                   std::size_t stacked) {
    const Node& node = graph_.node(id);
    const Region& region = graph_.region(node.region);
    program_.bodies.emplace_back();
    const int outer = std::exchange(body_, loop.body);
    for (std::size_t i = 0; i < region.parameters.size(); ++i) {
      const bool is_slice = i >= carries && i < carries + stacked;
      const bool is_carry = i < carries;
      add_parameter(region.parameters[i], is_slice, is_carry, loop.operands[i]);
    }
    lower_nodes(region);
    std::vector<Sharding> results;
    for (std::size_t i = 0; i < region.results.size(); ++i) {
      const bool is_carry = i < carries;
      const Sharding inner = is_carry ? declared(region.parameters[i])
                                      : without_leading_dim(declared(node.results[i]));
      const ReasonOf reason = is_carry ? ReasonOf::carry : ReasonOf::result;
      body().results.push_back(use(region.results[i], inner, reason, id));
      results.push_back(is_carry ? inner : with_leading_dim(inner));
    }
    body_ = outer;
    return results;
  }

  void add_parameter(ValueId value, bool is_slice, bool is_carry, BufferId operand) {
    const std::string name = graph_.value(value).name;
    const BufferId id = new_buffer(value, declared(value), name);
    Buffer& buffer = program_.buffers[index_of(id)];
    if (buffer.name.empty())
      buffer.name = program_.buffer(operand).name + (is_slice ? ":slice" : ":inside");
    if (is_slice) {
      buffer.stacked_of = operand;
      buffer.loop_body = body_;
      buffer.stride = bytes_of(buffer.type);
    } else if (!is_carry) {
      buffer.alias_of = operand;
    }
    remember(value, declared(value), id);
    body().parameters.push_back(id);
  }

  /// The value split as wanted: an existing buffer, or the end of a chain of collectives from the
  /// value's own sharding.
  BufferId use(ValueId value, const Sharding& wanted, ReasonOf reason, NodeId user) {
    std::vector<Variant>& known = variants_[index_of(value)];
    SHARD_CHECK(!known.empty(), "a value is made before it is used");
    for (const Variant& variant : known) {
      if (variant.sharding == wanted) return variant.buffer;
    }
    const BufferId buffer = is_source(value)
                                ? make_source(graph_.value(value).producer, value, wanted)
                                : reshard(value, known.front(), wanted, reason, user);
    variants_[index_of(value)].push_back({wanted, buffer});
    return buffer;
  }

  /// Brings a result to its value's own sharding; later uses find both.
  void finish(ValueId value, const Sharding& natural, BufferId buffer, ReasonOf reason,
              NodeId node) {
    const Variant made{natural, buffer};
    if (natural == declared(value)) return remember(value, natural, buffer);
    remember(value, declared(value), reshard(value, made, declared(value), reason, node));
    variants_[index_of(value)].push_back(made);
  }

  BufferId reshard(ValueId value, Variant from, const Sharding& wanted, ReasonOf reason,
                   NodeId node) {
    const std::string start = spec_text(source_.mesh, from.sharding);
    const std::string goal = spec_text(source_.mesh, wanted);
    const std::string base = program_.buffer(from.buffer).name;
    const Phase phase = node == NodeId::none ? Phase::forward : graph_.node(node).phase;
    for (ReshardStep& step :
         plan_reshard(source_.mesh, graph_.value(value).type, from.sharding, wanted)) {
      step.collective.why = {reason, phase, node, "", start, goal};
      const std::string name = base + ":" + spec_text(source_.mesh, step.after);
      const BufferId next = new_buffer(value, step.after, name);
      emit_collective(std::move(step.collective), from.buffer, next, node);
      from.buffer = next;
    }
    return from.buffer;
  }

  void emit_collective(Collective collective, BufferId operand, BufferId result, NodeId node) {
    Instruction instruction;
    instruction.kind = Instruction::Kind::collective;
    instruction.node = node;
    instruction.phase = collective.why.phase;
    if (node != NodeId::none) instruction.iteration = graph_.node(node).iteration;
    instruction.collective = std::move(collective);
    instruction.operands = {operand};
    instruction.results = {result};
    emit(std::move(instruction));
  }

  void emit(Instruction instruction) { body().instructions.push_back(std::move(instruction)); }

  BufferId new_buffer(ValueId value, const Sharding& sharding, std::string name) {
    Buffer buffer;
    buffer.name = std::move(name);
    buffer.type = local_type(graph_.value(value).type, sharding);
    buffer.value = value;
    program_.buffers.push_back(std::move(buffer));
    return id_at<BufferId>(program_.buffers.size() - 1);
  }

  void remember(ValueId value, const Sharding& sharding, BufferId buffer) {
    variants_[index_of(value)].push_back({sharding, buffer});
  }

  /// The value's own name, or that of the layer with what the node does.
  std::string name_of(ValueId value, NodeId id) const {
    const Node& node = graph_.node(id);
    const std::string& name = graph_.value(value).name;
    if (!name.empty()) return name;
    return node.name + (node.name.empty() ? "" : ":") + std::string(def(node.op).name) +
           (node.phase == Phase::backward ? ":backward" : "");
  }

  const ShardedGraph& source_;
  const Graph& graph_;
  std::vector<Sharding> shardings_;
  std::vector<std::vector<Variant>> variants_;  ///< by value; the value's own sharding first
  Program program_;
  int body_ = 0;
};

}  // namespace

Program lower(const ShardedGraph& sharded) { return Lowering(sharded).run(); }

TensorType local_type(const TensorType& global, const Sharding& sharding) {
  return {global.dtype, local_shape(global.shape, sharding)};
}

}  // namespace shard::spmd
