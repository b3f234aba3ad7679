#include "recorded_program.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "recorded_ops.h"

namespace shard::tests {
namespace {

/// StableHLO's elementwise ops, which propagation schedules first.
const std::set<std::string> elementwise = {"abs",
                                           "add",
                                           "and",
                                           "atan2",
                                           "cbrt",
                                           "ceil",
                                           "clamp",
                                           "compare",
                                           "complex",
                                           "constraint",
                                           "convert",
                                           "copy",
                                           "cosine",
                                           "count_leading_zeros",
                                           "divide",
                                           "exponential",
                                           "exponential_minus_one",
                                           "floor",
                                           "imag",
                                           "is_finite",
                                           "log",
                                           "log_plus_one",
                                           "logistic",
                                           "maximum",
                                           "minimum",
                                           "multiply",
                                           "negate",
                                           "not",
                                           "or",
                                           "popcnt",
                                           "power",
                                           "real",
                                           "reduce_precision",
                                           "remainder",
                                           "reshard",
                                           "round_nearest_afz",
                                           "round_nearest_even",
                                           "rsqrt",
                                           "select",
                                           "shift_left",
                                           "shift_right_arithmetic",
                                           "shift_right_logical",
                                           "sign",
                                           "sine",
                                           "sqrt",
                                           "subtract",
                                           "tan",
                                           "tanh",
                                           "xor"};
const std::set<std::string> of_constants = {"broadcast_in_dim", "reshape", "slice", "reverse"};

FlowKind kind_of(const std::string& op) {
  if (elementwise.count(op) > 0) return FlowKind::elementwise;
  if (op == "reshape" || op == "transpose") return FlowKind::data_movement;
  if (op == "dynamic_slice" || op == "dynamic_update_slice") return FlowKind::slice;
  return op == "broadcast_in_dim" ? FlowKind::broadcast : FlowKind::other;
}

/// The texts between each `open` and the next `close`.
std::vector<std::string> enclosed(const std::string& text, char open, char close) {
  std::vector<std::string> found;
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
    const std::size_t end = text.find(close, at);
    found.push_back(text.substr(at + 1, end - at - 1));
    at = end;
  }
  return found;
}

/// The parts between commas, without the blanks around them; none for an empty text.
std::vector<std::string> parts(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    part.erase(0, part.find_first_not_of(' '));
    if (!part.empty()) found.push_back(part);
  }
  return found;
}

/// `x, y:(1)2, ?`.
Axes read_axes(const Mesh& mesh, const std::string& text) {
  Axes axes;
  for (const std::string& part : parts(text)) {
    if (part == "?") continue;
    const std::size_t colon = part.find(":(");
    AxisRef axis = mesh.full(mesh.find(MeshAxis(part.substr(0, colon))).value());
    if (colon != std::string::npos) {
      axis.pre_size = std::stoll(part.substr(colon + 2));
      axis.size = std::stoll(part.substr(part.find(')') + 1));
    }
    axes.push_back(axis);
  }
  return axes;
}

Shape read_shape(const std::string& type) {
  Shape shape;
  for (const std::string& size : parts(enclosed(type, '[', ']').front())) {
    shape.push_back(std::stoll(size));
  }
  return shape;
}

/// `ijz_1`: letters i to z, then z_1, z_2, ...
std::vector<int> read_factors(const std::string& text) {
  std::vector<int> factors;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t used = 1;
    int factor = text[at] - 'i';
    if (text.compare(at, 2, "z_") == 0) {
      factor += std::stoi(text.substr(at + 2), &used);
      used += 2;
    }
    factors.push_back(factor);
    at += used;
  }
  return factors;
}

TensorFactors read_tensor(const std::string& text) {
  TensorFactors tensor;
  for (const std::string& dim : parts(text)) tensor.push_back(read_factors(dim));
  return tensor;
}

/// Marks the factors that `text` lists after `word={`.
template <class Mark>
void mark(FactorRule& rule, const std::string& text, const std::string& word, const Mark& how) {
  const std::size_t at = text.find(" " + word + "={");
  if (at == std::string::npos) return;
  for (const std::string& name : parts(enclosed(text.substr(at), '{', '}').front())) {
    how(rule.factors[static_cast<std::size_t>(read_factors(name).front())]);
  }
}

class Reader {
 public:
  explicit Reader(const json& recorded) : recorded_(recorded) {
    program_.mesh = mesh_of(recorded.at("mesh"));
  }

  RecordedProgram read() {
    for (const json& argument : recorded_.at("args")) {
      define(argument, argument.at(3));
      program_.arguments.push_back(builder_.slot(argument.at(0).get<int>()));
    }
    count_values(recorded_.at("ops"));
    add_ops(recorded_.at("ops"));
    for (const json& result : recorded_.at("results")) {
      const std::optional<Sharding> given = sharding(result.at(2));
      builder_.add_result(result.at(0).get<int>(), given ? &*given : nullptr);
      program_.expected_result.push_back(result.at(1).get<std::string>());
    }
    program_.flow = builder_.finish();
    return std::move(program_);
  }

 private:
  std::optional<Sharding> sharding(const json& text) const {
    if (text.is_null()) return std::nullopt;
    return read_sharding(program_.mesh, text.get<std::string>());
  }

  void declare(const json& value) {
    const auto number = value.at(0).get<std::size_t>();
    known_[value.at(0).get<int>()] = {read_shape(value.at(1).get<std::string>()), maker_,
                                      cut_from_};
    if (program_.expected.size() <= number) program_.expected.resize(number + 1);
    program_.expected[number] = value.at(2).get<std::string>();
  }

  /// The row's rule where the op is one of ours, else the recorded one.
  int add_rule(const json& op) {
    const std::string expected = op.at("rule").get<std::string>();
    const std::optional<FactorRule> own = rule_by_row(recorded_op(op));
    program_.rules.push_back(
        {op.at("op").get<std::string>(), own ? recorded_text(*own) : "no row", expected});
    return builder_.add_rule(own ? *own : read_rule(expected));
  }

  RecordedOp recorded_op(const json& op) const {
    RecordedOp recorded{op, {}, {}, {}, {}};
    for (const json& operand : op.at("in")) {
      const Known& known = known_.at(operand.get<int>());
      recorded.operands.push_back({DType::f32, known.shape});
      recorded.makers.push_back(known.maker);
      recorded.sliced_from.push_back(known.first_operand);
    }
    for (const json& result : op.at("out")) {
      recorded.results.push_back({DType::f32, read_shape(result.at(1).get<std::string>())});
    }
    return recorded;
  }

  void define(const json& value, const json& given_text) {
    declare(value);
    const std::optional<Sharding> given = sharding(given_text);
    builder_.define(value.at(0).get<int>(), read_shape(value.at(1).get<std::string>()),
                    given ? &*given : nullptr);
  }

  bool is_constant(const json& op) const {
    const std::string name = op.at("op").get<std::string>();
    if (name == "constant" || name == "iota") return true;
    if (name == "constraint" || elementwise.count(name) + of_constants.count(name) == 0) {
      return false;
    }
    for (const json& operand : op.at("in")) {
      if (!builder_.is_constant(operand.get<int>())) return false;
    }
    return true;
  }

  void add_ops(const json& ops) {
    for (const json& op : ops) {
      const std::string name = op.at("op").get<std::string>();
      maker_ = name;
      cut_from_ = op.at("in").empty() ? -1 : op.at("in").front().get<int>();
      if (is_constant(op)) {
        add_constant(op);
      } else if (name == "while") {
        add_while(op);
      } else if (name == "case") {
        add_case(op);
      } else if (name == "manual_computation") {
        add_manual(op);
      } else if (name == "optimization_barrier") {
        add_barrier(op);
      } else {
        add_op(op);
      }
    }
  }

  void add_constant(const json& op) {
    const json& result = op.at("out").at(0);
    declare(result);
    const bool has_rule = op.contains("rule");
    const int rule = has_rule ? add_rule(op) : -1;
    builder_.define_constant(result.at(0).get<int>(), read_shape(result.at(1).get<std::string>()),
                             kind_of(op.at("op").get<std::string>()), rule,
                             op.at("in").get<std::vector<int>>(), NodeId::none);
  }

  void add_op(const json& op) {
    const std::string name = op.at("op").get<std::string>();
    const bool is_constraint = name == "constraint";
    for (const json& result : op.at("out")) {
      define(result, is_constraint ? op.at("attrs").at("spec") : json());
    }
    std::vector<int> operands;
    for (const json& operand : op.at("in")) operands.push_back(builder_.use(operand.get<int>()));
    std::vector<int> results;
    for (const json& result : op.at("out")) {
      results.push_back(builder_.slot(result.at(0).get<int>()));
    }
    if (is_constraint) {
      builder_.constrain(operands.front(), *sharding(op.at("attrs").at("spec")));
    }
    if (!op.contains("rule")) return;
    const int rule = add_rule(op);
    builder_.add_node(kind_of(name), rule, std::move(operands), std::move(results), NodeId::none);
  }

  /// One edge per result, from what every branch returns.
  void add_case(const json& op) {
    for (const json& result : op.at("out")) define(result, json());
    for (const json& operand : op.at("in")) builder_.use(operand.get<int>());
    for (const json& branch : op.at("branches")) {
      add_ops(branch.at("ops"));
    }
    for (std::size_t i = 0; i < op.at("out").size(); ++i) {
      std::vector<int> sources;
      for (const json& branch : op.at("branches")) {
        sources.push_back(builder_.use(branch.at("results")[i].get<int>()));
      }
      builder_.add_edge(std::move(sources), builder_.slot(op.at("out")[i].at(0).get<int>()),
                        NodeId::none);
    }
  }

  /// Every operand flows to its result.
  void add_barrier(const json& op) {
    for (std::size_t i = 0; i < op.at("out").size(); ++i) {
      const json& result = op.at("out")[i];
      define(result, json());
      const int operand = builder_.use(op.at("in")[i].get<int>());
      builder_.add_edge({operand}, builder_.slot(result.at(0).get<int>()), NodeId::none);
    }
  }

  void add_while(const json& op) {
    for (const json& result : op.at("out")) define(result, json());
    std::vector<int> operands;
    for (const json& operand : op.at("in")) operands.push_back(builder_.use(operand.get<int>()));
    for (const char* const region : {"cond", "body"}) {
      const json& arguments = op.at(region).at("args");
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        known_[arguments[i].at(0).get<int>()] = {read_shape(arguments[i].at(1).get<std::string>()),
                                                 "", -1};
        builder_.alias(arguments[i].at(0).get<int>(), op.at("out")[i].at(0).get<int>());
      }
    }
    for (const char* const region : {"cond", "body"}) {
      add_ops(op.at(region).at("ops"));
    }
    const json& next = op.at("body").at("results");
    for (std::size_t i = 0; i < operands.size(); ++i) {
      builder_.add_edge({operands[i], builder_.use(next[i].get<int>())},
                        builder_.slot(op.at("out")[i].at(0).get<int>()), NodeId::none);
    }
  }

  /// The numbers that the program gives to values, those of regions included.
  void count_values(const json& ops) {
    const auto see = [&](const json& values) {
      for (const json& value : values) next_ = std::max(next_, value.at(0).get<int>() + 1);
    };
    for (const json& op : ops) {
      see(op.at("out"));
      for (const char* const region : {"cond", "body"}) {
        if (!op.contains(region)) continue;
        see(op.at(region).at("args"));
        count_values(op.at(region).at("ops"));
      }
      for (const json& branch : op.value("branches", json::array())) {
        count_values(branch.at("ops"));
      }
    }
  }

  /// A whole array and a device's part of it: every dim is the parts along the manual axes, which
  /// only the whole array has, times the part.
  FactorRule part_rule(const Shape& whole, const Shape& part, bool is_result) const {
    FactorRule rule;
    TensorFactors outside(whole.size()), inside(whole.size());
    for (std::size_t dim = 0; dim < whole.size(); ++dim) {
      const std::int64_t parts = whole[dim] / part[dim];
      if (parts > 1) {
        outside[dim].push_back(static_cast<int>(rule.factors.size()));
        rule.factors.push_back({parts, FactorKind::pass_through, false});
      }
      const int own = static_cast<int>(rule.factors.size());
      outside[dim].push_back(own);
      inside[dim] = {own};
      rule.factors.push_back({part[dim], FactorKind::pass_through, false});
    }
    rule.operands = {is_result ? inside : outside};
    rule.results = {is_result ? outside : inside};
    return rule;
  }

  /// Edges to the operands as the computation takes them and from its results, and between those
  /// and the parts that a device has of them.
  void add_manual(const json& op) {
    const json& body = op.at("body");
    for (std::size_t i = 0; i < op.at("in").size(); ++i) {
      const int operand = builder_.use(op.at("in")[i].get<int>());
      const Shape whole = known_.at(op.at("in")[i].get<int>()).shape;
      const int taken = new_value(whole, op.at("given_in")[i], op.at("in_shardings")[i]);
      builder_.constrain(operand, *sharding(op.at("given_in")[i]));
      builder_.add_edge({operand}, builder_.slot(taken), NodeId::none);
      const json& argument = body.at("args")[i];
      define(argument, json());
      add_part_node(builder_.use(taken), builder_.slot(argument.at(0).get<int>()), whole,
                    read_shape(argument.at(1).get<std::string>()), false);
    }
    add_ops(body.at("ops"));
    for (std::size_t i = 0; i < op.at("out").size(); ++i) {
      const json& result = op.at("out")[i];
      define(result, op.at("given_out")[i]);
      const int returned = body.at("results")[i].get<int>();
      add_part_node(builder_.use(returned), builder_.slot(result.at(0).get<int>()),
                    read_shape(result.at(1).get<std::string>()), known_.at(returned).shape, true);
    }
  }

  void add_part_node(int from, int to, const Shape& whole, const Shape& part, bool is_result) {
    const int rule = builder_.add_rule(part_rule(whole, part, is_result));
    builder_.add_node(FlowKind::edge, rule, {from}, {to}, NodeId::none);
  }

  /// A value that the program has no number for.
  int new_value(const Shape& shape, const json& given_text, const json& expected) {
    const int number = next_++;
    known_[number] = {shape, "", -1};
    program_.expected.resize(static_cast<std::size_t>(number) + 1);
    program_.expected.back() = expected.get<std::string>();
    const std::optional<Sharding> given = sharding(given_text);
    builder_.define(number, shape, given ? &*given : nullptr);
    return number;
  }

  /// What later ops ask about a value.
  struct Known {
    Shape shape;
    std::string maker;       ///< the op, empty for arguments
    int first_operand = -1;  ///< of the op
  };

  const json& recorded_;
  std::map<int, Known> known_;
  std::string maker_;  ///< the op being read
  int cut_from_ = -1;  ///< its first operand
  int next_ = 0;       ///< the first number that no value has
  FlowBuilder builder_;
  RecordedProgram program_;
};

}  // namespace

Sharding read_sharding(const Mesh& mesh, const std::string& text) {
  const std::size_t replicated = text.find(", replicated=");
  Sharding sharding;
  for (const std::string& dim : enclosed(text.substr(0, replicated), '{', '}')) {
    sharding.dims.push_back({read_axes(mesh, dim), dim.find('?') != std::string::npos});
  }
  if (replicated != std::string::npos) {
    sharding.replicated = read_axes(mesh, enclosed(text.substr(replicated), '{', '}').front());
  }
  return sharding;
}

std::string recorded_form(const Mesh& mesh, const Sharding& sharding) {
  std::string text;
  for (const DimSharding& dim : sharding.dims) {
    std::string axes;
    for (const AxisRef& axis : dim.axes) axes += (axes.empty() ? "" : ", ") + to_string(mesh, axis);
    text += (text.empty() ? "{" : ", {") + axes + "}";
  }
  return "[" + text + "]";
}

FactorRule read_rule(const std::string& text) {
  const std::size_t arrow = text.find("->");
  const std::size_t end = text.find(')', arrow);
  FactorRule rule;
  for (const std::string& tensor : enclosed(text.substr(0, arrow), '[', ']')) {
    rule.operands.push_back(read_tensor(tensor));
  }
  for (const std::string& tensor : enclosed(text.substr(arrow, end - arrow), '[', ']')) {
    rule.results.push_back(read_tensor(tensor));
  }
  const std::string rest = text.substr(end + 1);
  if (rest.rfind(" {", 0) == 0) {
    for (const std::string& size : parts(enclosed(rest, '{', '}').front())) {
      rule.factors.push_back({std::stoll(size.substr(size.find('=') + 1)), {}, false});
    }
  }
  const auto kind = [](FactorKind value) { return [value](Factor& one) { one.kind = value; }; };
  mark(rule, rest, "reduction", kind(FactorKind::reduction));
  mark(rule, rest, "need_replication", kind(FactorKind::need_replication));
  mark(rule, rest, "permutation", kind(FactorKind::permutation));
  mark(rule, rest, "blocked_propagation", [](Factor& one) { one.is_blocked = true; });
  return rule;
}

RecordedProgram read_program(const json& recorded) { return Reader(recorded).read(); }

}  // namespace shard::tests
