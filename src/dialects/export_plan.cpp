#include "dialects/export_plan.h"

#include "dialects/python_text.h"

namespace shard {
namespace {

std::string shape_text(const Shape& shape) {
  std::vector<std::string> sizes;
  for (const std::int64_t size : shape) {
    sizes.push_back(size == unknown_size ? "None" : std::to_string(size));
  }
  return python_tuple(sizes);
}

std::string sizes_text_of(const Mesh& mesh) {
  Shape sizes;
  for (const MeshAxisInfo& axis : mesh.axes()) sizes.push_back(axis.size);
  return shape_text(sizes);
}

std::string names_of(const Mesh& mesh) {
  std::vector<std::string> names;
  for (const MeshAxisInfo& axis : mesh.axes()) names.push_back(python_text(axis.name.text()));
  return python_tuple(names);
}

std::string types_of(const Mesh& mesh) {
  std::vector<std::string> types;
  for (const MeshAxisInfo& axis : mesh.axes()) types.push_back("AxisType." + to_string(axis.type));
  return python_tuple(types);
}

std::string ids_of(const Mesh& mesh) {
  std::string ids;
  for (std::int64_t position = 0; position < mesh.device_count(); ++position) {
    ids += (ids.empty() ? "" : ", ") + std::to_string(mesh.device_id(position));
  }
  return ids;
}

/// The devices in the order of the mesh: the call that JAX itself would arrange them with.
std::string arrangement(const ExportedPlan& plan) {
  const RulesConfig& rules = plan.rules;
  const std::string sizes = sizes_text_of(plan.mesh);
  const MeshHardware* hardware = plan.mesh.hardware();
  const bool has_slices = hardware != nullptr && hardware->topology.platform == "cpu" &&
                          !rules.dcn.empty() && rules.device_order != DeviceOrder::ids;
  // One host's virtual CPUs do not tell which of them stand for a slice.
  if (rules.device_order == DeviceOrder::listed || has_slices) {
    return "    by_id = {device.id: device for device in devices}\n"
           "    devices = np.array([by_id[i] for i in [" +
           ids_of(plan.mesh) + "]]).reshape(" + sizes + ")\n";
  }
  const bool is_by_id = hardware == nullptr || rules.device_order == DeviceOrder::ids ||
                        (hardware->topology.platform != "tpu" && rules.dcn.empty());
  if (is_by_id) {
    return "    devices = np.array(devices[: " + std::to_string(plan.mesh.device_count()) +
           "]).reshape(" + sizes + ")\n";
  }
  const std::string split =
      rules.device_order == DeviceOrder::split ? ", allow_split_physical_axes=True" : "";
  if (!rules.dcn.empty()) {
    return "    devices = mesh_utils.create_hybrid_device_mesh(" + shape_text(hardware->ici) +
           ", " + shape_text(hardware->dcn) + ", devices" + split + ")\n";
  }
  const std::string contiguous =
      rules.device_order == DeviceOrder::contiguous ? ", contiguous_submeshes=True" : "";
  return "    devices = mesh_utils.create_device_mesh(" + sizes + ", devices" + split + contiguous +
         ")\n";
}

std::string heading(const ExportedPlan& plan, const std::string& use) {
  const std::string hardware = plan.rules.devices.empty()
                                   ? std::to_string(plan.mesh.device_count()) + " devices"
                                   : plan.rules.devices;
  return "\"\"\"How " + plan.model + " is sharded by the rules " + plan.rules_name + " on " +
         hardware + ", written by shard-plan.\n\n" + use + "\n\"\"\"\n\n";
}

std::string imports(bool has_flax) {
  return std::string("import jax\nimport numpy as np\n") +
         (has_flax ? "from flax import linen as nn\n" : "") +
         "from jax.experimental import mesh_utils\n"
         "from jax.sharding import AxisType, Mesh, NamedSharding\n"
         "from jax.sharding import PartitionSpec as P\n\n";
}

std::string mesh_function(const ExportedPlan& plan) {
  return "\ndef make_mesh(devices=None):\n"
         "    devices = list(jax.devices() if devices is None else devices)\n" +
         arrangement(plan) + "    return Mesh(devices, " + names_of(plan.mesh) +
         ", axis_types=" + types_of(plan.mesh) + ")\n\n\n";
}

std::string shapes(const ExportedPlan& plan) {
  std::string text = "shapes = {\n";
  for (const ExportedArray& array : plan.arrays) {
    text += "    " + python_text(array.path) + ": (" + shape_text(array.type.shape) + ", " +
            python_text(info(array.type.dtype).numpy_name) + "),\n";
  }
  return text + "}\n\n";
}

std::string specs(const ExportedPlan& plan, bool without_named) {
  std::string text = "partition_specs = {\n";
  for (const ExportedArray& array : plan.arrays) {
    if (without_named && array.names) continue;
    text += "    " + python_text(array.path) + ": " + array.spec + ",\n";
  }
  return text + "}\n\n";
}

// The same for every exported module.
constexpr std::string_view tree_functions = R"(
def shardings(mesh):
    """NamedSharding by path."""
    return {path: NamedSharding(mesh, spec) for path, spec in partition_specs.items()}


def tree(flat):
    """The nested dictionaries whose paths are the keys of `flat`."""
    nested = {}
    for path, leaf in flat.items():
        *folders, name = path.split('/')
        node = nested
        for folder in folders:
            node = node.setdefault(folder, {})
        node[name] = leaf
    return nested
)";

// Linen reads the rules in order, NNX as a dictionary.
constexpr std::string_view linen_spec = R"(
def spec_of(path):
    part, axes = logical_axes[path]
    return nn.logical_to_mesh_axes(axes, rules_of.get(part, ()) + logical_axis_rules)

)";
constexpr std::string_view nnx_spec = R"(
def spec_of(path):
    part, axes = logical_axes[path]
    rules = dict(logical_axis_rules + rules_of.get(part, ()))
    return P(*[rules.get(axis, axis) if isinstance(axis, str) else axis for axis in axes])

)";

std::string part_rules(const ExportedPlan& plan) {
  if (plan.rules.rules_for.empty()) return "rules_of = {}\n\n";
  std::string text = "rules_of = {\n";
  for (const PartRulesConfig& part : plan.rules.rules_for) {
    text += "    " + python_text(word_of(part.part)) + ": " + python_rules(part.rules) + ",\n";
  }
  return text + "}\n\n";
}

std::string logical_axes(const ExportedPlan& plan) {
  std::string text = "logical_axes = {\n";
  for (const ExportedArray& array : plan.arrays) {
    if (!array.names) continue;
    text += "    " + python_text(array.path) + ": (" + python_text(word_of(array.part)) + ", " +
            python_names(*array.names) + "),\n";
  }
  return text + "}\n\n";
}

}  // namespace

std::string export_python(const ExportedPlan& plan) {
  return heading(plan,
                 "    mesh = make_mesh()\n"
                 "    state = jax.device_put(state, tree(shardings(mesh))['params'])") +
         imports(false) + "logical_axis_rules = " + python_rules(plan.rules.rules) + "\n\n" +
         mesh_function(plan) + shapes(plan) + specs(plan, false) + std::string(tree_functions);
}

std::string export_flax(const ExportedPlan& plan) {
  const bool is_nnx = plan.rules.resolver == RuleResolver::nnx;
  return heading(plan,
                 "    mesh = make_mesh()\n"
                 "    with mesh, nn.logical_axis_rules(logical_axis_rules):\n"
                 "        ...  # nn.with_logical_constraint, and shardings(mesh) for jit") +
         imports(true) + "logical_axis_rules = " + python_rules(plan.rules.rules) + "\n\n" +
         part_rules(plan) + mesh_function(plan) + shapes(plan) +
         "# Logical axes, with the part whose rules are asked first.\n" + logical_axes(plan) +
         "# Arrays that the rules do not place.\n" + specs(plan, true) +
         std::string(is_nnx ? nnx_spec : linen_spec) +
         "\npartition_specs.update({path: spec_of(path) for path in logical_axes})\n\n" +
         std::string(tree_functions);
}

}  // namespace shard
