#pragma once
// One random op on values that a random program has so far.

#include <vector>

#include "model/graph_builder.h"
#include "support/choices.h"

namespace shard::tests {

/// The values that ops may choose from, all f32 of rank 1 to 3, and where their results go.
struct OpSite {
  GraphBuilder& build;
  test::Choices& choices;
  std::vector<ValueId>& values;

  const Shape& shape(ValueId value) const { return build.type(value).shape; }
  ValueId any() const { return choices.pick(values); }
  /// One of the values of this shape; there is one.
  ValueId alike(const Shape& wanted) const;
};

/// Adds an op of a random family, or nothing where the values do not fit it; its result, if it is
/// no larger than `element_limit`, becomes a value.
void add_random_op(const OpSite& site);

constexpr std::int64_t element_limit = 4096;

}  // namespace shard::tests
