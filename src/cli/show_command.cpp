#include <algorithm>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/layout.h"
#include "cli/pipeline.h"
#include "cli/spec_input.h"
#include "cli/terminal.h"
#include "report/json.h"
#include "report/select.h"
#include "report/show_text.h"

namespace shard {
namespace {

constexpr const char* mesh_word = "mesh";

ShowOptions show_options(const Options& options) {
  ShowOptions show;
  show.jax_style = options.jax_style;
  show.bare = options.bare;
  show.ascii = options.ascii || !has_utf8_locale();
  show.strings = options.strings;
  show.indices = options.indices;
  show.width = picture_width(options);
  return show;
}

void write_pictures(const Options& options, const Plan& plan, const std::vector<ArrayRow>& chosen,
                    const ShowOptions& show) {
  if (!options.svg.empty()) {
    Options to_file;
    to_file.output = options.svg;
    to_file.force = options.force;
    write_answer(to_file, show_svg(plan, chosen, show, layout_of(options)));
  }
  write_answer(options, options.format == Format::json
                            ? show_json(plan, chosen, show)
                            : show_text(plan, chosen, show, layout_of(options)));
}

/// Takes the word `mesh` out of the names, unless an array is called so.
bool take_mesh_word(const std::vector<ArrayRow>& arrays, std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), mesh_word);
  const bool is_array = std::any_of(arrays.begin(), arrays.end(),
                                    [](const ArrayRow& row) { return row.name == mesh_word; });
  if (found == names.end() || is_array) return false;
  names.erase(found);
  return true;
}

void show_arrays(const Options& options, Sources& sources) {
  const Plan plan = make_plan(options, sources, may_fold(options));
  std::vector<std::string> names(options.arguments.begin() + 2, options.arguments.end());
  const std::vector<ArrayRow> arrays = named_arrays(plan);
  ShowOptions show = show_options(options);
  show.mesh = take_mesh_word(arrays, names);
  const bool is_mesh_alone = show.mesh && names.empty();
  write_pictures(options, plan,
                 is_mesh_alone ? std::vector<ArrayRow>() : select_arrays(arrays, names), show);
}

/// Without a model.
void show_mesh(const Options& options, Sources& sources) {
  Plan plan;
  plan.rules = read_mesh_rules(options, sources);
  plan.mesh = make_mesh(plan.rules);
  ShowOptions show = show_options(options);
  std::vector<ArrayRow> chosen;
  if (!options.spec.empty()) {
    chosen.push_back(spec_row(options, plan.rules, plan.mesh));
  } else {
    const bool has_mesh = !options.arguments.empty() || !options.overrides.mesh.empty();
    const bool has_chips =
        plan.mesh.hardware() != nullptr && plan.mesh.hardware()->topology.platform != "cpu";
    show.mesh = has_mesh || !has_chips;
    show.chips = has_chips;
  }
  write_pictures(options, plan, chosen, show);
}

void check_spec_options(const Options& options) {
  if (!options.spec.empty() && options.arguments.size() > 1) {
    throw Error("usage", {"--spec"}, "--spec draws an array of --shape, not those of a model",
                "leave MODEL out: shard-plan show RULES --spec SPEC --shape SIZES");
  }
  if (options.is_nested && (options.spec.empty() || options.jax_style)) {
    throw Error("usage", {"--uneven"}, "--uneven nested is for --spec in our own style",
                "arrays of a model, and JAX's pictures, are cut as JAX cuts them");
  }
  if (!options.shape.empty() && options.spec.empty()) {
    throw Error("usage", {"--shape"}, "--shape is the shape of an array that --spec splits",
                "add --spec \"P('data', None)\", or leave --shape out");
  }
}

}  // namespace

int show_command(const Options& options, Sources& sources) {
  check_spec_options(options);
  if (options.arguments.size() < 2) {
    show_mesh(options, sources);
  } else {
    show_arrays(options, sources);
  }
  return 0;
}

}  // namespace shard
