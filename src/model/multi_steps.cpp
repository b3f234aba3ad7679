#include "model/multi_steps.h"

namespace shard {
namespace {

ValueId chosen(UpdateWalk& walk, ValueId mask, ValueId on_true, ValueId on_false) {
  return walk.builder().emit(Op::select, {mask, on_true, on_false});
}

/// The leaves that the inner transformations keep get their next values only when it is time.
void hold_inner_slots(UpdateWalk& walk, const std::vector<TransformationUse>& uses,
                      ValueId is_time) {
  for (const TransformationUse& use : uses) {
    for (const SlotPlace& slot : use.slots) {
      const std::size_t count = slot.is_tree ? walk.count() : 1;
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t leaf = slot.first + i;
        if (slot.is_tree) walk.at_parameter(i);
        if (!slot.is_tree) walk.at_whole(walk.request().state.leaves[leaf].path);
        ValueId& next = walk.next_slots[leaf];
        next = chosen(walk, is_time, next, walk.request().slots[leaf]);
      }
    }
    hold_inner_slots(walk, use.inner, is_time);
  }
}

}  // namespace

void apply_multi_steps(UpdateWalk& walk, const TransformationUse& use) {
  const double every = argument_of(use, {"every"}, 1);
  walk.at_whole(use.word);
  const ValueId before = walk.count_of(use, "mini_step");
  const ValueId is_time = walk.two(Op::eq, before, walk.number(every - 1, DType::i32));
  const ValueId seen = walk.plus(walk.converted(before, DType::f32), 1);
  std::vector<ValueId> means;
  for (std::size_t i = 0; i < walk.count(); ++i) {
    walk.at_parameter(i);
    const ValueId g = walk.updates[i];
    const DType dtype = walk.builder().type(g).dtype;
    const ValueId old = walk.slot(use, "acc_grads", i);
    const ValueId step =
        walk.two(Op::divide, {walk.two(Op::subtract, g, old), walk.converted(seen, dtype)});
    means.push_back(walk.two(Op::add, old, step));
    walk.set_slot(use, "acc_grads", i, chosen(walk, is_time, walk.number(0, dtype), means.back()));
  }
  walk.updates = means;
  for (const TransformationUse& inner : use.inner) apply_transformation(walk, inner);
  hold_inner_slots(walk, use.inner, is_time);
  for (std::size_t i = 0; i < walk.count(); ++i) {
    walk.at_parameter(i);
    ValueId& update = walk.updates[i];
    update = chosen(walk, is_time, update, walk.number(0, walk.builder().type(update).dtype));
  }
  walk.at_whole(use.word);
  const ValueId one_more = walk.plus(before, 1);
  walk.set_slot(use, "mini_step", 0, chosen(walk, is_time, walk.number(0, DType::i32), one_more));
  const ValueId steps = walk.count_of(use, "gradient_step");
  walk.set_slot(use, "gradient_step", 0, chosen(walk, is_time, walk.plus(steps, 1), steps));
}

}  // namespace shard
