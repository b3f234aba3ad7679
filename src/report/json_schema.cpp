#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "report/json.h"
#include "report/layout_schema.h"
#include "report/semantics.h"
#include "report/view_schema.h"

namespace shard {
namespace {

using Json = nlohmann::ordered_json;

/// One key of the output: where it stands (`[]` for the items of a list), its JSON types, what it
/// means.
struct KeyRow {
  const char* path;
  const char* type;
  const char* help;
};

constexpr KeyRow head_keys[] = {
    {"schema", "integer", "number of this form; goes up when a key changes its meaning"},
    {"command", "string", "the command that answered"},
    {"semantics", "string", "whose behaviour the plan follows"},
    {"model", "object", ""},
    {"model.name", "string", "the model's name"},
    {"model.file", "string", "the file it was read from"},
    {"model.parameters", "integer", "numbers in all parameters together"},
    {"model.has_program", "boolean", "false: a list of arrays, of which only the state is planned"},
    {"rules", "object", ""},
    {"rules.name", "string", "the rules file's stem"},
    {"rules.file", "string", "the file they were read from"},
    {"mesh", "object", ""},
    {"mesh.axes", "array", "major to minor"},
    {"mesh.axes[].name", "string", ""},
    {"mesh.axes[].size", "integer", "devices along this axis"},
    {"mesh.devices", "integer", "product of the sizes"},
};

constexpr KeyRow array_keys[] = {
    {"path", "string", "as in the TrainState, or the name of a value"},
    {"role", "string", "input, parameter, optimizer, step, loss, gradient, output or activation"},
    {"dtype", "string", "f32, bf16, i32 ..."},
    {"shape", "array", "global sizes, major first"},
    {"shape[]", "integer|null", "null: unknown"},
    {"spec", "string", "effective PartitionSpec as Python prints it"},
    {"local_shape", "array", "sizes of the piece on one device"},
    {"local_shape[]", "integer|null", "null: unknown"},
    {"bytes", "integer|null", "of the whole array; null: unknown"},
    {"bytes_per_device", "integer|null", "of one piece; null: unknown"},
    {"copies", "integer", "devices that hold each piece"},
    {"why", "string", "what decided the spec"},
    {"at", "object|null", "where it is written"},
    {"at.file", "string", ""},
    {"at.line", "integer", "from 1"},
    {"at.column", "integer", "from 1"},
};

constexpr KeyRow function_keys[] = {
    {"name", "string", "train_step or apply"},
    {"values", "array", "data inputs and named values of the forward pass"},
    {"outputs", "array", "results that are not state"},
    {"collectives", "array", "one entry per instruction, or for those of equal blocks"},
    {"collectives[].number", "integer", "of the first it stands for, from 1"},
    {"collectives[].instructions", "integer", "how many it stands for: those of equal blocks"},
    {"collectives[].kind", "string",
     "all_reduce, all_gather, reduce_scatter, all_to_all or "
     "collective_permute"},
    {"collectives[].mesh_axes", "string", "axes it runs over, joined by commas"},
    {"collectives[].group_size", "integer", "devices in one group"},
    {"collectives[].count_per_step", "integer",
     "executions, loops and instructions multiplied out"},
    {"collectives[].payload_bytes", "integer",
     "local operand bytes (all_gather: result bytes) of one"},
    {"collectives[].wire_bytes_per_step", "integer",
     "bytes one device sends with the ring algorithm"},
    {"collectives[].phase", "string", "forward, backward or update"},
    {"collectives[].implicit", "boolean", "a reshard that nothing asks for"},
    {"collectives[].why", "string", "what makes it necessary"},
    {"collectives[].at", "object|null", "the layer that needs it"},
    {"collectives[].at.file", "string", ""},
    {"collectives[].at.line", "integer", "from 1"},
    {"collectives[].at.column", "integer", "from 1"},
    {"wire_per_device", "array", "per set of mesh axes"},
    {"wire_per_device[].mesh_axes", "string", ""},
    {"wire_per_device[].wire_bytes_per_step", "integer", ""},
    {"xla_merged", "array", "how XLA's combiner would merge the collectives"},
    {"xla_merged[].kind", "string", ""},
    {"xla_merged[].mesh_axes", "string", ""},
    {"xla_merged[].members", "integer", "collectives of ours in each"},
    {"xla_merged[].count_per_step", "integer", "executions of merged ones like it"},
    {"memory_per_device", "object", "the executor's plan; all devices are alike"},
    {"memory_per_device.peak_bytes", "integer", "highest byte of the arena ever touched"},
    {"memory_per_device.live_bytes_at_peak", "integer", "the rest is lost between buffers"},
    {"memory_per_device.categories_at_peak", "array", ""},
    {"memory_per_device.categories_at_peak[].category", "string", ""},
    {"memory_per_device.categories_at_peak[].bytes", "integer", ""},
    {"memory_per_device.live_at_peak", "array", "largest first"},
    {"memory_per_device.live_at_peak[].name", "string", ""},
    {"memory_per_device.live_at_peak[].category", "string", ""},
    {"memory_per_device.live_at_peak[].arrays", "integer",
     "that it stands for: those of equal blocks"},
    {"memory_per_device.live_at_peak[].bytes_each", "integer", ""},
};

constexpr KeyRow plan_keys[] = {
    {"returns", "array", "what the train step returns"},
    {"returns[]", "string", ""},
    {"state", "object", "the leaves of the TrainState, in its order"},
    {"state.arrays", "array", ""},
    {"state.bytes", "integer", "of all whole arrays"},
    {"state.bytes_per_device", "integer", ""},
    {"state.arrays_of_unknown_size", "integer", "which no bytes are counted of"},
    {"functions", "array|null", "the train step where there is one, then apply; null: no program"},
    {"left_out", "array", "layers that no result needs"},
    {"left_out[]", "string", ""},
    {"findings", "array", "errors, warnings, notes; each by cost"},
    {"findings[].severity", "string", "error, warning or note"},
    {"findings[].id", "string", ""},
    {"findings[].message", "string", ""},
    {"findings[].fix", "string", "the smallest edit that removes it; may be empty"},
    {"findings[].bytes_per_device", "integer", "what it costs; 0 when it is not about bytes"},
    {"findings[].at", "object|null", ""},
    {"findings[].at.file", "string", ""},
    {"findings[].at.line", "integer", "from 1"},
    {"findings[].at.column", "integer", "from 1"},
    {"fit", "object|null", "with --hbm or --device"},
    {"fit.device", "string", "the chip; empty with --hbm"},
    {"fit.capacity_bytes", "integer", ""},
    {"fit.peak_bytes", "integer", ""},
    {"fit.fits", "boolean", ""},
};

constexpr KeyRow piece_keys[] = {
    {"pieces", "array|null", "in row-major order; null: the sizes are unknown"},
    {"pieces[].start", "array", "first index per dim"},
    {"pieces[].start[]", "integer", ""},
    {"pieces[].shape", "array", ""},
    {"pieces[].shape[]", "integer", ""},
    {"pieces[].devices", "array", "ids of the devices that hold it"},
    {"pieces[].devices[]", "integer", ""},
};

constexpr KeyRow answer_keys[] = {
    {"names", "array", "the arrays with this answer"},
    {"names[]", "string", ""},
    {"placed", "string", "the axes or the spec, and where"},
    {"dims", "array", ""},
    {"dims[].name", "string", "logical axis or label; may be empty"},
    {"dims[].size", "integer|null", "null: not known"},
    {"dims[].split", "string", "whole, or the mesh axes with their sizes"},
    {"dims[].why", "array", "what decided it"},
    {"dims[].why[]", "string", ""},
    {"dims[].lost", "array", "what would have split it otherwise, and why it did not"},
    {"dims[].lost[]", "string", ""},
    {"unused_rules", "array", "rules that name no dim of it"},
    {"unused_rules[]", "string", ""},
    {"free_axes", "array", "mesh axes of several devices that it does not use"},
    {"free_axes[]", "string", ""},
    {"rules_that_would_split", "array", "one rule more, tried"},
    {"rules_that_would_split[].rule", "string", "as --add-rule takes it"},
    {"rules_that_would_split[].instead_of_rule", "integer|null", "as --drop-rule takes it"},
    {"rules_that_would_split[].mesh_axis", "string", ""},
    {"rules_that_would_split[].refused", "string|null", "id of what would be wrong"},
    {"rules_that_would_split[].spec", "string|null", "of the array then"},
    {"rules_that_would_split[].bytes_per_device", "integer|null", "of the array then"},
    {"rules_that_would_split[].state_bytes_per_device", "integer|null", "of all state then"},
    {"other_resolver", "string", "what the resolver that is not in force gives; may be empty"},
};

constexpr KeyRow collective_answer_keys[] = {
    {"number", "integer", "of the first it stands for, from 1"},
    {"instructions", "integer", "how many it stands for: those of equal blocks"},
    {"kind", "string", ""},
    {"mesh_axes", "string", "axes it runs over, joined by commas"},
    {"group_size", "integer", "devices in one group"},
    {"count_per_step", "integer", "executions, loops and instructions multiplied out"},
    {"payload_bytes", "integer", "local operand bytes (all_gather: result bytes) of one"},
    {"wire_bytes_per_step", "integer", "bytes one device sends with the ring algorithm"},
    {"phase", "string", "forward, backward or update"},
    {"implicit", "boolean", "a reshard that nothing asks for"},
    {"why", "string", "what makes it necessary"},
    {"at", "object|null", "the layer that needs it"},
    {"at.file", "string", ""},
    {"at.line", "integer", "from 1"},
    {"at.column", "integer", "from 1"},
};

constexpr KeyRow asked_collective_keys[] = {
    {"asked_number", "integer", "the number that was asked for"},
    {"groups", "string", "device ids of the first groups"},
    {"operand", "string", "type of its operand on one device"},
    {"because", "string", ""},
    {"asked_by", "string", "the constraint that wants the result; may be empty"},
    {"instead", "array", "edits, each planned anew"},
    {"instead[].edit", "string", ""},
    {"instead[].effect", "string", ""},
};

constexpr KeyRow finding_keys[] = {
    {"severity", "string", "error, warning or note"},
    {"id", "string", ""},
    {"message", "string", ""},
    {"fix", "string", "the smallest edit that removes it; may be empty"},
    {"bytes_per_device", "integer", "what it costs; 0 when it is not about bytes"},
    {"at", "object|null", ""},
    {"at.file", "string", ""},
    {"at.line", "integer", "from 1"},
    {"at.column", "integer", "from 1"},
};

constexpr KeyRow findings_keys[] = {
    {"findings", "array", "errors, warnings, notes; each by cost"},
};

constexpr KeyRow explain_keys[] = {
    {"arrays", "array", "one entry per distinct answer"},
    {"collectives", "array", "for words like #3"},
    {"lines", "array", "for words like FILE:LINE"},
    {"lines[].place", "string", ""},
    {"lines[].rules", "array", "rules that stand there, with what they decide"},
    {"lines[].rules[]", "string", ""},
    {"lines[].arrays", "array", "placed or decided there"},
    {"lines[].collectives", "array", "that layers of the line need"},
    {"lines[].findings", "array", ""},
};

constexpr KeyRow delta_keys[] = {
    {"delta", "object|null", "against the files as they are; with rule edits or --delta"},
    {"delta.against", "string", ""},
    {"delta.refused", "string|null", "why the files as they are cannot be planned"},
    {"delta.arrays", "array", "that differ, worst first"},
    {"delta.arrays[].names", "array", ""},
    {"delta.arrays[].names[]", "string", ""},
    {"delta.arrays[].slots", "array", "optimizer slots that change with them"},
    {"delta.arrays[].slots[]", "string", ""},
    {"delta.arrays[].before", "string|null", "spec; null: it was not there"},
    {"delta.arrays[].after", "string|null", "spec; null: it is gone"},
    {"delta.arrays[].more_bytes_per_device_each", "integer|null", "below 0: less"},
    {"delta.collectives", "array", "in words"},
    {"delta.collectives[]", "string", ""},
    {"delta.state_bytes_per_device", "object|null", ""},
    {"delta.state_bytes_per_device.before", "integer", ""},
    {"delta.state_bytes_per_device.after", "integer", ""},
    {"delta.peak_bytes_per_device", "object|null", ""},
    {"delta.peak_bytes_per_device.before", "integer|null", "null: no program"},
    {"delta.peak_bytes_per_device.after", "integer|null", ""},
    {"delta.wire_bytes_per_step", "object|null", ""},
    {"delta.wire_bytes_per_step.before", "integer|null", "null: no program"},
    {"delta.wire_bytes_per_step.after", "integer|null", ""},
};

constexpr KeyRow kind_keys[] = {
    {"schema", "integer", "number of this form; goes up when a key changes its meaning"},
    {"command", "string", "the command that answered"},
    {"kinds", "array", "every kind of finding"},
    {"kinds[].id", "string", ""},
    {"kinds[].severity", "string", "unless a level says otherwise"},
    {"kinds[].is_found_in_plans", "boolean", "false: it only stops planning"},
    {"kinds[].is_on_request", "boolean", "it is looked for only where a level is given for it"},
    {"kinds[].stops_planning", "boolean", "it also is a mistake for which there is no plan"},
    {"kinds[].help", "string", "what it is"},
    {"kinds[].act", "string", "what to do"},
};

constexpr KeyRow show_keys[] = {
    {"model", "object|null", "null: only a mesh or a spec was asked for"},
    {"mesh_devices", "array", "in the order of the mesh; there when the mesh is drawn"},
    {"mesh_devices[].id", "integer", ""},
    {"mesh_devices[].coordinates", "array", "on each mesh axis"},
    {"mesh_devices[].coordinates[]", "integer", ""},
    {"mesh_devices[].slice", "integer", "or node, or process; there when the hardware is named"},
    {"mesh_devices[].host", "integer", "number of its process"},
    {"mesh_devices[].chip", "array", "x, y, z of its chip in the slice"},
    {"mesh_devices[].chip[]", "integer", ""},
    {"mesh_devices[].core", "integer", "of the chip"},
};

/// What drawn arrays have beyond others; a spec of the command line has no name and no dtype.
constexpr KeyRow shown_keys[] = {
    {"path", "string|null", "null: a spec of the command line"},
    {"role", "string|null", ""},
    {"dtype", "string|null", ""},
    {"hlo_sharding", "string", "as XLA writes it"},
    {"sdy_sharding", "string", "as Shardy writes it"},
    {"uneven", "string", "nested; with --uneven nested"},
    {"indices", "array", "per device in the order of the mesh; with --indices"},
    {"indices[].device", "integer", ""},
    {"indices[].copy", "integer", "number of earlier devices with the same indices"},
    {"indices[].ranges", "array", "per dim: 4:8, : for a whole dim, empty"},
    {"indices[].ranges[]", "string", ""},
};

constexpr KeyRow run_keys[] = {
    {"backend", "string", "threads or mpi"},
    {"workers", "integer", "threads, of all hosts"},
    {"seed", "integer", "of initial values and example inputs"},
    {"collectives", "string", "owner, ring, tree, halving or hierarchical"},
    {"hosts", "integer", "that the devices are divided over"},
    {"injected", "object|null", "the fault of --inject"},
    {"injected.kind", "string", "drop-collective, late-device, kill-device or bit-flip"},
    {"injected.device", "integer", ""},
    {"injected.at", "integer", "what the device executes in a step, counted from 0"},
    {"injected.text", "string", "the same in words"},
    {"trace", "string|null", "the file of --trace"},
    {"limits", "object|null", "what the machine can do, after --profile"},
    {"limits.product_flops_per_second", "number", "float32 products, all workers"},
    {"limits.copy_bytes_per_second", "number", "read and written by copies, all workers"},
    {"functions", "array", "the train step where there is one, then apply"},
    {"functions[].name", "string", "train_step or apply"},
    {"functions[].compared_steps", "integer", "steps before the comparison"},
    {"functions[].why_not_compared", "string|null",
     "why steps that should be are not compared, e.g. the memory the unsharded run needs"},
    {"functions[].undetermined_elements", "integer",
     "of updates whose gradient is 0 within rounding; each is inside the range that leaves"},
    {"functions[].differences", "array", "from the unsharded run, one per result"},
    {"functions[].differences[].path", "string", ""},
    {"functions[].differences[].largest_relative", "number", "relative to the largest magnitude"},
    {"functions[].differences[].at_index", "integer", "row-major"},
    {"functions[].differences[].tolerance", "number", ""},
    {"functions[].differences[].has_non_finite", "boolean", ""},
    {"functions[].differences[].ok", "boolean", ""},
    {"functions[].first_difference", "object|null",
     "where results differ: the first value of the program that does"},
    {"functions[].first_difference.value", "string", "its name"},
    {"functions[].first_difference.dtype", "string", ""},
    {"functions[].first_difference.shape", "array", "whole"},
    {"functions[].first_difference.shape[]", "integer", ""},
    {"functions[].first_difference.spec", "string", "how it is split"},
    {"functions[].first_difference.iterations", "array",
     "of the loops around it, outermost first, from 0"},
    {"functions[].first_difference.iterations[]", "integer", ""},
    {"functions[].first_difference.instruction", "integer", "of its body, from 0"},
    {"functions[].first_difference.label", "string", "what it does, e.g. all_reduce model"},
    {"functions[].first_difference.devices", "array", "whose parts differ"},
    {"functions[].first_difference.devices[]", "integer", ""},
    {"functions[].first_difference.elements", "integer", "that differ, of all parts together"},
    {"functions[].first_difference.at_index", "integer", "row-major in the whole, of the first"},
    {"functions[].first_difference.found", "number|string", "there; nan, inf, -inf as texts"},
    {"functions[].first_difference.expected", "number|string", ""},
    {"functions[].first_difference.is_non_finite", "boolean",
     "NaN or infinite, where the reference is finite or in both"},
    {"functions[].first_difference.is_in_reference_too", "boolean",
     "no value differs: this is the first that is not finite in both"},
    {"functions[].why_no_first_difference", "string|null",
     "a clause, where results differ and no first value is found"},
    {"functions[].outputs", "array", "results that are not state"},
    {"functions[].timing", "object|null", "per step; null with --runs 0"},
    {"functions[].timing.runs", "integer", ""},
    {"functions[].timing.steps_per_run", "integer", ""},
    {"functions[].timing.mean_seconds", "number", ""},
    {"functions[].timing.deviation_seconds", "number", "standard deviation over runs"},
    {"functions[].timing.median_seconds", "number", ""},
    {"functions[].timing.minimum_seconds", "number", ""},
    {"functions[].timing.cores_busy_elsewhere", "number", "by other processes meanwhile"},
    {"functions[].timing.cores_stolen", "number",
     "that the host of a virtual machine gave to others meanwhile"},
    {"functions[].counted", "object", "of profiled steps"},
    {"functions[].counted.steps", "integer", ""},
    {"functions[].counted.wall_seconds", "number", "of all steps"},
    {"functions[].counted.waiting_seconds", "number", "worker time with nothing to do"},
    {"functions[].counted.kinds", "array", "largest time first"},
    {"functions[].counted.kinds[].kind", "string", "op, or collective and axes"},
    {"functions[].counted.kinds[].is_collective", "boolean", ""},
    {"functions[].counted.kinds[].calls_on_all_devices", "integer", ""},
    {"functions[].counted.kinds[].busy_seconds", "number", "worker time"},
    {"functions[].counted.kinds[].flops", "number", ""},
    {"functions[].counted.kinds[].bytes", "number", "read and written"},
    {"functions[].counted.collectives", "array", "in the order of the program"},
    {"functions[].counted.collectives[].number", "integer", "as explain takes it"},
    {"functions[].counted.collectives[].name", "string", "kind, axes, layer"},
    {"functions[].counted.collectives[].busy_seconds_per_step", "number",
     "worker time of all groups"},
    {"functions[].counted.collectives[].waiting_seconds_per_step", "number",
     "of each member for the last one"},
    {"functions[].counted.collectives[].copied_bytes_per_step", "integer",
     "read and written for all devices"},
    {"functions[].counted.devices", "array", "one per device; sums over the steps"},
    {"functions[].counted.devices[].computing_seconds", "number", ""},
    {"functions[].counted.devices[].collecting_seconds", "number",
     "in collectives, all members being there"},
    {"functions[].counted.devices[].waiting_for_devices_seconds", "number",
     "for members of collectives and for the end of the step"},
    {"functions[].counted.devices[].waiting_for_worker_seconds", "number", "could have gone on"},
    {"functions[].counted.moved_per_device", "array", "per set of mesh axes"},
    {"functions[].counted.moved_per_device[].mesh_axes", "string", ""},
    {"functions[].counted.moved_per_device[].planned_wire_bytes_per_step", "integer", ""},
    {"functions[].counted.moved_per_device[].counted_wire_bytes_per_step", "integer", ""},
    {"functions[].counted.moved_per_device[].copied_bytes_of_all_devices_per_step", "integer",
     "by our own collectives"},
    {"functions[].counted.links", "array", "messages of collectives; empty by owner"},
    {"functions[].counted.links[].collective", "string", "kind and axes"},
    {"functions[].counted.links[].from_device", "integer", ""},
    {"functions[].counted.links[].to_device", "integer", ""},
    {"functions[].counted.links[].messages_per_step", "integer", ""},
    {"functions[].counted.links[].bytes_per_step", "integer", ""},
    {"functions[].counted.planned_peak_bytes", "integer", "per device"},
    {"functions[].counted.measured_peak_bytes_by_device", "array", ""},
    {"functions[].counted.measured_peak_bytes_by_device[]", "integer", ""},
    {"functions[].memory_check", "object|null", "with --verify-memory"},
    {"functions[].memory_check.planned_bytes", "integer", "of all arenas, in whole pages"},
    {"functions[].memory_check.resident_bytes", "integer", "of these in memory"},
    {"functions[].memory_check.unguarded_devices", "array", "whose guard pages can be read"},
    {"functions[].memory_check.unguarded_devices[]", "integer", ""},
    {"functions[].memory_check.devices_that_wrote_outside", "array", ""},
    {"functions[].memory_check.devices_that_wrote_outside[]", "integer", ""},
    {"functions[].memory_check.scratch_bytes_by_worker", "array",
     "most that kernels used beside the arenas"},
    {"functions[].memory_check.scratch_bytes_by_worker[]", "integer", ""},
    {"functions[].memory_check.ok", "boolean", ""},
    {"functions[].results_equal", "boolean", ""},
    {"functions[].bytes_equal", "boolean", ""},
    {"functions[].memory_equal", "boolean", ""},
    {"ok", "boolean", "all of them, for all functions"},
};

Json type_json(std::string_view type) {
  const auto bar = type.find('|');
  if (bar == std::string_view::npos) return type;
  return Json::array({type.substr(0, bar), type.substr(bar + 1)});
}

/// The schema node at `path` below `root`, made on the way: objects by name, lists by `[]`.
Json& node_at(Json& root, std::string_view path) {
  Json* node = &root;
  while (!path.empty()) {
    if (path.starts_with("[]")) {
      path.remove_prefix(2);
      node = &(*node)["items"];
    } else {
      if (path.starts_with('.')) path.remove_prefix(1);
      const std::size_t end = std::min(path.find('.'), path.find('['));
      const std::string key(path.substr(0, end));
      path.remove_prefix(std::min(end, path.size()));
      if (!node->contains("properties")) {
        // All members at once: an ordered object moves its members when it grows.
        if (!node->contains("type")) (*node)["type"] = "object";
        (*node)["properties"] = Json::object();
        (*node)["required"] = Json::array();
        (*node)["additionalProperties"] = false;
      }
      Json& properties = (*node)["properties"];
      if (!properties.contains(key)) (*node)["required"].push_back(key);
      node = &properties[key];
    }
  }
  return *node;
}

template <std::size_t N>
void add_keys(Json& root, const std::string& prefix, const KeyRow (&rows)[N]) {
  for (const KeyRow& row : rows) {
    Json& node = node_at(root, prefix + row.path);
    node["type"] = type_json(row.type);
    if (*row.help != '\0') node["description"] = row.help;
  }
}

/// Takes a key that is not always there out of those that an object must have.
void make_optional(Json& object, std::string_view key) {
  Json kept = Json::array();
  for (const Json& one : object["required"]) {
    if (one != key) kept.push_back(one);
  }
  object["required"] = std::move(kept);
}

/// Arrays of answers of `explain` below `prefix`.
void add_answers(Json& root, const std::string& prefix) {
  add_keys(root, prefix, array_keys);
  add_keys(root, prefix, answer_keys);
}

Json document_schema(const std::string& command) {
  Json schema;
  schema["title"] = "shard-plan " + command + " --format json";
  add_keys(schema, "", head_keys);
  schema["properties"]["schema"]["const"] = json_schema_number;
  schema["properties"]["command"]["const"] = command;
  return schema;
}

}  // namespace

namespace {

Json explain_schema() {
  Json explain = document_schema("explain");
  add_keys(explain, "", explain_keys);
  add_keys(explain, "", delta_keys);
  add_answers(explain, "arrays[].");
  add_keys(explain, "collectives[].", collective_answer_keys);
  add_keys(explain, "collectives[].", asked_collective_keys);
  add_answers(explain, "lines[].arrays[].");
  add_keys(explain, "lines[].collectives[].", collective_answer_keys);
  add_keys(explain, "lines[].findings[].", finding_keys);
  return explain;
}

/// Of a plan, or of the table.
std::vector<Json> findings_schemas() {
  Json of_plan = document_schema("findings");
  add_keys(of_plan, "", findings_keys);
  add_keys(of_plan, "findings[].", finding_keys);
  Json list;
  list["title"] = "shard-plan findings --list --format json";
  add_keys(list, "", kind_keys);
  list["properties"]["schema"]["const"] = json_schema_number;
  list["properties"]["command"]["const"] = "findings";
  return {of_plan, list};
}

}  // namespace

std::string json_output_schema() {
  constexpr int indent = 2;
  Json plan = document_schema("plan");
  add_keys(plan, "", plan_keys);
  add_keys(plan, "", delta_keys);
  add_keys(plan, "state.arrays[].", array_keys);
  add_keys(plan, "functions[].", function_keys);
  add_keys(plan, "functions[].values[].", array_keys);
  add_keys(plan, "functions[].outputs[].", array_keys);
  Json show = document_schema("show");
  add_keys(show, "arrays[].", array_keys);
  add_keys(show, "arrays[].", piece_keys);
  add_keys(show, "arrays[].", shown_keys);
  add_keys(show, "", show_keys);
  show["properties"]["arrays"]["type"] = "array";
  make_optional(show, "mesh_devices");
  for (const char* key : {"uneven", "indices"}) {
    make_optional(show["properties"]["arrays"]["items"], key);
  }
  for (const char* key : {"slice", "host", "chip", "core"}) {
    make_optional(show["properties"]["mesh_devices"]["items"], key);
  }
  Json run = document_schema("run");
  add_keys(run, "", run_keys);
  add_keys(run, "functions[].outputs[].", array_keys);
  Json schema;
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "What shard-plan writes with --format json";
  schema["oneOf"] = Json::array({plan, show, run, explain_schema()});
  for (Json& one : findings_schemas()) schema["oneOf"].push_back(std::move(one));
  for (const std::string& text : view_schemas()) schema["oneOf"].push_back(Json::parse(text));
  for (const std::string& text : layout_schemas()) {
    schema["oneOf"].push_back(Json::parse(text));
  }
  return schema.dump(indent) + '\n';
}

}  // namespace shard
