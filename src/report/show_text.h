#pragma once
// `show` for people.

#include <string>
#include <vector>

#include "report/plan.h"
#include "report/rows.h"
#include "report/strokes.h"

namespace shard {

struct ShowOptions {
  bool jax_style = false;  ///< frames byte for byte as JAX draws them, where it draws any
  bool bare = false;       ///< frames alone
  bool ascii = false;      ///< no box-drawing characters
  int width = 80;          ///< of a picture

  const Strokes& strokes() const { return ascii ? ascii_strokes : box_strokes; }
};

/// Captions and pictures of `chosen`. Arrays with the same picture are drawn once, for the first,
/// and named in its caption, unless the layout unfolds or the frames are bare.
std::string show_text(const Plan& plan, const std::vector<ArrayRow>& chosen,
                      const ShowOptions& options, const Layout& layout);

}  // namespace shard
