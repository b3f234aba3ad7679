#include "shard/legal_sizes.h"

namespace shard {

std::string factors_text(const Mesh& mesh, const Axes& axes) {
  std::string text;
  for (const AxisRef& axis : axes) {
    text += (text.empty() ? "" : " x ") + to_string(mesh, axis) + " " + std::to_string(axis.size);
  }
  return text;
}

std::string nearest_sizes(std::int64_t size, std::int64_t parts) {
  const std::int64_t below = size / parts * parts;
  const std::string above = std::to_string(below + parts);
  return below == 0 ? above : std::to_string(below) + " or " + above;
}

}  // namespace shard
