#pragma once
// `show` for people, and as SVG.

#include <string>
#include <vector>

#include "report/plan.h"
#include "report/rows.h"
#include "report/strokes.h"

namespace shard {

struct ShowOptions {
  bool jax_style = false;  ///< frames byte for byte as JAX draws them, where it draws any
  bool bare = false;       ///< pictures alone
  bool ascii = false;      ///< no box-drawing characters
  bool mesh = false;       ///< draw the mesh, before the arrays
  bool chips = false;      ///< draw the hardware alone, before the arrays
  bool strings = false;    ///< XLA's and Shardy's texts
  bool indices = false;    ///< a line per device
  int width = 80;          ///< of a picture

  const Strokes& strokes() const { return ascii ? ascii_strokes : box_strokes; }
};

/// Captions and pictures of `chosen`. Arrays with the same picture are drawn once, for the first,
/// and named in its caption, unless the layout unfolds or the frames are bare. An array without a
/// name is a spec of the command line; the plan may then have a mesh alone.
std::string show_text(const Plan& plan, const std::vector<ArrayRow>& chosen,
                      const ShowOptions& options, const Layout& layout);

/// The same pictures in our own style as one SVG document.
std::string show_svg(const Plan& plan, const std::vector<ArrayRow>& chosen,
                     const ShowOptions& options, const Layout& layout);

}  // namespace shard
