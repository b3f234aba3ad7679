#include "exec/reference.h"

#include <algorithm>
#include <cmath>
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
  return {type, std::vector<double>(number_count(type), 0.0)};
}

/// A float of fewer than 32 bits is a storage format.
bool is_storage(DType dtype) {
  constexpr int bytes_of_f32 = 4;
  return info(dtype).is_float && info(dtype).bytes < bytes_of_f32;
}

/// What was kept in a storage format is read back rounded. Of wider ones the reference keeps the
/// exact number.
void round_to_storage(DoubleArray& array) {
  const DType format = array.type.dtype;
  std::vector<std::byte> stored(static_cast<std::size_t>(bytes_of(array.type).count()));
  from_doubles(array.values.data(), format, stored.data(), array.values.size());
  to_doubles(format, stored.data(), array.values.data(), array.values.size());
}

/// The number of the format next to `nearest`, in the direction of `beyond`.
double next_number(DType format, double nearest, double beyond) {
  const unsigned sign = 1U << (8 * info(format).bytes - 1);
  std::uint16_t bits = 0;  // of the smaller formats the low byte
  from_doubles(&nearest, format, reinterpret_cast<std::byte*>(&bits), 1);
  const unsigned magnitude = bits & (sign - 1);
  const bool is_farther = magnitude == 0 || std::signbit(nearest) == std::signbit(beyond);
  const unsigned negative = magnitude == 0 ? (std::signbit(beyond) ? sign : 0) : bits & sign;
  bits = static_cast<std::uint16_t>(negative | (is_farther ? magnitude + 1 : magnitude - 1));
  return element_as_double(format, reinterpret_cast<const std::byte*>(&bits), 0);
}

/// Rounds every number up or down, half of them to the one that is farther away.
void round_anyhow(DoubleArray& array, std::mt19937_64& random) {
  const std::vector<double> exact = array.values;
  round_to_storage(array);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double beyond = exact[i] - array.values[i];
    if (beyond == 0 || !std::isfinite(beyond) || random() % 2 == 0) continue;
    const double other = next_number(array.type.dtype, array.values[i], beyond);
    if (std::isfinite(other)) array.values[i] = other;
  }
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
  /// `random`: where given, storage formats round up or down by chance.
  Evaluator(const Graph& graph, const ReferenceWatch& watch, std::mt19937_64* random = nullptr)
      : graph_(graph), watch_(watch), random_(random) {}

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
      if (is_storage(result.type.dtype)) round_result(result);
      shared.push_back(std::make_shared<const DoubleArray>(std::move(result)));
    }
    return shared;
  }

  void round_result(DoubleArray& result) const {
    if (random_ != nullptr) {
      round_anyhow(result, *random_);
    } else {
      round_to_storage(result);
    }
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
  std::mt19937_64* random_;
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
    return static_cast<std::int64_t>(number_count(graph_.value(id).type) * sizeof(double));
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

std::vector<HostTensor> outputs_of(const Graph& graph, const std::vector<HostTensor>& inputs,
                                   std::mt19937_64* random) {
  std::vector<HostTensor> outputs;
  const ReferenceWatch nobody;
  for (const Array& array :
       Evaluator(graph, nobody, random).run(graph.body(), arguments_of(graph, inputs))) {
    outputs.push_back(zeros(array->type));
    from_doubles(array->values.data(), array->type.dtype, outputs.back().bytes.data(),
                 array->values.size());
  }
  return outputs;
}

}  // namespace

std::vector<HostTensor> run_reference(const Graph& graph, const std::vector<HostTensor>& inputs) {
  return outputs_of(graph, inputs, nullptr);
}

std::vector<HostTensor> run_reference_rounded_anyhow(const Graph& graph,
                                                     const std::vector<HostTensor>& inputs,
                                                     std::mt19937_64& random) {
  return outputs_of(graph, inputs, &random);
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
