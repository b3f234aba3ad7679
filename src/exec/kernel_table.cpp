#include <array>

#include "exec/kernel.h"

namespace shard {
namespace {

constexpr std::array<KernelRow, static_cast<std::size_t>(Op::count_)> table = {{
    {Op::dot, make_dot},
    {Op::relu, make_elementwise},
    {Op::negate, make_elementwise},
    {Op::abs, make_elementwise},
    {Op::square, make_elementwise},
    {Op::sqrt, make_elementwise},
    {Op::rsqrt, make_elementwise},
    {Op::exp, make_elementwise},
    {Op::log, make_elementwise},
    {Op::tanh, make_elementwise},
    {Op::sigmoid, make_elementwise},
    {Op::silu, make_elementwise},
    {Op::gelu, make_elementwise},
    {Op::sin, make_elementwise},
    {Op::cos, make_elementwise},
    {Op::sign, make_elementwise},
    {Op::convert, make_convert},
    {Op::add, make_elementwise},
    {Op::subtract, make_elementwise},
    {Op::multiply, make_elementwise},
    {Op::divide, make_elementwise},
    {Op::maximum, make_elementwise},
    {Op::minimum, make_elementwise},
    {Op::power, make_elementwise},
    {Op::relu_grad, make_elementwise},
    {Op::equal_mask, make_elementwise},
    {Op::scale, make_elementwise},
    {Op::shift, make_elementwise},
    {Op::reduce_sum, make_reduction},
    {Op::reduce_max, make_reduction},
    {Op::reduce_min, make_reduction},
    {Op::reduce_prod, make_reduction},
    {Op::constrain, make_constrain},
    {Op::transpose, make_transpose},
    {Op::broadcast, make_broadcast},
    {Op::constant, make_constant},
    {Op::sgd_update, make_update},
    {Op::momentum_update, make_update},
    {Op::adam_update, make_update},
    {Op::repeat, nullptr},
}};

constexpr bool rows_in_enum_order() {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].op != static_cast<Op>(i)) return false;
  }
  return true;
}
static_assert(rows_in_enum_order(), "every Op has a kernel row, in enum order");

}  // namespace

std::span<const KernelRow> kernel_table() { return table; }

std::string describe(const KernelSite& site) {
  std::string text = std::string(def(site.op).name);
  const char* joint = " of ";
  for (const TensorType& type : site.operands) {
    text += joint + to_string(type);
    joint = " and ";
  }
  return text;
}

}  // namespace shard
