#pragma once
// How the user wants a text report laid out.

#include "cli/options.h"
#include "report/plan.h"

namespace shard {

/// From the options and the terminal; an answer that goes to a file has no colour and no limit.
Layout layout_of(const Options& options);

/// Widest picture: --width (0: no limit), else 80 for JAX's frames, as JAX has it, and the
/// terminal's width (80 without one) for ours.
int picture_width(const Options& options);

}  // namespace shard
