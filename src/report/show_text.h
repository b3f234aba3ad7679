#pragma once
// `show` for people.

#include <string>
#include <vector>

#include "report/plan.h"
#include "report/rows.h"

namespace shard {

struct ShowOptions {
  bool jax_style = false;  ///< frames byte for byte as JAX draws them, where it draws any
  bool bare = false;       ///< frames alone
  int width = 80;          ///< of a picture
};

/// Captions and pictures of `chosen`. Arrays with the same picture are drawn once, for the first,
/// and named in its caption, unless the layout unfolds or the frames are bare.
std::string show_text(const Plan& plan, const std::vector<ArrayRow>& chosen,
                      const ShowOptions& options, const Layout& layout);

}  // namespace shard
