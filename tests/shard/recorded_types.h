#pragma once
// Types, parameters and programs of explicit mode as the recordings write them.

#include <string>

#include "shard/explicit_typing.h"
#include "support/recordings.h"

namespace shard::tests {

/// `[[name, size], [name, size, "auto"], ...]`; without a third item the axis is Explicit.
Mesh typed_mesh(const json& axes);
/// A sharding argument: `{spec, unreduced, reduced}`.
PartitionSpec written_spec(const json& argument);
/// `{shape, dtype, spec, ...}` or a number of the program.
ShardedType recorded_type(const Mesh& mesh, const json& written);
Parameter parameter_of(const json& written);
Parameters parameters_of(const json& step);
TypedStep typed_step(const json& step);
/// `{args, steps, results}`.
TypedProgram typed_program(const json& written);

/// What we say of a refusal, for comparing: its class, and its key phrase when the recorded message
/// has it.
std::string refusal_text(const TypingRefusal& refusal, const json& recorded);
/// The recorded error in the same form: with the whole message when the phrase is not in it.
std::string error_text(const json& error, const TypingRefusal* refusal);

/// Calls `answer`, and compares what it returns, or the refusal that it throws, with what was
/// recorded; `recorded` has an `error` or is right with `expected`.
template <class Answer>
void compare_typing(Conformance& conformance, const std::string& id, const json& recorded,
                    const std::string& expected, Answer answer) {
  const bool fails = recorded.contains("error");
  try {
    const std::string found = answer();
    conformance.expect(id, found, fails ? error_text(recorded.at("error"), nullptr) : expected);
  } catch (const TypingRefusal& refusal) {
    const std::string found =
        fails ? refusal_text(refusal, recorded) : "refused: " + std::string(refusal.what());
    conformance.expect(id, found, fails ? error_text(recorded.at("error"), &refusal) : expected);
  }
}

/// What a recorded step printed; empty where nothing was.
inline std::string recorded_print(const json& step) {
  for (const char* key : {"type", "text"}) {
    if (step.contains(key)) return step.at(key).get<std::string>();
  }
  return step.contains("spec") ? step.at("spec").dump() : "";
}

}  // namespace shard::tests
