#pragma once
// The element types of results, as far as printing a type needs them.

#include <span>

#include "shard/explicit_typing.h"

namespace shard::typing {

/// What an op on both computes in, by JAX's promotion: a weak type gives way, the kinds are in the
/// order bool, integers, floats, complex.
ElementType promoted(const ElementType& a, const ElementType& b);
ElementType promoted(std::span<const ShardedType> operands);

/// The set that the type is in, as one of the bits of explicit_accepts.h.
unsigned bit_of(const ElementType& element);

/// Bytes of one element by the digits of its name: 4 for `float32`.
std::int64_t element_bytes(const ElementType& element);

ElementType promoted_element(const TypingCall& call);  ///< of all operands
ElementType promoted_cases(const TypingCall& call);    ///< of all but the first
ElementType second_element(const TypingCall& call);
ElementType boolean_element(const TypingCall& call);
ElementType index_element(const TypingCall& call);  ///< int32
ElementType bits_element(const TypingCall& call);   ///< uint32
ElementType weak_element(const TypingCall& call);   ///< of a number: weak float32
ElementType key_element(const TypingCall& call);
ElementType complex_element(const TypingCall& call);
ElementType real_element(const TypingCall& call);
ElementType sum_element(const TypingCall& call);  ///< bool is counted, whole numbers have 32 bits
ElementType running_sum_element(const TypingCall& call);  ///< bool is counted
ElementType power_element(const TypingCall& call);        ///< promoted, a base of truths is counted
ElementType inexact_element(const TypingCall& call);      ///< of all; integers become floats
ElementType spread_element(const TypingCall& call);       ///< the same, of complex ones the parts'
ElementType beside_whole(const TypingCall& call);         ///< beside a whole number
ElementType beside_float(const TypingCall& call);         ///< beside a number that is not whole
ElementType softened_element(const TypingCall& call);     ///< inexact; of truths a weak one
ElementType grouped_element(const TypingCall& call);      ///< of the first two operands
ElementType named_element(const TypingCall& call);        ///< `dtype`, `new_dtype`, else float32
ElementType counted_element(const TypingCall& call);      ///< `dtype`, else int32
ElementType asked_or_same(const TypingCall& call);        ///< `dtype`, else the first operand's
ElementType product_element(const TypingCall& call);  ///< `preferred_element_type`, else promoted

}  // namespace shard::typing
