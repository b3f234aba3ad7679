#include "dialects/maxtext_keys.h"

#include <algorithm>
#include <array>

namespace shard {
namespace {

constexpr std::array<std::string_view, 10> plain_keys = {"base_config",
                                                         "model_name",
                                                         "mesh_axes",
                                                         "logical_axis_rules",
                                                         "override_logical_axis_rules",
                                                         "custom_mesh_and_rule",
                                                         "compile_topology",
                                                         "compile_topology_num_slices",
                                                         "num_slices",
                                                         "allow_split_physical_axes"};

}  // namespace

bool is_maxtext_key(std::string_view key) {
  if (std::find(plain_keys.begin(), plain_keys.end(), key) != plain_keys.end()) return true;
  return (key.starts_with("ici_") || key.starts_with("dcn_")) && key.ends_with("_parallelism");
}

std::string parallelism_of(std::string_view mesh_axis) {
  if (mesh_axis == "stage") return "pipeline";
  if (mesh_axis == "model") return "tensor";
  if (mesh_axis == "attn_dp" || mesh_axis == "attn_dp_expert") return "";
  return std::string(mesh_axis);
}

std::string parallelism_key(std::string_view group, std::string_view parallelism) {
  return std::string(group) + "_" + std::string(parallelism) + "_parallelism";
}

}  // namespace shard
