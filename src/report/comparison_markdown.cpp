#include <fmt/format.h>

#include "report/comparison_grid.h"
#include "report/markdown.h"

namespace shard {
namespace {

std::string marked_cell(const GridCell& cell, bool is_code) {
  const bool is_spec = is_code && (cell.value.starts_with("P(") || cell.value == "none");
  const std::string value = is_spec ? code_text(cell.value) : cell.value;
  return cell.beside.empty() ? value : value + ' ' + cell.beside;
}

std::string table_of(const ComparedMesh& mesh, const std::string& corner,
                     const std::vector<GridRow>& rows, bool is_code) {
  std::vector<std::string> titles = {corner, mesh.sets.front().title + " (base)"};
  for (std::size_t set = 1; set < mesh.sets.size(); ++set) titles.push_back(mesh.sets[set].title);
  std::vector<bool> right(titles.size(), !is_code);
  right.front() = false;
  std::vector<std::vector<std::string>> cells;
  for (const GridRow& row : rows) {
    cells.push_back({is_code ? code_text(row.label) : row.label});
    for (const GridCell& cell : row.cells) cells.back().push_back(marked_cell(cell, is_code));
  }
  return markdown_table(titles, right, cells);
}

std::string mesh_markdown(const ComparedMesh& mesh, const Layout& layout) {
  std::string text = mesh.mesh.empty() ? "" : "#### " + mesh.mesh + "\n\n";
  text += table_of(mesh, "", figure_rows(mesh, layout), false) + '\n';
  const SpecRows specs = spec_rows(mesh, layout);
  if (!specs.rows.empty()) {
    text += table_of(mesh, "specs that differ, B/device each", specs.rows, true) + '\n';
  }
  if (specs.left_out > 0)
    text += fmt::format("and {} more kinds of difference\n\n", specs.left_out);
  for (const FindingLine& line : finding_lines(mesh)) {
    text += "* " + line.sets + ": " + line.text + '\n';
  }
  return text;
}

}  // namespace

std::string comparison_markdown(const Comparison& comparison, const Layout& layout) {
  std::string text = "### " + comparison.model + ": rule sets compared\n\n";
  for (const ComparedMesh& mesh : comparison.meshes) {
    if (&mesh != &comparison.meshes.front()) text += '\n';
    text += mesh_markdown(mesh, layout);
  }
  for (const std::string& failure : failures_of(comparison))
    text += "\n**Failed**: " + failure + '\n';
  return text;
}

}  // namespace shard
