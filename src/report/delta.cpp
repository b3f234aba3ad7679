#include "report/delta.h"

#include <fmt/format.h>

#include "report/change_text.h"
#include "report/sections.h"
#include "report/table.h"

namespace shard {
namespace {

std::string figure_line(const char* name, Bytes before, Bytes after, const Layout& layout) {
  if (before == after) {
    return fmt::format("{}  {}, as before\n", name, bytes_text(layout, after));
  }
  const std::string ratio = ratio_text(before, after);
  return fmt::format("{}  {} -> {}{}\n", name, bytes_text(layout, before),
                     bytes_text(layout, after), ratio.empty() ? "" : "  " + ratio);
}

std::string figures(const LayoutDiff& diff, const Layout& layout) {
  std::string text = figure_line("state B/device", diff.state.before, diff.state.after, layout);
  if (diff.peak.before && diff.peak.after) {
    text += figure_line("peak B/device ", *diff.peak.before, *diff.peak.after, layout);
  }
  if (diff.wire.before && diff.wire.after) {
    text += figure_line("wire B/device ", *diff.wire.before, *diff.wire.after, layout);
  }
  return text;
}

std::string arrays(const LayoutDiff& diff, const Layout& layout) {
  if (diff.arrays.empty()) return "";
  Table table({{"ARRAYS THAT CHANGE"}, {"spec"}, {"B/device", true}});
  for (const ArrayChange& change : diff.arrays) {
    table.add({change_name(change), change_specs(change), change_bytes(change)});
  }
  return table.render(layout.width, layout.color);
}

std::string findings(const char* word, const std::vector<Finding>& all, const Layout& layout) {
  std::string text;
  for (const Finding& finding : all)
    text += fmt::format("{} {}", word, finding_text(finding, layout));
  return text;
}

}  // namespace

std::string delta_text(const Delta& delta, const Layout& layout) {
  std::string text = emphasised(layout, "DELTA", "1") + " against " + delta.base;
  if (!delta.diff) return text + ", which cannot be planned: " + delta.refusal + '\n';
  text += '\n' + figures(*delta.diff, layout) + arrays(*delta.diff, layout);
  for (const CollectiveChange& change : delta.diff->collectives) text += change_text(change) + '\n';
  text += findings("new ", delta.diff->new_findings, layout);
  text += findings("gone", delta.diff->gone_findings, layout);
  if (!delta.diff->is_change()) text += "no array and no collective is different\n";
  return text;
}

}  // namespace shard
