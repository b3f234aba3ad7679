#include <fmt/format.h>

#include <algorithm>

#include "report/explain.h"
#include "report/fold.h"
#include "report/sections.h"
#include "report/table.h"
#include "report/why.h"
#include "report/words.h"

namespace shard {
namespace {

constexpr std::size_t most_unused = 4;
constexpr std::size_t most_trials = 3;

std::string title(const ArrayAnswer& answer, const Layout& layout) {
  const ArrayRow& row = answer.row;
  std::string text = emphasised(layout, join_folded(answer.names), "1");
  if (answer.names.size() > 1) text += fmt::format(" ({})", with_commas(std::ssize(answer.names)));
  text += fmt::format("  {}  {}", to_string(row.type), row.spec);
  if (has_unknown_size(row.type.shape)) return text + '\n';
  return text + fmt::format("  local {}  {} B, {}\n", to_string(row.local),
                            bytes_text(layout, row.bytes),
                            row.copies == 1 ? "1 copy" : with_commas(row.copies) + " copies");
}

/// Dims with what decided them, what lost below.
std::string dims_text(const ArrayAnswer& answer) {
  Table table({{""}, {""}, {"", true}, {""}, {""}});
  for (std::size_t dim = 0; dim < answer.dims.size(); ++dim) {
    const DimAnswer& one = answer.dims[dim];
    table.add({fmt::format("  dim {}", dim), one.name,
               one.size == unknown_size ? "?" : std::to_string(one.size), one.split,
               joined(one.why, "; ")});
    for (const std::string& lost : one.lost) table.add({"", "", "", "", lost});
  }
  const std::string text = table.render(0, false);
  return text.substr(text.find('\n') + 1);  // the columns have no titles
}

std::string unused_text(const ArrayAnswer& answer) {
  if (answer.unused_rules.empty()) return "";
  const std::size_t shown = std::min(answer.unused_rules.size(), most_unused);
  std::vector<std::string> first(answer.unused_rules.begin(),
                                 answer.unused_rules.begin() + static_cast<std::ptrdiff_t>(shown));
  std::string text = "not used here: " + joined(first, ", ");
  const std::size_t more = answer.unused_rules.size() - shown;
  if (more > 0) text += fmt::format(" and {} more", with_commas(static_cast<std::int64_t>(more)));
  return text + (answer.unused_rules.size() == 1 ? ": no dim has its name\n"
                                                 : ": no dim has their names\n");
}

std::string trial_text(const Layout& layout, const RuleTrial& trial) {
  std::string text =
      fmt::format("free axis: {} ({}). `- {}`", trial.axis, with_commas(trial.size), trial.rule);
  if (trial.instead_of > 0) text += fmt::format(" instead of rule {}", trial.instead_of);
  if (!trial.refusal.empty()) return text + fmt::format(" is refused: {}\n", trial.refusal);
  text += fmt::format(" gives {}, {} B here, {} B of state; try", trial.spec,
                      bytes_text(layout, trial.array), bytes_text(layout, trial.state));
  if (trial.instead_of > 0) text += fmt::format(" --drop-rule {}", trial.instead_of);
  return text + fmt::format(" --add-rule \"{}\"\n", trial.rule);
}

std::string ways_text(const ArrayAnswer& answer, const Layout& layout) {
  if (answer.trials.empty()) {
    if (answer.free_axes.empty()) return "";
    return fmt::format("free {}: {}\n", answer.free_axes.size() == 1 ? "axis" : "axes",
                       joined(answer.free_axes, ", "));
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(answer.trials.size(), most_trials); ++i) {
    text += trial_text(layout, answer.trials[i]);
  }
  if (answer.trials.size() > most_trials) {
    text += fmt::format("and {} more ways (--format json lists them)\n",
                        answer.trials.size() - most_trials);
  }
  return text;
}

std::string array_text(const ArrayAnswer& answer, const Layout& layout) {
  std::string text = title(answer, layout) + answer.placed + '\n';
  if (!answer.dims.empty()) text += dims_text(answer);
  text += unused_text(answer) + ways_text(answer, layout);
  if (!answer.other_resolver.empty()) text += answer.other_resolver + '\n';
  return text;
}

std::string collective_text(const CollectiveAnswer& answer, const Layout& layout) {
  const CollectiveRow& row = answer.row;
  std::string text =
      fmt::format("{} {} over {}, groups {}, {} {} B, wire {} B\n",
                  emphasised(layout, '#' + std::to_string(answer.number), "1"), name_of(row.kind),
                  row.axes, answer.groups, answer.type, bytes_text(layout, row.payload),
                  bytes_text(layout, row.wire_each));
  text += fmt::format("because  {}\n", answer.because);
  if (row.loop_times > 1) {
    text += fmt::format("in a loop that runs it {} times\n", with_commas(row.loop_times));
  }
  if (!answer.asked_by.empty()) text += fmt::format("asked by {}\n", answer.asked_by);
  if (row.is_implicit) text += "asked for by nothing: it is implicit\n";
  for (const Alternative& one : answer.instead) {
    text += fmt::format("instead  {}: {}\n", one.edit, one.effect);
  }
  return text;
}

std::string line_arrays(const LineAnswer& answer, const Layout& layout) {
  if (answer.arrays.empty()) return "";
  Table table({{"ARRAYS"}, {"type", false, 2}, {"spec"}, {"B/device", true, 1}, {"why", false, 3}});
  for (const ArrayAnswer& one : answer.arrays) {
    table.add({join_folded(one.names), to_string(one.row.type), one.row.spec,
               bytes_text(layout, one.row.bytes), join({one.row.why})});
  }
  return table.render(layout.width, layout.color);
}

std::string line_text(const LineAnswer& answer, const Layout& layout) {
  std::string text = emphasised(layout, answer.place, "1") + '\n';
  for (const std::string& rule : answer.rules) text += rule + '\n';
  text += line_arrays(answer, layout);
  for (const CollectiveRow& row : answer.collectives) {
    text += fmt::format("#{} {} over {}, {} x {} B: {}\n", row.number, name_of(row.kind), row.axes,
                        with_commas(row.count), bytes_text(layout, row.payload), join({row.why}));
  }
  for (const Finding& finding : answer.findings) text += finding_text(finding, layout);
  return text;
}

}  // namespace

std::string explain_text(const Explanation& explanation, const Layout& layout) {
  std::vector<std::string> parts;
  for (const ArrayAnswer& one : explanation.arrays) parts.push_back(array_text(one, layout));
  for (const CollectiveAnswer& one : explanation.collectives) {
    parts.push_back(collective_text(one, layout));
  }
  for (const LineAnswer& one : explanation.lines) parts.push_back(line_text(one, layout));
  return joined(parts, "\n");
}

}  // namespace shard
