#pragma once
// A product as a step of a loop over rows: block by block, with what it needs of the operand from
// outside in the order of the block products. Float32 is what is computed in; points and results of
// 16 bits are rounded once, sums over rows when the last row is added.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "exec/kernel.h"
#include "exec/row_gather.h"
#include "spmd/loop_product.h"

namespace shard {

class RowProduct {
 public:
  /// `site` is the product's own, with whole arrays.
  RowProduct(const KernelSite& site, const LoopProduct& product);

  /// What one execution keeps between the blocks of a group.
  struct State {
    const std::byte* outside = nullptr;  ///< the operand from outside that is read by rows
    float* columns = nullptr;            ///< the one that has numbers for each point of a row
    float* sums = nullptr;               ///< over the rows so far
    std::int64_t tame_from = 0;          ///< points from here on have tame numbers (`is_tame`)
  };

  /// Takes memory for a state from `scratch`.
  State prepare(Scratch& scratch) const;
  /// Before the first row of a group. `operands` are the places of whole arrays; that of points is
  /// not looked at.
  void begin(std::int64_t group, const std::byte* const* operands, State& state) const;
  /// Some rows of a group, or what is left of them when their tails are cut off.
  struct Rows {
    std::int64_t group = 0, first = 0, count = 0;
    std::int64_t width = 0;  ///< points of each
  };

  /// `points` is the place of these rows, one behind another: read, or written by a product that
  /// makes them. `result` is the whole result, where there is another one. False, and nothing is
  /// done, where the rows are cut and an operand has numbers for them that are not tame.
  bool run(const Rows& rows, const State& state, std::byte* points, std::byte* result,
           Scratch& scratch) const;
  /// Behind the last row of a group.
  void end(std::int64_t group, const State& state, std::byte* result) const;

  LoopProductKind kind() const { return kind_; }
  /// Which operand has the points; -1 where they are the result.
  int points_operand() const { return points_operand_; }

 private:
  bool make_points(const Rows& rows, const State& state, std::byte* points, Scratch& scratch) const;
  bool sum_points(const Rows& rows, const State& state, const std::byte* points, std::byte* result,
                  Scratch& scratch) const;
  bool sum_rows(const Rows& rows, const State& state, const std::byte* points,
                Scratch& scratch) const;
  /// Of the operand that is read by rows; nullptr where they are cut and not tame.
  const float* numbers_of(const Rows& rows, const State& state, Scratch& scratch) const;
  const float* wide(const std::byte* points, std::int64_t count, Scratch& scratch) const;

  LoopProductKind kind_;
  int points_operand_;
  DType dtype_;
  std::int64_t rows_ = 0;     ///< of a group
  std::int64_t columns_ = 0;  ///< points of a row
  std::int64_t numbers_ = 0;  ///< of a row of the operand or result that has none of the points
  std::optional<RowGather> by_row_;
  std::optional<RowGather> by_column_;
  int row_operand_ = -1, column_operand_ = -1;
};

/// Or a sentence why there is none ("dot of i32[..] and i32[..]").
std::variant<std::shared_ptr<const RowProduct>, std::string> make_row_product(
    const KernelSite& site, const LoopProduct& product);

}  // namespace shard
