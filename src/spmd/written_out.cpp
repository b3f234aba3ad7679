#include "spmd/written_out.h"

#include <algorithm>

#include "model/range_names.h"

namespace shard::spmd {
namespace {

/// Counterparts of all things of one kind, when they are alike wherever they are found.
template <class Things, class Index>
std::optional<std::vector<Counterparts>> alike_counterparts(std::span<const FoldFacts> facts,
                                                            std::span<const Iteration> folds,
                                                            Things FoldFacts::*things,
                                                            Index FoldFacts::*index) {
  std::vector<ByIteration> widened;
  for (const FoldFacts& wide : facts.subspan(1)) widened.push_back(wide.*index);
  auto found = find_counterparts(facts[0].*index, widened, folds);
  if (!found) return std::nullopt;
  const Things& own = facts[0].*things;
  for (std::size_t thing = 0; thing < found->size(); ++thing) {
    const Counterparts& where = (*found)[thing];
    for (std::size_t w = 0; w < widened.size(); ++w) {
      if (!are_alike(own[thing], (facts[w + 1].*things)[where.widened[w]])) return std::nullopt;
    }
    if (where.stands_for < 0) continue;
    const FoldFacts& wide = facts[static_cast<std::size_t>(where.stands_for) + 1];
    const bool goes_on = are_alike(own[thing], own[where.before]) &&
                         are_alike(own[thing], own[where.after]) &&
                         are_alike(own[thing], (wide.*things)[where.twin]);
    if (!goes_on) return std::nullopt;
  }
  return found;
}

/// The instructions.
class LongStepWriter {
 public:
  LongStepWriter(std::span<const FoldFacts> facts, std::span<const Iteration> folds, Course steps)
      : facts_(facts), steps_(std::move(steps)) {
    made_.folded = &facts[0];
    std::int64_t end = facts[0].end;
    for (std::size_t w = 0; w < folds.size(); ++w)
      end += (folds[w].count() - 1) * (facts[w + 1].end - facts[0].end);
    made_.end = static_cast<int>(end);
  }

  std::optional<WrittenOut> run() {
    if (!write_steps() || !steps_.is_even()) return std::nullopt;
    return std::move(made_);
  }

 private:
  template <class Field>
  Line of_step(std::size_t thing, const Field& field) {
    return steps_.line(thing, [&](std::size_t program, std::size_t one) {
      return static_cast<std::int64_t>(field(facts_[program].steps[one]));
    });
  }

  bool write_steps() {
    std::vector<std::size_t> in_main;
    std::vector<Line> positions;
    made_.steps.resize(steps_.size());
    for (std::size_t thing = 0; thing < steps_.size(); ++thing) {
      if (facts_[0].steps[thing].position < 0) continue;
      in_main.push_back(thing);
      positions.push_back(of_step(thing, [](const StepFacts& step) { return step.position; }));
      if (!write_step(thing, positions.back())) return false;
    }
    auto order = steps_.order(in_main, positions);
    if (order) made_.step_order = std::move(*order);
    return order.has_value();
  }

  /// False when it would need something that comes later.
  bool write_step(std::size_t thing, const Line& position) {
    LongStep& made = made_.steps[thing];
    made.begin = of_step(thing, [](const StepFacts& step) { return step.moments.first; });
    made.end = of_step(thing, [](const StepFacts& step) { return step.moments.last; });
    const std::vector<int>& needs = facts_[0].steps[thing].needs;
    const std::int64_t last = steps_.instances(thing) - 1;
    for (std::size_t i = 0; i < needs.size(); ++i) {
      if (needs[i] < 0) continue;
      const Line line = of_step(thing, [i](const StepFacts& step) { return step.needs[i]; });
      for (const std::int64_t instance : {std::int64_t{0}, last}) {
        if (line.at(instance) < 0 || line.at(instance) >= position.at(instance)) return false;
      }
      made.needs.push_back(line);
    }
    return true;
  }

  std::span<const FoldFacts> facts_;
  Course steps_;
  WrittenOut made_;
};

/// The buffers.
class LongBufferWriter {
 public:
  /// `made` has the instructions.
  LongBufferWriter(std::span<const FoldFacts> facts, std::span<const Iteration> folds,
                   Course buffers, WrittenOut made)
      : facts_(facts), buffers_(std::move(buffers)), folds_(folds), made_(std::move(made)) {}

  std::optional<WrittenOut> run() {
    if (!write_buffers() || !is_named_ || !buffers_.is_even()) return std::nullopt;
    return std::move(made_);
  }

 private:
  template <class Field>
  Line of_buffer(std::size_t thing, const Field& field) {
    return buffers_.line(thing, [&](std::size_t program, std::size_t one) {
      return static_cast<std::int64_t>(field(facts_[program].buffers[one]));
    });
  }

  bool write_buffers() {
    std::vector<std::size_t> made_here;
    std::vector<Line> numbers;
    for (std::size_t thing = 0; thing < buffers_.size(); ++thing) {
      write_buffer(thing);
      if (facts_[0].buffers[thing].number >= 0) {
        made_here.push_back(thing);
        numbers.push_back(of_buffer(thing, [](const BufferFacts& one) { return one.number; }));
        continue;
      }
      for (std::int64_t i = 0; i < buffers_.instances(thing); ++i)
        made_.buffer_order.push_back({thing, i});
    }
    const auto order = buffers_.order(made_here, numbers);
    if (!order) return false;
    made_.buffer_order.insert(made_.buffer_order.end(), order->begin(), order->end());
    return have_lives();
  }

  void write_buffer(std::size_t thing) {
    made_.buffers.push_back(
        {name_of(thing), of_buffer(thing, [](const BufferFacts& one) { return one.place.first; }),
         of_buffer(thing, [](const BufferFacts& one) { return one.place.last; }),
         of_buffer(thing, [](const BufferFacts& one) { return one.held.first; }),
         of_buffer(thing, [](const BufferFacts& one) { return one.held.last; }),
         bytes_of(facts_[0].buffers[thing].buffer->type)});
  }

  /// What is made of a neighbour's value is called after that: in the iterations {3..996} after
  /// {2..995}, in the one behind them after 996.
  std::string name_of(std::size_t thing) {
    const std::string& name = name_in_plan(thing);
    const Iteration& own = facts_[0].by_buffer.iteration(thing);
    if (own.count() > 1) return has_range(name) ? name : name_beside(thing);
    const auto fold = std::find_if(folds_.begin(), folds_.end(),
                                   [&](const Iteration& one) { return one.repeat == own.repeat; });
    if (fold == folds_.end() || !has_range(name)) return name;
    return narrowed(name, own.first < fold->first ? 0 : fold->count() - 1, 1);
  }

  /// The name in a folded iteration after what a neighbour's counterpart is called.
  std::string name_beside(std::size_t thing) {
    const std::string& name = name_in_plan(thing);
    const std::string& before = name_in_plan(buffers_[thing].before);
    const std::string& after = name_in_plan(buffers_[thing].after);
    if (before == name && after == name) return name;
    const std::string from_after = moved(after, -1), from_before = moved(before, 1);
    const std::int64_t last = buffers_[thing].instances - 1;
    if (has_range(after) && narrowed(from_after, 0, 1) == name) return from_after;
    if (has_range(before) && narrowed(from_before, last, 1) == name) return from_before;
    is_named_ = false;
    return name;
  }

  const std::string& name_in_plan(std::size_t thing) const {
    return facts_[0].buffers[thing].buffer->name;
  }

  bool have_lives() const {
    for (const Instance& one : made_.buffer_order) {
      const Life life = made_.place(one);
      if (life.first < 0 || life.first > life.last || life.last > made_.end) return false;
    }
    return true;
  }

  std::span<const FoldFacts> facts_;
  Course buffers_;
  std::span<const Iteration> folds_;
  bool is_named_ = true;  ///< nothing is called after what is two iterations away
  WrittenOut made_;
};

}  // namespace

Life WrittenOut::place(const Instance& buffer) const {
  const LongBuffer& one = buffers[buffer.thing];
  return {static_cast<int>(one.place_first.at(buffer.number)),
          static_cast<int>(one.place_last.at(buffer.number))};
}

Life WrittenOut::held(const Instance& buffer) const {
  const LongBuffer& one = buffers[buffer.thing];
  return {static_cast<int>(one.held_first.at(buffer.number)),
          static_cast<int>(one.held_last.at(buffer.number))};
}

std::optional<WrittenOut> write_out_steps(std::span<const FoldFacts> facts,
                                          std::span<const Iteration> folds) {
  auto steps = alike_counterparts(facts, folds, &FoldFacts::steps, &FoldFacts::by_step);
  if (!steps) return std::nullopt;
  return LongStepWriter(facts, folds, Course(std::move(*steps), folds)).run();
}

std::optional<WrittenOut> write_out(std::span<const FoldFacts> facts,
                                    std::span<const Iteration> folds) {
  auto made = write_out_steps(facts, folds);
  if (!made) return std::nullopt;
  auto buffers = alike_counterparts(facts, folds, &FoldFacts::buffers, &FoldFacts::by_buffer);
  if (!buffers) return std::nullopt;
  return LongBufferWriter(facts, folds, Course(std::move(*buffers), folds), std::move(*made)).run();
}

}  // namespace shard::spmd
