#include "report/memory_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/rows.h"
#include "report/sections.h"
#include "report/table.h"
#include "report/xml.h"
#include "spmd/fused_form.h"
#include "spmd/memory_course.h"

namespace shard {
namespace {

constexpr std::size_t most_moments = 24;
constexpr std::int64_t longest_bar = 40;

std::string moment_text(const PlannedFunction& function, const MemoryMoment& moment) {
  const std::vector<Instruction>& code =
      function.program.bodies[static_cast<std::size_t>(moment.body)].instructions;
  if (moment.position < 0) return "start";
  if (static_cast<std::size_t>(moment.position) >= code.size()) return "end";
  const Instruction& at = code[static_cast<std::size_t>(moment.position)];
  std::string text = at.kind == Instruction::Kind::loop ? "repeat"
                     : at.collective                    ? std::string(name_of(at.collective->kind))
                     : at.kind == Instruction::Kind::fused ? fused_name(at)
                                                           : std::string(def(at.op).name);
  if (moment.body > 0) text = "in repeat: " + text;
  if (at.node == NodeId::none) return text;
  const std::string& layer = function.sharded.graph.node(at.node).name;
  return layer.empty() ? text : fmt::format("{} of {} ({})", text, layer, name_of(at.phase));
}

/// The busiest of each of at most `most_moments` stretches of the course, by position in it.
std::vector<std::size_t> shown_moments(const std::vector<MemoryMoment>& course) {
  const std::size_t rows = std::min(most_moments, course.size());
  std::vector<std::size_t> shown;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t begin = row * course.size() / rows, end = (row + 1) * course.size() / rows;
    const auto busiest = std::max_element(
        course.begin() + static_cast<std::ptrdiff_t>(begin),
        course.begin() + static_cast<std::ptrdiff_t>(end),
        [](const MemoryMoment& a, const MemoryMoment& b) { return a.live < b.live; });
    shown.push_back(static_cast<std::size_t>(busiest - course.begin()));
  }
  return shown;
}

// Of the SVG, in pixels.
constexpr double chart_width = 800;
constexpr double chart_height = 240;
constexpr double chart_left = 120;
constexpr double chart_top = 48;
constexpr double legend_width = 140;

constexpr const char* chart_style = R"(<style>
text { font: 12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; }
.page { fill: #ffffff; }
.peak { stroke: #1f2328; stroke-dasharray: 4 3; }
.c0 { fill: #59636e; } .c1 { fill: #2f6fb5; } .c2 { fill: #7a5cc4; } .c3 { fill: #c2542d; }
.c4 { fill: #3b8f4a; } .c5 { fill: #b8860b; } .c6 { fill: #2b8f8f; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .page { fill: #0d1117; }
  .peak { stroke: #e6edf3; }
}
</style>
)";

std::int64_t bytes_in(const MemoryMoment& moment, Category category) {
  for (const CategoryBytes& one : moment.by_category) {
    if (one.category == category) return one.bytes.count();
  }
  return 0;
}

class MemoryChart {
 public:
  MemoryChart(const PlannedFunction& function, std::string_view title)
      : function_(function),
        course_(memory_course(function.program)),
        most_(std::max_element(
            course_.begin(), course_.end(),
            [](const MemoryMoment& a, const MemoryMoment& b) { return a.live < b.live; })) {
    text(16, 24, fmt::format("{}: bytes held by a device, instruction by instruction", title));
  }

  std::string draw() {
    std::vector<std::int64_t> below(course_.size(), 0);
    int shown = 0;
    for (int category = 0; category <= static_cast<int>(Category::output); ++category) {
      const std::vector<std::int64_t> above = with(below, static_cast<Category>(category));
      if (above == below) continue;
      area(below, above, category);
      legend(static_cast<Category>(category), shown++);
      below = above;
    }
    mark_peak();
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n{2}<rect class=\"page\" width=\"100%\" "
        "height=\"100%\"/>\n{3}</svg>\n",
        chart_left + chart_width + legend_width + 16, chart_top + chart_height + 40, chart_style,
        body_);
  }

 private:
  std::vector<std::int64_t> with(const std::vector<std::int64_t>& below, Category category) const {
    std::vector<std::int64_t> sums = below;
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += bytes_in(course_[i], category);
    return sums;
  }

  double x_of(std::size_t moment) const {
    return chart_left +
           chart_width * static_cast<double>(moment) / static_cast<double>(course_.size());
  }
  double y_of(std::int64_t bytes) const {
    const auto most = static_cast<double>(std::max<std::int64_t>(1, most_->live.count()));
    return chart_top + chart_height * (1 - static_cast<double>(bytes) / most);
  }

  /// Steps: a moment lasts from its place to the next.
  void area(const std::vector<std::int64_t>& below, const std::vector<std::int64_t>& above,
            int category) {
    std::string points;
    for (std::size_t i = 0; i < above.size(); ++i) {
      points += fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", x_of(i), y_of(above[i]), x_of(i + 1),
                            y_of(above[i]));
    }
    for (std::size_t i = below.size(); i-- > 0;) {
      points += fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", x_of(i + 1), y_of(below[i]), x_of(i),
                            y_of(below[i]));
    }
    points.pop_back();
    body_ += fmt::format("<polygon class=\"c{}\" points=\"{}\"/>\n", category, points);
  }

  void legend(Category category, int row) {
    const double x = chart_left + chart_width + 16, y = chart_top + 20.0 * row;
    body_ +=
        fmt::format("<rect class=\"c{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\"/>\n",
                    static_cast<int>(category), x, y);
    text(x + 18, y + 10, std::string(name_of(category)));
  }

  void mark_peak() {
    const auto at = static_cast<std::size_t>(most_ - course_.begin());
    body_ += fmt::format(
        "<line class=\"peak\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n",
        (x_of(at) + x_of(at + 1)) / 2, chart_top, chart_top + chart_height);
    text(16, chart_top + 10, with_commas(most_->live));
    text(16, chart_top + chart_height, "0");
    text(chart_left, chart_top + chart_height + 24,
         fmt::format("most at {}", moment_text(function_, *most_)));
  }

  void text(double x, double y, const std::string& words) {
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, y, xml_text(words));
  }

  const PlannedFunction& function_;
  std::vector<MemoryMoment> course_;
  std::vector<MemoryMoment>::const_iterator most_;
  std::string body_;
};

}  // namespace

std::string memory_picture_text(const PlannedFunction& function, std::string_view title,
                                const Layout& layout) {
  const std::vector<MemoryMoment> course = memory_course(function.program);
  std::int64_t most = 1;
  for (const MemoryMoment& moment : course) most = std::max(most, moment.live.count());
  Table table({{fmt::format("MEMORY OVER TIME, {}", title)}, {"bytes", true}, {""}});
  for (const std::size_t at : shown_moments(course)) {
    const std::int64_t bytes = course[at].live.count();
    const std::int64_t length =
        bytes == 0 ? 0 : std::max<std::int64_t>(1, bytes * longest_bar / most);
    std::string bar;
    for (std::int64_t i = 0; i < length; ++i) bar += "█";
    table.add({moment_text(function, course[at]), bytes_text(layout, course[at].live), bar});
  }
  return table.render(layout.width, layout.color);
}

std::string memory_picture_svg(const PlannedFunction& function, std::string_view title) {
  return MemoryChart(function, title).draw();
}

}  // namespace shard
