#include "cli/layout.h"

#include <unistd.h>

#include "cli/terminal.h"

namespace shard {
namespace {

constexpr int usual_width = 80;
constexpr int no_limit = 1'000'000;

}  // namespace

Layout layout_of(const Options& options) {
  Layout layout;
  layout.unfold = options.all;
  layout.human = options.human;
  layout.types = options.types;
  const bool to_file = !options.output.empty();
  layout.width = options.width.value_or(to_file ? 0 : terminal_width(STDOUT_FILENO).value_or(0));
  layout.color =
      to_file ? options.color == ColorChoice::always : use_color(options.color, STDOUT_FILENO);
  return layout;
}

int picture_width(const Options& options) {
  if (options.width) return *options.width == 0 ? no_limit : *options.width;
  if (options.jax_style) return usual_width;
  return terminal_width(STDOUT_FILENO).value_or(usual_width);
}

}  // namespace shard
