#include "random_graph.h"

#include <algorithm>
#include <random>
#include <utility>

#include "base/check.h"
#include "ops/composed.h"
#include "shard/graph_maker.h"

namespace shard::tests {
namespace {

using Dims = std::vector<std::int64_t>;

class RandomGraph {
 public:
  explicit RandomGraph(std::uint64_t seed) : rng_(seed) {}

  ShardedGraph run() {
    make_.graph.name = "random";
    for (std::uint64_t i = 0; i < 3 + below(4); ++i) add_input();
    const std::size_t inputs = values_.size();
    for (std::uint64_t i = 0; i < 4 + below(14); ++i) add_node(0);
    for (std::uint64_t i = 0; i < 1 + below(4); ++i) add_output();
    donate(inputs);
    verify(make_.graph);
    return shard_graph(make_.graph, {}, random_mesh());
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return rng_() % limit; }
  template <class T>
  T pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }
  const Shape& shape(ValueId value) { return make_.build.type(value).shape; }

  Mesh random_mesh() {
    const std::vector<std::pair<std::int64_t, std::int64_t>> sizes{{2, 4}, {4, 2}, {2, 2}, {8, 1}};
    const auto [data, model] = pick(sizes);
    return Mesh({{MeshAxis("data"), data, {}}, {MeshAxis("model"), model, {}}});
  }

  /// Every axis at most once; all sizes are multiples of 8, so everything divides.
  SpecConfig random_placement(std::size_t rank) {
    std::vector<std::string> dims(rank);
    for (const char* axis : {"data", "model"}) {
      const std::uint64_t dim = below(rank + 1);
      if (dim < rank) dims[dim] += (dims[dim].empty() ? "" : ",") + std::string(axis);
    }
    return placed(dims);
  }

  void add_input() {
    const Shape shape{pick(sizes_), pick(sizes_)};
    const std::string path = "in" + std::to_string(values_.size());
    values_.push_back(make_.input(path, shape, {}, random_placement(2)));
  }

  void add_node(int depth) {
    switch (below(depth < 2 ? 9 : 8)) {
      case 0:
      case 1:
        return add_product();
      case 2:
        return add(make_.build.emit(pick(unary_), {pick(values_)}));
      case 3:
        return add_pair();
      case 4:
        return add(make_.constrain(pick(values_), random_placement(2)));
      case 5:
        return add(make_.build.emit(Op::transpose, {pick(values_)}, {{"order", Dims{1, 0}}}));
      case 6:
        return add_reduction();
      case 7:
        return add_moved();
      default:
        return add_loop(depth);
    }
  }

  void add(ValueId value) { values_.push_back(value); }

  void add_product() {
    const ValueId lhs = pick(values_), rhs = pick(values_);
    const std::int64_t left = static_cast<std::int64_t>(below(2));
    for (const std::int64_t right : {0, 1}) {
      if (shape(lhs)[static_cast<std::size_t>(left)] != shape(rhs)[static_cast<std::size_t>(right)])
        continue;
      return add(make_.build.emit(Op::dot, {lhs, rhs},
                                  {{"lhs_batch", Dims{}},
                                   {"rhs_batch", Dims{}},
                                   {"lhs_contract", Dims{left}},
                                   {"rhs_contract", Dims{right}}}));
    }
  }

  void add_pair() {
    const ValueId one = pick(values_);
    add(make_.build.emit(pick(binary_), {one, pick(alike(shape(one), values_))}));
  }

  /// Reduced over one dim, then spread over it again.
  void add_reduction() {
    const ValueId value = pick(values_);
    const Shape whole = shape(value);
    const auto dim = static_cast<std::int64_t>(below(2));
    const ValueId less = make_.build.emit(pick(reductions_), {value}, {{"dims", Dims{dim}}});
    add(make_.build.emit(Op::broadcast, {less}, {{"shape", whole}, {"dims", Dims{1 - dim}}}));
  }

  /// A matrix of the same shape whose elements are moved, chosen or summed up.
  void add_moved() {
    const ValueId value = pick(values_);
    const Shape whole = shape(value);
    const auto dim = static_cast<std::int64_t>(below(2));
    Builder& b = make_.build;
    switch (below(6)) {
      case 0:
        return add(b.emit(Op::reverse, {value}, {{"dims", Dims{dim}}}));
      case 1:
        return add(b.emit(Op::cumsum, {value}, {{"dim", dim}, {"reverse", std::int64_t{0}}}));
      case 2:
        return add(selected(b, b.emit(Op::lt, {value, scalar(b, 0.5, DType::f32)}), value,
                            pick(alike(whole, values_))));
      case 3:
        return add(rolled(value, dim, 1 + static_cast<std::int64_t>(below(4))));
      case 4:
        return add(reshaped(b, reshaped(b, value, {whole[0] / 2, 2 * whole[1]}), whole));
      default:
        return add(looked_up(value, whole[0]));
    }
  }

  /// The last `by` elements of a dim come first.
  ValueId rolled(ValueId value, std::int64_t dim, std::int64_t by) {
    Builder& b = make_.build;
    const std::int64_t size = shape(value)[static_cast<std::size_t>(dim)];
    const std::vector<ValueId> parts{sliced(b, value, dim, size - by, size),
                                     sliced(b, value, dim, 0, size - by)};
    return concatenated(b, parts, dim);
  }

  /// Rows in the order of the positions of the largest elements of their columns.
  ValueId looked_up(ValueId value, std::int64_t rows) {
    Builder& b = make_.build;
    const ValueId at = b.emit(Op::argmax, {value}, {{"dim", std::int64_t{1}}});
    const ValueId taken = take(b, value, at, 0);
    SHARD_CHECK(shape(taken)[0] == rows, "there is one row for each");
    return taken;
  }

  std::vector<ValueId> alike(const Shape& wanted, const std::vector<ValueId>& among) {
    std::vector<ValueId> found;
    for (const ValueId value : among) {
      if (shape(value) == wanted) found.push_back(value);
    }
    return found;
  }

  /// Two carries of one type (sometimes swapped or kept), an invariant and, in the main body, a
  /// slice; one or two outputs, of which one may be a parameter.
  void add_loop(int depth) {
    const ValueId first = pick(values_), invariant = pick(values_);
    const Shape carry = shape(first), side = shape(invariant);
    const std::int64_t times = 2 + static_cast<std::int64_t>(below(3));
    const Shape stack{times, carry[0], carry[1]};
    std::vector<ValueId> operands{first, pick(alike(carry, values_))};
    if (depth == 0) {
      operands.push_back(make_.input("stack" + std::to_string(values_.size()), stack, {},
                                     random_stack_placement()));
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
                                {"reverse", static_cast<std::int64_t>(below(2))}});
    for (std::size_t i = 0; i < results.size(); ++i) {
      const TensorType type{DType::f32, i < 2 ? carry : stack};
      const ValueId value = make_.build.add_result(loop, type, Labels(type.shape.size()));
      if (i < 2)
        add(value);
      else if (depth == 0)
        stacks_.push_back(value);
      else
        add(make_.build.emit(Op::reduce_sum, {value}, {{"dims", Dims{0}}}));
    }
  }

  std::vector<ValueId> add_body(RegionId body, const std::vector<ValueId>& parameters,
                                const Shape& carry, int depth) {
    const RegionId outside = make_.build.enter(body);
    const std::vector<ValueId> outer = std::exchange(values_, parameters);
    for (std::uint64_t i = 0; i < 2 + below(5); ++i) add_node(depth + 1);
    const std::vector<ValueId> inner = alike(carry, std::exchange(values_, outer));
    std::vector<ValueId> results{pick(inner), pick(inner), pick(inner)};
    if (below(2) == 0) results.push_back(pick(inner));
    make_.graph.regions[index_of(body)].results = results;
    make_.build.enter(outside);
    return results;
  }

  SpecConfig random_stack_placement() {
    SpecConfig placement = random_placement(2);
    auto& spec = std::get<PartitionSpec>(placement.spec);
    spec.entries.insert(spec.entries.begin(), PartitionEntry{});
    return placement;
  }

  using Labels = std::vector<std::string>;
  ValueId parameter(RegionId body, const Shape& shape) {
    const ValueId value = make_.build.add_value({DType::f32, shape}, "", Labels(shape.size()), {});
    make_.graph.regions[index_of(body)].parameters.push_back(value);
    return value;
  }

  void add_output() {
    const bool is_stack = !stacks_.empty() && below(3) == 0;
    const ValueId value = is_stack ? pick(stacks_) : pick(values_);
    make_.output("out" + std::to_string(make_.graph.outputs.size()), value);
  }

  /// Outputs take over inputs of their shape, with the inputs' placement.
  void donate(std::size_t inputs) {
    std::vector<bool> is_taken(inputs);
    for (GraphOutput& output : make_.graph.outputs) {
      for (std::size_t i = 0; i < inputs; ++i) {
        if (is_taken[i] || shape(output.value) != shape(make_.graph.inputs[i].value)) continue;
        if (below(2) == 0) continue;
        is_taken[i] = true;
        output.donates = static_cast<int>(i);
        output.placement = make_.graph.inputs[i].placement;
        break;
      }
    }
  }

  std::mt19937_64 rng_;
  GraphMaker make_;
  std::vector<ValueId> values_;  ///< matrices
  std::vector<ValueId> stacks_;
  const std::vector<std::int64_t> sizes_{8, 16};
  const std::vector<Op> unary_{Op::relu, Op::negate, Op::tanh, Op::square};
  const std::vector<Op> binary_{Op::add, Op::multiply, Op::maximum};
  const std::vector<Op> reductions_{Op::reduce_sum, Op::reduce_max};
};

}  // namespace

ShardedGraph random_sharded_graph(std::uint64_t seed) { return RandomGraph(seed).run(); }

}  // namespace shard::tests
