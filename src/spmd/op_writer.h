#pragma once
// One op of the graph as instructions over local shapes, once it is decided how it is computed.

#include <string>
#include <vector>

#include "spmd/op_choice.h"
#include "spmd/program_writer.h"

namespace shard::spmd {

class OpWriter {
 public:
  OpWriter(const Graph& graph, ProgramWriter& write, NodeId id)
      : graph_(graph), node_(graph.node(id)), id_(id), write_(write) {}

  /// The operands are split as the way wants them; the results come out as it says.
  std::vector<BufferId> run(const OpWay& way, const std::vector<BufferId>& operands);

 private:
  std::vector<BufferId> plainly(const OpWay& way, const std::vector<BufferId>& operands);
  std::vector<BufferId> in_parts(const OpWay& way, const std::vector<BufferId>& operands);
  std::string result_name(const OpWay& way, std::size_t position) const;

  const Graph& graph_;
  const Node& node_;
  NodeId id_;
  ProgramWriter& write_;
};

}  // namespace shard::spmd
