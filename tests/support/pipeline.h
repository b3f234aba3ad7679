#pragma once
// The pipeline as `cli` runs it, from shipped files to a program, for tests of whole runs.

#include <string>
#include <vector>

#include "config/load.h"
#include "mesh/mesh.h"
#include "model/model.h"
#include "shard/sharded_graph.h"
#include "spmd/partition.h"
#include "spmd/program.h"

namespace shard::test {

struct Planned {
  Model model;
  RulesConfig rules;
  Mesh mesh;
  ShardedGraph sharded;
  Program program;
};

/// Plans the train step (or `apply`) of `models/MODEL.yaml` under `rules/RULES.yaml` with these
/// overrides.
Planned plan_shipped(const std::string& model, const std::string& rules,
                     const Overrides& overrides = {}, bool train = true);

/// The same from texts; both files are named in messages as `model.yaml` and `rules.yaml`.
Planned plan_texts(const std::string& model, const std::string& rules, bool train = true);

/// Position of the input or output with this path; fails the test when there is none.
std::size_t input_at(const Program& program, const std::string& path);
std::size_t output_at(const Program& program, const std::string& path);

}  // namespace shard::test
