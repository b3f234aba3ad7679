#pragma once
// Which element types an op takes. JAX looks at them before it looks at shardings, so a row of the
// typing table has its check here and its rule elsewhere.

#include "shard/explicit_elements.h"

namespace shard::typing {

// Sets of element types, as sums of bits.
constexpr unsigned truths = 1, signed_whole = 2, unsigned_whole = 4, floats = 8, complexes = 16;
constexpr unsigned whole = signed_whole | unsigned_whole;
constexpr unsigned inexact = floats | complexes;
constexpr unsigned numbers = whole | inexact;
constexpr unsigned ordered = truths | whole | floats;

/// Every operand's is in the set. Refuses `element_kind`.
void check_kinds(const TypingCall& call, unsigned kinds);

template <unsigned kinds>
void takes(const TypingCall& call) {
  check_kinds(call, kinds);
}

/// Operands from `first` on have one element type; a number has its own. Refuses `element_types`.
void check_alike(const TypingCall& call, std::size_t first = 0);

/// Both: functions of `lax` do not promote.
template <unsigned kinds>
void takes_alike(const TypingCall& call) {
  check_kinds(call, kinds);
  check_alike(call);
}

void takes_one_type(const TypingCall& call);
void takes_powers(const TypingCall& call);         ///< a whole exponent may be of any type
void takes_parts(const TypingCall& call);          ///< of complex numbers
void takes_bits(const TypingCall& call);           ///< to as many bits, in one element or several
void takes_truths(const TypingCall& call);         ///< of a logical reduction
void takes_ranked_floats(const TypingCall& call);  ///< approximate largest elements
void takes_ranked(const TypingCall& call);         ///< largest elements
void takes_clipped(const TypingCall& call);
void takes_quantiles(const TypingCall& call);
void takes_choice(const TypingCall& call);         ///< (which, cases of one type...)
void takes_predicate(const TypingCall& call);      ///< (predicate, ...)
void takes_branch_number(const TypingCall& call);  ///< (number, ...)
void takes_indices(const TypingCall& call);        ///< (array, whole numbers)
void takes_any_indices(const TypingCall& call);    ///< the same, or truth values
void takes_aligned_indices(const TypingCall& call);
void takes_added(const TypingCall& call);          ///< (array, ..., updates), which are added
void takes_updates(const TypingCall& call);        ///< (array, whole numbers, as the array)
void takes_added_updates(const TypingCall& call);  ///< the same, of numbers
void takes_starts(const TypingCall& call);         ///< (array, whole numbers...)
void takes_update_and_starts(const TypingCall& call);
void takes_counts(const TypingCall& call);     ///< (array, array, whole numbers)
void takes_lists(const TypingCall& call);      ///< (array, array, four lists of whole numbers)
void takes_counted(const TypingCall& call);    ///< whole numbers or truth values
void takes_attention(const TypingCall& call);  ///< (query, key, value) of one type

}  // namespace shard::typing
