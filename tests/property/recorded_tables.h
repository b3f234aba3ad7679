#pragma once
// The tables of recorded expressions by what they are about, and the words they share.

#include <string>

#include "ops/composed.h"
#include "property/recorded_expressions.h"

namespace shard::test {

using A = const Arguments&;
using ExpressionTable = std::map<std::string, RecordedExpression>;

const ExpressionTable& recorded_functions();  ///< recorded_functions.cpp
const ExpressionTable& recorded_reductions();
const ExpressionTable& recorded_lookups();  ///< recorded_moves.cpp
const ExpressionTable& recorded_moves();
const ExpressionTable& recorded_products();  ///< recorded_products.cpp
const ExpressionTable& recorded_integers();  ///< recorded_expressions.cpp

inline constexpr Closeness exact = Closeness::exact, function = Closeness::function,
                           special = Closeness::special, product = Closeness::product;

inline const X& x(A a) { return a.at("x"); }
inline const X& y(A a) { return a.at("y"); }
inline const X& i(A a) { return a.at("i"); }

inline X where(const X& condition, const X& on_true, const X& on_false) {
  return apply(Op::select, {condition, on_true, on_false});
}
inline X clipped(const X& v, double low, double high) {
  return apply(Op::clamp, {v.number(low), v, v.number(high)});
}
inline X from(const X& like, ValueId id) { return {like.builder(), id}; }
inline X positions(const X& like, Shape shape, std::int64_t dim, DType dtype) {
  return from(like, iota(like.builder(), std::move(shape), dim, dtype));
}
inline X joined(const Xs& parts, std::int64_t dim) {
  std::vector<ValueId> ids;
  for (const X& part : parts) ids.push_back(part.id());
  return from(parts[0], concatenated(parts[0].builder(), ids, dim));
}

}  // namespace shard::test
