// The rows and nothing else. `flops` are per point of the factor space: one per arithmetic step or
// transcendental function of the op's formula.

#include "ops/complex_ops.h"
#include "ops/custom_call.h"
#include "ops/derivatives.h"
#include "ops/factor_rules.h"
#include "ops/local_form.h"
#include "ops/op_rows.h"
#include "ops/ragged.h"
#include "ops/ragged_exchange.h"
#include "ops/shape_rules.h"

namespace shard {
namespace {

// What a group of rows has in common; the rest of a row is its own.

constexpr OpDef elementwise(Op op, std::string_view name, int operands, double flops,
                            ShapeRule shape, Derivative derivative, std::string_view help) {
  return {op,   name,  operands, PassClass::pass_through, true,
          true, flops, shape,    pointwise_rule,          derivative,
          help};
}

constexpr OpDef reduction(Op op, std::string_view name, FactorRuleFunction rule,
                          Derivative derivative, std::string_view help,
                          ShapeRule shape = reduce_shape) {
  return {op, name, 1, PassClass::other, false, false, 1, shape, rule, derivative, help};
}

/// A function of floating-point numbers.
constexpr OpDef function(Op op, std::string_view name, double flops, Derivative derivative,
                         std::string_view help) {
  return elementwise(op, name, 1, flops, float_elementwise_shape, derivative, help);
}

/// Something without a slope: a comparison, a function of bits.
constexpr OpDef flat(Op op, std::string_view name, int operands, ShapeRule shape,
                     std::string_view help) {
  return elementwise(op, name, operands, 1, shape, no_gradient, help);
}

/// An op that moves elements; of constants it makes one where `derives_constants`.
constexpr OpDef movement(Op op, std::string_view name, int operands, PassClass pass_class,
                         ShapeRule shape, FactorRuleFunction rule, Derivative derivative,
                         std::string_view help, LocalForm local_form = nullptr,
                         bool derives_constants = false) {
  return {op,         name, operands,   pass_class,       false, false, 0, shape, rule,
          derivative, help, local_form, derives_constants};
}

constexpr OpDef cumulative(Op op, std::string_view name, int operands, ShapeRule shape,
                           Derivative derivative, std::string_view help) {
  return {op, name,  operands,        PassClass::other, false, false,
          1,  shape, cumulative_rule, derivative,       help};
}

constexpr OpDef window(Op op, std::string_view name, Derivative derivative, std::string_view help) {
  return {op,
          name,
          1,
          PassClass::other,
          false,
          false,
          1,
          reduce_window_shape,
          reduce_window_rule,
          derivative,
          help};
}

constexpr OpDef scatter(Op op, std::string_view name, FactorRuleFunction rule,
                        Derivative derivative, std::string_view help,
                        ShapeRule shape = scatter_shape) {
  return movement(op, name, 3, PassClass::other, shape, rule, derivative, help, scatter_form);
}

constexpr OpRows rows = {{
    {Op::dot, "dot", 2, PassClass::other, false, false, 2, dot_shape, dot_rule, dot_derivative,
     "product of two arrays, summed over paired dims (dot_general)"},
    {Op::ragged_dot, "ragged_dot", 3, PassClass::other, false, false, 2, ragged_dot_shape,
     ragged_dot_rule, ragged_dot_derivative,
     "(x, matrices, counts): rows, sorted by group, by the matrix of their group", ragged_dot_form,
     false, ragged_dot_flops},
    {Op::ragged_outer, "ragged_outer", 3, PassClass::other, false, false, 2, ragged_outer_shape,
     ragged_outer_rule, ragged_outer_derivative,
     "(x, y, counts): per group the sum of the outer products of its rows", ragged_outer_form,
     false, ragged_outer_flops},

    elementwise(Op::relu, "relu", 1, 1, elementwise_shape, relu_derivative, "max(x, 0)"),
    elementwise(Op::negate, "negate", 1, 1, number_elementwise_shape, negate_derivative, "-x"),
    elementwise(Op::abs, "abs", 1, 1, magnitude_shape, abs_derivative, "absolute value"),
    elementwise(Op::square, "square", 1, 1, number_elementwise_shape, square_derivative, "x * x"),
    elementwise(Op::sqrt, "sqrt", 1, 1, inexact_elementwise_shape, sqrt_derivative, "square root"),
    elementwise(Op::rsqrt, "rsqrt", 1, 2, float_elementwise_shape, rsqrt_derivative, "1 / sqrt(x)"),
    elementwise(Op::exp, "exp", 1, 1, inexact_elementwise_shape, exp_derivative, "e to the x"),
    elementwise(Op::log, "log", 1, 1, inexact_elementwise_shape, log_derivative,
                "natural logarithm"),
    elementwise(Op::tanh, "tanh", 1, 1, inexact_elementwise_shape, tanh_derivative,
                "hyperbolic tangent"),
    elementwise(Op::sigmoid, "sigmoid", 1, 4, float_elementwise_shape, sigmoid_derivative,
                "1 / (1 + exp(-x))"),
    elementwise(Op::silu, "silu", 1, 5, float_elementwise_shape, silu_derivative, "x * sigmoid(x)"),
    elementwise(Op::gelu, "gelu", 1, 9, float_elementwise_shape, gelu_derivative,
                "x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))"),
    elementwise(Op::sin, "sin", 1, 1, inexact_elementwise_shape, sin_derivative, "sine, radians"),
    elementwise(Op::cos, "cos", 1, 1, inexact_elementwise_shape, cos_derivative, "cosine, radians"),
    elementwise(Op::sign, "sign", 1, 1, elementwise_shape, no_gradient, "-1, 0 or 1; nan stays"),
    elementwise(Op::convert, "convert", 1, 0, convert_shape, convert_derivative,
                "to another dtype: round to even; float to int cuts, saturates, nan is 0"),

    elementwise(Op::add, "add", 2, 1, number_elementwise_shape, add_derivative, "x + y"),
    elementwise(Op::subtract, "subtract", 2, 1, number_elementwise_shape, subtract_derivative,
                "x - y"),
    elementwise(Op::multiply, "multiply", 2, 1, number_elementwise_shape, multiply_derivative,
                "x * y"),
    elementwise(Op::divide, "divide", 2, 1, number_elementwise_shape, divide_derivative, "x / y"),
    elementwise(Op::maximum, "maximum", 2, 1, elementwise_shape, extremum_derivative,
                "the larger of x and y; nan wins"),
    elementwise(Op::minimum, "minimum", 2, 1, elementwise_shape, extremum_derivative,
                "the smaller of x and y; nan wins"),
    elementwise(Op::power, "power", 2, 1, float_elementwise_shape, power_derivative, "x to the y"),
    elementwise(Op::relu_grad, "relu_grad", 2, 1, elementwise_shape, relu_grad_derivative,
                "(y, g): g where y > 0, else 0"),
    elementwise(Op::equal_mask, "equal_mask", 2, 1, number_elementwise_shape, no_gradient,
                "1 where x equals y, else 0"),

    elementwise(Op::scale, "scale", 1, 1, value_shape, scale_derivative, "x * value"),
    elementwise(Op::shift, "shift", 1, 1, value_shape, shift_derivative, "x + value"),

    function(Op::expm1, "expm1", 1, expm1_derivative, "exp(x) - 1"),
    function(Op::log1p, "log1p", 1, log1p_derivative, "log(1 + x)"),
    function(Op::exp2, "exp2", 1, exp2_derivative, "2 to the x"),
    function(Op::erf, "erf", 1, erf_derivative, "error function"),
    function(Op::erfc, "erfc", 1, erfc_derivative, "1 - erf(x)"),
    function(Op::erf_inv, "erf_inv", 1, erf_inv_derivative, "the y with erf(y) = x"),
    function(Op::lgamma, "lgamma", 1, lgamma_derivative, "log of the size of the gamma function"),
    elementwise(Op::polygamma, "polygamma", 1, 1, polygamma_shape, polygamma_derivative,
                "derivative of lgamma (order 0), and its derivatives"),
    function(Op::cbrt, "cbrt", 1, cbrt_derivative, "cube root"),
    function(Op::tan, "tan", 1, tan_derivative, "tangent, radians"),
    function(Op::asin, "asin", 1, asin_derivative, "inverse of sin"),
    function(Op::acos, "acos", 1, acos_derivative, "inverse of cos"),
    function(Op::atan, "atan", 1, atan_derivative, "inverse of tan"),
    function(Op::sinh, "sinh", 1, sinh_derivative, "hyperbolic sine"),
    function(Op::cosh, "cosh", 1, cosh_derivative, "hyperbolic cosine"),
    function(Op::asinh, "asinh", 1, asinh_derivative, "inverse of sinh"),
    function(Op::acosh, "acosh", 1, acosh_derivative, "inverse of cosh"),
    function(Op::atanh, "atanh", 1, atanh_derivative, "inverse of tanh"),
    flat(Op::floor, "floor", 1, float_elementwise_shape, "largest whole number up to x"),
    flat(Op::ceil, "ceil", 1, float_elementwise_shape, "smallest whole number from x"),
    flat(Op::round, "round", 1, float_elementwise_shape, "nearest whole number, the even of two"),
    flat(Op::round_away, "round_away", 1, float_elementwise_shape,
         "nearest whole number, the one away from zero of two"),
    elementwise(Op::remainder, "remainder", 2, 1, elementwise_shape, remainder_derivative,
                "x - y * trunc(x / y), with the sign of x"),
    elementwise(Op::atan2, "atan2", 2, 1, float_elementwise_shape, atan2_derivative,
                "(y, x): angle of the point"),

    flat(Op::eq, "eq", 2, compare_shape, "x == y as bool"),
    flat(Op::ne, "ne", 2, compare_shape, "x != y as bool"),
    flat(Op::lt, "lt", 2, order_shape, "x < y as bool"),
    flat(Op::le, "le", 2, order_shape, "x <= y as bool"),
    flat(Op::gt, "gt", 2, order_shape, "x > y as bool"),
    flat(Op::ge, "ge", 2, order_shape, "x >= y as bool"),
    flat(Op::is_finite, "is_finite", 1, is_finite_shape, "neither infinite nor nan, as bool"),
    flat(Op::bitwise_and, "bitwise_and", 2, logical_shape, "x & y, of integers or bools"),
    flat(Op::bitwise_or, "bitwise_or", 2, logical_shape, "x | y, of integers or bools"),
    flat(Op::bitwise_xor, "bitwise_xor", 2, logical_shape, "x ^ y, of integers or bools"),
    flat(Op::bitwise_not, "bitwise_not", 1, logical_shape, "~x, of integers or bools"),
    flat(Op::shift_left, "shift_left", 2, bits_shape, "bits of x moved up by y"),
    flat(Op::shift_right_arithmetic, "shift_right_arithmetic", 2, bits_shape,
         "bits of x moved down by y, the sign comes in"),
    flat(Op::shift_right_logical, "shift_right_logical", 2, bits_shape,
         "bits of x moved down by y, zeros come in"),
    flat(Op::population_count, "population_count", 1, bits_shape, "how many bits are set"),
    flat(Op::count_leading_zeros, "count_leading_zeros", 1, bits_shape,
         "how many bits above the highest that is set"),
    elementwise(Op::select, "select", 3, 1, select_shape, select_derivative,
                "(condition, x, y): x where the condition holds, else y"),
    elementwise(Op::clamp, "clamp", 3, 2, elementwise_shape, clamp_derivative,
                "(low, x, high): x, at least low and at most high"),
    elementwise(Op::reduce_precision, "reduce_precision", 1, 1, reduce_precision_shape,
                reduce_precision_derivative, "rounded to fewer exponent and mantissa bits"),
    flat(Op::bitcast, "bitcast", 1, bitcast_shape, "the same bits as another dtype"),
    elementwise(Op::optimization_barrier, "optimization_barrier", 1, 0, same_shape,
                optimization_barrier_derivative, "the same value, computed where it stands"),
    {Op::dropout, "dropout", 2, PassClass::pass_through, true, true, 100, dropout_shape,
     pointwise_rule, dropout_derivative,
     "(x, seed): zeros by chance, the others scaled so that the mean stays", dropout_form},

    elementwise(Op::make_complex, "complex", 2, 0, make_complex_shape, make_complex_derivative,
                "(x, y): x + y i, of two f32 to c64"),
    elementwise(Op::real, "real", 1, 0, complex_part_shape, real_derivative,
                "the real part of a complex number"),
    elementwise(Op::imag, "imag", 1, 0, complex_part_shape, imag_derivative,
                "the imaginary part of a complex number"),
    elementwise(Op::conjugate, "conjugate", 1, 1, conjugate_shape, conjugate_derivative,
                "x - y i for x + y i"),

    reduction(Op::reduce_sum, "reduce_sum", sum_rule, reduce_sum_derivative, "sum over dims"),
    reduction(Op::reduce_max, "reduce_max", max_rule, reduce_extremum_derivative,
              "largest over dims; nan wins", real_reduce_shape),
    reduction(Op::reduce_min, "reduce_min", min_rule, reduce_extremum_derivative,
              "smallest over dims; nan wins", real_reduce_shape),
    reduction(Op::reduce_prod, "reduce_prod", prod_rule, reduce_prod_derivative,
              "product over dims"),
    {Op::reduce_and, "reduce_and", 1, PassClass::other, false, false, 1, truth_reduce_shape,
     and_rule, no_gradient, "whether all over dims hold"},
    {Op::reduce_or, "reduce_or", 1, PassClass::other, false, false, 1, truth_reduce_shape, or_rule,
     no_gradient, "whether any over dims holds"},
    {Op::argmax, "argmax", 1, PassClass::other, false, false, 1, arg_extremum_shape,
     arg_extremum_rule, no_gradient, "position along dim of the first largest; nan wins"},
    {Op::argmin, "argmin", 1, PassClass::other, false, false, 1, arg_extremum_shape,
     arg_extremum_rule, no_gradient, "position along dim of the first smallest; nan wins"},

    cumulative(Op::cumsum, "cumsum", 1, cumulative_shape, cumsum_derivative,
               "sum so far along dim"),
    cumulative(Op::cumprod, "cumprod", 1, real_cumulative_shape, cumprod_derivative,
               "product so far along dim"),
    cumulative(Op::cummax, "cummax", 1, real_cumulative_shape, cumulative_extremum_derivative,
               "largest so far along dim"),
    cumulative(Op::cummin, "cummin", 1, real_cumulative_shape, cumulative_extremum_derivative,
               "smallest so far along dim"),
    cumulative(Op::cumlogsumexp, "cumlogsumexp", 1, float_cumulative_shape, cumlogsumexp_derivative,
               "log of the sum of exp so far along dim"),
    cumulative(Op::linear_recurrence, "linear_recurrence", 2, float_cumulative_shape,
               linear_recurrence_derivative, "(a, b): h = a * (h before) + b along dim"),
    {Op::sort, "sort", -1, PassClass::other, false, false, 1, sort_shape, sort_rule,
     sort_derivative, "all operands along dim by the first keys of them; stable, nan last"},
    {Op::top_k, "top_k", 1, PassClass::other, false, false, 1, top_k_shape, top_k_rule,
     top_k_derivative, "the k largest along the last dim, and their positions"},

    {Op::convolution, "convolution", 2, PassClass::other, false, false, 2, convolution_shape,
     convolution_rule, convolution_derivative,
     "(x, kernel): sum over windows of x, with strides, dilations and groups", convolution_form},
    window(Op::reduce_window_sum, "reduce_window_sum", reduce_window_sum_derivative,
           "sum over every window"),
    window(Op::reduce_window_max, "reduce_window_max", reduce_window_max_derivative,
           "largest in every window; nan wins"),
    window(Op::reduce_window_min, "reduce_window_min", reduce_window_min_derivative,
           "smallest in every window; nan wins"),
    {Op::select_and_scatter_add, "select_and_scatter_add", 2, PassClass::other, false, false, 1,
     select_and_scatter_add_shape, select_and_scatter_add_rule, nullptr,
     "(x, source): source added where the extremum of each window of x is"},
    {Op::fft, "fft", 1, PassClass::other, false, false, 1, fft_shape, fft_rule, fft_derivative,
     "discrete Fourier transform over the trailing dims, or its inverse", nullptr, false,
     fft_flops},

    elementwise(Op::constrain, "constrain", 1, 0, same_shape, constrain_derivative,
                "the same array, placed as the spec says (with_sharding_constraint)"),
    elementwise(Op::stop_gradient, "stop_gradient", 1, 0, same_shape, no_gradient,
                "the same array, through which no gradient flows"),
    {Op::transpose, "transpose", 1, PassClass::pass_through, false, false, 0, transpose_shape,
     transpose_rule, transpose_derivative, "dims in another order"},
    {Op::broadcast, "broadcast", 1, PassClass::broadcast_like, false, false, 0, broadcast_shape,
     broadcast_rule, broadcast_derivative, "repeated along new dims or dims of size 1", shape_form},
    {Op::constant, "constant", 0, PassClass::other, false, false, 0, constant_shape, nullptr,
     nullptr, "an array whose elements all equal value", shape_form},
    {Op::iota, "iota", 0, PassClass::other, false, false, 0, iota_shape, nullptr, nullptr,
     "an array whose elements are their positions along dim", iota_form},
    {Op::random_bits, "random_bits", 1, PassClass::other, false, false, 100, random_bits_shape,
     random_bits_rule, no_gradient, "(seed): u32 bits that depend on seed, stream and position",
     random_form},
    movement(Op::reshape, "reshape", 1, PassClass::pass_through, reshape_shape, reshape_rule,
             reshape_derivative, "the same elements, row-major, in another shape", shape_form,
             true),
    movement(Op::slice, "slice", 1, PassClass::other, slice_shape, slice_rule, slice_derivative,
             "from start up to limit by stride in every dim", slice_form, true),
    movement(Op::concatenate, "concatenate", -1, PassClass::other, concatenate_shape,
             concatenate_rule, concatenate_derivative, "arrays one after the other along dim"),
    movement(Op::pad, "pad", 2, PassClass::other, pad_shape, pad_rule, pad_derivative,
             "(x, value): value before, after and between the elements; cut where negative"),
    movement(Op::reverse, "reverse", 1, PassClass::other, reverse_shape, reverse_rule,
             reverse_derivative, "dims from the end", nullptr, true),
    movement(Op::ppermute, "ppermute", 1, PassClass::other, ppermute_shape, ppermute_rule,
             ppermute_derivative, "places of dim sent to other places; zeros where none is sent"),
    movement(Op::ragged_all_to_all, "ragged_all_to_all", 6, PassClass::other,
             ragged_all_to_all_shape, ragged_all_to_all_rule, ragged_all_to_all_derivative,
             "(operand, output, input_offsets, send_sizes, output_offsets, recv_sizes): rows that "
             "members along dims send each other"),
    movement(Op::dynamic_slice, "dynamic_slice", -1, PassClass::slice_like, dynamic_slice_shape,
             dynamic_slice_rule, dynamic_slice_derivative,
             "(x, starts): a part of given sizes, moved to where it fits", dynamic_slice_form),
    movement(Op::dynamic_update_slice, "dynamic_update_slice", -1, PassClass::slice_like,
             dynamic_update_slice_shape, dynamic_update_slice_rule, dynamic_update_slice_derivative,
             "(x, update, starts): x with a part replaced", dynamic_update_slice_form),
    movement(Op::gather, "gather", 2, PassClass::other, gather_shape, gather_rule,
             gather_derivative, "(x, indices): slices of x that start at the indices", gather_form),
    scatter(Op::scatter_add, "scatter_add", scatter_add_rule, scatter_add_derivative,
            "(x, indices, updates): x with updates added at the indices"),
    scatter(Op::scatter_set, "scatter_set", scatter_set_rule, scatter_set_derivative,
            "(x, indices, updates): x with updates put at the indices; the last one stays"),
    scatter(Op::scatter_max, "scatter_max", scatter_max_rule, scatter_extremum_derivative,
            "(x, indices, updates): the larger of both at the indices", ordered_scatter_shape),
    scatter(Op::scatter_min, "scatter_min", scatter_min_rule, scatter_extremum_derivative,
            "(x, indices, updates): the smaller of both at the indices", ordered_scatter_shape),
    scatter(Op::scatter_mul, "scatter_mul", scatter_mul_rule, scatter_mul_derivative,
            "(x, indices, updates): x with updates multiplied in at the indices",
            ordered_scatter_shape),

    elementwise(Op::sgd_update, "sgd_update", -1, 2, sgd_shape, nullptr,
                "parameter after a step of gradient descent"),
    elementwise(Op::momentum_update, "momentum_update", -1, 4, momentum_shape, nullptr,
                "parameter and trace after a step of gradient descent with momentum"),
    elementwise(Op::adam_update, "adam_update", -1, 18, adam_shape, nullptr,
                "parameter, mu and nu after a step of adam or adamw; with the count of steps"),

    {Op::custom_call, "custom_call", -1, PassClass::other, false, false, 1, custom_call_shape,
     custom_call_rule, custom_call_derivative,
     "code that is not ours, by the factors that its row declares", custom_call_form, false,
     custom_call_flops},
    {Op::repeat, "repeat", -1, PassClass::pass_through, false, false, 0, nullptr, nullptr, nullptr,
     "a body run several times over carried values and slices of stacked arrays"},
}};

constexpr bool rows_in_enum_order() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].op != static_cast<Op>(i)) return false;
  }
  return true;
}
static_assert(rows_in_enum_order(), "the table lists every Op once, in enum order");

}  // namespace

const OpRows& op_rows() { return rows; }

}  // namespace shard
