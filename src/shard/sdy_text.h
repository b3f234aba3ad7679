#pragma once
// Shardings as Shardy's attributes (spec section 7.3).

#include <string>

#include "shard/sharding.h"

namespace shard {

/// `<["data"=2, "model"=4]>`. The order of devices is not part of it: JAX hands it over elsewhere.
std::string sdy_mesh(const Mesh& mesh);

/// `sdy.mesh @mesh = <["data"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}]}}`,
/// the line of a lowered module.
std::string sdy_mesh_line(const Mesh& mesh, const std::string& symbol = "@mesh");

/// `#sdy.sharding<@mesh, [{"data"}, {}]>`; with an empty symbol the mesh is written out.
std::string sdy_sharding(const Mesh& mesh, const Sharding& sharding,
                         const std::string& symbol = "@mesh");

}  // namespace shard
