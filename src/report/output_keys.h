#pragma once
// The keys of what `--format json` writes, command by command; `json_schema.cpp` makes the
// schema of them.

#include <span>

namespace shard {

/// One key of the output: where it stands (`[]` for the items of a list), its JSON types, what it
/// means.
struct OutputKey {
  const char* path;
  const char* type;
  const char* help;
};

namespace output_keys {

extern const std::span<const OutputKey> head;
extern const std::span<const OutputKey> array;
extern const std::span<const OutputKey> function;
extern const std::span<const OutputKey> plan;
extern const std::span<const OutputKey> piece;
extern const std::span<const OutputKey> answer;
extern const std::span<const OutputKey> collective_answer;
extern const std::span<const OutputKey> asked_collective;
extern const std::span<const OutputKey> finding;
extern const std::span<const OutputKey> findings;
extern const std::span<const OutputKey> explain;
extern const std::span<const OutputKey> delta;
extern const std::span<const OutputKey> kind;
extern const std::span<const OutputKey> show;
extern const std::span<const OutputKey> shown;
extern const std::span<const OutputKey> run;

}  // namespace output_keys

}  // namespace shard
