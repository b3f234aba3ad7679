#include "spmd/linear_ops.h"

#include <algorithm>
#include <array>

namespace shard::spmd {
namespace {

constexpr SumOperands in_first = 0b1, in_second = 0b10;

struct LinearRow {
  Op op;
  std::array<SumOperands, 2> sets{};
  std::size_t count = 1;
};

constexpr std::array linear_rows = {
    LinearRow{Op::dot, {in_first, in_second}, 2},
    LinearRow{Op::negate, {in_first}},
    LinearRow{Op::add, {every_operand}},
    LinearRow{Op::subtract, {every_operand}},
    LinearRow{Op::multiply, {in_first, in_second}, 2},
    LinearRow{Op::divide, {in_first}},
    LinearRow{Op::relu_grad, {in_second}},
    LinearRow{Op::scale, {in_first}},
    LinearRow{Op::select, {0b110}},
    LinearRow{Op::dropout, {in_first}},
    LinearRow{Op::reduce_sum, {in_first}},
    LinearRow{Op::cumsum, {in_first}},
    LinearRow{Op::transpose, {in_first}},
    LinearRow{Op::broadcast, {in_first}},
    LinearRow{Op::reshape, {in_first}},
    LinearRow{Op::slice, {in_first}},
    LinearRow{Op::concatenate, {every_operand}},
    LinearRow{Op::reverse, {in_first}},
};

}  // namespace

std::span<const SumOperands> linear_operands(Op op) {
  const auto row = std::find_if(linear_rows.begin(), linear_rows.end(),
                                [&](const LinearRow& one) { return one.op == op; });
  if (row == linear_rows.end()) return {};
  return std::span(row->sets).first(row->count);
}

}  // namespace shard::spmd
