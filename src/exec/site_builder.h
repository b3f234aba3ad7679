#pragma once
// A collective of a Program with its groups on a mesh.

#include <string>

#include "exec/kernel.h"
#include "exec/rendezvous.h"
#include "spmd/program.h"

namespace shard {

/// `all_reduce model`, `all_gather data model:(1)2`.
std::string collective_label(const Mesh& mesh, const Collective& collective);

/// The site `number` of the collective.
CollectiveSite build_site(const Mesh& mesh, const Collective& collective, const TensorType& operand,
                          const TensorType& result, int number);

/// all_slice: each device keeps the part that its coordinates name; nobody is met.
Kernel slice_kernel(const Mesh& mesh, const Collective& collective, const TensorType& operand,
                    const TensorType& result);

}  // namespace shard
