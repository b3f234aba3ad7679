#pragma once
// The tables of a comparison as cells, before they are laid out as text or Markdown.

#include <string>
#include <vector>

#include "report/comparison.h"

namespace shard {

/// What one set has in a row: a figure, and beside it how it stands to the base.
struct GridCell {
  std::string value;
  std::string beside;
};

struct GridRow {
  std::string label;
  std::vector<GridCell> cells;  ///< one per set
};

/// Figures of the sets, one row each; rows that no set knows are left out.
std::vector<GridRow> figure_rows(const ComparedMesh& mesh, const Layout& layout);

/// Arrays whose effective spec or bytes differ somewhere, those that need most bytes more first.
/// At most as many rows as are worth reading unless everything is asked for.
struct SpecRows {
  std::vector<GridRow> rows;
  std::size_t left_out = 0;
};
SpecRows spec_rows(const ComparedMesh& mesh, const Layout& layout);

/// Warnings and errors of the sets: each with the sets that have it.
struct FindingLine {
  std::string sets;  ///< `dp`, `dp, tp`
  std::string text;  ///< `replicated-large  24 arrays are ...`
};
std::vector<FindingLine> finding_lines(const ComparedMesh& mesh);

}  // namespace shard
