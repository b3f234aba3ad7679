#pragma once
// Which loops over rows may leave out the ends of rows that a mask hides.
//
// A causal mask hides all but the first points of most rows. A tile's steps may then work on rows
// cut behind the last point that one of them sees, but for one: the last point of a cut row, which
// is hidden, stands for the points cut off (the tail). That is exact where the steps do the same at
// every point of a row's tail and where what sums and products get of them is 0: both are seen from
// the last point. Numbers that differ along a tail, as the products that make points do, must be
// thrown away there, by a select or by a factor 0; they have to be finite for that.

#include <cstdint>
#include <optional>
#include <vector>

#include "spmd/fused_form.h"
#include "spmd/loop_product.h"
#include "spmd/program.h"

namespace shard {

/// What must hold of a value at the last point of every cut row, or of a scalar, before a step
/// runs.
struct TailCheck {
  enum class Kind {
    zero,
    addend,   ///< a tame number stays finite when it is added,
    factor,   ///< when it is multiplied by it
    divisor,  ///< and when it is divided by it
    chosen,   ///< a predicate: true
    passed    ///< a predicate: false
  };
  Kind kind = Kind::zero;
  int value = -1;
  bool is_scalar = false;
};

bool holds(TailCheck::Kind kind, float number);

/// A predicate spread over the points from outside.
struct RowMask {
  int step = 0;         ///< that makes it
  bool hidden = false;  ///< what it is at points whose numbers are thrown away
};

struct RowTails {
  std::vector<RowMask> masks;                  ///< at least one
  std::vector<std::vector<TailCheck>> checks;  ///< by step
};

/// Nothing where some step does neither at the points of a tail.
std::optional<RowTails> find_row_tails(const Instruction& instruction, const FusedForm& form);

/// Of a step that is one.
LoopProduct product_of_step(const Instruction& instruction, const FusedForm& form,
                            std::size_t step);

/// An operand of a product of which no sum of products with others like it comes near the largest
/// number of float32, or of bfloat16.
bool is_tame(const float* numbers, std::int64_t count);

}  // namespace shard
