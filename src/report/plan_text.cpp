#include "report/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "report/sections.h"
#include "report/semantics.h"

namespace shard {
namespace {

struct SeverityLook {
  const char* word;
  const char* color;
};

SeverityLook look_of(Severity severity) {
  constexpr SeverityLook looks[] = {{"error", "1;31"}, {"warning", "1;33"}, {"note", "1;36"}};
  return looks[static_cast<std::size_t>(severity)];
}

std::int64_t count_of(const Plan& plan, Severity severity) {
  return std::count_if(plan.findings.begin(), plan.findings.end(),
                       [&](const Finding& finding) { return finding.severity == severity; });
}

/// A model that places everything by mesh axes asks no rule; then it is said that none was.
bool asks_rules(const ShardedGraph& sharded) {
  return !sharded.unmatched.empty() ||
         std::any_of(sharded.rule_uses.begin(), sharded.rule_uses.end(),
                     [](const RuleUse& use) { return use.named > 0; });
}

std::int64_t array_count(const Plan& plan) {
  std::int64_t count = 0;
  for (const StateLeaf& leaf : plan.model.state) count += leaf.iteration.count();
  return count;
}

using Section = std::string (*)(const Plan& plan, const Layout& layout);

constexpr Section program_sections[] = {state_section,  values_section, collectives_section,
                                        memory_section, apply_section,  findings_section};
constexpr Section type_sections[] = {types_section, findings_section};
constexpr Section array_sections[] = {state_section, no_program_section, findings_section};

std::string join_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

std::string bytes_text(const Layout& layout, Bytes bytes) {
  return layout.human ? human(bytes) : with_commas(bytes);
}

std::string at_most_text(bool is_bound, std::string text) {
  return is_bound ? "at most " + text : text;
}

std::string emphasised(const Layout& layout, const std::string& text, const char* code) {
  return layout.color ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

std::string counted(std::int64_t count, const std::string& noun) {
  return with_commas(count) + ' ' + noun + (count == 1 ? "" : "s");
}

/// Axes that have several devices; a crowd of others is only counted.
std::string mesh_text(const Mesh& mesh) {
  constexpr std::int64_t most_listed = 2;
  std::string text;
  std::int64_t small = 0;
  for (const MeshAxisInfo& axis : mesh.axes()) {
    if (axis.size == 1) ++small;
    if (axis.size == 1) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", axis.name.text(), axis.size);
  }
  if (small <= most_listed) return to_string(mesh);
  return fmt::format("{}{} axes of size 1", text.empty() ? "" : text + " and ", small);
}

std::string hardware_text(const Plan& plan) {
  const std::int64_t count = plan.mesh.device_count();
  return plan.rules.devices.empty() ? counted(count, "cpu device")
                                    : plan.rules.devices + ", " + counted(count, "device");
}

std::string types_text(const Mesh& mesh) {
  const auto word = [](AxisType type) {
    return type == AxisType::automatic        ? "auto"
           : type == AxisType::explicit_types ? "explicit"
                                              : "manual";
  };
  std::string each;
  for (const MeshAxisInfo& axis : mesh.axes()) {
    each += fmt::format("{}{} {}", each.empty() ? "" : ", ", axis.name.text(), word(axis.type));
  }
  for (const MeshAxisInfo& axis : mesh.axes()) {
    if (axis.type != mesh.axes().front().type) return each;
  }
  return mesh.axes().empty() ? "auto" : word(mesh.axes().front().type);
}

/// Whose reading of the rules is in force.
std::string resolver_text(const Plan& plan) {
  if (!asks_rules(plan.main().sharded)) return "none asked";
  return plan.rules.resolver == RuleResolver::nnx ? "nnx" : "linen";
}

std::string header_line(const Plan& plan, const Layout& layout) {
  const std::string function =
      !plan.model.has_program ? counted(array_count(plan), "array") + " without a program"
      : plan.train_step       ? "train step (returns " + join_words(plan.model.returns) + ')'
                              : "apply (the model has no train step)";
  return fmt::format("{}: {}, {}   mesh {}, {}, {}   rules {} ({})   semantics {}\n",
                     emphasised(layout, plan.model.name, "1"),
                     counted(plan.model.parameter_count, "parameter"), function,
                     mesh_text(plan.mesh), hardware_text(plan), types_text(plan.mesh),
                     plan.rules.name, resolver_text(plan), semantics_name);
}

std::string finding_text(const Finding& finding, const Layout& layout) {
  const SeverityLook look = look_of(finding.severity);
  const std::string place = to_string(finding.at);
  std::string text =
      fmt::format("{}{}  {}: {}\n", place.empty() ? "" : place + ": ",
                  emphasised(layout, look.word, look.color), finding.id, finding.message);
  if (!finding.fix.empty()) text += "  fix: " + finding.fix + '\n';
  return text;
}

/// Many findings of one kind would drown the others: the first of them, and how many more. What
/// makes the answer a no is always there in full.
std::string findings_section(const Plan& plan, const Layout& layout) {
  constexpr std::size_t most_of_a_kind = 4;
  constexpr std::size_t shown_of_many = 2;
  std::map<std::pair<Severity, std::string>, std::size_t> total;
  for (const Finding& finding : plan.findings) ++total[{finding.severity, finding.id}];
  std::map<std::pair<Severity, std::string>, std::size_t> seen;
  std::string text;
  for (const Finding& finding : plan.findings) {
    const std::size_t all = total[{finding.severity, finding.id}];
    const bool is_many =
        all > most_of_a_kind && !layout.unfold && finding.severity != Severity::error;
    const std::size_t number = ++seen[{finding.severity, finding.id}];
    if (!is_many || number <= shown_of_many) {
      text += finding_text(finding, layout);
    } else if (number == all) {
      const SeverityLook look = look_of(finding.severity);
      text += fmt::format("{}  {}: {} more like these (--all lists them)\n",
                          emphasised(layout, look.word, look.color), finding.id,
                          with_commas(all - shown_of_many));
    }
  }
  return text;
}

std::string verdict_line(const Plan& plan, const Layout& layout) {
  const std::int64_t errors = count_of(plan, Severity::error);
  const bool fits = !plan.fit || plan.fit->fits();
  const bool ok = errors == 0 && fits;
  return fmt::format("{}: {}, {}, {}{}\n",
                     emphasised(layout, ok ? "plan ok" : "plan not ok", ok ? "1;32" : "1;31"),
                     counted(errors, "error"),
                     counted(count_of(plan, Severity::warning), "warning"),
                     counted(count_of(plan, Severity::note), "note"), fits ? "" : ", does not fit");
}

std::string plan_text(const Plan& plan, const Layout& layout) {
  std::string text = header_line(plan, layout);
  const std::span<const Section> sections = !plan.model.has_program ? array_sections
                                            : layout.types ? std::span<const Section>(type_sections)
                                                           : program_sections;
  for (const Section section : sections) {
    const std::string part = section(plan, layout);
    if (part.empty()) continue;
    text += part + '\n';
  }
  return text + verdict_line(plan, layout);
}

}  // namespace shard
