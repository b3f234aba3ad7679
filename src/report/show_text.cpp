#include "report/show_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/units.h"
#include "report/array_drawing.h"
#include "report/fold.h"
#include "report/index_map.h"
#include "report/mesh_drawing.h"
#include "report/picture.h"
#include "report/sections.h"
#include "report/svg.h"
#include "shard/hlo_sharding.h"
#include "shard/sdy_text.h"

namespace shard {
namespace {

bool have_one_picture(const ArrayRow& a, const ArrayRow& b) {
  return a.type.shape == b.type.shape && a.spec == b.spec;
}

/// `params/B_{1..3}/W2, and their mu, nu`: the others that look like `row`.
std::string alike_text(const std::vector<ArrayRow>& state, const std::vector<ArrayRow>& chosen,
                       const ArrayRow& row) {
  std::vector<std::string> others;
  std::set<std::string> trees;
  std::set<std::string> of_state;
  for (const ArrayRow& one : state) {
    of_state.insert(one.name);
    if (one.name == row.name || !have_one_picture(one, row)) continue;
    const bool is_slot = one.follows >= 0;
    const std::string tree =
        is_slot ? optimizer_tree(one, state[static_cast<std::size_t>(one.follows)]) : "";
    if (tree.empty()) {
      others.push_back(one.name);
    } else {
      trees.insert(tree.substr(tree.rfind('/') + 1));
    }
  }
  for (const ArrayRow& one : chosen) {
    if (!of_state.contains(one.name) && one.name != row.name && have_one_picture(one, row))
      others.push_back(one.name);
  }
  std::string text = join_folded(others);
  for (const std::string& tree : trees) text += (text.empty() ? "" : ", ") + tree;
  return text;
}

DrawingLimits limits_of(const Layout& layout) {
  return layout.unfold ? no_limits : DrawingLimits{};
}

/// One picture: the array that is drawn and the others that look like it.
struct Shown {
  const ArrayRow* row = nullptr;
  std::string alike;
};

std::vector<Shown> shown_arrays(const Plan& plan, const std::vector<ArrayRow>& chosen,
                                const ShowOptions& options, const Layout& layout) {
  const bool folds = !layout.unfold && !options.bare;
  const bool has_model = !plan.model_file.empty();
  const std::vector<ArrayRow> state =
      folds && has_model ? unfolded(state_rows(plan)) : std::vector<ArrayRow>();
  std::vector<Shown> shown;
  for (const ArrayRow& row : chosen) {
    const bool is_drawn = std::any_of(shown.begin(), shown.end(), [&](const Shown& one) {
      return have_one_picture(*one.row, row);
    });
    if (folds && is_drawn) continue;
    shown.push_back({&row, folds ? alike_text(state, chosen, row) : ""});
  }
  return shown;
}

/// `x  f32[8,1024]  P('data', None)  local 4,1024`; a spec of the command line has neither name nor
/// dtype and says on which mesh it is.
std::string caption(const Plan& plan, const Shown& one, bool is_emphasised) {
  const ArrayRow& row = *one.row;
  const std::string place = fmt::format("{}  local {}", row.spec, to_string(row.local));
  if (row.name.empty()) {
    return fmt::format("[{}]  {}  on {}", row.type.shape.empty() ? "" : to_string(row.type.shape),
                       place, to_string(plan.mesh));
  }
  Layout layout;
  layout.color = is_emphasised;
  return fmt::format("{}  {}  {}{}", emphasised(layout, row.name, "1"), to_string(row.type), place,
                     one.alike.empty() ? "" : "   (same: " + one.alike + ')');
}

std::string drawing(const Plan& plan, const ArrayRow& row, const ShowOptions& options,
                    const Layout& layout) {
  const Shape& shape = row.type.shape;
  if (options.jax_style && jax_refusal(row.sharding, shape).empty()) {
    PictureOptions picture_options;
    picture_options.max_width = options.width;
    picture_options.color = layout.color;
    return jax_picture(plan.mesh, row.sharding, shape, picture_options);
  }
  return plain_picture(plan.mesh, row.sharding, shape, limits_of(layout),
                       {options.width, layout.color, &options.strokes()}, row.cut);
}

std::string strings_text(const Plan& plan, const ArrayRow& row) {
  return fmt::format("hlo  {}\nsdy  {}\n", to_string(hlo_sharding(plan.mesh, row.sharding)),
                     sdy_sharding(plan.mesh, row.sharding));
}

std::string array_text(const Plan& plan, const Shown& one, const ShowOptions& options,
                       const Layout& layout) {
  const ArrayRow& row = *one.row;
  std::string text;
  if (!options.bare) {
    text += caption(plan, one, layout.color) + "\n";
    const std::string refusal = jax_refusal(row.sharding, row.type.shape);
    if (options.jax_style && !refusal.empty()) {
      text += fmt::format("({}; this picture is ours)\n", refusal);
    }
  }
  if (options.strings) text += strings_text(plan, row);
  text += drawing(plan, row, options, layout);
  if (options.indices) {
    constexpr std::int64_t most_rows = 64;
    text +=
        index_text(plan.mesh, row.sharding, row.type.shape, layout.unfold ? 0 : most_rows, row.cut);
  }
  return text;
}

bool has_chips(const Mesh& mesh) {
  return mesh.hardware() != nullptr && mesh.hardware()->topology.platform != "cpu";
}

std::string mesh_caption(const Mesh& mesh) {
  return fmt::format("mesh  {}  {} {}", to_string(mesh), with_commas(mesh.device_count()),
                     mesh.device_count() == 1 ? "device" : "devices");
}

std::string mesh_pictures(const Mesh& mesh, const ShowOptions& options, const Layout& layout) {
  const Page page{options.width, layout.color, &options.strokes()};
  std::string text;
  if (options.mesh) {
    if (!options.bare) text += mesh_caption(mesh) + "\n";
    text += fitted_text(
        [&](const DrawingLimits& limits) { return mesh_drawing(mesh, limits, options.strokes()); },
        limits_of(layout), page);
  }
  if (!has_chips(mesh)) return text;
  return text + fitted_text(
                    [&](const DrawingLimits& limits) {
                      return chips_drawing(mesh.hardware()->topology, limits, options.strokes());
                    },
                    limits_of(layout), page);
}

}  // namespace

std::string show_text(const Plan& plan, const std::vector<ArrayRow>& chosen,
                      const ShowOptions& options, const Layout& layout) {
  std::string text;
  if (options.mesh || options.chips) text += mesh_pictures(plan.mesh, options, layout);
  for (const Shown& one : shown_arrays(plan, chosen, options, layout)) {
    text += array_text(plan, one, options, layout);
  }
  return text;
}

std::string show_svg(const Plan& plan, const std::vector<ArrayRow>& chosen,
                     const ShowOptions& options, const Layout& layout) {
  const DrawingLimits limits = layout.unfold ? no_limits : svg_limits;
  std::vector<TitledDrawing> drawings;
  if (options.mesh) {
    drawings.push_back({mesh_caption(plan.mesh), mesh_drawing(plan.mesh, limits, box_strokes)});
  }
  if ((options.mesh || options.chips) && has_chips(plan.mesh)) {
    drawings.push_back(
        {"chips", chips_drawing(plan.mesh.hardware()->topology, limits, box_strokes)});
  }
  for (const Shown& one : shown_arrays(plan, chosen, options, layout)) {
    drawings.push_back(
        {caption(plan, one, false), array_drawing(plan.mesh, one.row->sharding, one.row->type.shape,
                                                  limits, box_strokes, one.row->cut)});
  }
  return svg_document(drawings);
}

}  // namespace shard
