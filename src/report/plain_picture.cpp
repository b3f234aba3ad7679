// Our own picture of an array.

#include "report/array_drawing.h"
#include "report/fitted_text.h"
#include "report/picture.h"

namespace shard {

std::string plain_picture(const Mesh& mesh, const Sharding& sharding, const Shape& shape,
                          const DrawingLimits& limits, const Page& page, UnevenCut cut) {
  const auto make = [&](const DrawingLimits& given) {
    return array_drawing(mesh, sharding, shape, given, *page.strokes, cut);
  };
  return fitted_text(make, limits, page);
}

}  // namespace shard
