#include "report/run_report.h"

#include <algorithm>
#include <limits>
#include <map>

namespace shard {
namespace {

double in_tolerances(const Difference& difference) {
  if (difference.has_non_finite) return std::numeric_limits<double>::infinity();
  return difference.tolerance > 0 ? difference.largest / difference.tolerance
                                  : difference.largest * std::numeric_limits<double>::max();
}

std::string axes_names(const Mesh& mesh, const std::vector<int>& axes) {
  std::string text;
  for (const int axis : axes) {
    text += (text.empty() ? "" : ",") + mesh.axes()[static_cast<std::size_t>(axis)].name.text();
  }
  return text;
}

}  // namespace

bool FunctionRun::results_equal() const {
  return std::all_of(differences.begin(), differences.end(),
                     [](const Difference& one) { return one.is_ok(); });
}

bool FunctionRun::may_do_less() const {
  const std::vector<Body>& bodies = function->program.bodies;
  return std::any_of(bodies.begin(), bodies.end(), [](const Body& body) {
    return std::any_of(body.instructions.begin(), body.instructions.end(),
                       [](const Instruction& one) { return one.attributes.has("guarded"); });
  });
}

bool FunctionRun::may_send_less() const {
  const std::vector<AxisWire> wires = wire_per_axis(*function);
  return may_do_less() || std::any_of(wires.begin(), wires.end(),
                                      [](const AxisWire& wire) { return wire.is_bound; });
}

bool FunctionRun::bytes_equal() const {
  const std::vector<MovedRow> rows = moved_rows(*this);
  return std::all_of(rows.begin(), rows.end(), [&](const MovedRow& row) {
    return row.is_bound ? row.counted <= row.planned : row.planned == row.counted;
  });
}

bool FunctionRun::memory_equal() const {
  const Bytes planned = function->program.memory.peak;
  const bool is_bound = may_do_less();
  return !counters.peak.empty() &&
         std::all_of(counters.peak.begin(), counters.peak.end(), [&](Bytes measured) {
           return is_bound ? measured <= planned : measured == planned;
         });
}

const Difference* FunctionRun::worst() const {
  const auto worst = std::max_element(
      differences.begin(), differences.end(),
      [](const Difference& a, const Difference& b) { return in_tolerances(a) < in_tolerances(b); });
  return worst == differences.end() ? nullptr : &*worst;
}

std::vector<MovedRow> moved_rows(const FunctionRun& run) {
  const Mesh& mesh = run.function->program.mesh;
  std::map<std::vector<int>, MovedRow> rows;
  std::map<std::vector<int>, Bytes> totals;
  for (const AxisWire& wire : wire_per_axis(*run.function)) {
    rows[wire.mesh_axes].planned = wire.wire;
    rows[wire.mesh_axes].is_bound = wire.is_bound || run.may_do_less();
  }
  const std::int64_t steps = std::max<std::int64_t>(1, run.counters.steps);
  for (const AxisCounter& counter : run.counters.axes) {
    std::vector<int> axes = counter.axes;
    std::sort(axes.begin(), axes.end());
    if (counter.wire == Bytes(0) && !rows.contains(axes)) continue;
    totals[axes] += counter.wire;
    rows[axes].copied += Bytes(counter.copied.count() / steps);
  }
  std::vector<MovedRow> all;
  for (auto& [axes, row] : rows) {
    // Every step moves the same; what does not divide is rounded away from the plan, to be seen.
    const std::int64_t total = totals[axes].count();
    const std::int64_t over = total > steps * row.planned.count() ? steps - 1 : 0;
    row.counted = Bytes((total + over) / steps);
    row.axes = axes_names(mesh, axes);
    all.push_back(row);
  }
  return all;
}

std::vector<CollectiveTimeRow> collective_time_rows(const FunctionRun& run) {
  if (run.counters.collectives.empty()) return {};
  const auto steps = static_cast<double>(std::max<std::int64_t>(1, run.counters.steps));
  std::map<const Instruction*, const CollectiveRow*> row_of;
  const std::vector<CollectiveRow> rows = collective_rows(*run.function);
  for (const CollectiveRow& row : rows) row_of[row.instruction] = &row;
  std::vector<CollectiveTimeRow> times;
  for (const CollectiveCounter& one : run.counters.collectives) {
    const auto found = row_of.find(&run.function->program.bodies[static_cast<std::size_t>(one.body)]
                                        .instructions[static_cast<std::size_t>(one.index)]);
    if (found == row_of.end()) continue;
    const CollectiveRow& row = *found->second;
    const auto members = static_cast<double>(std::max<std::int64_t>(1, one.meetings) * row.group);
    std::string name = std::string(name_of(row.kind)) + " " + row.axes;
    if (row.reason.node != NodeId::none) {
      const std::string& layer = run.function->sharded.graph.node(row.reason.node).name;
      if (!layer.empty()) name += " " + layer;
    }
    times.push_back({row.number,
                     std::move(name),
                     {one.busy.value / steps},
                     {one.waiting.value / members * static_cast<double>(row.count)},
                     Bytes(one.copied.count() / static_cast<std::int64_t>(steps))});
  }
  return times;
}

std::vector<LinkRow> link_rows(const FunctionRun& run) {
  const std::int64_t steps = std::max<std::int64_t>(1, run.counters.steps);
  std::vector<LinkRow> rows;
  for (const CollectiveLinks& one : run.counters.links) {
    LinkRow row{one.collective, static_cast<std::int64_t>(one.links.size()), 0, {}, {}};
    for (const auto& [link, tally] : one.links) {
      row.messages += tally.messages / steps;
      row.bytes += Bytes(tally.bytes / steps);
      row.most = std::max(row.most, Bytes(tally.bytes / steps));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

bool RunReport::is_ok() const {
  return std::all_of(functions.begin(), functions.end(), [](const FunctionRun& run) {
    return run.results_equal() && run.bytes_equal() && run.memory_equal() && run.pages_ok();
  });
}

}  // namespace shard
