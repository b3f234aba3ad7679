#include "exec/tolerances.h"

#include <algorithm>

namespace shard {
namespace {

class Tolerances {
 public:
  explicit Tolerances(const Graph& graph) : graph_(graph), of_(graph.values.size(), 0) {
    visit(graph.body(), 0);
  }
  std::vector<double> take() { return std::move(of_); }

 private:
  /// `around`: of what the region's loop is given; a body feeds itself, so all its values share it.
  void visit(const Region& region, double around) {
    for (const NodeId id : region.nodes) {
      const Node& node = graph_.node(id);
      double coarsest = around;
      for (const ValueId operand : node.operands) {
        coarsest = std::max(coarsest, of_[index_of(operand)]);
      }
      if (node.region != RegionId::none) {
        const Region& body = graph_.region(node.region);
        coarsest = std::max(coarsest, coarsest_in(body));
        visit(body, coarsest);
      }
      for (const ValueId result : node.results) {
        const DType dtype = graph_.value(result).type.dtype;
        of_[index_of(result)] =
            info(dtype).is_float ? std::max(coarsest, comparison_tolerance(dtype)) : 0;
      }
    }
  }

  double coarsest_in(const Region& region) const {
    double coarsest = 0;
    for (const NodeId id : region.nodes) {
      const Node& node = graph_.node(id);
      for (const ValueId result : node.results) {
        coarsest = std::max(coarsest, comparison_tolerance(graph_.value(result).type.dtype));
      }
      if (node.region != RegionId::none) {
        coarsest = std::max(coarsest, coarsest_in(graph_.region(node.region)));
      }
    }
    return coarsest;
  }

  const Graph& graph_;
  std::vector<double> of_;
};

}  // namespace

double comparison_tolerance(DType dtype) {
  if (!info(dtype).is_float) return 0;
  if (dtype == DType::bf16) return 0x1p-6;
  if (dtype == DType::f16) return 0x1p-9;
  if (dtype == DType::f8_e4m3fn) return 0x1p-2;
  if (dtype == DType::f8_e5m2) return 0x1p-1;
  return dtype == DType::f32 ? 1e-5 : 1e-10;
}

std::vector<double> tolerances_of(const Graph& graph) { return Tolerances(graph).take(); }

}  // namespace shard
