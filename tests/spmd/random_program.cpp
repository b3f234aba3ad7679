#include "random_program.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/diagnostic.h"
#include "model/model.h"
#include "model/placement_ask.h"
#include "random_ops.h"
#include "shard/graph_maker.h"

namespace shard::tests {
namespace {

using Labels = std::vector<std::string>;

class Writer {
 public:
  Writer(test::Choices& choices, bool is_plain) : choices_(choices), is_plain_(is_plain) {
    make_.graph.name = "random";
    program_.mesh = random_mesh();
    if (!is_plain && choices.chance(35)) program_.rules.misfit = Misfit::pad;
    is_uneven_ = program_.rules.misfit == Misfit::pad;
  }

  RandomProgram take() {
    const std::uint64_t inputs = 1 + choices_.below(5);
    for (std::uint64_t i = 0; i < inputs; ++i) add_input();
    const std::uint64_t steps = 3 + choices_.below(13);
    for (std::uint64_t i = 0; i < steps; ++i) step();
    const std::uint64_t outputs = 1 + choices_.below(3);
    for (std::uint64_t i = 0; i < outputs; ++i)
      add_output(values_[values_.size() - 1 - i % values_.size()]);
    add_gradients(inputs);
    donate(inputs);
    verify(make_.graph);
    program_.graph = std::move(make_.graph);
    return std::move(program_);
  }

 private:
  bool has_explicit() const { return program_.mesh.has(AxisType::explicit_types); }
  const Shape& shape(ValueId value) const { return make_.build.type(value).shape; }
  OpSite site() { return {make_.build, choices_, values_}; }

  Mesh random_mesh() {
    static const std::vector<Shape> plain = {{2, 4}, {4, 2}, {2, 2}, {8, 1}};
    static const std::vector<Shape> all = {{2}, {1},    {4},    {2, 2},   {2, 4},    {8},
                                           {3}, {2, 3}, {4, 4}, {16},     {2, 2, 2}, {2, 4, 2},
                                           {5}, {6, 2}, {1, 4}, {4, 1, 2}};
    const Shape sizes = choices_.pick(is_plain_ ? plain : all);
    const std::uint64_t mode = is_plain_ ? 0 : choices_.below(4);
    std::vector<MeshAxisInfo> axes;
    static const std::vector<const char*> names = {"data", "model", "extra"};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const bool is_explicit = mode == 2 || (mode == 3 && choices_.chance(50));
      axes.push_back({MeshAxis(names[i]),
                      sizes[i],
                      {},
                      is_explicit ? AxisType::explicit_types : AxisType::automatic});
    }
    return Mesh(std::move(axes));
  }

  Shape random_shape() {
    static const std::vector<std::int64_t> even = {8, 16, 4, 12, 24, 48};
    static const std::vector<std::int64_t> uneven = {8, 5, 6, 4, 3, 7, 10, 12};
    static const std::vector<std::int64_t> plain = {8, 16};
    Shape made(is_plain_ ? 2 : 2 - choices_.below(5) / 4 + choices_.below(4) / 2);
    for (auto& size : made) size = choices_.pick(is_plain_ ? plain : is_uneven_ ? uneven : even);
    return made;
  }

  /// Every axis at most once, on a dim that it divides; one of type auto need not where arrays may
  /// be padded.
  SpecConfig random_placement(const Shape& of, std::size_t first_dim = 0) {
    std::vector<std::string> dims(of.size());
    Shape left = of;
    for (const MeshAxisInfo& axis : program_.mesh.axes()) {
      const std::size_t dim = choices_.below(of.size() + 1);
      if (dim == 0 || dim - 1 < first_dim) continue;
      const bool may_pad = is_uneven_ && !has_explicit();
      if (!may_pad && left[dim - 1] % axis.size != 0) continue;
      left[dim - 1] /= axis.size;
      dims[dim - 1] += (dims[dim - 1].empty() ? "" : ",") + axis.name.text();
    }
    return placed(dims);
  }

  void add_input() {
    const Shape made =
        !values_.empty() && choices_.chance(60) ? shape(choices_.pick(values_)) : random_shape();
    values_.push_back(
        make_.input("in" + std::to_string(values_.size()), made, {}, random_placement(made)));
  }

  /// An op, a constraint or a loop; where axes are of type explicit one that has a type.
  void step() {
    const Graph before = make_.graph;
    const std::vector<ValueId> values = values_;
    const std::uint64_t kind = choices_.below(10);
    if (kind == 9) {
      add_loop(0);
    } else if (kind == 8) {
      values_.push_back(constrained(choices_.pick(values_)));
    } else {
      add_random_op(site());
    }
    if (has_explicit() && !is_typed()) {
      make_.graph = before;
      values_ = values;
    }
  }

  bool is_typed() const {
    return graph_types(make_.graph, program_.rules, program_.mesh).mistakes.empty();
  }

  ValueId constrained(ValueId value) {
    make_.graph.placements.push_back(random_placement(shape(value)));
    Attributes attributes{
        {"placement", static_cast<std::int64_t>(make_.graph.placements.size()) - 1}};
    if (has_explicit()) attributes.set("asks", static_cast<std::int64_t>(PlacementAsk::reshard));
    return make_.build.emit(Op::constrain, {value}, std::move(attributes));
  }

  /// Two carries of one type (sometimes swapped or kept), a stack that is walked (not in a loop in
  /// a loop), an invariant; one or two outputs, of which one may be a parameter.
  void add_loop(int depth) {
    const ValueId first = choices_.pick(values_), invariant = choices_.pick(values_);
    const Shape carry = shape(first), side = shape(invariant);
    if (carry.size() > 2) return;
    const std::int64_t times = 2 + static_cast<std::int64_t>(choices_.below(3));
    Shape stack = carry;
    stack.insert(stack.begin(), times);
    std::vector<ValueId> operands{first, OpSite{site()}.alike(carry)};
    if (depth == 0) {
      const std::string path = "stack" + std::to_string(make_.graph.inputs.size());
      operands.push_back(make_.input(path, stack, {}, random_placement(stack, 1)));
    }
    operands.push_back(invariant);
    const RegionId body = make_.build.add_region();
    std::vector<ValueId> parameters;
    for (std::size_t i = 0; i + 1 < operands.size(); ++i)
      parameters.push_back(parameter(body, carry));
    parameters.push_back(parameter(body, side));
    const std::vector<ValueId> results = add_body(body, parameters, carry, depth);
    const NodeId loop =
        make_.build.add_repeat(body, operands,
                               {{"times", times},
                                {"carries", std::int64_t{2}},
                                {"stacked", static_cast<std::int64_t>(operands.size()) - 3},
                                {"reverse", static_cast<std::int64_t>(choices_.below(2))}});
    for (std::size_t i = 0; i < results.size(); ++i) {
      const TensorType type{DType::f32, i < 2 ? carry : stack};
      values_.push_back(make_.build.add_result(loop, type, Labels(type.shape.size())));
    }
  }

  std::vector<ValueId> add_body(RegionId body, const std::vector<ValueId>& parameters,
                                const Shape& carry, int depth) {
    const RegionId outside = make_.build.enter(body);
    const std::vector<ValueId> outer = std::exchange(values_, parameters);
    const std::uint64_t steps = 1 + choices_.below(6);
    for (std::uint64_t i = 0; i < steps; ++i) {
      const std::uint64_t kind = choices_.below(12);
      if (kind == 11 && depth == 0) {
        add_loop(depth + 1);
      } else if (kind == 10) {
        values_.push_back(constrained(choices_.pick(values_)));
      } else {
        add_random_op(site());
      }
    }
    std::vector<ValueId> results;
    for (std::uint64_t i = 0; i < 3 + choices_.below(2); ++i)
      results.push_back(OpSite{site()}.alike(carry));
    values_ = outer;
    make_.graph.regions[index_of(body)].results = results;
    make_.build.enter(outside);
    return results;
  }

  ValueId parameter(RegionId body, const Shape& of) {
    const ValueId value = make_.build.add_value({DType::f32, of}, "", Labels(of.size()), {});
    make_.graph.regions[index_of(body)].parameters.push_back(value);
    return value;
  }

  void add_output(ValueId value) {
    const bool is_placed = choices_.chance(30) && !has_explicit();
    make_.output("out" + std::to_string(make_.graph.outputs.size()), value,
                 is_placed ? std::optional(random_placement(shape(value))) : std::nullopt);
  }

  /// Of the sum of the last output, where every op has a derivative.
  void add_gradients(std::uint64_t inputs) {
    if (is_plain_ || !choices_.chance(30)) return;
    for (const Node& node : make_.graph.nodes) {
      const bool is_moving = node.op != Op::repeat && def(node.op).factor_rule != nullptr;
      if (is_moving && def(node.op).derivative == nullptr) return;
    }
    const ValueId last = make_.graph.outputs.back().value;
    std::vector<std::int64_t> all(shape(last).size());
    std::iota(all.begin(), all.end(), 0);
    const ValueId loss = make_.build.emit(Op::reduce_sum, {last}, {{"dims", all}});
    std::vector<ValueId> wrt;
    for (std::uint64_t i = 0; i < inputs; ++i) wrt.push_back(make_.graph.inputs[i].value);
    for (const ValueId gradient : differentiate(make_.graph, loss, wrt))
      make_.output("grad" + std::to_string(make_.graph.outputs.size()), gradient);
    remove_dead_code(make_.graph);
  }

  /// Outputs take over inputs of their shape, with the inputs' placement.
  void donate(std::uint64_t inputs) {
    std::vector<bool> is_taken(inputs);
    for (GraphOutput& output : make_.graph.outputs) {
      for (std::size_t i = 0; i < inputs; ++i) {
        if (is_taken[i] || shape(output.value) != shape(make_.graph.inputs[i].value)) continue;
        if (!choices_.chance(40)) continue;
        is_taken[i] = true;
        output.donates = static_cast<int>(i);
        output.placement = make_.graph.inputs[i].placement;
        break;
      }
    }
  }

  test::Choices& choices_;
  bool is_plain_;
  bool is_uneven_ = false;
  RandomProgram program_;
  GraphMaker make_;
  std::vector<ValueId> values_;
};

}  // namespace

RandomProgram random_program(test::Choices& choices) { return Writer(choices, false).take(); }

ShardedGraph random_sharded_graph(std::uint64_t seed) {
  test::Choices choices(seed);
  RandomProgram program = Writer(choices, true).take();
  return shard_graph(std::move(program.graph), program.rules, program.mesh);
}

}  // namespace shard::tests
