#include "spmd/lowering.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "spmd/axes.h"
#include "spmd/common_factors.h"
#include "spmd/early_places.h"
#include "spmd/local_op.h"
#include "spmd/node_names.h"
#include "spmd/reshard_choice.h"
#include "spmd/variants.h"

namespace shard::spmd {
namespace {

/// What a device computes while it sends a byte: 197 TFLOP/s over 100 GB/s of a TPU v5e, rounded.
constexpr double flops_per_byte = 2000;

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
  Lowering(const ShardedGraph& source, ReshardMode mode)
      : source_(source),
        graph_(source.graph),
        mode_(mode),
        reshards_(source.mesh, mode),
        variants_(source.graph.values.size()) {
    for (std::size_t i = 0; i < graph_.values.size(); ++i) origins_.push_back(id_at<ValueId>(i));
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
    early_.place(program_.bodies.front());
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

  /// A constraint says how its result is split when somebody uses it; nothing is done before.
  void lower_constraint(NodeId id) {
    const Node& node = graph_.node(id);
    origins_[index_of(node.results.front())] = origins_[index_of(node.operands.front())];
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
    const BufferId buffer = new_buffer(result, sharding, value_name(graph_, result, id));
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

  void lower_op(NodeId id) {
    const Node& node = graph_.node(id);
    const FactorRule rule = rule_of_parts(rule_of(graph_, node));
    const CommonFactors common = choose(node, rule);
    Instruction instruction = compute(id);
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const Sharding wanted = with_axes(common.tensors[i]);
      instruction.operands.push_back(use(node.operands[i], wanted, ReasonOf::operand, id));
    }
    std::vector<Sharding> natural;
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      natural.push_back(with_axes(common.tensors[node.operands.size() + i]));
      const std::string name =
          value_name(graph_, node.results[i], id) + (common.reduced.empty() ? "" : ":partial");
      instruction.results.push_back(new_buffer(node.results[i], natural[i], name));
    }
    const std::vector<BufferId> results = instruction.results;
    localize(instruction, common);
    emit(std::move(instruction));
    const std::string label = reduced_labels(graph_, node, rule, common);
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      natural[i].unreduced = common.reduced;
      remember(node.results[i],
               {natural[i], results[i], id, ReasonOf::result, rule.reduction, label});
    }
  }

  /// As Shardy would where that moves no operand; else the candidate that sends least.
  CommonFactors choose(const Node& node, const FactorRule& rule) {
    std::vector<Shape> shapes;
    std::vector<AxesPerDim> axes;
    for (const std::vector<ValueId>* values : {&node.operands, &node.results}) {
      for (const ValueId value : *values) {
        shapes.push_back(graph_.value(value).type.shape);
        axes.push_back(axes_of(declared(value)));
      }
    }
    CommonFactors best = choose_common_factors(rule, shapes, axes);
    if (mode_ == ReshardMode::compatible || moves_nothing(node, best)) return best;
    std::int64_t least = cost_of(node, rule, best);
    for (CommonFactors& other : candidate_factors(rule, shapes, axes)) {
      if (least == 0) break;
      const std::int64_t bytes = cost_of(node, rule, other);
      if (bytes >= least) continue;
      least = bytes;
      best = std::move(other);
    }
    return best;
  }

  bool moves_nothing(const Node& node, const CommonFactors& common) {
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const Sharding wanted = with_axes(common.tensors[i]);
      const std::vector<Variant>& forms = known(node.operands[i]);
      if (std::none_of(forms.begin(), forms.end(),
                       [&](const Variant& variant) { return variant.sharding == wanted; }))
        return false;
    }
    return true;
  }

  /// Bytes sent for what the op needs and for bringing its results to where they are declared to
  /// be, plus its own work in bytes; in a loop of all iterations, but for what none of them
  /// changes.
  std::int64_t cost_of(const Node& node, const FactorRule& rule, const CommonFactors& common) {
    std::int64_t once = 0, every_time = 0;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const Sharding wanted = with_axes(common.tensors[i]);
      const TensorType& type = graph_.value(node.operands[i]).type;
      if (is_source(origins_[index_of(node.operands[i])])) continue;
      std::optional<std::int64_t> least;
      for (const Variant& variant : known(node.operands[i])) {
        const ReshardPlan* const way = reshards_.way(type, variant.sharding, wanted);
        if (way != nullptr) least = std::min(least.value_or(way->wire.count()), way->wire.count());
      }
      (invariant_of(node.operands[i]) ? once : every_time) += least.value_or(0);
    }
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      Sharding natural = with_axes(common.tensors[node.operands.size() + i]);
      natural.unreduced = common.reduced;
      const ReshardPlan* const way =
          reshards_.way(graph_.value(node.results[i]).type, natural, declared(node.results[i]));
      if (way != nullptr) every_time += way->wire.count();
    }
    double flops = def(node.op).flops_per_point;
    for (std::size_t factor = 0; factor < rule.factors.size(); ++factor)
      flops *= static_cast<double>(rule.factors[factor].size) /
               static_cast<double>(product(common.factors[factor]));
    every_time += static_cast<std::int64_t>(flops / flops_per_byte);
    if (frames_.empty()) return once + every_time;
    return once + every_time * graph_.node(frames_.back().node).attributes.integer("times");
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
      loop.results.push_back(
          new_buffer(node.results[i], results[i], value_name(graph_, node.results[i], id)));
    const std::vector<BufferId> buffers = loop.results;
    emit(std::move(loop));
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      const ReasonOf reason = i < carries ? ReasonOf::carry : ReasonOf::result;
      remember(node.results[i], {results[i], buffers[i], id, reason, Reduction::sum, ""});
    }
  }

  /// Lowers the region into a body of its own; the shardings of the loop's results.
  std::vector<Sharding> lower_body(NodeId id, Instruction& loop, std::size_t carries,
                                   std::size_t stacked) {
    const Node& node = graph_.node(id);
    const Region& region = graph_.region(node.region);
    program_.bodies.emplace_back();
    const int outer = std::exchange(body_, loop.body);
    frames_.push_back({id, &loop, outer, carries + stacked});
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
    early_.place(body());
    frames_.pop_back();
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

  std::vector<Variant>& known(ValueId value) {
    return variants_[index_of(origins_[index_of(value)])];
  }

  /// The value split as wanted: an existing buffer, or the end of a chain of collectives from the
  /// one from which that is cheapest.
  BufferId use(ValueId value, const Sharding& wanted, ReasonOf reason, NodeId user) {
    SHARD_CHECK(!known(value).empty(), "a value is made before it is used");
    for (const Variant& variant : known(value)) {
      if (variant.sharding == wanted) return variant.buffer;
    }
    const ValueId origin = origins_[index_of(value)];
    if (is_source(origin)) {
      const BufferId made = make_source(graph_.value(origin).producer, origin, wanted);
      remember(origin, wanted, made);
      return made;
    }
    const std::optional<std::size_t> invariant = invariant_of(value);
    if (invariant) return use_from_outside(value, *invariant, wanted, reason, user);
    const TensorType& type = graph_.value(value).type;
    const Variant* source = nullptr;
    const ReshardPlan* plan = nullptr;
    for (const Variant& variant : known(value)) {
      const ReshardPlan* const way = reshards_.way(type, variant.sharding, wanted);
      if (way == nullptr || (plan != nullptr && way->wire >= plan->wire)) continue;
      source = &variant;
      plan = way;
    }
    SHARD_CHECK(plan != nullptr, "no collective turns an array into a sum of parts");
    return reshard(value, *source, *plan, wanted, reason, user);
  }

  /// Which operand of the innermost loop the value is, when no iteration changes it.
  std::optional<std::size_t> invariant_of(ValueId value) const {
    if (frames_.empty()) return std::nullopt;
    const LoopFrame& frame = frames_.back();
    const Region& region = graph_.region(graph_.node(frame.node).region);
    const auto first =
        region.parameters.begin() + static_cast<std::ptrdiff_t>(frame.first_invariant);
    const auto found = std::find(first, region.parameters.end(), origins_[index_of(value)]);
    if (found == region.parameters.end()) return std::nullopt;
    return static_cast<std::size_t>(found - region.parameters.begin());
  }

  /// What no iteration changes is brought to the wanted sharding once, before the loop.
  BufferId use_from_outside(ValueId value, std::size_t operand, const Sharding& wanted,
                            ReasonOf reason, NodeId user) {
    const LoopFrame frame = frames_.back();
    frames_.pop_back();
    const int inner = std::exchange(body_, frame.outer_body);
    const BufferId outside = use(graph_.node(frame.node).operands[operand], wanted, reason, user);
    body_ = inner;
    frames_.push_back(frame);
    frame.loop->operands.push_back(outside);
    const BufferId inside = new_buffer(value, wanted, program_.buffer(outside).name + ":inside");
    program_.buffers[index_of(inside)].alias_of = outside;
    body().parameters.push_back(inside);
    remember(value, {wanted, inside, NodeId::none, ReasonOf::operand, Reduction::sum, ""});
    return inside;
  }

  /// Emits the steps. Reductions, and what leads to the value's own sharding, come right behind
  /// what made the value.
  BufferId reshard(ValueId value, Variant from, const ReshardPlan& plan, const Sharding& wanted,
                   ReasonOf reason, NodeId user) {
    const bool is_own = wanted == declared(value) && from.node != NodeId::none;
    const NodeId producer = graph_.value(value).producer;
    const bool is_constrained =
        producer != NodeId::none && graph_.node(producer).op == Op::constrain;
    if (wanted == declared(value) && is_constrained) {
      reason = ReasonOf::constraint;
      user = producer;
    } else if (is_own) {
      reason = from.reason;
      user = from.node;
    }
    const std::string start = spec_text(source_.mesh, from.sharding);
    const std::string goal = spec_text(source_.mesh, wanted);
    const std::string base = base_name(value, from);
    for (ReshardStep step : plan.steps) {
      const bool reduces = step.collective.reduction != Reduction::none;
      const NodeId node = reduces ? from.node : user;
      const Phase phase = node == NodeId::none ? Phase::forward : graph_.node(node).phase;
      step.collective.why = {reason, phase, node, "", start, goal};
      if (reduces) {
        step.collective.reduction = from.reduction;
        step.collective.why.kind = ReasonOf::partial_sum;
        step.collective.why.label = from.label;
      }
      const bool is_whole = step.collective.kind == CollectiveKind::all_reduce;
      if (is_whole) step.collective.why.from_spec = step.collective.why.to_spec = "";
      const BufferId next = new_buffer(
          value, step.after, is_whole ? base : base + ":" + spec_text(source_.mesh, step.after));
      if (reduces || (is_own && from.node != NodeId::none)) early_.add(next);
      emit_collective(std::move(step.collective), from.buffer, next, node);
      from.sharding = step.after;
      from.buffer = next;
      remember(value, from);
    }
    return from.buffer;
  }

  /// The name of what is whole: that of a partial sum without saying so.
  std::string base_name(ValueId value, const Variant& from) const {
    if (from.sharding.unreduced.empty() || from.node == NodeId::none)
      return program_.buffer(from.buffer).name;
    return value_name(graph_, origins_[index_of(value)], from.node);
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

  void remember(ValueId value, Variant variant) { known(value).push_back(std::move(variant)); }

  void remember(ValueId value, const Sharding& sharding, BufferId buffer) {
    remember(value, {sharding, buffer, NodeId::none, ReasonOf::operand, Reduction::sum, ""});
  }

  const ShardedGraph& source_;
  const Graph& graph_;
  std::vector<Sharding> shardings_;
  ReshardMode mode_;
  ReshardChoice reshards_;
  std::vector<ValueId> origins_;                ///< by value: what it is but for constraints
  std::vector<std::vector<Variant>> variants_;  ///< by origin, in the order they are made
  EarlyPlaces early_;
  std::vector<LoopFrame> frames_;  ///< innermost last
  Program program_;
  int body_ = 0;
};

}  // namespace

Program lower(const ShardedGraph& sharded, ReshardMode mode) {
  return Lowering(sharded, mode).run();
}

TensorType local_type(const TensorType& global, const Sharding& sharding) {
  return {global.dtype, local_shape(global.shape, sharding)};
}

}  // namespace shard::spmd
