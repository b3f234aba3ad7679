#pragma once
// The typing rules of explicit mode: one row per op, by the names of JAX's own functions. A rule
// takes the operands' types, the op's parameters and the `out_sharding` written for it, and gives
// the results' types or throws a `TypingRefusal`. Ops of our own graph are typed by the same rows
// (explicit_graph.h), so there is one engine.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "shard/explicit_parameters.h"
#include "shard/explicit_refusal.h"
#include "shard/explicit_type.h"

namespace shard {

/// One step of a program: an op on earlier values and numbers.
struct TypedStep {
  std::vector<std::string> results;
  bool names_each = false;  ///< one name per result; else the only name is that of the first
  std::string op;
  std::vector<std::variant<std::string, ShardedType>> operands;  ///< names, or numbers
  Parameters parameters;
  std::optional<PartitionSpec> out_sharding;
};

/// A program of named values: the body of a loop, a branch, a function that is mapped.
struct TypedProgram {
  std::vector<std::string> arguments;
  std::vector<TypedStep> steps;
  std::vector<std::string> results;
};

using ShardedTypes = std::vector<ShardedType>;

/// Is told how a program is typed, regions included.
struct TypingListener {
  virtual ~TypingListener() = default;
  virtual void begins(const TypedStep& step) = 0;
  virtual void enters(std::size_t branch) = 0;  ///< one of several bodies of the step
  virtual void leaves() = 0;                    ///< the step or the branch
  virtual void has(const std::string& name, const ShardedType& type) = 0;
};

struct TypingCall {
  const Mesh& mesh;  ///< the mesh in force
  std::string_view op;
  ShardedTypes operands;
  const Parameters& parameters;
  const PartitionSpec* out = nullptr;  ///< `out_sharding`, nullptr for none
  bool is_eager = false;               ///< on arrays, not on traced values
  TypingListener* listener = nullptr;  ///< nullptr: nobody listens
};

using TypingRule = ShardedTypes (*)(const TypingCall& call);
/// The element type of every result; nullptr in a row: as the rule says.
using ElementRule = ElementType (*)(const TypingCall& call);
/// Refuses operands of element types that the op does not take.
using ElementCheck = void (*)(const TypingCall& call);

struct TypingRow {
  std::string_view op;  ///< `lax.add`
  TypingRule rule;
  ElementRule element = nullptr;
  std::string_view primitive{};    ///< the op of `lax` that a function of numpy ends in
  bool sets_varying = false;       ///< the rule says along which axes the results vary
  ElementCheck accepts = nullptr;  ///< asked first; nullptr: takes all
};

/// All rows, in the order of their names.
std::span<const TypingRow> typing_table();
/// nullptr for an op without a row.
const TypingRow* typing_row(std::string_view op);

/// Types of an op's results. Throws `TypingRefusal`: `other_mesh` for an operand typed on another
/// mesh than the one in force, `unknown_op`, or what the op's rule refuses.
ShardedTypes type_op(const TypingCall& call);
/// Of an op with one result.
ShardedType type_one(const Mesh& mesh, std::string_view op, ShardedTypes operands,
                     const Parameters& parameters = {}, const PartitionSpec* out = nullptr);

/// Types of a program's results.
ShardedTypes type_program(const Mesh& mesh, const TypedProgram& program, ShardedTypes arguments,
                          TypingListener* listener = nullptr);

}  // namespace shard
