#pragma once
// Everything planning found, as one value. The reports read it and decide nothing new.

#include <optional>
#include <string>
#include <vector>

#include "check/findings.h"
#include "mesh/mesh.h"
#include "model/model.h"
#include "shard/sharded_graph.h"
#include "spmd/partition.h"
#include "spmd/program.h"

namespace shard {

/// One function of the model, sharded and partitioned.
struct PlannedFunction {
  ShardedGraph sharded;
  Program program;
  std::vector<CollectiveCount> collectives;
  std::vector<MergeCount> merged;  ///< as XLA's combiner would
};

struct Plan {
  std::string model_file;
  RulesConfig rules;
  Model model;  ///< its graphs moved on into the functions below; state, counts and names stay
  Mesh mesh;
  PlannedFunction apply;
  std::optional<PlannedFunction> train_step;
  std::int64_t seed = 0;
  std::vector<Finding> findings;
  std::optional<Fit> fit;  ///< when a capacity was asked for
  std::string device;      ///< the chip the capacity belongs to; may be empty

  /// What most of the report is about: the train step where the model has one.
  const PlannedFunction& main() const { return train_step ? *train_step : apply; }
};

/// How a text report is laid out.
struct Layout {
  int width = 0;  ///< columns; 0: no limit
  bool color = false;
  bool unfold = false;  ///< --all
  bool human = false;   ///< bytes with binary units
  bool types = false;   ///< of `plan`: every value's type, and nothing else
};

}  // namespace shard
