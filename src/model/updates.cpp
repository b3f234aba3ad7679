#include "model/updates.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "model/transformation.h"

namespace shard {
namespace {

/// The end of a chain that one update op computes in one pass over each parameter.
struct FusedEnd {
  Op op = Op::sgd_update;
  std::size_t links = 0;  ///< how many transformations it stands for; none: not fused
  const TransformationUse* moments = nullptr;  ///< keeps `trace`, or `mu`, `nu` and `count`
  const TransformationUse* decay = nullptr;
  const TransformationUse* rate = nullptr;
};

bool looks_ahead(const TransformationUse& use) { return argument_of(use, {"nesterov"}, 0) != 0; }

/// What a run of transformations before the learning rate amounts to.
struct FusedPattern {
  std::array<std::string_view, 2> words;  ///< the last is empty when there is only one
  Op op;
};

constexpr std::array<FusedPattern, 4> fused_patterns = {{
    {{"scale_by_adam", "add_decayed_weights"}, Op::adam_update},
    {{"scale_by_adam", ""}, Op::adam_update},
    {{"trace", ""}, Op::momentum_update},
    {{"identity", ""}, Op::sgd_update},
}};

bool ends_with(std::span<const TransformationUse> uses, const FusedPattern& pattern) {
  const std::size_t count = pattern.words[1].empty() ? 1 : 2;
  if (uses.size() < count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (uses[uses.size() - count + i].word != pattern.words[i]) return false;
  }
  const TransformationUse& first = uses[uses.size() - count];
  // Adam's formula with a look ahead has no op of its own.
  return pattern.op != Op::adam_update || !looks_ahead(first);
}

FusedEnd fused_end(std::span<const TransformationUse> uses) {
  if (uses.empty() || uses.back().word != "scale_by_learning_rate") return {};
  const auto before = uses.first(uses.size() - 1);
  for (const FusedPattern& pattern : fused_patterns) {
    if (!ends_with(before, pattern)) continue;
    const std::size_t count = pattern.words[1].empty() ? 1 : 2;
    const TransformationUse* first = &before[before.size() - count];
    return {pattern.op, count + 1, first, count == 2 ? &before.back() : nullptr, &uses.back()};
  }
  return {};
}

double decay_of(const FusedEnd& end, const StateLeaf& parameter) {
  if (end.decay == nullptr || !is_masked_in(*end.decay, parameter)) return 0;
  const double standard = end.decay->optimizer->kind == "adamw" ? 1e-4 : 0;
  return argument_of(*end.decay, {"weight_decay", "value"}, standard);
}

Attributes attributes_of(const FusedEnd& end, const Rate& rate, const StateLeaf& parameter) {
  Attributes attributes{{"learning_rate", rate.number}};
  if (end.op == Op::momentum_update) {
    attributes.set("decay", argument_of(*end.moments, {"decay", "momentum"}, 0.9));
    attributes.set("nesterov", std::int64_t{looks_ahead(*end.moments) ? 1 : 0});
  }
  if (end.op == Op::adam_update) {
    attributes.set("b1", argument_of(*end.moments, {"b1"}, 0.9));
    attributes.set("b2", argument_of(*end.moments, {"b2"}, 0.999));
    attributes.set("eps", argument_of(*end.moments, {"eps"}, 1e-8));
    attributes.set("eps_root", argument_of(*end.moments, {"eps_root"}, 0));
    attributes.set("weight_decay", decay_of(end, parameter));
  }
  return attributes;
}

/// One update op per parameter: over the parameter, its slots, the gradient, the count, the rate.
class FusedUpdates {
 public:
  FusedUpdates(UpdateWalk& walk, const FusedEnd& end) : walk_(walk), end_(end) {}

  std::vector<ValueId> run() {
    const TransformationUse& moments = *end_.moments;
    if (moments.slot("count") != nullptr) count_ = walk_.counted_up(moments, "count");
    const Rate rate = rate_of(walk_, *end_.rate);
    std::vector<ValueId> values;
    for (std::size_t i = 0; i < walk_.count(); ++i) values.push_back(update(i, rate));
    return values;
  }

 private:
  ValueId update(std::size_t i, const Rate& rate) {
    walk_.at_parameter(i);
    std::vector<ValueId> operands{walk_.request().values[i]};
    for (const SlotPlace& slot : end_.moments->slots) {
      if (slot.is_tree) operands.push_back(walk_.request().slots[slot.first + i]);
    }
    operands.push_back(walk_.updates[i]);
    if (count_ != ValueId::none) operands.push_back(count_);
    if (rate.value != ValueId::none) operands.push_back(rate.value);
    const std::vector<ValueId> results = walk_.builder().emit_all(
        end_.op, operands, attributes_of(end_, rate, walk_.request().parameters[i]));
    std::size_t next = 1;
    for (const SlotPlace& slot : end_.moments->slots) {
      if (slot.is_tree) walk_.next_slots[slot.first + i] = results[next++];
    }
    return results.front();
  }

  UpdateWalk& walk_;
  const FusedEnd& end_;
  ValueId count_ = ValueId::none;
};

/// The update ops are of real numbers.
bool has_complex_parameters(const UpdateRequest& request) {
  return std::any_of(
      request.parameters.begin(), request.parameters.end(),
      [](const StateLeaf& parameter) { return info(parameter.type.dtype).is_complex; });
}

/// parameter + update, rounded to the parameter.
std::vector<ValueId> moved(UpdateWalk& walk) {
  std::vector<ValueId> values;
  for (std::size_t i = 0; i < walk.count(); ++i) {
    walk.at_parameter(i);
    const ValueId parameter = walk.request().values[i];
    const ValueId update = walk.converted(walk.updates[i], walk.builder().type(parameter).dtype);
    values.push_back(walk.two(Op::add, parameter, update));
  }
  return values;
}

}  // namespace

Updated add_updates(GraphBuilder& builder, const UpdateRequest& request) {
  UpdateWalk walk(builder, request);
  const std::span<const TransformationUse> uses = request.state.transformations;
  const FusedEnd end = has_complex_parameters(request) ? FusedEnd{} : fused_end(uses);
  for (const TransformationUse& use : uses.first(uses.size() - end.links)) {
    apply_transformation(walk, use);
  }
  std::vector<ValueId> values = end.links > 0 ? FusedUpdates(walk, end).run() : moved(walk);
  for (const ValueId slot : walk.next_slots) {
    SHARD_CHECK(slot != ValueId::none, "every slot gets its next value");
  }
  return {std::move(values), std::move(walk.next_slots)};
}

}  // namespace shard
