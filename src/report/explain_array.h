#pragma once
// The answer about one array, and which arrays a word means.

#include <string>
#include <vector>

#include "report/explain.h"

namespace shard {

/// An array with its value in a function of the plan.
struct NamedArray {
  ArrayRow row;
  const PlannedFunction* function = nullptr;
  ValueId value = ValueId::none;
};

/// As `named_arrays`, rows that stand for several as they are.
std::vector<NamedArray> arrays_with_values(const Plan& plan);

/// The answers about these arrays, one for those that are alike but for their names.
class ArrayAnswers {
 public:
  explicit ArrayAnswers(const Plan& plan) : plan_(plan) {}
  /// `names`: which of the arrays that `array` stands for are meant.
  void add(const NamedArray& array, const std::vector<std::string>& names);
  /// With `trials` what a rule more would give is tried for each answer.
  std::vector<ArrayAnswer> take(bool trials);

 private:
  const Plan& plan_;
  std::vector<ArrayAnswer> answers_;
  std::vector<NamedArray> firsts_;  ///< by answer
};

/// `rules/flax_guide.yaml:4:5` behind a comma; empty when unknown.
std::string comma_place(const Location& at);

}  // namespace shard
