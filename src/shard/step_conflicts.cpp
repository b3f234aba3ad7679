#include <algorithm>
#include <utility>

#include "shard/step.h"

namespace shard {

void Stepper::find_conflicts(const FlowNode& node, int index,
                             std::vector<FlowConflict>& conflicts) {
  begin(node, unrestricted);
  if (!has_split_slot()) return;
  load();
  for (int factor = 0; factor < factor_count(); ++factor) {
    if (!directions_of(factor).any()) continue;
    const int best = most_split(factor);
    for (int tensor = 0; best >= 0 && tensor < tensor_count(); ++tensor) {
      if (tensor == best || !share(tensor, factor).is_present) continue;
      FlowConflict conflict;
      conflict.node = index;
      conflict.factor = factor;
      compare_with(best, tensor, factor, std::move(conflict), conflicts);
    }
  }
}

/// The tensor that splits the factor into most parts, the first of equals; -1 when none does.
int Stepper::most_split(int factor) {
  int best = -1;
  std::int64_t most = 1;
  for (int tensor = 0; tensor < tensor_count(); ++tensor) {
    if (!share(tensor, factor).is_present) continue;
    const std::int64_t parts = product(share(tensor, factor).axes);
    if (parts > most) best = tensor;
    most = std::max(most, parts);
  }
  return best;
}

int Stepper::dim_of(int tensor, int factor) const {
  const TensorFactors& dims = layout(tensor);
  for (std::size_t dim = 0; dim < dims.size(); ++dim) {
    if (std::find(dims[dim].begin(), dims[dim].end(), factor) != dims[dim].end()) {
      return static_cast<int>(dim);
    }
  }
  return -1;
}

/// Does `tensor` lack axes that `best` has along the factor, and why?
void Stepper::compare_with(int best, int tensor, int factor, FlowConflict conflict,
                           std::vector<FlowConflict>& conflicts) {
  const FactorShare& own = share(tensor, factor);
  const Axes& wanted = share(best, factor).axes;
  if (is_prefix(wanted, own.axes)) return;
  conflict.axes = is_prefix(own.axes, wanted) ? beyond(own.axes, wanted) : wanted;
  conflict.slot = slots_[static_cast<std::size_t>(tensor)];
  conflict.from = slots_[static_cast<std::size_t>(best)];
  conflict.dim = dim_of(tensor, factor);
  conflict.is_closed = !own.is_open;
  for (int other = 0; other < factor_count(); ++other) {
    const FactorShare& held = share(tensor, other);
    if (other == factor || !held.is_present) continue;
    const bool has_it = std::any_of(held.axes.begin(), held.axes.end(), [&](const AxisRef& axis) {
      return overlaps(axis, conflict.axes.front());
    });
    if (has_it) conflict.other_dim = dim_of(tensor, other);
  }
  conflicts.push_back(std::move(conflict));
}

}  // namespace shard
