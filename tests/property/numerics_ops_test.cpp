// Single ops against the numbers recorded from JAX: outputs and pullbacks, in float32 and bfloat16,
// on one device and split over eight; edge values; casts.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

#include "exec/cluster.h"
#include "exec/element.h"
#include "exec/reference.h"
#include "model/graph_builder.h"
#include "model/model.h"
#include "property/recorded_expressions.h"
#include "property/score.h"
#include "shard/sharded_graph.h"
#include "spmd/partition.h"
#include "support/recordings.h"

using namespace shard;
using namespace shard::test;
using namespace shard::tests;

namespace {

using Tensors = std::map<std::string, HostTensor>;

/// A recorded case: its arguments, cotangents and answers by role.
struct Recorded {
  std::string name;
  std::vector<std::string> arguments;
  Tensors inputs;  ///< by argument
  std::vector<HostTensor> outputs;
  std::map<std::size_t, HostTensor> cotangents;  ///< by output
  Tensors pullbacks;                             ///< by argument
};

/// The case as a graph: results, then the pullback to each argument that moves.
class CaseGraph {
 public:
  CaseGraph(const Recorded& recorded, const RecordedExpression& expression, bool is_split)
      : builder_(graph_), is_split_(is_split) {
    graph_.name = recorded.name;
    Arguments arguments;
    for (const std::string& name : recorded.arguments) {
      arguments.emplace(name, X(builder_, input(recorded.inputs.at(name), name)));
    }
    const Xs results = expression.build(arguments);
    for (const X& result : results) output(result.id(), "out");
    if (recorded.cotangents.empty()) return;
    std::optional<X> loss;
    for (const auto& [number, cotangent] : recorded.cotangents) {
      const X weights(builder_, input(cotangent, "cotangent"));
      const X weighted = (results.at(number) * weights).as(DType::f32);
      Dims all(static_cast<std::size_t>(weighted.rank()));
      std::iota(all.begin(), all.end(), 0);
      const X term = weighted.reduced(Op::reduce_sum, all);
      loss = loss ? *loss + term : term;
    }
    std::vector<ValueId> moving;
    for (const auto& [name, pullback] : recorded.pullbacks) {
      moving.push_back(arguments.at(name).id());
    }
    for (const ValueId id : differentiate(graph_, loss->id(), moving)) output(id, "pullback");
  }

  Graph take() {
    remove_dead_code(graph_);
    verify(graph_);
    return std::move(graph_);
  }

  std::vector<HostTensor> values;  ///< of the inputs

 private:
  ValueId input(const HostTensor& tensor, const std::string& name) {
    values.push_back(tensor);
    const std::vector<std::string> labels(tensor.type.shape.size());
    const ValueId id = builder_.add_value(tensor.type, name, labels, {});
    graph_.inputs.push_back({id, name, Role::parameter, -1, placement(tensor.type.shape)});
    graph_.regions.front().parameters.push_back(id);
    return id;
  }

  void output(ValueId id, const std::string& name) {
    graph_.outputs.push_back({id, name, Role::output, -1, -1, std::nullopt});
    graph_.regions.front().results.push_back(id);
  }

  /// Axes of size 2, each on the next dim that it divides; every input begins at another dim.
  SpecConfig placement(Shape shape) {
    PartitionSpec spec;
    spec.entries.resize(shape.size());
    std::size_t dim = values.size();
    for (const char* axis : {"x", "y", "z"}) {
      for (std::size_t tried = 0; is_split_ && tried < shape.size(); ++tried, ++dim) {
        std::int64_t& size = shape[dim % shape.size()];
        if (size % 2 != 0) continue;
        size /= 2;
        spec.entries[dim++ % shape.size()].axes.emplace_back(axis);
        break;
      }
    }
    return {spec, {"recorded", 1, 1, 1}};
  }

  Graph graph_;
  GraphBuilder builder_;
  bool is_split_;
};

/// What the devices computed, and the same graph in double precision.
struct Answers {
  std::vector<HostTensor> found;
  std::vector<HostTensor> in_double;
};

Answers run(const Recorded& recorded, const RecordedExpression& expression, bool is_split) {
  CaseGraph made(recorded, expression, is_split);
  const std::int64_t size = is_split ? 2 : 1;
  const Mesh mesh(
      {{MeshAxis("x"), size, {}}, {MeshAxis("y"), size, {}}, {MeshAxis("z"), size, {}}});
  const ShardedGraph sharded = shard_graph(made.take(), {}, mesh);
  const Program program = partition(sharded);
  Cluster cluster(program, {1});
  for (std::size_t i = 0; i < made.values.size(); ++i) cluster.write_input(i, made.values[i]);
  cluster.run();
  Answers answers;
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    answers.found.push_back(cluster.read_output(i));
  }
  answers.in_double = run_reference(sharded.graph, made.values);
  return answers;
}

std::vector<double> doubles(const HostTensor& tensor) {
  std::vector<double> numbers(static_cast<std::size_t>(element_count(tensor.type.shape)));
  to_doubles(tensor.type.dtype, tensor.bytes.data(), numbers.data(), numbers.size());
  return numbers;
}

/// One element against a recorded one.
struct Element {
  double found = 0, recorded = 0;
  double exact = 0;  ///< in double precision
};

/// Within the bound of the number itself and what is lost below the smallest normal one, zeros with
/// their sign. A recorded number that is further from double precision than that says nothing; then
/// double precision does.
bool is_close(const Element& one, double bound) {
  if (std::isnan(one.found) && std::isnan(one.recorded)) return true;
  if (one.found == one.recorded)
    return one.found != 0 || std::signbit(one.found) == std::signbit(one.recorded);
  const auto near = [&](double x, double y) {
    return std::fabs(x - y) <= bound * std::fabs(y) + 0x1p-126;
  };
  if (!std::isfinite(one.found) || !std::isfinite(one.recorded)) return false;
  if (near(one.found, one.recorded)) return true;
  return !near(one.recorded, one.exact) && near(one.found, one.exact);
}

/// What is not finite must be equal; the others differ by at most `bound` of the largest or, where
/// `exact` is given, by element (`is_close`). Empty, or the first that differs.
std::string difference(const HostTensor& actual, const HostTensor& expected, double bound,
                       const HostTensor* exact) {
  if (actual.type != expected.type) {
    return "found " + to_string(actual.type) + ", expected " + to_string(expected.type);
  }
  const std::vector<double> a = doubles(actual), e = doubles(expected);
  const std::vector<double> in_double = exact == nullptr ? e : doubles(*exact);
  double largest = 0;
  for (const double x : e) largest = std::isfinite(x) ? std::max(largest, std::fabs(x)) : largest;
  for (std::size_t i = 0; i < e.size(); ++i) {
    if (exact != nullptr ? is_close({a[i], e[i], in_double[i]}, bound)
                         : a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i])) ||
                               std::fabs(a[i] - e[i]) <= bound * largest) {
      continue;
    }
    std::ostringstream text;
    text << "element " << i << ": found " << a[i] << ", expected " << e[i] << " within " << bound
         << (exact == nullptr ? " of the largest" : " of it");
    return text.str();
  }
  return "";
}

double bound_of(Closeness closeness, DType dtype, bool is_pullback) {
  const bool is_narrow = dtype == DType::bf16;
  if (is_pullback) return is_narrow ? 0x1p-6 : 1e-5;
  if (closeness == Closeness::exact) return 0;
  if (is_narrow) return closeness == Closeness::product ? 0x1p-6 : 0x1p-7;
  if (closeness == Closeness::product) return 1e-5;
  return closeness == Closeness::special ? 4e-6 : 1e-6;
}

const char* const recorded_too_far =
    "the recording is further from double precision than its bound";

/// Empty when the answer is close enough to the recorded one. In bfloat16 a recorded sum can be
/// further from double precision than its bound; where it is, and the answer is within `rounding`
/// of double precision, this says `recorded_too_far`.
std::string mistake_in_one(const Answers& answers, std::size_t i, const HostTensor& expected,
                           double bound, double rounding, bool by_element) {
  const HostTensor& found = answers.found.at(i);
  const HostTensor& exact = answers.in_double.at(i);
  const std::string wrong = difference(found, expected, bound, by_element ? &exact : nullptr);
  if (wrong.empty() || bound == 0 || expected.type.dtype != DType::bf16) return wrong;
  const bool is_recording_far = !difference(expected, exact, bound, nullptr).empty();
  const bool is_right = difference(found, exact, rounding, nullptr).empty();
  return is_recording_far && is_right ? recorded_too_far : wrong;
}

/// Empty when everything is close enough, on one device and on eight.
std::string mistake_in(const Recorded& recorded, bool by_element) {
  const RecordedExpression* expression = recorded_expression(recorded.name);
  if (expression == nullptr) return "no ops for it";
  bool is_too_far = false;  // of one; the others are still compared
  for (const bool is_split : {false, true}) {
    const Answers answers = run(recorded, *expression, is_split);
    // A sum over devices is rounded once more than one on a single device.
    const double rounding = is_split ? 0x1p-7 : 0x1p-8;
    const std::string where = is_split ? "over 8 devices, " : "";
    const auto check = [&](std::size_t i, const std::string& what, const HostTensor& expected,
                           bool is_pullback) {
      const double bound = bound_of(expression->closeness, expected.type.dtype, is_pullback);
      const std::string wrong = mistake_in_one(answers, i, expected, bound, rounding, by_element);
      is_too_far = is_too_far || wrong == recorded_too_far;
      return wrong.empty() || wrong == recorded_too_far ? "" : where + what + ", " + wrong;
    };
    for (std::size_t i = 0; i < recorded.outputs.size(); ++i) {
      const std::string wrong = check(i, "out" + std::to_string(i), recorded.outputs[i], false);
      if (!wrong.empty()) return wrong;
    }
    std::size_t next = recorded.outputs.size();
    for (const auto& [name, expected] : recorded.pullbacks) {
      const std::string wrong = check(next++, "d" + name, expected, true);
      if (!wrong.empty()) return wrong;
    }
  }
  return is_too_far ? recorded_too_far : "";
}

Recorded recorded_op(const Tensors& tensors, const std::string& name, const json& one,
                     const std::string& dtype) {
  Recorded recorded;
  recorded.name = name;
  recorded.arguments = one.at("arguments").get<std::vector<std::string>>();
  const std::string prefix = name + "." + dtype + "/";
  for (const std::string& argument : recorded.arguments) {
    recorded.inputs[argument] = tensors.at(prefix + argument);
    const auto pullback = tensors.find(prefix + "d" + argument);
    if (pullback != tensors.end()) recorded.pullbacks[argument] = pullback->second;
  }
  for (std::size_t i = 0; tensors.contains(prefix + "out" + std::to_string(i)); ++i) {
    recorded.outputs.push_back(tensors.at(prefix + "out" + std::to_string(i)));
    const auto cotangent = tensors.find(prefix + "cotangent" + std::to_string(i));
    if (cotangent != tensors.end()) recorded.cotangents.emplace(i, cotangent->second);
  }
  return recorded;
}

Recorded recorded_edge(const Tensors& tensors, const std::string& name, const json& one) {
  Recorded recorded;
  recorded.name = name;
  recorded.arguments = one.at("arguments").get<std::vector<std::string>>();
  const std::string inputs = one.at("inputs").get<std::string>();
  for (const std::string& argument : recorded.arguments) {
    const auto found = tensors.find(inputs);
    recorded.inputs[argument] =
        found != tensors.end() ? found->second : tensors.at(inputs + "/" + argument);
  }
  for (std::size_t i = 0; tensors.contains(name + "/out" + std::to_string(i)); ++i) {
    recorded.outputs.push_back(tensors.at(name + "/out" + std::to_string(i)));
  }
  return recorded;
}

/// The dtype that a recording calls `float8_e4m3fn`.
std::string own_dtype(const std::string& numpy_name) {
  const std::optional<DType> dtype = dtype_named(numpy_name);
  return dtype ? std::string(info(*dtype).name) : "";
}

}  // namespace

TEST_CASE("single ops and their pullbacks give the numbers JAX gave") {
  const Tensors tensors = recorded_tensors("numerics/ops.safetensors");
  const auto file = read_goldens("numerics/ops.json");
  if (!file || tensors.empty()) return;
  Conformance conformance("numerics/ops.json");
  for (const auto& [name, one] : file->at("cases").items()) {
    std::string wrong;
    for (const char* dtype : {"f32", "bf16"}) {
      CAPTURE(name);
      const std::string mistake = mistake_in(recorded_op(tensors, name, one, dtype), false);
      if (!mistake.empty() && wrong.empty()) wrong = std::string(dtype) + ": " + mistake;
    }
    if (wrong == std::string("bf16: ") + recorded_too_far) {
      conformance.leave_out(recorded_too_far);
    } else {
      conformance.expect(name, wrong.empty() ? "close" : wrong, "close");
    }
  }
  CHECK(conformance.matched() == conformance.total());
}

TEST_CASE("edge values go through ops as through JAX") {
  const Tensors tensors = recorded_tensors("numerics/edges.safetensors");
  const auto file = read_goldens("numerics/edges.json");
  if (!file || tensors.empty()) return;
  Conformance conformance("numerics/edges.json");
  for (const auto& [name, one] : file->at("cases").items()) {
    const std::string wrong = mistake_in(recorded_edge(tensors, name, one), true);
    conformance.expect(name, wrong.empty() ? "close" : wrong, "close");
  }
  CHECK(conformance.matched() == conformance.total());
}

TEST_CASE("every cast gives the bits JAX gave") {
  const Tensors tensors = recorded_tensors("numerics/casts.safetensors");
  const auto file = read_goldens("numerics/casts.json");
  if (!file || tensors.empty()) return;
  Conformance conformance("numerics/casts.json");
  for (const auto& [name, one] : file->at("cases").items()) {
    const HostTensor& from = tensors.at(one.at("inputs").get<std::string>());
    const std::string target = own_dtype(name.substr(name.find('/') + 1));
    Recorded recorded;
    recorded.name = name;
    recorded.arguments = {"x"};
    recorded.inputs["x"] = from;
    const HostTensor& expected = tensors.at(name);
    const RecordedExpression cast = {
        Closeness::exact, [&](const Arguments& arguments) {
          return Xs{arguments.at("x").op(Op::convert, {{"dtype", target}})};
        }};
    const std::string wrong =
        difference(run(recorded, cast, false).found.front(), expected, 0, nullptr);
    conformance.expect(name, wrong.empty() ? "equal" : wrong, "equal");
  }
  CHECK(conformance.matched() == conformance.total());
}
