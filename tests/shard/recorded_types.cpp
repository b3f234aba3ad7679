#include "recorded_types.h"

namespace shard::tests {

Mesh typed_mesh(const json& axes) {
  std::vector<MeshAxisInfo> infos;
  for (const json& axis : axes) {
    infos.push_back({MeshAxis(axis.at(0).get<std::string>()),
                     axis.at(1).get<std::int64_t>(),
                     {},
                     axis.size() > 2 ? AxisType::automatic : AxisType::explicit_types});
  }
  return Mesh(std::move(infos));
}

PartitionSpec written_spec(const json& argument) {
  PartitionSpec spec;
  for (const json& one : argument.at("spec")) {
    PartitionEntry& entry = spec.entries.emplace_back();
    if (one.is_array()) {
      for (const json& name : one) entry.axes.emplace_back(name.get<std::string>());
    } else if (one == "*") {
      entry.is_unconstrained = true;
    } else if (!one.is_null()) {
      entry.axes.emplace_back(one.get<std::string>());
    }
  }
  for (const json& name : argument.value("unreduced", json::array())) {
    spec.unreduced.emplace(name.get<std::string>());
  }
  for (const json& name : argument.value("reduced", json::array())) {
    spec.reduced.emplace(name.get<std::string>());
  }
  return spec;
}

ShardedType recorded_type(const Mesh& mesh, const json& written) {
  if (written.is_number()) {
    return number_type(written.get<double>(), written.is_number_integer());
  }
  std::shared_ptr<const Mesh> own;
  if (written.contains("mesh")) own = std::make_shared<const Mesh>(typed_mesh(written.at("mesh")));
  const Mesh& typed_on = own ? *own : mesh;
  const PartitionSpec spec = written_spec(written);
  TypeEntries entries;
  for (const PartitionEntry& entry : spec.entries) {
    TypeEntry& axes = entries.emplace_back();
    for (const MeshAxis& axis : entry.axes) axes.push_back(typed_on.find(axis).value());
  }
  ShardedType type =
      make_type(typed_on, {written.at("dtype").get<std::string>()},
                written.at("shape").get<Shape>(), std::move(entries),
                axis_positions(typed_on, spec.unreduced), axis_positions(typed_on, spec.reduced));
  type.typed_on = std::move(own);
  return type;
}

Parameter parameter_of(const json& written) {
  if (written.is_null()) return {};
  if (written.is_boolean()) return written.get<bool>();
  if (written.is_number_integer()) return written.get<std::int64_t>();
  if (written.is_number()) return written.get<double>();
  if (written.is_string()) return written.get<std::string>();
  if (written.is_array()) {
    Parameter::List list;
    for (const json& one : written) list.push_back(parameter_of(one));
    return list;
  }
  if (written.contains("steps")) {
    return std::make_shared<const TypedProgram>(typed_program(written));
  }
  Parameter::Map map;
  for (const auto& [key, one] : written.items()) map.emplace(key, parameter_of(one));
  return map;
}

Parameters parameters_of(const json& step) {
  const auto found = step.find("params");
  return found == step.end() || found->is_null() ? Parameters{} : parameter_of(*found).map();
}

TypedStep typed_step(const json& written) {
  TypedStep step;
  step.op = written.at("op").get<std::string>();
  step.parameters = parameters_of(written);
  step.names_each = written.at("out").is_array();
  if (step.names_each) {
    step.results = written.at("out").get<std::vector<std::string>>();
  } else {
    step.results = {written.at("out").get<std::string>()};
  }
  for (const json& operand : written.value("in", json::array())) {
    if (operand.is_string()) {
      step.operands.emplace_back(operand.get<std::string>());
    } else {
      step.operands.emplace_back(number_type(operand.get<double>(), operand.is_number_integer()));
    }
  }
  if (const auto out = written.find("out_sharding"); out != written.end() && !out->is_null()) {
    step.out_sharding = written_spec(*out);
  }
  return step;
}

TypedProgram typed_program(const json& written) {
  TypedProgram program;
  program.arguments = written.at("args").get<std::vector<std::string>>();
  for (const json& step : written.at("steps")) program.steps.push_back(typed_step(step));
  program.results = written.at("results").get<std::vector<std::string>>();
  return program;
}

std::string refusal_text(const TypingRefusal& refusal, const json& recorded) {
  const std::string message = recorded.at("error").at("message").get<std::string>();
  const bool agrees = refusal.kind() != RefusalKind::unknown_op &&
                      message.find(refusal.row().phrase) != message.npos;
  return std::string(refusal.row().error_class) + ": " +
         (agrees ? std::string(refusal.row().phrase) : refusal.what());
}

std::string error_text(const json& error, const TypingRefusal* refusal) {
  const std::string message = error.at("message").get<std::string>();
  const bool has_phrase = refusal != nullptr && message.find(refusal->row().phrase) != message.npos;
  return error.at("class").get<std::string>() + ": " +
         (has_phrase ? std::string(refusal->row().phrase) : message.substr(0, 160));
}

}  // namespace shard::tests
