#include "report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace shard {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

double figure_of(std::optional<Bytes> bytes) {
  return bytes ? static_cast<double>(bytes->count()) : unknown;
}

/// The figure by which sets are ordered, in order of `CompareOrder`.
using OrderingFigure = double (*)(const ComparedSet&);
constexpr std::array<OrderingFigure, 6> ordering_figures = {
    [](const ComparedSet&) { return 0.0; },
    [](const ComparedSet& set) { return figure_of(state_bytes(set.record).bytes); },
    [](const ComparedSet& set) { return figure_of(replicated_bytes(set.record)); },
    [](const ComparedSet& set) { return figure_of(wire_bytes(set.record)); },
    [](const ComparedSet& set) { return figure_of(set.record.peak); },
    [](const ComparedSet& set) { return set.step_time ? set.step_time->mean.value : unknown; },
};

double growth_percent(Bytes before, Bytes after) {
  if (before == after) return 0;
  if (before == Bytes(0)) return std::numeric_limits<double>::infinity();
  return 100.0 * static_cast<double>((after - before).count()) /
         static_cast<double>(before.count());
}

void keep_worse(std::optional<Worsening>& worst, const char* figure, std::optional<Bytes> before,
                std::optional<Bytes> after) {
  if (!before || !after || *after <= *before) return;
  const double percent = growth_percent(*before, *after);
  if (!worst || percent > worst->percent) worst = Worsening{figure, percent};
}

std::string mesh_suffix(const ComparedMesh& mesh) {
  return mesh.mesh.empty() ? "" : " on " + mesh.mesh;
}

}  // namespace

void sort_sets(ComparedMesh& mesh, CompareOrder order) {
  const OrderingFigure figure = ordering_figures[static_cast<std::size_t>(order)];
  std::stable_sort(
      mesh.sets.begin() + 1, mesh.sets.end(),
      [&](const ComparedSet& a, const ComparedSet& b) { return figure(a) < figure(b); });
}

std::optional<Worsening> worst_growth(const LayoutDiff& diff) {
  std::optional<Worsening> worst;
  keep_worse(worst, "state B/device", diff.state.before, diff.state.after);
  keep_worse(worst, "wire B/device", diff.wire.before, diff.wire.after);
  keep_worse(worst, "peak B/device", diff.peak.before, diff.peak.after);
  return worst;
}

std::vector<std::string> failures_of(const Comparison& comparison) {
  std::vector<std::string> failures;
  for (const ComparedMesh& mesh : comparison.meshes) {
    for (std::size_t i = 1; i < mesh.sets.size(); ++i) {
      const ComparedSet& set = mesh.sets[i];
      const std::string who = set.title + mesh_suffix(mesh);
      if (comparison.fail_on_change && set.against_base.is_change()) {
        failures.push_back(who + " differs from " + mesh.sets.front().title);
      }
      const auto worst = worst_growth(set.against_base);
      if (!comparison.allowed_percent || !worst || worst->percent <= *comparison.allowed_percent) {
        continue;
      }
      const std::string grown =
          std::isinf(worst->percent)
              ? fmt::format("has {} where the base has none", worst->figure)
              : fmt::format("needs {:.1f}% more of {}", worst->percent, worst->figure);
      failures.push_back(
          fmt::format("{} {} (allowed {:g}%)", who, grown, *comparison.allowed_percent));
    }
  }
  return failures;
}

}  // namespace shard
