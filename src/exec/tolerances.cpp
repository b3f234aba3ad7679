#include "exec/tolerances.h"

#include <algorithm>

namespace shard {
namespace {

Tolerance tolerance_of(DType dtype) {
  return {comparison_tolerance(dtype), least_magnitude(dtype)};
}

Tolerance coarser(const Tolerance& a, const Tolerance& b) {
  return {std::max(a.relative, b.relative), std::max(a.least, b.least)};
}

class Tolerances {
 public:
  explicit Tolerances(const Graph& graph) : graph_(graph), of_(graph.values.size()) {
    visit(graph.body(), {});
  }
  std::vector<Tolerance> take() { return std::move(of_); }

 private:
  /// `around`: of what the region's loop is given; a body feeds itself, so all its values share it.
  void visit(const Region& region, const Tolerance& around) {
    for (const NodeId id : region.nodes) {
      const Node& node = graph_.node(id);
      Tolerance coarsest = around;
      for (const ValueId operand : node.operands) {
        coarsest = coarser(coarsest, of_[index_of(operand)]);
      }
      if (node.region != RegionId::none) {
        const Region& body = graph_.region(node.region);
        coarsest = coarser(coarsest, coarsest_in(body));
        visit(body, coarsest);
      }
      for (const ValueId result : node.results) {
        const DType dtype = graph_.value(result).type.dtype;
        if (is_inexact(dtype)) of_[index_of(result)] = coarser(coarsest, tolerance_of(dtype));
      }
    }
  }

  Tolerance coarsest_in(const Region& region) const {
    Tolerance coarsest;
    for (const NodeId id : region.nodes) {
      const Node& node = graph_.node(id);
      for (const ValueId result : node.results) {
        coarsest = coarser(coarsest, tolerance_of(graph_.value(result).type.dtype));
      }
      if (node.region != RegionId::none) {
        coarsest = coarser(coarsest, coarsest_in(graph_.region(node.region)));
      }
    }
    return coarsest;
  }

  const Graph& graph_;
  std::vector<Tolerance> of_;
};

}  // namespace

double comparison_tolerance(DType dtype) {
  if (!is_inexact(dtype)) return 0;
  if (dtype == DType::bf16) return 0x1p-6;
  if (dtype == DType::f16) return 0x1p-9;
  if (dtype == DType::f8_e4m3fn) return 0x1p-2;
  if (dtype == DType::f8_e5m2) return 0x1p-1;
  return dtype == DType::f32 || dtype == DType::c64 ? 1e-5 : 1e-10;
}

double least_magnitude(DType dtype) {
  if (dtype == DType::bf16) return 0x1p-126;
  if (dtype == DType::f16 || dtype == DType::f8_e5m2) return 0x1p-14;
  return dtype == DType::f8_e4m3fn ? 0x1p-6 : 0;
}

std::vector<Tolerance> tolerances_of(const Graph& graph) { return Tolerances(graph).take(); }

}  // namespace shard
