#pragma once
// A list of arrays under rules on a mesh, as `plan` has it: for findings about rules.

#include <string>
#include <utility>
#include <vector>

#include "check/findings.h"
#include "config/rules_config.h"
#include "mesh/mesh.h"
#include "model/model.h"
#include "shard/sharded_graph.h"

namespace shard::test {

/// Array number i stands in line i + 2 of `arrays.yaml`, rule number i in line i + 2 of
/// `rules.yaml` (rules of the optimizer behind them), axis number i in line 1.
class ArraysScene {
 public:
  explicit ArraysScene(std::vector<std::pair<std::string, std::int64_t>> axes);

  /// Adds an array; names as written: `embed`, or `` for None.
  ArraysScene& array(const std::string& path, const Shape& shape,
                     const std::vector<std::string>& names, DType dtype = DType::f32);
  /// With a spec by mesh axes; nothing: no spec at all.
  ArraysScene& placed(const std::string& path, const Shape& shape, const SpecConfig& spec,
                      DType dtype = DType::f32);
  /// Optimizer slots `opt_state/0/mu/...` and `nu` of the array added last.
  ArraysScene& moments();
  ArraysScene& rule(const std::string& logical, const std::vector<std::string>& axes);
  ArraysScene& optimizer_rule(const std::string& logical, const std::vector<std::string>& axes);
  ArraysScene& path(const std::string& glob, const SpecConfig& spec);
  /// As the file's `findings` say.
  ArraysScene& level(const std::string& id, FindingLevel level);

  /// Resolves. Throws `Error`.
  ShardedGraph shard();
  std::string spec(const std::string& path);
  Bytes local_bytes(const std::string& path);
  std::vector<Finding> findings();
  /// Those with this id.
  std::vector<Finding> findings(const std::string& id);
  /// The diagnostics that resolving throws, as they are printed; empty when it does not.
  std::string mistakes();

  Model model;
  RulesConfig rules;

 private:
  ArraysScene& add(const std::string& path, const TensorType& type, SpecConfig spec, Role role,
                   int follows);
};

/// `P('data', ('x', 'y'))` from its text.
SpecConfig spec_of(const std::string& text);

}  // namespace shard::test
