#include "ops/neutral.h"

#include <cmath>
#include <limits>

namespace shard {

double neutral_of(Reduction reduction, DType dtype) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const DTypeInfo& of = info(dtype);
  const double most =
      of.is_float ? infinity : std::ldexp(1.0, 8 * of.bytes - (of.is_signed ? 1 : 0)) - 1;
  const double least = of.is_float ? -infinity : of.is_signed ? -most - 1 : 0;
  switch (reduction) {
    case Reduction::max:
      return least;
    case Reduction::min:
      return most;
    case Reduction::prod:
      return 1;
    case Reduction::none:
    case Reduction::sum:
      break;
  }
  return 0;
}

}  // namespace shard
