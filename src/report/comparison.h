#pragma once
// Several rule sets on one model side by side: the first is the base the others are held against.

#include <optional>
#include <string>
#include <vector>

#include "check/diff.h"
#include "check/layout_record.h"
#include "exec/measure.h"
#include "report/compare_order.h"
#include "report/plan.h"

namespace shard {

/// One rule set on one mesh.
struct ComparedSet {
  std::string title;  ///< the rule set's name, as short as tells it from the others
  LayoutRecord record;
  LayoutDiff against_base;          ///< empty for the base itself
  std::optional<Timing> step_time;  ///< of the main function, where it was run
};

/// What the sets are on one mesh; the base first.
struct ComparedMesh {
  std::string mesh;  ///< empty: each set on the mesh of its own
  std::vector<ComparedSet> sets;
};

struct Comparison {
  std::string model;
  std::vector<ComparedMesh> meshes;
  std::optional<double> allowed_percent;  ///< of --fail-on-worse
  bool fail_on_change = false;
};

/// Orders the sets behind the base, smallest first; a set that does not know the figure is last.
void sort_sets(ComparedMesh& mesh, CompareOrder order);

/// The figure of a set that grew most against the base, of those that are not to grow.
struct Worsening {
  std::string figure;  ///< `state B/device`
  double percent = 0;  ///< infinite where the base has none
};
/// Nothing where nothing grew.
std::optional<Worsening> worst_growth(const LayoutDiff& diff);

/// Why the comparison fails, one line each; empty when it does not.
std::vector<std::string> failures_of(const Comparison& comparison);

std::string comparison_text(const Comparison& comparison, const Layout& layout);
/// For a pull request.
std::string comparison_markdown(const Comparison& comparison, const Layout& layout);
std::string comparison_json(const Comparison& comparison);

}  // namespace shard
