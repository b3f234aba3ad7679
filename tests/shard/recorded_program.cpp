#include "recorded_program.h"

#include <regex>
#include <set>

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
const std::set<std::string> not_modelled = {"case", "optimization_barrier", "manual_computation"};

FlowKind kind_of(const std::string& op) {
  if (elementwise.count(op) > 0) return FlowKind::elementwise;
  if (op == "reshape" || op == "transpose") return FlowKind::data_movement;
  if (op == "dynamic_slice" || op == "dynamic_update_slice") return FlowKind::slice;
  return op == "broadcast_in_dim" ? FlowKind::broadcast : FlowKind::other;
}

std::vector<std::string> all_matches(const std::string& text, const std::regex& pattern,
                                     std::size_t group = 0) {
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    found.push_back((*at)[group].str());
  }
  return found;
}

Axes read_axes(const Mesh& mesh, const std::string& text) {
  static const std::regex pattern(R"((\w+)(?::\((\d+)\)(\d+))?)");
  Axes axes;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    const AxisRef full = mesh.full(mesh.find(MeshAxis((*at)[1].str())).value());
    const bool is_part = (*at)[2].matched;
    axes.push_back(is_part ? AxisRef{full.axis, std::stoll((*at)[2]), std::stoll((*at)[3])} : full);
  }
  return axes;
}

Shape read_shape(const std::string& type) {
  static const std::regex number(R"(\d+)");
  Shape shape;
  for (const std::string& size : all_matches(type.substr(type.find('[')), number)) {
    shape.push_back(std::stoll(size));
  }
  return shape;
}

int factor_number(const std::string& name) {
  return name.size() == 1 ? name[0] - 'i' : 'z' - 'i' + std::stoi(name.substr(2));
}

TensorFactors read_tensor(const std::string& text) {
  static const std::regex dim_pattern(R"([^, ][^,]*)");
  static const std::regex factor_pattern(R"(z_\d+|[i-z])");
  TensorFactors tensor;
  for (const std::string& dim : all_matches(text, dim_pattern)) {
    std::vector<int>& factors = tensor.emplace_back();
    for (const std::string& name : all_matches(dim, factor_pattern)) {
      factors.push_back(factor_number(name));
    }
  }
  return tensor;
}

class Reader {
 public:
  explicit Reader(const json& recorded) : recorded_(recorded) {
    program_.mesh = mesh_of(recorded.at("mesh"));
  }

  std::optional<RecordedProgram> read() {
    for (const json& argument : recorded_.at("args")) {
      define(argument, argument.at(3));
      program_.arguments.push_back(builder_.slot(argument.at(0).get<int>()));
    }
    if (!add_ops(recorded_.at("ops"))) return std::nullopt;
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
    if (program_.expected.size() <= number) program_.expected.resize(number + 1);
    program_.expected[number] = value.at(2).get<std::string>();
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

  bool add_ops(const json& ops) {
    for (const json& op : ops) {
      const std::string name = op.at("op").get<std::string>();
      if (not_modelled.count(name) > 0) return false;
      if (is_constant(op)) {
        add_constant(op);
      } else if (name == "while") {
        if (!add_while(op)) return false;
      } else {
        add_op(op);
      }
    }
    return true;
  }

  void add_constant(const json& op) {
    const json& result = op.at("out").at(0);
    declare(result);
    const bool has_rule = op.contains("rule");
    const int rule = has_rule ? builder_.add_rule(read_rule(op.at("rule").get<std::string>())) : -1;
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
    const int rule = builder_.add_rule(read_rule(op.at("rule").get<std::string>()));
    builder_.add_node(kind_of(name), rule, std::move(operands), std::move(results), NodeId::none);
  }

  bool add_while(const json& op) {
    for (const json& result : op.at("out")) define(result, json());
    std::vector<int> operands;
    for (const json& operand : op.at("in")) operands.push_back(builder_.use(operand.get<int>()));
    for (const char* const region : {"cond", "body"}) {
      const json& arguments = op.at(region).at("args");
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        builder_.alias(arguments[i].at(0).get<int>(), op.at("out")[i].at(0).get<int>());
      }
    }
    for (const char* const region : {"cond", "body"}) {
      if (!add_ops(op.at(region).at("ops"))) return false;
    }
    const json& next = op.at("body").at("results");
    for (std::size_t i = 0; i < operands.size(); ++i) {
      builder_.add_edge({operands[i], builder_.use(next[i].get<int>())},
                        builder_.slot(op.at("out")[i].at(0).get<int>()), NodeId::none);
    }
    return true;
  }

  const json& recorded_;
  FlowBuilder builder_;
  RecordedProgram program_;
};

}  // namespace

Sharding read_sharding(const Mesh& mesh, const std::string& text) {
  static const std::regex dim_pattern(R"(\{([^}]*)\})");
  const std::size_t replicated = text.find(", replicated=");
  Sharding sharding;
  for (const std::string& dim : all_matches(text.substr(0, replicated), dim_pattern, 1)) {
    const bool is_open = dim.find('?') != std::string::npos;
    sharding.dims.push_back({read_axes(mesh, dim), is_open});
  }
  if (replicated != std::string::npos) {
    const std::string names = text.substr(replicated + std::string(", replicated=").size());
    sharding.replicated = read_axes(mesh, names);
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
  static const std::regex tensor_pattern(R"(\[([^\]]*)\])");
  static const std::regex size_pattern(R"(=(\d+))");
  static const std::regex kind_pattern(R"((\w+)=\{([^}]*)\})");
  const std::size_t arrow = text.find("->");
  const std::size_t end = text.find(')', arrow);
  FactorRule rule;
  for (const std::string& one : all_matches(text.substr(0, arrow), tensor_pattern, 1)) {
    rule.operands.push_back(read_tensor(one));
  }
  for (const std::string& one : all_matches(text.substr(arrow, end - arrow), tensor_pattern, 1)) {
    rule.results.push_back(read_tensor(one));
  }
  for (const std::string& size : all_matches(text, size_pattern, 1)) {
    rule.factors.push_back({std::stoll(size), FactorKind::pass_through, false});
  }
  static const std::regex factor_pattern(R"(z_\d+|[i-z])");
  for (std::sregex_iterator at(text.begin(), text.end(), kind_pattern), last; at != last; ++at) {
    for (const std::string& name : all_matches((*at)[2].str(), factor_pattern)) {
      Factor& factor = rule.factors[static_cast<std::size_t>(factor_number(name))];
      const std::string kind = (*at)[1].str();
      if (kind == "reduction") factor.kind = FactorKind::reduction;
      if (kind == "need_replication") factor.kind = FactorKind::need_replication;
      if (kind == "permutation") factor.kind = FactorKind::permutation;
      if (kind == "blocked_propagation") factor.is_blocked = true;
    }
  }
  return rule;
}

std::optional<RecordedProgram> read_program(const json& recorded) {
  return Reader(recorded).read();
}

}  // namespace shard::tests
