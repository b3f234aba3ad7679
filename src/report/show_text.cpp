#include "report/show_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/fold.h"
#include "report/picture.h"
#include "report/sections.h"

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

std::string caption(const ArrayRow& row, const std::string& alike, const Layout& layout) {
  return fmt::format("{}  {}  {}  local {}{}\n", emphasised(layout, row.name, "1"),
                     to_string(row.type), row.spec, to_string(row.local),
                     alike.empty() ? "" : "   (same: " + alike + ')');
}

std::string drawing(const Plan& plan, const ArrayRow& row, const ShowOptions& options,
                    const Layout& layout) {
  const Shape& shape = row.type.shape;
  if (options.jax_style && has_jax_picture(shape)) {
    PictureOptions picture_options;
    picture_options.max_width = options.width;
    picture_options.color = layout.color;
    return jax_picture(plan.mesh, row.sharding, shape, picture_options);
  }
  return plain_picture(plan.mesh, row.sharding, shape, limits_of(layout),
                       {options.width, layout.color, &options.strokes()});
}

}  // namespace

std::string show_text(const Plan& plan, const std::vector<ArrayRow>& chosen,
                      const ShowOptions& options, const Layout& layout) {
  const bool folds = !layout.unfold && !options.bare;
  const std::vector<ArrayRow> state = unfolded(state_rows(plan));
  std::vector<const ArrayRow*> drawn;
  std::string text;
  for (const ArrayRow& row : chosen) {
    const bool is_drawn = std::any_of(drawn.begin(), drawn.end(), [&](const ArrayRow* one) {
      return have_one_picture(*one, row);
    });
    if (folds && is_drawn) continue;
    drawn.push_back(&row);
    if (!options.bare) {
      text += caption(row, folds ? alike_text(state, chosen, row) : "", layout);
      if (options.jax_style && !has_jax_picture(row.type.shape)) {
        text += "(JAX draws ranks 1 and 2 only; this picture is ours)\n";
      }
    }
    text += drawing(plan, row, options, layout);
  }
  return text;
}

}  // namespace shard
