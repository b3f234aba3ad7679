#include "report/picture.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "report/table.h"

namespace shard {
namespace {

// A picture is for reading: bigger grids are cut in the middle of rows and columns, and after the
// first pages.
constexpr std::size_t most_rows = 16;
constexpr std::int64_t most_pages = 4;
constexpr std::size_t longest_ids = 24;

using Lines = std::vector<std::string>;

/// The grid of one page; an empty label column or row is left out.
struct Grid {
  Lines row_labels;
  Lines column_labels;
  std::vector<Lines> cells;  ///< by row
};

std::string repeated(const std::string& text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

std::size_t width_of(const std::string& text) { return static_cast<std::size_t>(text_width(text)); }

std::string centered(const std::string& text, std::size_t width) {
  const std::size_t blanks = width - std::min(width, width_of(text));
  return std::string(blanks / 2, ' ') + text + std::string(blanks - blanks / 2, ' ');
}

/// `0-3,8-11`: runs of three or more are collapsed. Assumes ascending ids.
std::string collapsed(const std::vector<std::int64_t>& ids) {
  std::string text;
  for (std::size_t i = 0; i < ids.size();) {
    std::size_t last = i;
    while (last + 1 < ids.size() && ids[last + 1] == ids[last] + 1) ++last;
    if (last < i + 2) last = i;
    const std::string run =
        std::to_string(ids[i]) + (last == i ? std::string() : "-" + std::to_string(ids[last]));
    if (!text.empty() && text.size() + 1 + run.size() > longest_ids) {
      return text + ",… (" + std::to_string(ids.size()) + ")";
    }
    text += (text.empty() ? "" : ",") + run;
    i = last + 1;
  }
  return text;
}

/// `data 1`, `data,model 0,3`: the coordinates of part `part` of a dim; empty when it is whole.
std::string part_label(const Mesh& mesh, const DimSharding& dim, std::int64_t part) {
  std::string names;
  std::string numbers;
  std::int64_t rest = part;
  for (std::size_t i = dim.axes.size(); i-- > 0;) {
    const AxisRef& axis = dim.axes[i];
    names = to_string(mesh, axis) + (names.empty() ? "" : ",") + names;
    numbers = std::to_string(rest % axis.size) + (numbers.empty() ? "" : ",") + numbers;
    rest /= axis.size;
  }
  return names.empty() ? names : names + " " + numbers;
}

/// `dim 0: 2 x 4 over data`.
std::string dim_caption(const Mesh& mesh, const Shape& shape, const Sharding& sharding,
                        std::size_t dim) {
  const std::int64_t parts = part_count(sharding.dims[dim]);
  const std::string name = "dim " + std::to_string(dim) + ": ";
  if (parts == 1) return name + std::to_string(shape[dim]) + " whole";
  std::string axes;
  for (const AxisRef& axis : sharding.dims[dim].axes) {
    axes += (axes.empty() ? "" : ", ") + to_string(mesh, axis);
  }
  return name + std::to_string(parts) + " x " + std::to_string(shape[dim] / parts) + " over " +
         axes;
}

std::string caption(const Mesh& mesh, const Shape& shape, const Sharding& sharding) {
  std::string text;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    text += (dim == 0 ? "" : "   ") + dim_caption(mesh, shape, sharding, dim);
  }
  return text.empty() ? text : text + "\n";
}

/// Per piece, row-major over the parts of all dims, the ids of the devices that hold it.
Lines piece_texts(const Mesh& mesh, const Sharding& sharding) {
  std::vector<AxisRef> all;
  for (const DimSharding& dim : sharding.dims) {
    all.insert(all.end(), dim.axes.begin(), dim.axes.end());
  }
  std::vector<std::vector<std::int64_t>> ids(static_cast<std::size_t>(product(all)));
  for (std::int64_t at = 0; at < mesh.device_count(); ++at) {
    ids[static_cast<std::size_t>(mesh.linear_coordinate(at, all))].push_back(mesh.device_id(at));
  }
  Lines texts;
  texts.reserve(ids.size());
  for (auto& piece : ids) {
    std::sort(piece.begin(), piece.end());
    texts.push_back(collapsed(piece));
  }
  return texts;
}

/// Keeps the first entries and the last, with an ellipsis between.
template <class T>
void shorten(std::vector<T>& entries, std::size_t most, const T& ellipsis) {
  if (entries.size() <= most) return;
  T last = std::move(entries.back());
  entries.resize(most - 2);
  entries.push_back(ellipsis);
  entries.push_back(std::move(last));
}

void shorten_columns(Grid& grid, std::size_t most) {
  for (Lines& row : grid.cells) shorten<std::string>(row, most, "…");
  shorten<std::string>(grid.column_labels, most, "…");
}

std::vector<std::size_t> column_widths(const Grid& grid) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < grid.column_labels.size(); ++i) {
    std::size_t width = width_of(grid.column_labels[i]);
    for (const Lines& row : grid.cells) width = std::max(width, width_of(row[i]));
    widths.push_back(width + 2);
  }
  return widths;
}

std::size_t label_width(const Grid& grid) {
  std::size_t width = 0;
  for (const std::string& label : grid.row_labels) width = std::max(width, width_of(label));
  return width == 0 ? 0 : width + 1;
}

/// Cuts the grid to what fits a page.
void fit(Grid& grid, std::size_t max_width) {
  shorten<Lines>(grid.cells, most_rows, Lines(grid.column_labels.size(), "…"));
  shorten<std::string>(grid.row_labels, most_rows, "…");
  shorten_columns(grid, std::max<std::size_t>(3, max_width / 4));  // no cell is narrower than that
  for (std::size_t most = grid.column_labels.size(); most >= 3; --most) {
    const std::vector<std::size_t> widths = column_widths(grid);
    const std::size_t total = std::accumulate(widths.begin(), widths.end(), widths.size() + 1);
    if (total + label_width(grid) <= max_width) return;
    shorten_columns(grid, most - 1 < 3 ? 3 : most - 1);
  }
}

std::string rule(const std::vector<std::size_t>& widths, const char* left, const char* middle,
                 const char* right) {
  std::string text = left;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    text += (i == 0 ? "" : middle) + repeated("─", widths[i]);
  }
  return text + right + "\n";
}

std::string header(const Grid& grid, const std::vector<std::size_t>& widths,
                   const std::string& margin) {
  std::string text = margin;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    text += " " + centered(grid.column_labels[i], widths[i]);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text.empty() ? text : text + "\n";
}

std::string drawn(const Grid& grid) {
  const std::vector<std::size_t> widths = column_widths(grid);
  const std::string margin(label_width(grid), ' ');
  std::string text = header(grid, widths, margin) + margin + rule(widths, "┌", "┬", "┐");
  for (std::size_t r = 0; r < grid.cells.size(); ++r) {
    const std::string& label = grid.row_labels[r];
    text += label + std::string(margin.size() - width_of(label), ' ') + "│";
    for (std::size_t i = 0; i < widths.size(); ++i) {
      text += centered(grid.cells[r][i], widths[i]) + "│";
    }
    const bool is_last = r + 1 == grid.cells.size();
    text += "\n" + margin;
    text += is_last ? rule(widths, "└", "┴", "┘") : rule(widths, "├", "┼", "┤");
  }
  return text;
}

/// The last two dims of a sharding as rows and columns, the others as pages.
struct Pages {
  DimSharding rows;
  DimSharding columns;
  std::vector<DimSharding> leading;
  std::int64_t count = 1;
};

Pages pages_of(const Sharding& sharding) {
  Pages pages;
  std::vector<DimSharding> dims = sharding.dims;
  if (!dims.empty()) pages.columns = dims.back();
  if (dims.size() > 1) pages.rows = dims[dims.size() - 2];
  dims.resize(dims.size() > 2 ? dims.size() - 2 : 0);
  for (const DimSharding& dim : dims) pages.count *= part_count(dim);
  pages.leading = std::move(dims);
  return pages;
}

Grid grid_of(const Mesh& mesh, const Pages& pages, const Lines& pieces, std::int64_t page) {
  const std::int64_t rows = part_count(pages.rows);
  const std::int64_t columns = part_count(pages.columns);
  Grid grid;
  for (std::int64_t c = 0; c < columns; ++c) {
    grid.column_labels.push_back(part_label(mesh, pages.columns, c));
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    grid.row_labels.push_back(part_label(mesh, pages.rows, r));
    const auto first = pieces.begin() + (page * rows + r) * columns;
    grid.cells.emplace_back(first, first + columns);
  }
  return grid;
}

/// `page 1 of 4: dim 0 at data 1`.
std::string page_caption(const Mesh& mesh, const Pages& pages, std::int64_t page) {
  std::string text;
  std::int64_t rest = page;
  for (std::size_t dim = pages.leading.size(); dim-- > 0;) {
    const std::int64_t parts = part_count(pages.leading[dim]);
    if (parts > 1) {
      text = "dim " + std::to_string(dim) + " at " +
             part_label(mesh, pages.leading[dim], rest % parts) + (text.empty() ? "" : ", ") + text;
    }
    rest /= parts;
  }
  return "page " + std::to_string(page + 1) + " of " + std::to_string(pages.count) + ": " + text +
         "\n";
}

}  // namespace

std::string picture(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                    const PictureOptions& options) {
  SHARD_CHECK(divides_evenly(shape, sharding), "a picture shows equal pieces");
  const Pages pages = pages_of(sharding);
  const Lines pieces = piece_texts(mesh, sharding);
  std::string text = caption(mesh, shape, sharding);
  for (std::int64_t page = 0; page < std::min(pages.count, most_pages); ++page) {
    if (pages.count > 1) text += page_caption(mesh, pages, page);
    Grid grid = grid_of(mesh, pages, pieces, page);
    fit(grid, static_cast<std::size_t>(std::max(options.max_width, 0)));
    text += drawn(grid);
  }
  if (pages.count > most_pages) {
    text += "and " + std::to_string(pages.count - most_pages) + " more pages\n";
  }
  return text;
}

}  // namespace shard
