#include "spmd/local_op.h"

#include "base/check.h"

namespace shard::spmd {
namespace {

std::vector<DimPart> parts_of(const Mesh& mesh, const AxesPerDim& dims) {
  std::vector<DimPart> parts;
  parts.reserve(dims.size());
  for (const Axes& axes : dims) parts.push_back(part_along(mesh, axes));
  return parts;
}

}  // namespace

FactorRule rule_of_parts(FactorRule rule) {
  for (Factor& factor : rule.factors) {
    const bool is_uncombined =
        factor.kind == FactorKind::reduction && rule.reduction == Reduction::none;
    if (factor.kind == FactorKind::permutation || factor.needs_neighbours || is_uncombined) {
      factor.kind = FactorKind::need_replication;
    }
  }
  return rule;
}

DimPart part_along(const Mesh& mesh, const Axes& axes) {
  DimPart part;
  for (const AxisRef& axis : axes) {
    std::int64_t stride = mesh.size(axis.axis) / (axis.pre_size * axis.size);
    for (std::size_t minor = static_cast<std::size_t>(axis.axis) + 1; minor < mesh.axes().size();
         ++minor) {
      stride *= mesh.axes()[minor].size;
    }
    part.strides.push_back(stride);
    part.sizes.push_back(axis.size);
  }
  return part;
}

Attributes local_attributes(const Mesh& mesh, Op op, const Attributes& attributes,
                            std::span<const TensorType> operands,
                            std::span<const TensorType> results, const CommonFactors& common) {
  const LocalForm form = def(op).local_form;
  if (form == nullptr) return attributes;
  SHARD_CHECK(common.tensors.size() == operands.size() + results.size(),
              "there are axes for every operand and result");
  LocalSite site{attributes, operands, results, {}, {}, part_along(mesh, common.reduced)};
  for (std::size_t i = 0; i < common.tensors.size(); ++i) {
    auto& side = i < operands.size() ? site.operand_parts : site.result_parts;
    side.push_back(parts_of(mesh, common.tensors[i]));
  }
  return form(site);
}

}  // namespace shard::spmd
