#pragma once
// The types of gradients. A gradient has its value's own type with unreduced and reduced axes
// exchanged, whatever the program: the product rules see to it that every backward product says
// what it wants. A few ops cannot be differentiated where their operands are split.

#include "shard/explicit_typing.h"

namespace shard {

/// The type of a value's cotangent.
ShardedType cotangent_type(ShardedType type);

/// Types of the derivative of the result `result` of a program by the arguments `wanted`.
/// `cotangent` is what comes in from behind (nullptr: as the result wants it). `listener` hears of
/// the program itself. Throws `TypingRefusal`: of the program's steps; then what an op's derivative
/// refuses before anything flows backward; then `cotangent_type`; then what the backward ops
/// refuse.
ShardedTypes gradient_types(const Mesh& mesh, const TypedProgram& program,
                            const ShardedTypes& arguments, const std::vector<std::string>& wanted,
                            const ShardedType* cotangent = nullptr,
                            TypingListener* listener = nullptr);

}  // namespace shard
