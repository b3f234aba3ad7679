#include "spmd/lowering.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "model/placement_ask.h"
#include "spmd/axes.h"
#include "spmd/forms.h"
#include "spmd/local_op.h"
#include "spmd/loop_frames.h"
#include "spmd/node_names.h"
#include "spmd/op_choice.h"
#include "spmd/op_writer.h"
#include "spmd/program_writer.h"
#include "spmd/reshard_choice.h"

namespace shard::spmd {
namespace {

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

/// A form that nothing is said about but where it is.
Form form_of(Sharding sharding, BufferId buffer) {
  Form form;
  form.sharding = std::move(sharding);
  form.buffer = buffer;
  return form;
}

class Lowering {
 public:
  Lowering(LoweringFacts& facts, PartitionMode mode)
      : source_(facts.sharded),
        graph_(source_.graph),
        is_lazy_(mode == PartitionMode::cheapest),
        facts_(facts),
        forms_(graph_, is_lazy_),
        loops_(graph_, forms_),
        write_(source_),
        choice_(graph_, facts.values, facts.ops, forms_, loops_, facts.reshards) {}

  Program run() {
    write_.reserve(graph_.nodes.size());
    for (const GraphInput& input : graph_.inputs) add_input(input);
    lower_nodes(graph_.body());
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) add_output(i);
    write_.finish_body();
    return std::move(write_.program);
  }

 private:
  const Sharding& declared(ValueId value) const { return facts_.values.declared(value); }

  void add_input(const GraphInput& input) {
    const BufferId buffer = write_.new_buffer(input.value, declared(input.value), input.path);
    forms_.add(input.value, form_of(declared(input.value), buffer));
    write_.body().parameters.push_back(buffer);
    write_.program.inputs.push_back({buffer, input.path, input.role, input.state_leaf,
                                     source_.given_type(input.value), source_.sharding(input.value),
                                     padded_shape(input.value, source_.given_type(input.value))});
  }

  void add_output(std::size_t position) {
    const GraphOutput& output = graph_.outputs[position];
    const Sharding& wanted = source_.output_shardings[position];
    const TensorType& given = source_.given_output_type(position);
    const NodeId producer = graph_.value(output.value).producer;
    const BufferId buffer = use(output.value, canonical(wanted), ReasonOf::output, producer);
    write_.body().results.push_back(buffer);
    write_.program.outputs.push_back({buffer, output.path, output.role, output.state_leaf,
                                      usable_donation(output, buffer), given, wanted,
                                      padded_shape(output.value, given)});
  }

  /// Empty for a value without padding.
  Shape padded_shape(ValueId value, const TensorType& given) const {
    const Shape& shape = graph_.value(value).type.shape;
    return shape == given.shape ? Shape{} : shape;
  }

  /// An input's place is of use only to an output of the same local type, as in JAX.
  int usable_donation(const GraphOutput& output, BufferId buffer) const {
    if (output.donates < 0) return -1;
    const Program& program = write_.program;
    const BufferId input = program.inputs[static_cast<std::size_t>(output.donates)].buffer;
    const bool fits = program.buffer(input).type == program.buffer(buffer).type;
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

  /// A constraint is a reshard, now or when somebody uses it; one that changes nothing is the
  /// operand itself.
  void lower_constraint(NodeId id) {
    const Node& node = graph_.node(id);
    const ValueId result = node.results.front();
    if (is_lazy_) {
      if (asks_for_sum(node)) use(result, declared(result), ReasonOf::constraint, id);
      return;
    }
    const BufferId buffer = use(node.operands.front(), declared(result), ReasonOf::constraint, id);
    forms_.add(result, form_of(declared(result), buffer));
  }

  /// In a manual region what is asked for is done: its sums are not put off, nor added up first.
  bool asks_for_sum(const Node& node) const {
    if (ask_of(node.attributes) != PlacementAsk::manual || node.phase != Phase::forward)
      return false;
    const std::vector<Form>& forms = forms_.of(node.results.front());
    return std::all_of(forms.begin(), forms.end(),
                       [](const Form& form) { return !form.sharding.unreduced.empty(); });
  }

  /// An op that reads nothing makes its part directly.
  void lower_source(NodeId id) {
    SHARD_CHECK(graph_.node(id).operands.empty(), "an op with operands has a factor rule");
    for (const ValueId result : graph_.node(id).results) make_source(id, result, declared(result));
  }

  /// Its only result, split like this.
  BufferId make_source(NodeId id, ValueId result, const Sharding& sharding) {
    Instruction instruction = write_.instruction_of(id);
    const BufferId buffer = write_.new_buffer(result, sharding, value_name(graph_, result, id));
    instruction.results.push_back(buffer);
    CommonFactors common;
    common.tensors.push_back(axes_of(sharding));
    write_.localize(instruction, common);
    write_.emit(std::move(instruction));
    forms_.add(result, form_of(sharding, buffer));
    return buffer;
  }

  void lower_op(NodeId id) {
    const Way way = is_lazy_ ? choice_.cheapest(id) : choice_.compatible(id);
    std::vector<Form> made = emit_op(id, *way);
    const std::vector<ValueId>& results = graph_.node(id).results;
    for (std::size_t i = 0; i < results.size(); ++i) finish(results[i], std::move(made[i]));
  }

  /// The op and what it needs; its results as they come out.
  std::vector<Form> emit_op(NodeId id, const OpWay& way) {
    const Node& node = graph_.node(id);
    const FactorRule& rule = facts_.ops.of(id).rule_of(way);
    Form made = form_of({}, BufferId::none);
    made.node = id;
    made.reason = ReasonOf::result;
    made.reduction = rule.reduction;
    made.label = reduced_labels(graph_, node, rule, way.common);
    if (!way.sums.empty()) pass_on(node, way, made);
    std::vector<BufferId> operands;
    operands.reserve(node.operands.size());
    for (std::size_t i = 0; i < node.operands.size(); ++i)
      operands.push_back(use(node.operands[i], way.operand(i), ReasonOf::operand, id));
    const std::vector<BufferId> results = OpWriter(graph_, write_, id).run(way, operands);
    std::vector<Form> forms(results.size(), made);
    for (std::size_t i = 0; i < results.size(); ++i) {
      forms[i].sharding = way.result(operands.size() + i);
      forms[i].buffer = results[i];
    }
    return forms;
  }

  /// Who made the sums that the op works on, and over what, is said of its result too.
  void pass_on(const Node& node, const OpWay& way, Form& made) {
    const Form sum = first_sum(node);
    if (way.accumulator) pose_as_sum(way, sum);
    if (way.common.reduced.empty()) made.node = sum.node;
    if (made.label.empty()) made.label = sum.label;
    made.reduction = Reduction::sum;
  }

  /// The first operand that is a sum: who made it and over what is passed on.
  Form first_sum(const Node& node) const {
    for (const ValueId operand : node.operands) {
      for (const Form& form : forms_.of(operand)) {
        if (!form.sharding.unreduced.empty()) return form;
      }
    }
    SHARD_CHECK(false, "an op that works on sums has an operand that is one");
  }

  /// The carry's zeros are the parts of a sum that is zero, and the loop ends with such parts.
  void pose_as_sum(const OpWay& way, const Form& sum) {
    LoopFrame& frame = loops_.top();
    const Region& region = graph_.region(graph_.node(frame.node).region);
    const ValueId carry = region.parameters[*way.accumulator];
    Form form = forms_.of(carry).front();
    form.sharding.unreduced = way.sums;
    forms_.add(carry, std::move(form));
    frame.sums[*way.accumulator] = {way.sums, sum.node, sum.label};
  }

  void lower_loop(NodeId id) {
    const Node& node = graph_.node(id);
    const Region& region = graph_.region(node.region);
    const auto carries = static_cast<std::size_t>(node.attributes.integer("carries"));
    const auto stacked = static_cast<std::size_t>(node.attributes.integer("stacked"));
    Instruction loop = write_.instruction_of(id);
    loop.kind = Instruction::Kind::loop;
    loop.op = Op::repeat;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const bool is_slice = i >= carries && i < carries + stacked;
      const Sharding& inner = declared(region.parameters[i]);
      loop.operands.push_back(use(node.operands[i], is_slice ? with_leading_dim(inner) : inner,
                                  i < carries ? ReasonOf::carry : ReasonOf::operand, id));
    }
    std::vector<Form> made = lower_body(id, loop, carries, stacked);
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      made[i].buffer = write_.new_buffer(node.results[i], made[i].sharding,
                                         value_name(graph_, node.results[i], id));
      loop.results.push_back(made[i].buffer);
    }
    write_.emit(std::move(loop));
    for (std::size_t i = 0; i < node.results.size(); ++i)
      finish(node.results[i], std::move(made[i]));
  }

  /// Lowers the region into a body of its own; the loop's results, their buffers still missing.
  std::vector<Form> lower_body(NodeId id, Instruction& loop, std::size_t carries,
                               std::size_t stacked) {
    const Node& node = graph_.node(id);
    const Region& region = graph_.region(node.region);
    const int outer = write_.enter_new_body();
    loop.body = write_.current_body();
    loops_.push({id, &loop, outer, carries, carries + stacked});
    for (std::size_t i = 0; i < region.parameters.size(); ++i) {
      const bool is_slice = i >= carries && i < carries + stacked;
      const bool is_carry = i < carries;
      add_parameter(region.parameters[i], is_slice, is_carry, loop.operands[i]);
    }
    lower_nodes(region);
    std::vector<Form> results;
    for (std::size_t i = 0; i < region.results.size(); ++i) {
      const bool is_carry = i < carries;
      Sharding inner = is_carry ? declared(region.parameters[i])
                                : without_leading_dim(declared(node.results[i]));
      const ReasonOf reason = is_carry ? ReasonOf::carry : ReasonOf::result;
      const auto sums = loops_.top().sums.find(i);
      Form made = form_of({}, BufferId::none);
      made.node = id;
      made.reason = reason;
      if (sums != loops_.top().sums.end()) {
        inner.unreduced = sums->second.axes;
        made.node = sums->second.node;
        made.label = sums->second.label;
      }
      write_.body().results.push_back(use(region.results[i], inner, reason, id));
      made.sharding = is_carry ? inner : with_leading_dim(inner);
      results.push_back(std::move(made));
    }
    write_.finish_body();
    loops_.pop();
    write_.enter(outer);
    return results;
  }

  void add_parameter(ValueId value, bool is_slice, bool is_carry, BufferId operand) {
    const BufferId id = write_.new_buffer(value, declared(value), graph_.value(value).name);
    Buffer& buffer = write_.program.buffers[index_of(id)];
    if (buffer.name.empty())
      buffer.name = write_.program.buffer(operand).name + (is_slice ? ":slice" : ":inside");
    if (is_slice) {
      buffer.stacked_of = operand;
      buffer.loop_body = write_.current_body();
      buffer.stride = bytes_of(buffer.type);
    } else if (!is_carry) {
      buffer.alias_of = operand;
    }
    forms_.add(value, form_of(declared(value), id));
    write_.body().parameters.push_back(id);
  }

  /// A result as it comes out; where nothing waits it is summed and brought to its value's own
  /// sharding, and later uses find both.
  void finish(ValueId value, Form made) {
    if (is_lazy_) return forms_.add(value, std::move(made));
    if (!made.sharding.unreduced.empty()) made = reduced(value, std::move(made));
    if (made.sharding == declared(value)) return forms_.add(value, std::move(made));
    const ReshardPlan& plan =
        facts_.reshards.compatible(graph_.value(value).type, made.sharding, declared(value));
    Form own = made;
    own.buffer = reshard(value, made, plan.steps, declared(value), made.reason, made.node);
    own.sharding = declared(value);
    forms_.add(value, std::move(own));
    forms_.add(value, std::move(made));
  }

  /// All-reduced over the axes over which the value is not declared unreduced.
  Form reduced(ValueId value, Form made) {
    ReshardStep step;
    step.after = made.sharding;
    step.after.unreduced.clear();
    for (const AxisRef& axis : made.sharding.unreduced) {
      const Axes& kept = declared(value).unreduced;
      const bool stays = std::any_of(kept.begin(), kept.end(),
                                     [&](const AxisRef& one) { return contains(one, axis); });
      (stays ? step.after.unreduced : step.collective.axes).push_back(axis);
    }
    if (step.collective.axes.empty()) return made;
    const TensorType local = local_type(graph_.value(value).type, made.sharding);
    step.local = local.shape;
    step.collective.kind = CollectiveKind::all_reduce;
    step.collective.reduction = made.reduction;
    step.collective.payload = bytes_of(local);
    step.collective.wire =
        wire_bytes(step.collective.kind, step.collective.payload, product(step.collective.axes));
    made.buffer = reshard(value, made, {step}, step.after, made.reason, made.node);
    made.sharding = step.after;
    return made;
  }

  /// The value split as wanted: an existing buffer, or the end of a chain of collectives.
  BufferId use(ValueId value, const Sharding& wanted, ReasonOf reason, NodeId user) {
    SHARD_CHECK(!forms_.of(value).empty(), "a value is made before it is used");
    if (const Form* const form = forms_.find(value, wanted)) return form->buffer;
    const ValueId origin = forms_.origin(value);
    if (forms_.is_source(value)) return make_source(graph_.value(origin).producer, origin, wanted);
    if (!is_lazy_) return use_own(value, wanted, reason, user);
    if (const std::optional<std::size_t> invariant = loops_.invariant_of(value))
      return use_from_outside(value, *invariant, wanted, reason, user);
    return use_nearest(value, wanted, reason, user);
  }

  /// From the value's own sharding, the way Shardy goes.
  BufferId use_own(ValueId value, const Sharding& wanted, ReasonOf reason, NodeId user) {
    const Form own = forms_.of(value).front();
    const ReshardPlan& plan =
        facts_.reshards.compatible(graph_.value(value).type, own.sharding, wanted);
    const BufferId buffer = reshard(value, own, plan.steps, wanted, reason, user);
    forms_.add(value, form_of(wanted, buffer));
    return buffer;
  }

  /// From the form from which that is cheapest. What leads to the value's own sharding comes right
  /// behind what made the value, and so does every reduction.
  BufferId use_nearest(ValueId value, const Sharding& wanted, ReasonOf reason, NodeId user) {
    const TensorType& type = graph_.value(value).type;
    const Form* source = nullptr;
    const ReshardPlan* plan = nullptr;
    for (const Form& form : forms_.of(value)) {
      const ReshardPlan* const way = facts_.reshards.way(type, form.sharding, wanted);
      const bool is_better = way != nullptr && (plan == nullptr || facts_.reshards.cost(*way) <
                                                                       facts_.reshards.cost(*plan));
      if (!is_better) continue;
      source = &form;
      plan = way;
    }
    SHARD_CHECK(plan != nullptr, "no collective turns an array into a sum of parts");
    const Form from = *source;
    if (from.sharding.unreduced.empty()) {
      const Bytes limit(facts_.reshards.cost(*plan));
      if (const std::optional<BufferId> made = made_again(value, wanted, limit, user)) return *made;
    }
    const NodeId producer = graph_.value(value).producer;
    const bool is_own = wanted == declared(value);
    const bool is_constrained =
        producer != NodeId::none && graph_.node(producer).op == Op::constrain;
    const bool is_early = is_own && from.node != NodeId::none;
    if (is_own && is_constrained) {
      reason = ReasonOf::constraint;
      user = producer;
    } else if (is_early) {
      reason = from.reason;
      user = from.node;
    }
    return reshard(value, from, plan->steps, wanted, reason, user, is_early);
  }

  /// The value computed once more, split as wanted, where less is sent for that: what is broadcast
  /// is brought there before, and not when it is large.
  std::optional<BufferId> made_again(ValueId value, const Sharding& wanted, Bytes limit,
                                     NodeId user) {
    const ValueId origin = forms_.origin(value);
    const NodeId id = graph_.value(origin).producer;
    if (id == NodeId::none || user == NodeId::none || limit == Bytes(0)) return std::nullopt;
    const Node& node = graph_.node(id);
    const bool can_be = node.region == RegionId::none && node.results.size() == 1 &&
                        node.op != Op::optimization_barrier && wanted.unreduced.empty() &&
                        node.iteration == graph_.node(user).iteration;
    if (!can_be) return std::nullopt;
    const Way way = choice_.again(id, wanted, limit);
    if (way == nullptr) return std::nullopt;
    Form form = emit_op(id, *way).front();
    forms_.add(origin, form);
    return form.buffer;
  }

  /// What no iteration changes is brought to the wanted sharding once, before the loop.
  BufferId use_from_outside(ValueId value, std::size_t operand, const Sharding& wanted,
                            ReasonOf reason, NodeId user) {
    LoopFrame frame = loops_.pop();
    const int inner = write_.enter(frame.outer_body);
    const BufferId outside = use(graph_.node(frame.node).operands[operand], wanted, reason, user);
    write_.enter(inner);
    Instruction& loop = *frame.loop;
    loops_.push(std::move(frame));
    loop.operands.push_back(outside);
    const BufferId inside =
        write_.new_buffer(value, wanted, write_.program.buffer(outside).name + ":inside");
    write_.program.buffers[index_of(inside)].alias_of = outside;
    write_.body().parameters.push_back(inside);
    forms_.add(value, form_of(wanted, inside));
    return inside;
  }

  /// Emits the steps; the last one's result.
  BufferId reshard(ValueId value, Form from, const std::vector<ReshardStep>& steps,
                   const Sharding& wanted, ReasonOf reason, NodeId user, bool is_early = false) {
    const auto is_whole = [](const ReshardStep& step) {
      return step.collective.kind == CollectiveKind::all_reduce;
    };
    std::string start, goal;  // an all_reduce says neither
    if (!std::all_of(steps.begin(), steps.end(), is_whole)) {
      start = spec_text(source_.mesh, from.sharding);
      goal = spec_text(source_.mesh, wanted);
    }
    const std::string base = base_name(value, from);
    // A value that is declared to be a sum is reduced where somebody asks for that.
    const bool is_asked = !declared(forms_.origin(value)).unreduced.empty();
    for (ReshardStep step : steps) {
      const bool reduces = !is_asked && step.collective.reduction != Reduction::none;
      const NodeId node = reduces ? from.node : user;
      const Phase phase = node == NodeId::none ? Phase::forward : graph_.node(node).phase;
      step.collective.why = {reason, phase, node, "", start, goal};
      if (reduces) {
        step.collective.reduction = from.reduction;
        step.collective.why.kind = ReasonOf::partial_sum;
        step.collective.why.label = from.label;
      }
      if (is_whole(step)) step.collective.why.from_spec = step.collective.why.to_spec = "";
      const BufferId next = write_.new_buffer(
          value, step.after,
          is_whole(step) ? base : base + ":" + spec_text(source_.mesh, step.after));
      write_.emit_collective(std::move(step.collective), from.buffer, next, node,
                             is_lazy_ && (reduces || is_early));
      from.sharding = step.after;
      from.buffer = next;
      if (is_lazy_) forms_.add(value, from);
    }
    return from.buffer;
  }

  /// The name of what is whole: that of a partial sum without saying so.
  std::string base_name(ValueId value, const Form& from) const {
    if (from.sharding.unreduced.empty() || from.node == NodeId::none)
      return write_.program.buffer(from.buffer).name;
    const ValueId origin = forms_.origin(value);
    return value_name(graph_, origin, graph_.value(origin).producer);
  }

  const ShardedGraph& source_;
  const Graph& graph_;
  bool is_lazy_;
  LoweringFacts& facts_;
  Forms forms_;
  LoopFrames loops_;
  ProgramWriter write_;
  OpChoice choice_;
};

}  // namespace

LoweringFacts::LoweringFacts(const ShardedGraph& of, LoweringTables& tables)
    : sharded(of),
      values(of, tables.values),
      ops(of.graph, values, tables.ops),
      reshards(tables.reshards) {
  reshards.limit_memory(of.reshard_memory);
}

Program lower(LoweringFacts& facts, PartitionMode mode) { return Lowering(facts, mode).run(); }

TensorType local_type(const TensorType& global, const Sharding& sharding) {
  return {global.dtype, local_shape(global.shape, sharding)};
}

}  // namespace shard::spmd
