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
  };

  /// Takes memory for a state from `scratch`.
  State prepare(Scratch& scratch) const;
  /// Before the first row of a group. `operands` are the places of whole arrays; that of points is
  /// not looked at.
  void begin(std::int64_t group, const std::byte* const* operands, State& state) const;
  /// Rows `first` to `first + count` of the group. `points` is their place: read, or written by a
  /// product that makes them. `result` is the whole result, where there is another one.
  void run(std::int64_t group, std::int64_t first, std::int64_t count, const State& state,
           std::byte* points, std::byte* result, Scratch& scratch) const;
  /// Behind the last row of a group.
  void end(std::int64_t group, const State& state, std::byte* result) const;

  LoopProductKind kind() const { return kind_; }
  /// Which operand has the points; -1 where they are the result.
  int points_operand() const { return points_operand_; }

 private:
  void make_points(std::int64_t group, std::int64_t first, std::int64_t count, const State& state,
                   std::byte* points, Scratch& scratch) const;
  void sum_points(std::int64_t group, std::int64_t first, std::int64_t count, const State& state,
                  const std::byte* points, std::byte* result, Scratch& scratch) const;
  void sum_rows(std::int64_t group, std::int64_t first, std::int64_t count, const State& state,
                const std::byte* points, Scratch& scratch) const;
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
