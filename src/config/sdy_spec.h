#pragma once
// Shardy's attribute as a user may paste it from a module: `<@mesh, [{"data"}, {}]>`, with or
// without `#sdy.sharding` before it. Only the text is read here; the mesh is asked elsewhere.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/spec.h"

namespace shard {

/// `"x"` or `"x":(2)4`.
struct SdyAxis {
  std::string name;
  std::int64_t pre_size = 1;
  std::int64_t size = 0;  ///< 0: the whole axis
  Location at;
};

struct SdyDim {
  std::vector<SdyAxis> axes;
  bool is_open = false;
};

struct SdySpec {
  std::vector<SdyDim> dims;
  std::vector<SdyAxis> replicated;
  std::vector<SdyAxis> unreduced;
};

/// Text that starts with `<` or `#sdy.sharding`.
bool is_sdy_text(std::string_view text);

/// `at` is where the text starts. Throws `Error` `spec-syntax` with the column inside the text.
SdySpec read_sdy_spec(std::string_view text, const Location& at);

/// The PartitionSpec that says the same. Throws `Error` `spec-syntax` where none does: parts of
/// axes, axes held back, open dims that have axes.
PartitionSpec partition_spec(const SdySpec& spec, const Location& at);

}  // namespace shard
