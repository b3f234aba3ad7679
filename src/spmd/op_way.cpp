#include "spmd/op_way.h"

#include <utility>

namespace shard::spmd {
namespace {

/// What a device computes while it sends a byte: 197 TFLOP/s over 100 GB/s of a TPU v5e, rounded.
constexpr double flops_per_byte = 2000;

std::int64_t work_of(Op op, const FactorRule& rule, const CommonFactors& common) {
  double flops = def(op).flops_per_point;
  for (std::size_t factor = 0; factor < rule.factors.size(); ++factor) {
    flops *= static_cast<double>(rule.factors[factor].size) /
             static_cast<double>(product(common.factors[factor]));
  }
  return static_cast<std::int64_t>(flops / flops_per_byte);
}

Sharding split_of(const OpWay& way, std::size_t position, std::size_t operands) {
  Sharding sharding = with_axes(way.common.tensors[position]);
  if (position < operands) {
    if (!way.has_sums.empty() && way.has_sums[position] != 0) sharding.unreduced = way.sums;
    return sharding;
  }
  sharding.unreduced = way.common.reduced;
  sharding.unreduced.insert(sharding.unreduced.end(), way.sums.begin(), way.sums.end());
  sharding.unreduced = in_mesh_order(std::move(sharding.unreduced));
  return sharding;
}

}  // namespace

Way make_way(OpWay way, const Node& node, const FactorRule& rule) {
  way.work = work_of(node.op, rule, way.common);
  way.tensors.reserve(way.common.tensors.size());
  for (std::size_t i = 0; i < way.common.tensors.size(); ++i)
    way.tensors.push_back(split_of(way, i, node.operands.size()));
  return std::make_shared<const OpWay>(std::move(way));
}

PartsSite parts_site(const Graph& graph, const Node& node, const CommonFactors& common) {
  return {graph, node, types_of(graph, node.operands), types_of(graph, node.results), common};
}

}  // namespace shard::spmd
