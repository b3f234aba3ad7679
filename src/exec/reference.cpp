#include "exec/reference.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "exec/element.h"
#include "exec/reference_ops.h"
#include "model/guard.h"

namespace shard {
namespace {

using Array = std::shared_ptr<const DoubleArray>;

DoubleArray zero_array(const TensorType& type) {
  return {type, std::vector<double>(static_cast<std::size_t>(element_count(type.shape)), 0.0)};
}

/// How often each value is used in a region; a value is dropped after its last
/// use.
std::unordered_map<ValueId, int> use_counts(const Graph& graph, const Region& region) {
  std::unordered_map<ValueId, int> uses;
  for (const NodeId id : region.nodes) {
    for (const ValueId operand : graph.node(id).operands) ++uses[operand];
  }
  for (const ValueId result : region.results) ++uses[result];
  return uses;
}

class Evaluator {
 public:
  explicit Evaluator(const Graph& graph, const ReferenceWatch& watch)
      : graph_(graph), watch_(watch) {}

  std::vector<Array> run(const Region& region, std::vector<Array> arguments) {
    std::unordered_map<ValueId, int> uses = use_counts(graph_, region);
    std::unordered_map<ValueId, Array> values;
    const auto keep = [&](ValueId id, Array array) {
      if (uses[id] > 0) values[id] = std::move(array);
    };
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (watch_ && iterations_.empty()) {
        watch_(region.parameters[i], iterations_, arguments[i]->values);
      }
      keep(region.parameters[i], std::move(arguments[i]));
    }
    arguments.clear();
    const auto use = [&](ValueId id) {
      const auto found = values.find(id);
      SHARD_CHECK(found != values.end(), "a value is made before it is used");
      Array array = found->second;
      if (--uses[id] == 0) values.erase(found);
      return array;
    };
    for (const NodeId id : region.nodes) {
      const Node& node = graph_.node(id);
      std::vector<Array> operands;
      for (const ValueId operand : node.operands) operands.push_back(use(operand));
      std::vector<Array> results = node.region == RegionId::none
                                       ? evaluate_node(node, operands)
                                       : evaluate_repeat(node, std::move(operands));
      for (std::size_t i = 0; i < results.size(); ++i) {
        if (watch_) watch_(node.results[i], iterations_, results[i]->values);
        keep(node.results[i], std::move(results[i]));
      }
    }
    std::vector<Array> results;
    for (const ValueId result : region.results) results.push_back(use(result));
    return results;
  }

 private:
  std::vector<Array> evaluate_node(const Node& node, const std::vector<Array>& operands) const {
    std::vector<DoubleArray> results;
    for (const ValueId id : node.results) results.push_back(zero_array(graph_.value(id).type));
    evaluate(node.op, {node.attributes, operands, results});
    std::vector<Array> shared;
    for (DoubleArray& result : results) {
      shared.push_back(std::make_shared<const DoubleArray>(std::move(result)));
    }
    return shared;
  }

  std::vector<Array> evaluate_repeat(const Node& node, std::vector<Array> operands) {
    const Region& body = graph_.region(node.region);
    const std::size_t carries = static_cast<std::size_t>(node.attributes.integer("carries"));
    const std::size_t slices =
        carries + static_cast<std::size_t>(node.attributes.integer("stacked"));
    const std::int64_t times = node.attributes.integer("times");
    std::vector<DoubleArray> outputs;
    for (std::size_t i = carries; i < node.results.size(); ++i) {
      outputs.push_back(zero_array(graph_.value(node.results[i]).type));
    }
    std::vector<Array> carried(operands.begin(),
                               operands.begin() + static_cast<std::ptrdiff_t>(carries));
    const bool is_left_out = is_guarded(node) && operands[guard_of(node)]->values.front() == 0;
    for (std::int64_t step = 0; step < times && !is_left_out; ++step) {
      const std::int64_t at = node.attributes.integer("reverse") != 0 ? times - 1 - step : step;
      std::vector<Array> arguments = std::move(carried);
      for (std::size_t i = carries; i < operands.size(); ++i) {
        const TensorType& type = graph_.value(body.parameters[i]).type;
        arguments.push_back(i < slices ? slice(*operands[i], type, at) : operands[i]);
      }
      iterations_.push_back(step);
      std::vector<Array> results = run(body, std::move(arguments));
      iterations_.pop_back();
      for (std::size_t i = carries; i < results.size(); ++i) {
        const std::vector<double>& from = results[i]->values;
        std::copy(
            from.begin(), from.end(),
            outputs[i - carries].values.begin() + at * static_cast<std::int64_t>(from.size()));
      }
      results.resize(carries);
      carried = std::move(results);
    }
    for (DoubleArray& output : outputs) {
      carried.push_back(std::make_shared<const DoubleArray>(std::move(output)));
    }
    return carried;
  }

  static Array slice(const DoubleArray& stacked, const TensorType& type, std::int64_t at) {
    DoubleArray part = zero_array(type);
    const std::int64_t size = static_cast<std::int64_t>(part.values.size());
    std::copy_n(stacked.values.begin() + at * size, size, part.values.begin());
    return std::make_shared<const DoubleArray>(std::move(part));
  }

  const Graph& graph_;
  const ReferenceWatch& watch_;
  std::vector<std::int64_t> iterations_;  ///< of the loops that run
};

/// The same walk with sizes instead of numbers: the most bytes alive inside a
/// region beside its arguments.
class Weigher {
 public:
  explicit Weigher(const Graph& graph) : graph_(graph) {}

  std::int64_t peak(const Region& region) const {
    std::unordered_map<ValueId, int> uses = use_counts(graph_, region);
    std::int64_t live = 0, most = 0;
    for (const NodeId id : region.nodes) {
      const Node& node = graph_.node(id);
      std::int64_t inside = 0;
      if (node.region != RegionId::none) {
        const Region& body = graph_.region(node.region);
        for (const ValueId parameter : body.parameters) inside += bytes(parameter);
        inside += peak(body);
      }
      for (const ValueId result : node.results) live += bytes(result);
      most = std::max(most, live + inside);
      for (const ValueId result : node.results) {
        if (uses[result] == 0) live -= bytes(result);
      }
      for (const ValueId operand : node.operands) {
        const bool is_own = graph_.value(operand).producer != NodeId::none;
        if (--uses[operand] == 0 && is_own) live -= bytes(operand);
      }
    }
    return most;
  }

  std::int64_t bytes(ValueId id) const {
    return element_count(graph_.value(id).type.shape) * static_cast<std::int64_t>(sizeof(double));
  }

 private:
  const Graph& graph_;
};

std::vector<Array> arguments_of(const Graph& graph, const std::vector<HostTensor>& inputs) {
  SHARD_CHECK(inputs.size() == graph.inputs.size(), "the reference gets one array per input");
  std::vector<Array> arguments;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorType& type = graph.value(graph.inputs[i].value).type;
    SHARD_CHECK(inputs[i].type == type, "an input array has the type of the input");
    DoubleArray array = zero_array(type);
    to_doubles(type.dtype, inputs[i].bytes.data(), array.values.data(), array.values.size());
    arguments.push_back(std::make_shared<const DoubleArray>(std::move(array)));
  }
  return arguments;
}

}  // namespace

std::vector<HostTensor> run_reference(const Graph& graph, const std::vector<HostTensor>& inputs) {
  std::vector<HostTensor> outputs;
  const ReferenceWatch nobody;
  for (const Array& array :
       Evaluator(graph, nobody).run(graph.body(), arguments_of(graph, inputs))) {
    outputs.push_back(zeros(array->type));
    from_doubles(array->values.data(), array->type.dtype, outputs.back().bytes.data(),
                 array->values.size());
  }
  return outputs;
}

void watch_reference(const Graph& graph, const std::vector<HostTensor>& inputs,
                     const ReferenceWatch& watch) {
  Evaluator(graph, watch).run(graph.body(), arguments_of(graph, inputs));
}

Bytes reference_bytes(const Graph& graph) {
  const Weigher weigher(graph);
  std::int64_t total = weigher.peak(graph.body());
  for (const GraphInput& input : graph.inputs) total += weigher.bytes(input.value);
  for (const GraphOutput& output : graph.outputs) {
    total += bytes_of(graph.value(output.value).type).count();
  }
  return Bytes(total);
}

}  // namespace shard
