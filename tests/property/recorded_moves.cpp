// Recorded lookups and moved elements.

#include "ops/index_dims.h"
#include "property/recorded_tables.h"

namespace shard::test {
namespace {

// Lookups. Negative indices count from the end, as in NumPy.

X from_the_end(const X& index, std::int64_t size) {
  const X limit = index.number(static_cast<double>(size));
  return where(apply(Op::lt, {index, index.number(0)}), index + limit, index);
}

Attributes row_attributes(const X& table, const X& index, const char* mode) {
  IndexDims dims;
  for (std::int64_t dim = 1; dim < table.rank(); ++dim) dims.window.push_back(dim);
  dims.collapsed = {0};
  dims.start = {0};
  dims.vector = index.rank();
  Attributes attributes = dims.attributes();
  attributes.set("mode", std::string(mode));
  return attributes;
}

X rows(const X& table, const X& index, const char* mode, double fill) {
  Attributes attributes = row_attributes(table, index, mode);
  Shape sizes = table.shape();
  sizes[0] = 1;
  attributes.set("slice_sizes", sizes);
  attributes.set("fill", fill);
  return from(table, table.builder().emit(Op::gather, {table.id(), index.id()}, attributes));
}

template <Op op>
Xs scattered(A a) {
  const X at = from_the_end(i(a), x(a).size(0));
  return {from(x(a), x(a).builder().emit(op, {x(a).id(), at.id(), y(a).id()},
                                         row_attributes(x(a), at, "fill")))};
}

Xs segment_sum(A a) {
  Shape shape = x(a).shape();
  shape[0] = 4;
  const X zeros = from(x(a), filled(x(a).builder(), 0, {x(a).dtype(), shape}));
  return {from(x(a), x(a).builder().emit(Op::scatter_add, {zeros.id(), i(a).id(), x(a).id()},
                                         row_attributes(zeros, i(a), "fill")))};
}

Xs two_indices(A a) {
  const X& j = a.at("j");
  const X pairs =
      from(x(a), concatenated(x(a).builder(),
                              std::vector{from_the_end(i(a), x(a).size(0)).expanded(1).id(),
                                          from_the_end(j, x(a).size(1)).expanded(1).id()},
                              1));
  IndexDims dims;
  for (std::int64_t dim = 2; dim < x(a).rank(); ++dim) dims.window.push_back(dim - 1);
  dims.collapsed = dims.start = {0, 1};
  dims.vector = 1;
  Attributes attributes = dims.attributes();
  Shape sizes = x(a).shape();
  sizes[0] = sizes[1] = 1;
  attributes.set("slice_sizes", sizes);
  attributes.set("mode", std::string("clip"));
  return {from(x(a), x(a).builder().emit(Op::gather, {x(a).id(), pairs.id()}, attributes))};
}

Xs sliced_at(A a) {
  return {from(x(a), x(a).builder().emit(Op::dynamic_slice, {x(a).id(), i(a).id(), a.at("j").id()},
                                         {{"sizes", Dims{2, 3}}}))};
}

Xs updated_at(A a) {
  return {from(x(a), x(a).builder().emit(Op::dynamic_update_slice,
                                         {x(a).id(), y(a).id(), i(a).id(), a.at("j").id()}))};
}

X padded(const X& v, double value, Dims low, Dims high, Dims interior) {
  return from(v, v.builder().emit(Op::pad, {v.id(), v.number(value).id()},
                                  {{"low", std::move(low)},
                                   {"high", std::move(high)},
                                   {"interior", std::move(interior)}}));
}

/// 1 where the column's position is in this order to the row's, shifted.
X triangle(const X& v, Op order, double shift) {
  const X row = positions(v, v.shape(), 0, DType::i32) + shift;
  return where(apply(order, {positions(v, v.shape(), 1, DType::i32), row}), v, v.number(0));
}

Xs strided(A a) {
  const X part = from(
      x(a), x(a).builder().emit(
                Op::slice, {x(a).id()},
                {{"start", Dims{1, 0}}, {"limit", Dims{5, x(a).size(1)}}, {"stride", Dims{2, 1}}}));
  return {part.op(Op::reverse, {{"dims", Dims{1}}})};
}

}  // namespace

const ExpressionTable& recorded_lookups() {
  static const ExpressionTable table = {
      {"take_rows",
       {exact, [](A a) { return Xs{rows(x(a), from_the_end(i(a), x(a).size(0)), "clip", 0)}; }}},
      {"take_rows_negative",
       {exact, [](A a) { return Xs{rows(x(a), from_the_end(i(a), x(a).size(0)), "clip", 0)}; }}},
      {"take_fill",
       {exact, [](A a) { return Xs{rows(x(a), from_the_end(i(a), x(a).size(0)), "fill", -1)}; }}},
      {"take_clip",
       {exact, [](A a) { return Xs{rows(x(a), from_the_end(i(a), x(a).size(0)), "clip", 0)}; }}},
      {"take_along_axis",
       {exact,
        [](A a) {
          return Xs{from(x(a), take_along(x(a).builder(), x(a).id(),
                                          from_the_end(i(a), x(a).size(1)).id(), 1))};
        }}},
      {"gather_two_indices", {exact, two_indices}},
      {"scatter_add", {function, scattered<Op::scatter_add>}},
      {"scatter_add_out_of_range", {function, scattered<Op::scatter_add>}},
      {"scatter_set", {exact, scattered<Op::scatter_set>}},
      {"scatter_max", {exact, scattered<Op::scatter_max>}},
      {"scatter_mul", {function, scattered<Op::scatter_mul>}},
      {"segment_sum", {function, segment_sum}},
      {"dynamic_slice", {exact, sliced_at}},
      {"dynamic_slice_clamped", {exact, sliced_at}},
      {"dynamic_update_slice", {exact, updated_at}},
      {"dynamic_update_slice_clamped", {exact, updated_at}},
  };
  return table;
}

const ExpressionTable& recorded_moves() {
  static const ExpressionTable table = {
      {"reverse",
       {exact,
        [](A a) {
          return Xs{x(a).op(Op::reverse, {{"dims", Dims{1}}})};
        }}},
      {"roll",
       {exact,
        [](A a) {
          const std::int64_t size = x(a).size(1);
          return Xs{joined({x(a).part(1, size - 2, size), x(a).part(1, 0, size - 2)}, 1)};
        }}},
      {"reshape",
       {exact,
        [](A a) {
          return Xs{x(a).reshaped({4, 6})};
        }}},
      {"transpose",
       {exact,
        [](A a) {
          return Xs{x(a).op(Op::transpose, {{"order", Dims{2, 0, 1}}})};
        }}},
      {"broadcast",
       {exact,
        [](A a) {
          return Xs{x(a).spread({3, 2, 4})};
        }}},
      {"slice_strided", {exact, strided}},
      {"concatenate",
       {exact,
        [](A a) {
          return Xs{joined({x(a), y(a)}, 1)};
        }}},
      {"stack",
       {exact,
        [](A a) {
          return Xs{joined({x(a).expanded(1), y(a).expanded(1)}, 1)};
        }}},
      {"split",
       {exact,
        [](A a) {
          return Xs{x(a).part(1, 0, 1), x(a).part(1, 1, 4), x(a).part(1, 4, x(a).size(1))};
        }}},
      {"repeat",
       {exact,
        [](A a) {
          const Shape shape = x(a).shape();
          return Xs{
              x(a).expanded(2).spread({shape[0], shape[1], 2}).reshaped({shape[0], 2 * shape[1]})};
        }}},
      {"tile",
       {exact,
        [](A a) {
          const Shape shape = x(a).shape();
          return Xs{x(a).reshaped({1, shape[0], 1, shape[1]})
                        .spread({2, shape[0], 3, shape[1]})
                        .reshaped({2 * shape[0], 3 * shape[1]})};
        }}},
      {"pad",
       {exact,
        [](A a) {
          return Xs{padded(x(a), 1.5, {1, 0}, {2, 1}, {0, 0})};
        }}},
      {"pad_negative_interior",
       {exact,
        [](A a) {
          return Xs{padded(x(a), 0, {-1, 0}, {2, -1}, {1, 0})};
        }}},
      {"tril", {exact, [](A a) { return Xs{triangle(x(a), Op::le, -1)}; }}},
      {"triu", {exact, [](A a) { return Xs{triangle(x(a), Op::ge, 1)}; }}},
      {"one_hot",
       {exact,
        [](A a) {
          return Xs{from(x(a), one_hot(x(a).builder(), i(a).id(), 5, x(a).dtype())) * x(a)};
        }}},
      {"iota",
       {function,
        [](A a) {
          return Xs{positions(x(a), {3, 4}, 1, x(a).dtype()) + x(a)};
        }}},
      {"linspace",
       {function,
        [](A a) { return Xs{(positions(x(a), {7}, 0, DType::f32) / 6).as(x(a).dtype()) * x(a)}; }}},
  };
  return table;
}

}  // namespace shard::test
