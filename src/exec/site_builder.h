#pragma once
// A collective of a Program with its groups on a mesh.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/kernel.h"
#include "exec/rendezvous.h"
#include "exec/route.h"
#include "spmd/program.h"

namespace shard {

/// `all_reduce model`, `all_gather data model:(1)2`.
std::string collective_label(const Mesh& mesh, const Collective& collective);

/// The site `number` of the collective, done by the chosen algorithm. With a `part` only what one
/// of its hosts does of it, by the hierarchical algorithm.
CollectiveSite build_site(const Mesh& mesh, const Collective& collective,
                          std::span<const TensorType> operands, const TensorType& result,
                          int number, const CollectiveChoice& choice = {},
                          const std::optional<SitePart>& part = {});

/// True when hosts cut all groups over `axes` in the same way. Where they do not, sums over groups
/// of the same values would be taken in different orders and copies would differ.
bool hosts_cut_alike(const Mesh& mesh, const std::vector<AxisRef>& axes, int hosts);

/// all_slice: each device keeps the part that its coordinates name; nobody is met.
Kernel slice_kernel(const Mesh& mesh, const Collective& collective, const TensorType& operand,
                    const TensorType& result);

}  // namespace shard
