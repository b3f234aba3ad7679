#include "spmd/value_kinds.h"

#include <cmath>

#include "base/check.h"
#include "spmd/axes.h"
#include "spmd/number_key.h"

namespace shard::spmd {
namespace {

bool is_zero_constant(const Graph& graph, const GraphValue& value) {
  if (value.producer == NodeId::none) return false;
  const Node& node = graph.node(value.producer);
  if (node.op != Op::constant) return false;
  const double number = node.attributes.number("value");
  return number == 0 && !std::signbit(number);
}

}  // namespace

ValueKinds::ValueKinds(const ShardedGraph& sharded, ValueKindTable& table) : table_(table) {
  const Graph& graph = sharded.graph;
  NumberKey key;
  kinds_.reserve(graph.values.size());
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const GraphValue& value = graph.values[i];
    key.clear();
    key.add(value.type);
    key.add(sharded.shardings[i]);
    key.add(is_zero_constant(graph, value) ? 1 : 0);
    const auto [found, is_new] =
        table.numbers.try_emplace(key.text(), static_cast<int>(table.shardings.size()));
    kinds_.push_back(found->second);
    if (!is_new) continue;
    table.shardings.push_back(canonical(sharded.shardings[i]));
    SHARD_CHECK(divides_evenly(value.type.shape, table.shardings.back()),
                "shardings are even when a graph is partitioned");
  }
}

}  // namespace shard::spmd
