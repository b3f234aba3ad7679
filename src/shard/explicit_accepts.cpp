#include "shard/explicit_accepts.h"

#include <array>

namespace shard::typing {
namespace {

bool is_in(const ShardedType& operand, unsigned kinds) {
  return (bit_of(operand.element) & kinds) != 0;
}

std::string words_of(unsigned kinds) {
  struct Word {
    unsigned bits;
    std::string_view name;
  };
  constexpr std::array<Word, 6> words = {{{whole, "integer"},
                                          {signed_whole, "signed integer"},
                                          {unsigned_whole, "unsigned integer"},
                                          {floats, "floating"},
                                          {complexes, "complex"},
                                          {truths, "bool"}}};
  std::string text;
  for (const Word& word : words) {
    if ((kinds & word.bits) != word.bits) continue;
    text += (text.empty() ? "" : ", ") + std::string(word.name);
    kinds &= ~word.bits;
  }
  return text;
}

/// Refuses the operand at `place` unless its element type is in the set.
void check_one(const TypingCall& call, std::size_t place, unsigned kinds, RefusalKind kind,
               const std::string& sentence) {
  const ShardedType& operand = call.operands[place];
  if (!is_in(operand, kinds)) refuse(kind, sentence + ", got " + operand.element.name);
}

}  // namespace

void check_kinds(const TypingCall& call, unsigned kinds) {
  for (std::size_t k = 0; k < call.operands.size(); ++k) {
    const ShardedType& operand = call.operands[k];
    if (is_in(operand, kinds)) continue;
    const std::string place = call.operands.size() > 1 ? " at position " + std::to_string(k) : "";
    refuse(RefusalKind::element_kind, std::string(call.op) + " does not accept dtype " +
                                          operand.element.name + place + ", only " +
                                          words_of(kinds));
  }
}

void check_alike(const TypingCall& call, std::size_t first) {
  std::string names;
  bool are_alike = true;
  for (std::size_t k = first; k < call.operands.size(); ++k) {
    const std::string& name = call.operands[k].element.name;
    are_alike = are_alike && name == call.operands[first].element.name;
    names += (names.empty() ? "" : ", ") + name;
  }
  if (are_alike) return;
  refuse(RefusalKind::element_types,
         std::string(call.op) + " requires arguments to have the same dtypes, got " + names);
}

void takes_one_type(const TypingCall& call) { check_alike(call); }

void takes_powers(const TypingCall& call) {
  const ShardedType& exponent = call.operands[1];
  check_kinds({call.mesh, call.op, {call.operands[0]}, call.parameters}, inexact);
  check_kinds(call, numbers);
  if (is_in(exponent, whole) || exponent.element.name == call.operands[0].element.name) return;
  refuse(RefusalKind::power_elements,
         "the first argument to pow must have an inexact dtype, and the second the same or a whole "
         "one, got " +
             call.operands[0].element.name + " and " + exponent.element.name);
}

void takes_parts(const TypingCall& call) {
  for (const ShardedType& operand : call.operands) {
    if (operand.element.name == "float32" || operand.element.name == "float64") continue;
    refuse(RefusalKind::element_kind, std::string(call.op) + " does not accept dtype " +
                                          operand.element.name + ", only float32 and float64");
  }
  check_alike(call);
}

void takes_bits(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const ElementType wanted = named_element(call);
  const std::int64_t old_bytes = element_bytes(value.element);
  const std::int64_t new_bytes = element_bytes(wanted);
  if (new_bytes > old_bytes && (value.rank() == 0 || value.shape.back() * old_bytes != new_bytes)) {
    refuse(RefusalKind::bit_size, "Attempting to convert array of shape " + to_string(value.shape) +
                                      " from " + value.element.name + " to " + wanted.name +
                                      ": the bits of its last dim are not those of one element");
  }
  const unsigned either = bit_of(value.element) | bit_of(wanted);
  if (value.element.name == wanted.name || (either & (truths | complexes)) == 0) return;
  refuse(RefusalKind::bit_kind, std::string(call.op) +
                                    " does not support bool or complex values, got " +
                                    value.element.name + " to " + wanted.name);
}

void takes_truths(const TypingCall& call) {
  check_one(call, 0, truths | whole, RefusalKind::logical_elements,
            "logical reduction requires operand dtype bool or int");
}

void takes_ranked_floats(const TypingCall& call) {
  check_one(call, 0, floats, RefusalKind::ranked_floats, "operand must be a floating type");
}

void takes_ranked(const TypingCall& call) {
  check_one(call, 0, ordered, RefusalKind::ranked_complex,
            std::string(call.op) + " is not compatible with complex inputs");
}

void takes_clipped(const TypingCall& call) {
  for (std::size_t k = 0; k < call.operands.size(); ++k) {
    check_one(call, k, ordered, RefusalKind::clipped_complex,
              "Clip received a complex value, and those have no order");
  }
}

void takes_quantiles(const TypingCall& call) {
  check_one(call, 0, ordered, RefusalKind::quantile_complex,
            std::string(call.op) + " does not support complex input");
}

void takes_choice(const TypingCall& call) {
  check_alike(call, 1);
  check_one(call, 0, truths | whole, RefusalKind::choice_elements,
            "select `which` must be boolean or integer type");
}

void takes_predicate(const TypingCall& call) {
  if (call.operands[0].element.name != "bfloat16") {
    check_one(call, 0, ordered, RefusalKind::predicate_elements,
              "Pred type must be either boolean or number");
    return;
  }
  refuse(RefusalKind::predicate_elements,
         "Pred type must be either boolean or number of a kind that numpy has, got bfloat16");
}

void takes_branch_number(const TypingCall& call) {
  check_one(call, 0, whole, RefusalKind::branch_number, "Index type must be an integer");
}

void takes_indices(const TypingCall& call) {
  check_one(call, 1, whole, RefusalKind::index_elements, "indices must have an integer type");
}

void takes_any_indices(const TypingCall& call) {
  check_one(call, 1, whole | truths, RefusalKind::index_elements,
            "indices must have an integer type");
}

void takes_aligned_indices(const TypingCall& call) {
  check_one(call, 1, whole, RefusalKind::aligned_index_elements, "indices must be of integer type");
}

void takes_updates(const TypingCall& call) {
  takes_indices(call);
  check_alike({call.mesh, call.op, {call.operands[0], call.operands[2]}, call.parameters});
}

void takes_added(const TypingCall& call) {
  ShardedType sum = call.operands.front();
  sum.element = promoted(sum.element, call.operands.back().element);
  check_kinds({call.mesh, call.op, {sum}, call.parameters}, numbers);
}

void takes_added_updates(const TypingCall& call) {
  check_kinds({call.mesh, call.op, {call.operands[0]}, call.parameters}, numbers);
  takes_updates(call);
}

namespace {

void check_starts(const TypingCall& call, std::size_t first) {
  for (std::size_t k = first; k < call.operands.size(); ++k) {
    check_one(call, k, whole, RefusalKind::start_elements,
              "index arguments to " + std::string(call.op) + " must be integers of the same type");
  }
}

}  // namespace

void takes_starts(const TypingCall& call) { check_starts(call, 1); }

void takes_lists(const TypingCall& call) {
  constexpr std::array<std::string_view, 4> lists = {"input_offsets", "send_sizes",
                                                     "output_offsets", "recv_sizes"};
  for (std::size_t k = 0; k < lists.size(); ++k) {
    check_one(call, k + 2, whole, RefusalKind::list_elements,
              "ragged_all_to_all " + std::string(lists[k]) + " must be integer type");
  }
}

void takes_update_and_starts(const TypingCall& call) {
  check_alike({call.mesh, call.op, {call.operands[0], call.operands[1]}, call.parameters});
  check_starts(call, 2);
}

void takes_counts(const TypingCall& call) {
  check_one(call, 2, whole, RefusalKind::group_elements,
            "it is required that group_sizes.dtype is subtype of integer");
}

void takes_counted(const TypingCall& call) {
  check_one(call, 0, whole | truths, RefusalKind::counted_elements,
            "what is counted must have an integer type");
}

void takes_attention(const TypingCall& call) {
  const std::string& wanted = call.operands[1].element.name;
  for (const ShardedType& operand : call.operands) {
    if (operand.element.name == wanted) continue;
    refuse(RefusalKind::attention_elements,
           "dtype should be that of the keys, " + wanted + ", but is " + operand.element.name);
  }
}

}  // namespace shard::typing
