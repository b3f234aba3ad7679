#include "shard/explicit_typing.h"

#include <algorithm>
#include <map>

#include "base/check.h"

namespace shard {
namespace {

/// Ops that take a value to another mesh.
bool changes_mesh(std::string_view op) { return op == "reshard" || op == "device_put"; }

bool is_all_auto(const Mesh& mesh) {
  return !mesh.has(AxisType::explicit_types) && !mesh.has(AxisType::manual);
}

void check_meshes(const TypingCall& call) {
  for (const ShardedType& operand : call.operands) {
    if (!operand.typed_on || *operand.typed_on == call.mesh) continue;
    if (is_all_auto(call.mesh) && is_all_auto(*operand.typed_on)) continue;
    refuse(RefusalKind::other_mesh, "For primitive " + std::string(call.op) + ", context mesh " +
                                        to_string(call.mesh) + " should match the aval mesh " +
                                        to_string(*operand.typed_on) +
                                        ": a value keeps the axis types it was typed with");
  }
}

/// What the op was given, in the words of JAX's message.
std::string inputs_text(const TypingCall& call) {
  std::string text;
  for (const ShardedType& operand : call.operands) {
    text += (text.empty() ? "" : ", ") + short_type_text(call.mesh, operand);
  }
  return text;
}

std::string primitive_of(const TypingCall& call) {
  return std::string(call.op.substr(call.op.rfind('.') + 1));
}

ShardedTypes ruled(const TypingRow& row, const TypingCall& call) {
  try {
    return row.rule(call);
  } catch (const TypingRefusal& refusal) {
    const std::string said = refusal.what();
    if (refusal.kind() != RefusalKind::illegal_result || said.find(" with inputs: ") != said.npos) {
      throw;
    }
    refuse(RefusalKind::illegal_result,
           primitive_of(call) + " operation with inputs: " + inputs_text(call) + " " + said);
  }
}

/// A result varies along every axis that an operand varies along.
TypeEntry varying_of(const ShardedTypes& operands) {
  TypeEntry axes;
  for (const ShardedType& operand : operands) {
    axes.insert(axes.end(), operand.varying.begin(), operand.varying.end());
  }
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

class ProgramTyper {
 public:
  ProgramTyper(const Mesh& mesh, TypingListener* listener) : mesh_(mesh), listener_(listener) {}

  void define(const std::string& name, ShardedType type) {
    if (listener_ != nullptr) listener_->has(name, type);
    values_[name] = std::move(type);
  }

  void run(const TypedStep& step) {
    if (listener_ != nullptr) listener_->begins(step);
    ShardedTypes operands;
    for (const auto& operand : step.operands) {
      const auto* number = std::get_if<ShardedType>(&operand);
      operands.push_back(number != nullptr ? *number : value(std::get<std::string>(operand)));
    }
    const PartitionSpec* out = step.out_sharding ? &*step.out_sharding : nullptr;
    ShardedTypes found =
        type_op({mesh_, step.op, std::move(operands), step.parameters, out, false, listener_});
    if (listener_ != nullptr) listener_->leaves();
    if (step.names_each) {
      const std::size_t count = std::min(found.size(), step.results.size());
      for (std::size_t k = 0; k < count; ++k) define(step.results[k], std::move(found[k]));
      return;
    }
    const std::string& name = step.results.front();
    for (std::size_t k = 0; found.size() > 1 && k < found.size(); ++k) {
      define(name + "." + std::to_string(k), found[k]);
    }
    define(name, std::move(found.front()));
  }

  const ShardedType& value(const std::string& name) const {
    const auto found = values_.find(name);
    SHARD_CHECK(found != values_.end(), "a step names values before it");
    return found->second;
  }

 private:
  const Mesh& mesh_;
  TypingListener* listener_;
  std::map<std::string, ShardedType> values_;
};

}  // namespace

ShardedTypes type_op(const TypingCall& call) {
  const TypingRow* row = typing_row(call.op);
  if (row == nullptr) {
    throw TypingRefusal(RefusalKind::unknown_op,
                        "there is no typing rule for " + std::string(call.op));
  }
  if (!changes_mesh(call.op)) check_meshes(call);
  if (row->accepts != nullptr) row->accepts(call);
  ShardedTypes found = ruled(*row, call);
  const auto is_mapped = [](const ShardedType& type) { return type.is_mapped; };
  const bool maps = std::any_of(call.operands.begin(), call.operands.end(), is_mapped);
  const TypeEntry varying = varying_of(call.operands);
  for (ShardedType& type : found) {
    if (row->element != nullptr) type.element = row->element(call);
    type.is_number = false;
    type.is_mapped = maps;
    type.typed_on = nullptr;
    if (!row->sets_varying) type.varying = varying;
  }
  return found;
}

ShardedType type_one(const Mesh& mesh, std::string_view op, ShardedTypes operands,
                     const Parameters& parameters, const PartitionSpec* out) {
  return type_op({mesh, op, std::move(operands), parameters, out}).front();
}

ShardedTypes type_program(const Mesh& mesh, const TypedProgram& program, ShardedTypes arguments,
                          TypingListener* listener) {
  SHARD_CHECK(program.arguments.size() <= arguments.size(), "a program gets all its arguments");
  ProgramTyper typer(mesh, listener);
  for (std::size_t k = 0; k < program.arguments.size(); ++k) {
    typer.define(program.arguments[k], std::move(arguments[k]));
  }
  for (const TypedStep& step : program.steps) typer.run(step);
  ShardedTypes results;
  for (const std::string& name : program.results) results.push_back(typer.value(name));
  return results;
}

}  // namespace shard
