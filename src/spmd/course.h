#pragma once
// How numbers go on from iteration to iteration, seen in a folded program and the widened ones.

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/iterations.h"

namespace shard::spmd {

/// A number of a thing, and of each further thing that it stands for.
struct Line {
  std::int64_t first = 0;
  std::int64_t step = 0;

  std::int64_t at(std::int64_t instance) const { return first + instance * step; }
};

/// One of the things that a thing of the folded program stands for.
struct Instance {
  std::size_t thing = 0;
  std::int64_t number = -1;  ///< from 0; -1: nothing is here
};

/// A list of things (instructions, buffers) and how their numbers go on.
class Course {
 public:
  Course(std::vector<Counterparts> counterparts, std::span<const Iteration> folds)
      : counterparts_(std::move(counterparts)), folds_(folds) {}

  std::size_t size() const { return counterparts_.size(); }
  std::int64_t instances(std::size_t thing) const { return counterparts_[thing].instances; }
  const Counterparts& operator[](std::size_t thing) const { return counterparts_[thing]; }

  /// False once a line was asked for that does not go on evenly before and behind its thing.
  bool is_even() const { return is_even_; }

  /// `number(program, thing)` says the number: program 0 is the folded one, then come the widened.
  template <class Number>
  Line line(std::size_t thing, const Number& number) {
    const Counterparts& own = counterparts_[thing];
    const std::int64_t here = number(std::size_t{0}, thing);
    Line line{here, 0};
    for (std::size_t w = 0; w < own.widened.size(); ++w)
      line.first += (folds_[w].count() - 1) * (number(w + 1, own.widened[w]) - here);
    if (own.stands_for < 0) return line;
    const auto wide = static_cast<std::size_t>(own.stands_for);
    line.step = number(wide + 1, own.twin) - number(wide + 1, own.widened[wide]);
    is_even_ = is_even_ && here - number(std::size_t{0}, own.before) == line.step &&
               number(std::size_t{0}, own.after) - here == line.step;
    return line;
  }

  /// Every instance of `things` at the position that its line gives. Nothing when two meet or one
  /// is outside: then something does not go on evenly.
  std::optional<std::vector<Instance>> order(std::span<const std::size_t> things,
                                             std::span<const Line> positions) const;

 private:
  std::vector<Counterparts> counterparts_;
  std::span<const Iteration> folds_;
  bool is_even_ = true;
};

}  // namespace shard::spmd
