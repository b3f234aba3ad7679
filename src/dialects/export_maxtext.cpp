#include <algorithm>
#include <set>

#include "dialects/export_plan.h"
#include "dialects/maxtext_keys.h"
#include "dialects/python_text.h"

namespace shard {
namespace {

std::string list_text(const std::vector<MeshAxis>& axes) {
  std::string text = "[";
  for (std::size_t i = 0; i < axes.size(); ++i) {
    text += (i == 0 ? "" : ", ") + python_text(axes[i].text());
  }
  return text + "]";
}

std::string rules_text(const RulesConfig& rules) {
  std::string text = "logical_axis_rules: [\n";
  for (const RuleConfig& rule : rules.rules) {
    const std::string target =
        rule.target.is_unconstrained ? "UNCONSTRAINED" : list_text(rule.target.axes);
    text += "  [" + python_text(rule.logical.text()) + ", " + target + "],\n";
  }
  return text + "]\n";
}

std::string sizes_text(const ExportedPlan& plan, std::string_view group, const Shape& sizes) {
  std::string text;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const std::string stem = parallelism_of(plan.mesh.axes()[k].name.text());
    if (stem.empty()) continue;
    text += parallelism_key(group, stem) + ": " + std::to_string(sizes[k]) + "\n";
  }
  return text;
}

Shape sizes_of(const Mesh& mesh) {
  Shape sizes;
  for (const MeshAxisInfo& axis : mesh.axes()) sizes.push_back(axis.size);
  return sizes;
}

void warn_of_the_rest(const ExportedPlan& plan, Diagnostics& diagnostics) {
  const RulesConfig& rules = plan.rules;
  const auto warn = [&](const Location& at, const std::string& what, const std::string& hint) {
    diagnostics.warning("not-exported", at, what, hint);
  };
  if (!rules.rules_for.empty()) {
    warn({rules.file}, "a MaxText configuration has one list of rules: 'rules_for' is left out",
         "give the parts names of their own, as activation_embed beside embed");
  }
  if (!rules.paths.empty()) {
    warn(rules.paths.front().at,
         "a MaxText configuration places nothing by path: 'paths' is left out", "");
  }
  if (rules.resolver == RuleResolver::nnx) {
    warn({rules.file}, "MaxText reads its rules as Linen does, not as NNX", "");
  }
  for (const MeshAxisInfo& axis : plan.mesh.axes()) {
    if (!parallelism_of(axis.name.text()).empty() || axis.size == 1) continue;
    warn(axis.at, "MaxText has no key for the size of mesh axis '" + axis.name.text() + "'", "");
  }
}

}  // namespace

std::string export_maxtext(const ExportedPlan& plan, Diagnostics& diagnostics) {
  warn_of_the_rest(plan, diagnostics);
  std::vector<MeshAxis> axes;
  for (const MeshAxisInfo& axis : plan.mesh.axes()) axes.push_back(axis.name);
  const MeshHardware* hardware = plan.mesh.hardware();
  const Shape ones(axes.size(), 1);
  std::string text = "# " + plan.model + " by the rules " + plan.rules_name +
                     ", written by shard-plan\nmesh_axes: " + list_text(axes) + "\n" +
                     rules_text(plan.rules);
  text += sizes_text(plan, "ici", hardware == nullptr ? sizes_of(plan.mesh) : hardware->ici);
  text += sizes_text(plan, "dcn", hardware == nullptr ? ones : hardware->dcn);
  if (plan.rules.device_order == DeviceOrder::split) text += "allow_split_physical_axes: true\n";
  text += "\n# How the arrays come out:\n";
  for (const ExportedArray& array : plan.arrays) {
    text += "#   " + array.path + "  " + to_string(array.type) + "  " + array.spec + "\n";
  }
  return text;
}

}  // namespace shard
