#include "shard/misfit.h"

namespace shard {

FittedAxes fitted_axes(const Axes& axes, std::int64_t size) {
  FittedAxes fitted;
  std::int64_t parts = 1;
  for (const AxisRef& axis : axes) {
    if (size % (parts * axis.size) == 0) {
      parts *= axis.size;
      fitted.kept.push_back(axis);
    } else {
      fitted.dropped.push_back(axis);
    }
  }
  return fitted;
}

}  // namespace shard
