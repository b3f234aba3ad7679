#include "spmd/op_way.h"

#include <utility>

#include "base/dtype.h"

namespace shard::spmd {
namespace {

/// What a device computes while it sends a byte: 197 TFLOP/s over 100 GB/s of a TPU v5e, rounded.
/// Its units multiply 16-bit numbers; a product of float32, in three of those, takes six passes.
constexpr double flops_per_byte = 2000;
constexpr double passes_of_f32 = 6;

double flops_per_byte_of(const TensorType& type) {
  const DTypeInfo& dtype = info(type.dtype);
  return dtype.is_float && dtype.bytes > 2 ? flops_per_byte / passes_of_f32 : flops_per_byte;
}

/// `type`: of what is computed with.
std::int64_t work_of(Op op, const TensorType& type, const FactorRule& rule,
                     const CommonFactors& common) {
  double flops = def(op).flops_per_point;
  for (std::size_t factor = 0; factor < rule.factors.size(); ++factor) {
    flops *= static_cast<double>(rule.factors[factor].size) /
             static_cast<double>(product(common.factors[factor]));
  }
  return static_cast<std::int64_t>(flops / flops_per_byte_of(type));
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

Way make_way(OpWay way, const Graph& graph, const Node& node, const FactorRule& rule) {
  const ValueId first = node.operands.empty() ? node.results.front() : node.operands.front();
  way.work = work_of(node.op, graph.value(first).type, rule, way.common);
  way.tensors.reserve(way.common.tensors.size());
  for (std::size_t i = 0; i < way.common.tensors.size(); ++i)
    way.tensors.push_back(split_of(way, i, node.operands.size()));
  return std::make_shared<const OpWay>(std::move(way));
}

PartsSite parts_site(const Graph& graph, const Node& node, const CommonFactors& common) {
  return {graph, node, types_of(graph, node.operands), types_of(graph, node.results), common};
}

}  // namespace shard::spmd
