#pragma once
// A fused instruction made ready to run: kernels of its steps for a full tile and for the last one,
// and where each value's part of a tile lies.
//
// A tile is some points, or some whole rows where a step reduces rows. What is nobody's result lies
// in the worker's scratch memory, in a slot that is free again after its last reader. A result lies
// where it must be, but when that is the place of an operand that a later step still reads: then it
// is put there at the end of the tile. With products among the steps a tile has rows of one group,
// so many that block products are worth it; what these write as a whole, they put there themselves.
// Where a mask hides the ends of a tile's rows, they may be left out (see exec/row_tails.h): the
// points that are left lie one row behind another.
//
// The arrays of a large loop are not in a cache, and no tile reads one long enough for the
// processor to run ahead of it: so the steps of a tile ask for what the next one reads. They ask
// for what it writes, too, but for the results of steps that take so long that nothing waits for
// these.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "exec/kernel.h"
#include "exec/row_product.h"
#include "exec/row_tails.h"
#include "exec/spread_walk.h"
#include "spmd/program.h"

namespace shard {

/// A number of bytes that a tile moves on by, per unit (a point or a row) of the loop.
struct TileValue {
  std::int64_t unit_bytes = 0;   ///< 0: read, or written, as a whole by every tile
  std::int64_t point_bytes = 0;  ///< of a value that has points
  DType dtype = DType::f32;
  int output = -1;         ///< which result it is
  std::int64_t slot = -1;  ///< offset in scratch memory
};

/// For a full tile and the last one of a group.
struct StepKernels {
  Kernel full, last;
};

struct TileStep {
  std::vector<StepKernels> kernels;  ///< by width
  std::optional<SpreadWalk> spread;  ///< instead, of an operand from outside, or of `line`
  Kernel line;                       ///< what positions along one dim are, made by each execution
  std::size_t line_bytes = 0;
  std::shared_ptr<const RowProduct> product;  ///< instead
  std::int64_t unit_points = 1;               ///< of the result: for `spread`
  std::vector<int> operands;
  std::vector<int> results;
  std::vector<TailCheck> checks;  ///< where rows are cut
};

/// The result goes to the place of an operand that is read after it was made.
struct Hazard {
  std::size_t output = 0;
  std::size_t operand = 0;
};

struct FusedPlan {
  std::size_t operands = 0;  ///< the first values
  bool has_rows = false;
  std::int64_t units = 0;  ///< rows, or points where nothing is by row
  std::int64_t tile_units = 1;
  std::int64_t group_units = 1;  ///< no tile reaches over the end of a group
  bool has_products = false;
  std::vector<std::int64_t> widths;  ///< points of a unit: all of them, then where rows may be cut
  std::vector<RowMask> masks;        ///< that say where
  std::vector<TileValue> values;
  std::vector<TileStep> steps;
  std::vector<int> outputs;
  std::vector<Hazard> hazards;
  std::vector<std::size_t> asked_for;  ///< values whose parts are, one tile before
  std::int64_t slot_bytes = 0;
};

/// The plan of an instruction that `fused_form` accepts, or a sentence why a step has no kernel.
/// `maker_of` finds the kernels of steps.
std::variant<FusedPlan, std::string> plan_fused(const Instruction& instruction,
                                                std::span<const TensorType> operands,
                                                const std::function<KernelMaker(Op)>& maker_of);

/// Floating-point operations of all steps.
double flops_of_steps(const Instruction& instruction, std::span<const TensorType> operands);

}  // namespace shard
