#include "shard/step.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace shard {
namespace {

/// One step of the fold that finds compatible axes: pairwise from the front. `may_grow` says
/// whether `common` may still become longer.
void fold(Axes& common, const Axes& other, bool& may_grow) {
  const std::size_t both = std::min(common.size(), other.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (common[i] == other[i]) continue;
    if (is_prefix(other[i], common[i])) {
      if (i + 1 == other.size()) continue;
      common[i] = other[i];
      common.resize(i + 1);
      may_grow = false;
    } else if (is_prefix(common[i], other[i])) {
      may_grow = may_grow && i + 1 == common.size();
      common.resize(may_grow ? i : i + 1);
      if (may_grow) {
        common.insert(common.end(), other.begin() + static_cast<std::ptrdiff_t>(i), other.end());
      }
    } else {
      common.resize(i);
      may_grow = false;
    }
    return;
  }
  if (may_grow && other.size() > common.size()) {
    common.insert(common.end(), other.begin() + static_cast<std::ptrdiff_t>(common.size()),
                  other.end());
  }
}

/// The part of `axis` that may come next in the factor; nothing when none of it may.
std::optional<AxisRef> fit(const AxisRef& axis, const FactorShare& share, std::int64_t size,
                           std::int64_t sharded) {
  const bool has_it = std::any_of(share.axes.begin(), share.axes.end(),
                                  [&](const AxisRef& own) { return contains(own, axis); });
  if (has_it) return axis;
  if (!share.is_open || !share.overflow.empty()) return std::nullopt;
  if (share.is_minor_most) return axis;
  const std::int64_t common = size % sharded == 0 ? std::gcd(size / sharded, axis.size) : 1;
  if (common > 1 || axis.size == 1) return leading_part(axis, common);
  return std::nullopt;
}

constexpr Directions forward_only{true, false};
constexpr Directions backward_only{false, true};
constexpr Directions both_ways{true, true};

/// Op priorities 0 and 1. An edge is never held up by use counts: the use that counts is that of
/// the loop's own result.
Directions early_directions(FlowKind kind, bool may_act) {
  switch (kind) {
    case FlowKind::edge:
      return both_ways;
    case FlowKind::elementwise:
    case FlowKind::data_movement:
      return may_act ? both_ways : Directions{};
    case FlowKind::slice:
      return may_act ? forward_only : Directions{};
    case FlowKind::broadcast:
    case FlowKind::other:
      break;
  }
  return {};
}

bool has_axes(const Sharding& sharding) {
  return std::any_of(sharding.dims.begin(), sharding.dims.end(),
                     [](const DimSharding& dim) { return !dim.axes.empty(); });
}

}  // namespace

Regime regime_of(FlowKind kind, bool has_single_uses, int level) {
  if (level >= 4) return unrestricted;
  const Directions late = kind == FlowKind::broadcast ? backward_only : both_ways;
  if (level == 3) return {late, late};
  const Directions early = early_directions(kind, level >= 1 || has_single_uses);
  return {level == 2 ? late : early, early};
}

const std::vector<int>& Stepper::run(const FlowNode& node, int index, const Regime& regime) {
  changed_.clear();
  begin(node, regime);
  is_settled_ = !has_split_slot() || agree_by_dim();
  if (is_settled_ || regime == Regime{}) return changed_;
  load();
  is_settled_ = agree();
  if (is_settled_) return changed_;
  for (int factor = 0; factor < factor_count(); ++factor) find_wanted(factor);
  if (strategy_ == Strategy::aggressive) {
    run_aggressive();
  } else {
    run_basic();
  }
  write_back(index);
  return changed_;
}

bool Stepper::agree() const {
  for (int factor = 0; factor < factor_count(); ++factor) {
    if (!rule_->factors[static_cast<std::size_t>(factor)].is_blocked && !agree(factor))
      return false;
  }
  return true;
}

bool Stepper::agree(int factor) const {
  const Axes* first = nullptr;
  for (int tensor = 0; tensor < tensor_count(); ++tensor) {
    const FactorShare& own = share(tensor, factor);
    if (!own.is_present) continue;
    if (first == nullptr) first = &own.axes;
    if (*first != own.axes) return false;
  }
  return true;
}

/// The same of what is not projected: true only where no dim is several factors, so that a factor's
/// axes are those of its dim.
bool Stepper::agree_by_dim() {
  dim_axes_.assign(rule_->factors.size(), nullptr);
  for (int tensor = 0; tensor < tensor_count(); ++tensor) {
    const std::vector<DimSharding>& dims = slot_of(tensor).sharding.dims;
    const TensorFactors& factors = layout(tensor);
    for (std::size_t dim = 0; dim < factors.size(); ++dim) {
      if (factors[dim].empty()) continue;
      if (factors[dim].size() > 1) return false;
      const auto factor = static_cast<std::size_t>(factors[dim].front());
      if (rule_->factors[factor].is_blocked) continue;
      if (dim_axes_[factor] == nullptr) dim_axes_[factor] = &dims[dim].axes;
      if (*dim_axes_[factor] != dims[dim].axes) return false;
    }
  }
  return true;
}

bool Stepper::has_split_slot() const {
  for (int tensor = 0; tensor < tensor_count(); ++tensor) {
    if (has_axes(slot_of(tensor).sharding)) return true;
  }
  return false;
}

void Stepper::begin(const FlowNode& node, const Regime& regime) {
  node_ = &node;
  rule_ = &flow_.rules[static_cast<std::size_t>(node.rule)];
  regime_ = regime;
  slots_.assign(node.operands.begin(), node.operands.end());
  slots_.insert(slots_.end(), node.results.begin(), node.results.end());
}

/// Projects all tensors.
void Stepper::load() {
  const std::size_t factors = rule_->factors.size();
  if (shares_.size() < slots_.size()) shares_.resize(slots_.size());
  if (wanted_.size() < factors) wanted_.resize(factors);
  source_.assign(factors, -1);
  is_updated_.assign(slots_.size(), false);
  for (int tensor = 0; tensor < tensor_count(); ++tensor) {
    std::vector<FactorShare>& shares = shares_[static_cast<std::size_t>(tensor)];
    if (shares.size() != factors) shares.resize(factors);
    project(slot_of(tensor).sharding, layout(tensor), rule_->factors, shares);
  }
  load_sizes(node_->rule);
}

/// Tensor sizes, worked out once per rule.
void Stepper::load_sizes(int rule) {
  const std::size_t at = static_cast<std::size_t>(rule);
  if (sizes_of_.size() <= at) sizes_of_.resize(flow_.rules.size());
  if (sizes_of_[at].empty()) {
    for (int tensor = 0; tensor < tensor_count(); ++tensor) {
      sizes_of_[at].push_back(tensor_size(tensor));
    }
  }
  sizes_ = sizes_of_[at];
}

const TensorFactors& Stepper::layout(int tensor) const {
  const std::size_t at = static_cast<std::size_t>(tensor);
  const std::size_t operands = node_->operands.size();
  return at < operands ? rule_->operands[at] : rule_->results[at - operands];
}

std::int64_t Stepper::tensor_size(int tensor) const {
  std::int64_t size = 1;
  for (const std::vector<int>& dim : layout(tensor)) {
    for (const int factor : dim) size *= rule_->factors[static_cast<std::size_t>(factor)].size;
  }
  return size;
}

Directions Stepper::directions_of(int factor) const {
  const Factor& own = rule_->factors[static_cast<std::size_t>(factor)];
  if (own.is_blocked) return {};
  return own.kind == FactorKind::pass_through ? regime_.pass_through : regime_.others;
}

/// The axes a factor could have, conflicts ignored: folded over the tensors of one side, then of
/// the other. In one direction only the first side's axes may make the list longer.
void Stepper::find_wanted(int factor) {
  Axes& common = wanted_[static_cast<std::size_t>(factor)];
  common.clear();
  const auto [forward, backward] = directions_of(factor);
  if (!forward && !backward) return;
  const int operands = static_cast<int>(node_->operands.size());
  bool may_grow = true;
  for (int side = 0; side < 2; ++side) {
    const bool is_operands = (side == 0) == forward;
    const int first = is_operands ? 0 : operands;
    const int last = is_operands ? operands : tensor_count();
    for (int tensor = first; tensor < last; ++tensor) {
      if (share(tensor, factor).is_present) fold(common, share(tensor, factor).axes, may_grow);
    }
    may_grow = may_grow && forward && backward;
  }
  if (!common.empty()) find_source(factor);
}

/// The largest tensor that has the wanted axes, the first of equals.
void Stepper::find_source(int factor) {
  int& source = source_[static_cast<std::size_t>(factor)];
  const Axes& wanted = wanted_[static_cast<std::size_t>(factor)];
  for (int tensor = 0; tensor < tensor_count(); ++tensor) {
    const FactorShare& own = share(tensor, factor);
    if (!own.is_present || !is_prefix(wanted, own.axes)) continue;
    const auto size = [&](int one) { return sizes_[static_cast<std::size_t>(one)]; };
    if (source < 0 || size(tensor) > size(source)) source = tensor;
  }
}

/// Both filters of one tensor; a tensor without the factor has only the second.
void Stepper::filter(Axes& axes, int factor, int tensor) {
  const FactorShare& own = share(tensor, factor);
  if (own.is_present) {
    const Sharding& sharding = slot_of(tensor).sharding;
    cut_overlapping(axes, sharding.replicated);
    cut_overlapping(axes, sharding.unreduced);
    keep_fitting(axes, own, rule_->factors[static_cast<std::size_t>(factor)].size);
  }
  cut_taken(axes, factor, tensor);
}

/// What this tensor's factor can hold.
void Stepper::keep_fitting(Axes& axes, const FactorShare& own, std::int64_t size) {
  std::int64_t sharded = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::optional<AxisRef> fitting = fit(axes[i], own, size, sharded);
    if (!fitting && !own.axes.empty() && is_prefix(own.axes.back(), axes[i])) {
      fitting = own.axes.back();
    }
    if (fitting == axes[i]) {
      sharded *= axes[i].size;
      continue;
    }
    if (fitting) axes[i] = *fitting;
    axes.resize(fitting ? i + 1 : i);
    return;
  }
}

/// Cuts where another factor of the same tensor uses an axis.
void Stepper::cut_taken(Axes& axes, int factor, int tensor) {
  if (axes.empty()) return;
  taken_.clear();
  for (int other = 0; other < factor_count(); ++other) {
    const FactorShare& own = share(tensor, other);
    if (other == factor || !own.is_present) continue;
    taken_.insert(taken_.end(), own.axes.begin(), own.axes.end());
    taken_.insert(taken_.end(), own.overflow.begin(), own.overflow.end());
  }
  cut_overlapping(axes, taken_);
}

/// An elementwise operand gets no axes that a result could not follow.
void Stepper::limit_by_results(Axes& axes, int factor) {
  for (int tensor = static_cast<int>(node_->operands.size()); tensor < tensor_count(); ++tensor) {
    const FactorShare& own = share(tensor, factor);
    if (own.is_present && is_strict_prefix(own.axes, axes)) axes = own.axes;
  }
}

/// Axes only ever grow at the minor end.
void Stepper::update(int tensor, int factor, const Axes& axes) {
  FactorShare& own = share(tensor, factor);
  if (!is_strict_prefix(own.axes, axes)) return;
  own.axes = axes;
  is_updated_[static_cast<std::size_t>(tensor)] = true;
}

/// One factor after the other, conflicts removed over all tensors.
void Stepper::run_basic() {
  for (int factor = 0; factor < factor_count(); ++factor) {
    filtered_ = wanted_[static_cast<std::size_t>(factor)];
    for (int tensor = 0; tensor < tensor_count(); ++tensor) filter(filtered_, factor, tensor);
    for (int tensor = 0; tensor < tensor_count(); ++tensor) {
      if (share(tensor, factor).is_present) update(tensor, factor, filtered_);
    }
  }
}

/// Conflicts resolved per tensor, results first, factors in order of preference.
void Stepper::run_aggressive() {
  sort_by_preference();
  const int operands = static_cast<int>(node_->operands.size());
  for (int i = 0; i < tensor_count(); ++i) {
    const int results = tensor_count() - operands;
    const int tensor = i < results ? operands + i : i - results;
    for (const int factor : order_) {
      const Axes& wanted = wanted_[static_cast<std::size_t>(factor)];
      const FactorShare& own = share(tensor, factor);
      if (!own.is_present || !is_strict_prefix(own.axes, wanted)) continue;
      filtered_ = wanted;
      filter(filtered_, factor, tensor);
      if (node_->kind == FlowKind::elementwise && tensor < operands) {
        limit_by_results(filtered_, factor);
      }
      update(tensor, factor, filtered_);
    }
  }
}

/// Larger source tensor, more parts (elementwise only), smaller source index, smaller factor index.
void Stepper::sort_by_preference() {
  order_.clear();
  for (int factor = 0; factor < factor_count(); ++factor) {
    if (!wanted_[static_cast<std::size_t>(factor)].empty()) order_.push_back(factor);
  }
  if (order_.size() < 2) return;
  const auto key = [&](int factor) {
    const int source = source_[static_cast<std::size_t>(factor)];
    const bool counts_parts = node_->kind == FlowKind::elementwise;
    const std::int64_t parts =
        counts_parts ? product(wanted_[static_cast<std::size_t>(factor)]) : 0;
    const std::int64_t size = source < 0 ? 0 : sizes_[static_cast<std::size_t>(source)];
    return std::tuple(-size, -parts, source < 0 ? tensor_count() : source, factor);
  };
  std::sort(order_.begin(), order_.end(), [&](int a, int b) { return key(a) < key(b); });
}

void Stepper::write_back(int index) {
  const int operands = static_cast<int>(node_->operands.size());
  for (int tensor = operands; tensor < tensor_count(); ++tensor) write_tensor(tensor, index);
  for (int tensor = 0; tensor < operands; ++tensor) write_tensor(tensor, index);
}

/// A slot in several positions is written once per position that grew: the last one stays.
void Stepper::write_tensor(int tensor, int index) {
  if (!is_updated_[static_cast<std::size_t>(tensor)]) return;
  const int slot = slots_[static_cast<std::size_t>(tensor)];
  Sharding& sharding = flow_.slots[static_cast<std::size_t>(slot)].sharding;
  const TensorFactors& dims = layout(tensor);
  bool is_changed = false;
  for (std::size_t dim = 0; dim < dims.size(); ++dim) {
    Axes& own = sharding.dims[dim].axes;
    unproject(shares_[static_cast<std::size_t>(tensor)], dims[dim], rule_->factors, written_);
    if (written_ == own) continue;
    is_changed = true;
    if (is_strict_prefix(own, written_)) {
      note_gain(tensor, static_cast<int>(dim), beyond(own, written_), index);
    }
    own = written_;
  }
  if (is_changed) changed_.push_back(slot);
}

void Stepper::note_gain(int tensor, int dim, Axes axes, int index) {
  Gain gain;
  gain.slot = slots_[static_cast<std::size_t>(tensor)];
  gain.dim = dim;
  gain.node = index;
  for (const int factor : layout(tensor)[static_cast<std::size_t>(dim)]) {
    const Axes& own = share(tensor, factor).axes;
    const bool has_it = std::any_of(
        own.begin(), own.end(), [&](const AxisRef& axis) { return overlaps(axis, axes.front()); });
    if (!has_it) continue;
    gain.factor = factor;
    const int source = source_[static_cast<std::size_t>(factor)];
    if (source >= 0) gain.from = slots_[static_cast<std::size_t>(source)];
    break;
  }
  gain.axes = std::move(axes);
  gains_.push_back(std::move(gain));
}

}  // namespace shard
