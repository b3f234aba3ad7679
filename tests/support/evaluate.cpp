#include "support/evaluate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "base/check.h"
#include "exec/reference_ops.h"
#include "model/guard.h"

namespace shard::tests {
namespace {

using Index = std::vector<std::int64_t>;

std::size_t offset_of(const Shape& shape, const Index& index) {
  std::int64_t offset = 0;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) offset = offset * shape[dim] + index[dim];
  return static_cast<std::size_t>(offset);
}

template <class Visit>
void each_index(const Shape& shape, Visit visit) {
  const std::int64_t count = element_count(shape);
  Index index(shape.size());
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    for (std::size_t dim = shape.size(); dim-- > 0;) {
      index[dim] = rest % shape[dim];
      rest /= shape[dim];
    }
    visit(index);
  }
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double gelu(double x) {
  const double c = std::sqrt(2 / std::numbers::pi);
  return x / 2 * (1 + std::tanh(c * (x + 0.044715 * x * x * x)));
}

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

using Unary = double (*)(double);
const std::map<Op, Unary> unary = {
    {Op::relu, [](double x) { return x > 0 ? x : 0; }},
    {Op::negate, [](double x) { return -x; }},
    {Op::abs, [](double x) { return std::fabs(x); }},
    {Op::square, [](double x) { return x * x; }},
    {Op::sqrt, [](double x) { return std::sqrt(x); }},
    {Op::rsqrt, [](double x) { return 1 / std::sqrt(x); }},
    {Op::exp, [](double x) { return std::exp(x); }},
    {Op::log, [](double x) { return std::log(x); }},
    {Op::tanh, [](double x) { return std::tanh(x); }},
    {Op::sigmoid, sigmoid},
    {Op::silu, [](double x) { return x * sigmoid(x); }},
    {Op::gelu, gelu},
    {Op::sin, [](double x) { return std::sin(x); }},
    {Op::cos, [](double x) { return std::cos(x); }},
    {Op::sign, sign},
    {Op::convert, [](double x) { return x; }},
    {Op::constrain, [](double x) { return x; }},
    {Op::stop_gradient, [](double x) { return x; }},
};

using Binary = double (*)(double, double);
const std::map<Op, Binary> binary = {
    {Op::add, [](double x, double y) { return x + y; }},
    {Op::subtract, [](double x, double y) { return x - y; }},
    {Op::multiply, [](double x, double y) { return x * y; }},
    {Op::divide, [](double x, double y) { return x / y; }},
    {Op::maximum, [](double x, double y) { return std::max(x, y); }},
    {Op::minimum, [](double x, double y) { return std::min(x, y); }},
    {Op::power, [](double x, double y) { return std::pow(x, y); }},
    {Op::relu_grad, [](double y, double g) { return y > 0 ? g : 0; }},
    {Op::equal_mask, [](double x, double y) { return x == y ? 1.0 : 0.0; }},
};

struct Fold {
  double start;
  Binary combine;
};
const std::map<Op, Fold> folds = {
    {Op::reduce_sum, {0, [](double x, double y) { return x + y; }}},
    {Op::reduce_max, {-INFINITY, [](double x, double y) { return std::max(x, y); }}},
    {Op::reduce_min, {INFINITY, [](double x, double y) { return std::min(x, y); }}},
    {Op::reduce_prod, {1, [](double x, double y) { return x * y; }}},
};

using Arrays = std::vector<Array>;
using Result = void (*)(const Node& node, const Arrays& operands, Arrays& results);

double at(const Array& array, const Index& index) {
  return array.data[array.type.rank() == 0 ? 0 : offset_of(array.type.shape, index)];
}

void dot(const Node& node, const Arrays& operands, Arrays& results) {
  const auto& batch_l = node.attributes.integers("lhs_batch");
  const auto& batch_r = node.attributes.integers("rhs_batch");
  const auto& sum_l = node.attributes.integers("lhs_contract");
  const auto& sum_r = node.attributes.integers("rhs_contract");
  const auto fill = [](Index& index, const Index& dims, const Index& from, std::size_t start) {
    for (std::size_t i = 0; i < dims.size(); ++i) {
      index[static_cast<std::size_t>(dims[i])] = from[start + i];
    }
  };
  const auto free_dims = [](const Array& array, const Index& a, const Index& b) {
    Index dims;
    for (int dim = 0; dim < array.type.rank(); ++dim) {
      const bool is_used =
          std::count(a.begin(), a.end(), dim) + std::count(b.begin(), b.end(), dim);
      if (!is_used) dims.push_back(dim);
    }
    return dims;
  };
  const Index free_l = free_dims(operands[0], batch_l, sum_l);
  const Index free_r = free_dims(operands[1], batch_r, sum_r);
  Shape summed;
  for (const auto dim : sum_l) {
    summed.push_back(operands[0].type.shape[static_cast<std::size_t>(dim)]);
  }
  each_index(results[0].type.shape, [&](const Index& out) {
    Index left(operands[0].type.shape.size());
    Index right(operands[1].type.shape.size());
    fill(left, batch_l, out, 0);
    fill(right, batch_r, out, 0);
    fill(left, free_l, out, batch_l.size());
    fill(right, free_r, out, batch_l.size() + free_l.size());
    double sum = 0;
    each_index(summed, [&](const Index& k) {
      fill(left, sum_l, k, 0);
      fill(right, sum_r, k, 0);
      sum += at(operands[0], left) * at(operands[1], right);
    });
    results[0].data[offset_of(results[0].type.shape, out)] = sum;
  });
}

void reduce(const Node& node, const Arrays& operands, Arrays& results) {
  const Fold& fold = folds.at(node.op);
  const auto& dims = node.attributes.integers("dims");
  std::fill(results[0].data.begin(), results[0].data.end(), fold.start);
  each_index(operands[0].type.shape, [&](const Index& index) {
    Index kept;
    for (std::size_t dim = 0; dim < index.size(); ++dim) {
      if (!std::count(dims.begin(), dims.end(), static_cast<std::int64_t>(dim))) {
        kept.push_back(index[dim]);
      }
    }
    double& into = results[0].data[offset_of(results[0].type.shape, kept)];
    into = fold.combine(into, at(operands[0], index));
  });
}

void transpose(const Node& node, const Arrays& operands, Arrays& results) {
  const auto& order = node.attributes.integers("order");
  each_index(results[0].type.shape, [&](const Index& out) {
    Index in(out.size());
    for (std::size_t i = 0; i < out.size(); ++i) in[static_cast<std::size_t>(order[i])] = out[i];
    results[0].data[offset_of(results[0].type.shape, out)] = at(operands[0], in);
  });
}

void broadcast(const Node& node, const Arrays& operands, Arrays& results) {
  const auto& dims = node.attributes.integers("dims");
  each_index(results[0].type.shape, [&](const Index& out) {
    Index in;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      in.push_back(operands[0].type.shape[i] == 1 ? 0 : out[static_cast<std::size_t>(dims[i])]);
    }
    results[0].data[offset_of(results[0].type.shape, out)] = at(operands[0], in);
  });
}

void sgd(const Node& node, const Arrays& in, Arrays& out) {
  const double rate = node.attributes.number("learning_rate");
  for (std::size_t i = 0; i < out[0].data.size(); ++i) {
    out[0].data[i] = in[0].data[i] - rate * in[1].data[i];
  }
}

void momentum(const Node& node, const Arrays& in, Arrays& out) {
  const double decay = node.attributes.number("decay");
  for (std::size_t i = 0; i < out[0].data.size(); ++i) {
    const double gradient = in[2].data[i];
    const double trace = gradient + decay * in[1].data[i];
    const double step = node.attributes.integer("nesterov") ? gradient + decay * trace : trace;
    out[0].data[i] = in[0].data[i] - node.attributes.number("learning_rate") * step;
    out[1].data[i] = trace;
  }
}

void adam(const Node& node, const Arrays& in, Arrays& out) {
  const auto number = [&](const char* key) { return node.attributes.number(key); };
  const double count = in[4].data[0];
  for (std::size_t i = 0; i < out[0].data.size(); ++i) {
    const double p = in[0].data[i];
    const double g = in[3].data[i];
    const double mu = number("b1") * in[1].data[i] + (1 - number("b1")) * g;
    const double nu = number("b2") * in[2].data[i] + (1 - number("b2")) * g * g;
    const double m = mu / (1 - std::pow(number("b1"), count));
    const double v = nu / (1 - std::pow(number("b2"), count));
    const double step = m / (std::sqrt(v + number("eps_root")) + number("eps"));
    out[0].data[i] = p - number("learning_rate") * (step + number("weight_decay") * p);
    out[1].data[i] = mu;
    out[2].data[i] = nu;
  }
}

const std::map<Op, Result> others = {
    {Op::dot, dot},
    {Op::reduce_sum, reduce},
    {Op::reduce_max, reduce},
    {Op::reduce_min, reduce},
    {Op::reduce_prod, reduce},
    {Op::transpose, transpose},
    {Op::broadcast, broadcast},
    {Op::sgd_update, sgd},
    {Op::momentum_update, momentum},
    {Op::adam_update, adam},
    {Op::constant,
     [](const Node& node, const Arrays&, Arrays& results) {
       results[0] = filled(results[0].type, node.attributes.number("value"));
     }},
    {Op::scale,
     [](const Node& node, const Arrays& operands, Arrays& results) {
       results[0].data = operands[0].data;
       for (double& x : results[0].data) x *= node.attributes.number("value");
     }},
    {Op::shift,
     [](const Node& node, const Arrays& operands, Arrays& results) {
       results[0].data = operands[0].data;
       for (double& x : results[0].data) x += node.attributes.number("value");
     }},
};

/// Ops that are not written out above, by the reference of the executor.
void by_reference(const Node& node, const Arrays& operands, Arrays& results) {
  std::vector<std::shared_ptr<const DoubleArray>> in;
  for (const Array& operand : operands) {
    in.push_back(std::make_shared<const DoubleArray>(DoubleArray{operand.type, operand.data}));
  }
  std::vector<DoubleArray> out;
  for (const Array& result : results) out.push_back({result.type, result.data});
  shard::evaluate(node.op, {node.attributes, in, out});
  for (std::size_t i = 0; i < out.size(); ++i) results[i].data = std::move(out[i].values);
}

class Evaluator {
 public:
  explicit Evaluator(const Graph& graph) : graph_(graph), values_(graph.values.size()) {}

  Arrays run(const Region& region, const Arrays& parameters) {
    for (std::size_t i = 0; i < parameters.size(); ++i) value(region.parameters[i]) = parameters[i];
    for (const NodeId id : region.nodes) node(graph_.node(id));
    Arrays results;
    for (const ValueId id : region.results) results.push_back(value(id));
    return results;
  }

 private:
  Array& value(ValueId id) { return values_[index_of(id)]; }

  void node(const Node& node) {
    Arrays operands;
    for (const ValueId id : node.operands) operands.push_back(value(id));
    Arrays results;
    for (const ValueId id : node.results) results.push_back(filled(graph_.value(id).type, 0));
    if (node.op == Op::repeat) {
      loop(node, operands, results);
    } else if (const auto one = unary.find(node.op); one != unary.end()) {
      each(results[0], [&](const Index& i) { return one->second(at(operands[0], i)); });
    } else if (const auto two = binary.find(node.op); two != binary.end()) {
      each(results[0],
           [&](const Index& i) { return two->second(at(operands[0], i), at(operands[1], i)); });
    } else if (const auto other = others.find(node.op); other != others.end()) {
      other->second(node, operands, results);
    } else {
      by_reference(node, operands, results);
    }
    for (std::size_t i = 0; i < results.size(); ++i) value(node.results[i]) = results[i];
  }

  template <class Function>
  static void each(Array& result, Function function) {
    each_index(result.type.shape, [&](const Index& index) {
      result.data[offset_of(result.type.shape, index)] = function(index);
    });
  }

  void loop(const Node& node, const Arrays& operands, Arrays& results) {
    const Region& body = graph_.region(node.region);
    const auto carries = static_cast<std::size_t>(node.attributes.integer("carries"));
    const auto stacked = static_cast<std::size_t>(node.attributes.integer("stacked"));
    const std::int64_t times = node.attributes.integer("times");
    Arrays carry(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(carries));
    const bool is_left_out = is_guarded(node) && operands[guard_of(node)].data.front() == 0;
    for (std::int64_t i = 0; i < times && !is_left_out; ++i) {
      const std::int64_t slice = node.attributes.integer("reverse") ? times - 1 - i : i;
      Arrays parameters = carry;
      for (std::size_t j = carries; j < operands.size(); ++j) {
        parameters.push_back(j < carries + stacked ? slice_of(operands[j], slice) : operands[j]);
      }
      const Arrays out = run(body, parameters);
      for (std::size_t j = 0; j < out.size(); ++j) {
        if (j < carries) {
          carry[j] = out[j];
          results[j] = out[j];
        } else {
          const auto size = static_cast<std::ptrdiff_t>(out[j].data.size());
          std::copy(out[j].data.begin(), out[j].data.end(), results[j].data.begin() + slice * size);
        }
      }
    }
  }

  static Array slice_of(const Array& stack, std::int64_t slice) {
    Array one{{stack.type.dtype, {stack.type.shape.begin() + 1, stack.type.shape.end()}}, {}};
    const auto size = static_cast<std::ptrdiff_t>(element_count(one.type.shape));
    one.data.assign(stack.data.begin() + slice * size, stack.data.begin() + (slice + 1) * size);
    return one;
  }

  const Graph& graph_;
  std::vector<Array> values_;
};

}  // namespace

Array filled(const TensorType& type, double value) {
  return {type, std::vector<double>(static_cast<std::size_t>(element_count(type.shape)), value)};
}

Array random_array(const TensorType& type, std::mt19937_64& random, double low, double high) {
  Array array = filled(type, 0);
  for (double& x : array.data) {
    x = low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
  }
  return array;
}

std::vector<Array> evaluate(const Graph& graph, const std::vector<Array>& inputs) {
  SHARD_CHECK(inputs.size() == graph.inputs.size(), "there is one array per input");
  return Evaluator(graph).run(graph.body(), inputs);
}

double gradient_error(const Graph& graph, const std::vector<std::size_t>& wrt,
                      std::vector<Array> inputs) {
  const std::vector<Array> exact = evaluate(graph, inputs);
  double largest = 0;
  const double step = 1e-5;
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    std::vector<double>& data = inputs[wrt[i]].data;
    for (std::size_t j = 0; j < data.size(); ++j) {
      const double x = data[j];
      data[j] = x + step;
      const double above = evaluate(graph, inputs)[0].data[0];
      data[j] = x - step;
      const double below = evaluate(graph, inputs)[0].data[0];
      data[j] = x;
      const double estimate = (above - below) / (2 * step);
      const double gradient = exact[1 + i].data[j];
      const double error = std::fabs(gradient - estimate) / std::max(1.0, std::fabs(estimate));
      largest = std::isnan(error) ? INFINITY : std::max(largest, error);
    }
  }
  return largest;
}

}  // namespace shard::tests
