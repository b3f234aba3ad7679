#include "model/microbatches.h"

#include <algorithm>
#include <utility>

#include "model/composer.h"

namespace shard {
namespace {

/// The label that all inputs begin with; empty when they do not.
std::string common_batch(const ModelConfig& config) {
  std::string batch;
  for (const InputConfig& input : config.inputs) {
    const std::string label = input.type.dims.empty() ? "" : input.type.dims.front().label;
    if (label.empty() || (!batch.empty() && label != batch)) return "";
    batch = label;
  }
  return batch;
}

void divide_dims(TypeConfig& type, const std::string& label, std::int64_t parts) {
  for (DimConfig& dim : type.dims) {
    if (dim.label == label) dim.size /= parts;
  }
}

Shape with_first(Shape shape, std::int64_t size) {
  shape.front() = size;
  return shape;
}

/// Builds the loop around a body that is there already.
class PartsLoop {
 public:
  PartsLoop(GraphBuilder& builder, std::int64_t times, double share)
      : builder_(builder),
        graph_(builder.graph()),
        compose_(builder),
        times_(times),
        share_(share) {}

  PassValues run(const PassValues& pass) {
    const RegionId body = builder_.add_region();
    graph_.regions[index_of(body)].nodes = std::move(graph_.regions.front().nodes);
    graph_.regions.front().nodes.clear();
    builder_.origin = {"microbatches", builder_.origin.at, Phase::forward, {}};
    take_inputs();
    if (pass.step != ValueId::none) take_step(pass.step);
    std::vector<ValueId> sums = pass.gradients;
    sums.push_back(pass.loss);
    const std::vector<ValueId> starts = zeros_like(sums);
    const RegionId around = builder_.enter(body);
    add_to_carries(sums);
    builder_.enter(around);
    close(body, pass.outputs);
    const NodeId loop = add_loop(body, starts);
    return results_of(loop, pass);
  }

 private:
  /// Parameters stay whole in each part; data is cut, and comes in one part at a time.
  void take_inputs() {
    for (GraphInput& input : graph_.inputs) {
      if (input.role != Role::parameter && input.role != Role::input) continue;
      const GraphValue inner = graph_.value(input.value);
      graph_.values[index_of(input.value)].name.clear();
      TensorType type = inner.type;
      if (input.role == Role::input)
        type.shape = with_first(type.shape, times_ * type.shape.front());
      const ValueId outer = builder_.add_value(type, inner.name, inner.labels, inner.at);
      if (input.role == Role::parameter) {
        invariants_.push_back(outer);
        inner_invariants_.push_back(input.value);
      } else {
        stacks_.push_back(cut(outer));
        slices_.push_back(input.value);
      }
      input.value = outer;
    }
  }

  /// Every part draws its own bits: inside, a number drawn from the step stands for it.
  void take_step(ValueId step) {
    const GraphValue inner = graph_.value(step);
    const auto is_step = [&](const GraphInput& input) { return input.value == step; };
    const auto input = std::find_if(graph_.inputs.begin(), graph_.inputs.end(), is_step);
    graph_.values[index_of(step)].name.clear();
    input->value = builder_.add_value(inner.type, inner.name, inner.labels, inner.at);
    const Shape times = {times_};
    const ValueId drawn =
        builder_.emit(Op::random_bits, {input->value},
                      Attributes{{"shape", times}, {"counts", times}, {"stream", std::int64_t{0}}});
    const std::string dtype(info(inner.type.dtype).name);
    stacks_.push_back(builder_.emit(Op::bitcast, {drawn}, Attributes{{"dtype", dtype}}));
    slices_.push_back(step);
  }

  /// [batch, ...] as [times, batch / times, ...]. Every part has a share of each device's rows.
  ValueId cut(ValueId whole) {
    Shape shape = compose_.type(whole).shape;
    std::vector<std::string> labels = compose_.labels(whole);
    shape.front() /= times_;
    shape.insert(shape.begin() + 1, times_);
    labels.insert(labels.begin() + 1, "");
    const ValueId split = compose_.reshaped(whole, shape);
    compose_.set_labels(split, labels);
    return compose_.transposed(split, swapped(shape.size()));
  }

  /// The inverse of `cut`.
  ValueId joined(ValueId parts) {
    const ValueId swapped_back =
        compose_.transposed(parts, swapped(compose_.type(parts).shape.size()));
    Shape shape = compose_.type(swapped_back).shape;
    std::vector<std::string> labels = compose_.labels(swapped_back);
    shape.erase(shape.begin() + 1);
    labels.erase(labels.begin() + 1);
    const ValueId whole =
        compose_.reshaped(swapped_back, with_first(shape, shape.front() * times_));
    compose_.set_labels(whole, labels);
    return whole;
  }

  static std::vector<std::int64_t> swapped(std::size_t rank) {
    std::vector<std::int64_t> order(rank);
    for (std::size_t i = 0; i < rank; ++i) order[i] = static_cast<std::int64_t>(i);
    std::swap(order[0], order[1]);
    return order;
  }

  std::vector<ValueId> zeros_like(const std::vector<ValueId>& values) {
    std::vector<ValueId> zeros;
    for (const ValueId value : values) {
      const GraphValue like = graph_.value(value);
      zeros.push_back(
          builder_.emit(Op::constant, {},
                        Attributes{{"shape", like.type.shape},
                                   {"value", 0.0},
                                   {"dtype", std::string(info(like.type.dtype).name)}}));
      compose_.set_labels(zeros.back(), like.labels);
    }
    return zeros;
  }

  void add_to_carries(const std::vector<ValueId>& values) {
    for (const ValueId value : values) {
      const GraphValue term = graph_.value(value);
      carries_.push_back(builder_.add_value(term.type, "", term.labels, term.at));
      const ValueId part = share_ == 1 ? value : compose_.times(value, share_);
      next_.push_back(compose_.two(Op::add, carries_.back(), part));
    }
  }

  void close(RegionId body, const std::vector<ValueId>& outputs) {
    Region& region = graph_.regions[index_of(body)];
    region.parameters = carries_;
    region.parameters.insert(region.parameters.end(), slices_.begin(), slices_.end());
    region.parameters.insert(region.parameters.end(), inner_invariants_.begin(),
                             inner_invariants_.end());
    region.results = next_;
    region.results.insert(region.results.end(), outputs.begin(), outputs.end());
  }

  NodeId add_loop(RegionId body, const std::vector<ValueId>& starts) {
    std::vector<ValueId> operands = starts;
    operands.insert(operands.end(), stacks_.begin(), stacks_.end());
    operands.insert(operands.end(), invariants_.begin(), invariants_.end());
    return builder_.add_repeat(body, std::move(operands),
                               Attributes{{"times", times_},
                                          {"carries", static_cast<std::int64_t>(carries_.size())},
                                          {"stacked", static_cast<std::int64_t>(stacks_.size())},
                                          {"reverse", std::int64_t{0}}});
  }

  PassValues results_of(NodeId loop, const PassValues& pass) {
    PassValues results;
    const auto result = [&](ValueId inner, std::int64_t stacked) {
      const GraphValue value = graph_.value(inner);
      TensorType type = value.type;
      std::vector<std::string> labels = value.labels;
      if (stacked > 0) {
        type.shape.insert(type.shape.begin(), stacked);
        labels.insert(labels.begin(), "");
      }
      return builder_.add_result(loop, std::move(type), std::move(labels));
    };
    for (const ValueId gradient : pass.gradients) results.gradients.push_back(result(gradient, 0));
    results.loss = result(pass.loss, 0);
    std::vector<ValueId> stacks;
    for (const ValueId output : pass.outputs) stacks.push_back(result(output, times_));
    for (const ValueId stack : stacks) results.outputs.push_back(joined(stack));
    return results;
  }

  GraphBuilder& builder_;
  Graph& graph_;
  Composer compose_;
  std::int64_t times_;
  double share_;
  std::vector<ValueId> stacks_, slices_, invariants_, inner_invariants_, carries_, next_;
};

}  // namespace

std::optional<ModelConfig> with_small_batch(const ModelConfig& config, Diagnostics& diagnostics) {
  const std::int64_t parts = config.train->microbatches;
  const std::string batch = common_batch(config);
  const auto fail = [&](const std::string& message, const std::string& hint) {
    diagnostics.error("microbatches", config.train->microbatches_at, message, hint);
    return std::nullopt;
  };
  if (batch.empty()) {
    return fail("microbatches cut the first dim of all inputs, which must have one label",
                "e.g. inputs: {x: \"f32[batch, embed]\", labels: \"i32[batch]\"}");
  }
  const std::int64_t size = config.inputs.front().type.dims.front().size;
  if (size % parts != 0) {
    return fail("a " + batch + " of " + std::to_string(size) + " does not divide by " +
                    std::to_string(parts) + " microbatches",
                "");
  }
  ModelConfig small = config;
  for (SizeConfig& named : small.sizes) {
    if (named.name == batch) named.value /= parts;
  }
  for (InputConfig& input : small.inputs) divide_dims(input.type, batch, parts);
  for (OutputConfig& output : small.outputs) {
    if (output.type) divide_dims(*output.type, batch, parts);
  }
  return small;
}

PassValues looped_over_parts(GraphBuilder& builder, const PassValues& pass, std::int64_t times,
                             double share) {
  return PartsLoop(builder, times, share).run(pass);
}

}  // namespace shard
