#pragma once
// Running a fused instruction: its steps' kernels in turn, tile by tile, so that what passes
// between them stays in the first-level cache.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "exec/fused_plan.h"

namespace shard {

/// One execution on one device. The call's scratch memory is taken from and not given back.
class FusedRun {
 public:
  FusedRun(const FusedPlan& plan, const KernelCall& call);

  /// From now on operand `operand` of the call is where its part from unit `first` on lies.
  void move_operand(std::size_t operand, const std::byte* part, std::int64_t first);

  /// Units `begin` to `end` of the loop; `begin` is the start of a tile, `end` of one or the last.
  void run(std::int64_t begin, std::int64_t end);

 private:
  /// Some units that are worked on together, their rows cut to one of the plan's widths.
  struct Tile {
    std::int64_t unit = 0, units = 0;
    std::size_t width = 0;        ///< its place
    std::int64_t next_units = 0;  ///< of the tile behind it
  };

  void find_places(std::int64_t unit);
  std::size_t width_for(std::int64_t unit, std::int64_t units);
  std::size_t run_steps(const Tile& tile, std::size_t summed);
  void ask_ahead(std::size_t step, const Tile& tile) const;
  bool holds(const TileStep& step, const Tile& tile) const;
  void spread(const TileStep& step, const SpreadWalk& walk, const std::byte* line,
              const Tile& tile);
  void run(const TileStep& step, const Tile& tile);
  void begin_group(std::int64_t group);
  void end_group(std::int64_t group);
  bool multiply(const TileStep& step, const RowProduct::State& state, const Tile& tile);
  std::byte* whole_result(const TileStep& step) const;
  void put(std::size_t output, std::int64_t unit, std::int64_t units) const;

  template <class T>
  using List = std::pmr::vector<T>;

  const FusedPlan& plan_;
  const KernelCall& call_;
  std::array<std::byte, 1024> space_;  ///< of the lists, as long as they are short
  std::pmr::monotonic_buffer_resource lists_{space_.data(), space_.size()};
  List<char> is_staged_;  ///< by output
  List<std::byte*> at_;   ///< by value: its part in the tile
  std::byte* slots_ = nullptr;
  std::size_t moved_ = static_cast<std::size_t>(-1);  ///< an operand, if any
  const std::byte* moved_to_ = nullptr;
  std::int64_t moved_from_ = 0;
  List<const std::byte*> lines_;      ///< by step that has one, in order
  List<RowProduct::State> products_;  ///< by step that is a product, in order
  List<const std::byte*> operands_;
  List<std::byte*> results_;
};

/// The kernel of a whole loop.
Kernel fused_kernel(FusedPlan plan);

}  // namespace shard
