#include "shard/explicit_elements.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "shard/explicit_accepts.h"

namespace shard::typing {
namespace {

/// In the order of promotion.
enum class NumberKind { boolean, whole, floating, complex_number };

NumberKind kind_of(const ElementType& element) {
  const std::string& name = element.name;
  if (name == "bool") return NumberKind::boolean;
  if (name.starts_with("int") || name.starts_with("uint")) return NumberKind::whole;
  if (name.starts_with("complex")) return NumberKind::complex_number;
  return NumberKind::floating;
}

ElementType default_of(NumberKind kind) {
  constexpr std::array<std::string_view, 4> names = {"bool", "int32", "float32", "complex64"};
  return {std::string(names[static_cast<std::size_t>(kind)]), false};
}

/// Both strong or both weak.
ElementType promoted_alike(const ElementType& a, const ElementType& b) {
  const NumberKind kind_a = kind_of(a);
  const NumberKind kind_b = kind_of(b);
  if (kind_a != kind_b) return kind_a < kind_b ? b : a;
  if (a.name == b.name) return a;
  const std::int64_t bytes_a = element_bytes(a);
  const std::int64_t bytes_b = element_bytes(b);
  if (bytes_a != bytes_b) return bytes_a < bytes_b ? b : a;
  // bfloat16 with float16, int8 with uint8: the next type that holds both, of at most 32 bits.
  if (kind_a == NumberKind::floating) return {"float32", a.is_weak};
  return {"int" + std::to_string(std::min<std::int64_t>(16 * bytes_a, 32)), false};
}

ElementType named(const TypingCall& call, std::string_view key, const ElementType& fallback) {
  const Parameter* name = find(call.parameters, key);
  return name == nullptr ? fallback : ElementType{name->text(), false};
}

}  // namespace

unsigned bit_of(const ElementType& element) {
  constexpr std::array<unsigned, 4> bits = {truths, signed_whole, floats, complexes};
  const NumberKind kind = kind_of(element);
  if (kind == NumberKind::whole && element.name.starts_with("u")) return unsigned_whole;
  return bits[static_cast<std::size_t>(kind)];
}

std::int64_t element_bytes(const ElementType& element) {
  if (element.name == "bool") return 1;
  const std::size_t start = element.name.find_first_of("0123456789");
  int bits = 32;
  if (start != element.name.npos) {
    std::from_chars(element.name.data() + start, element.name.data() + element.name.size(), bits);
  }
  return bits / 8;
}

ElementType promoted(const ElementType& a, const ElementType& b) {
  if (a.is_weak == b.is_weak) return promoted_alike(a, b);
  const ElementType& weak = a.is_weak ? a : b;
  const ElementType& strong = a.is_weak ? b : a;
  if (kind_of(weak) <= kind_of(strong)) return strong;
  ElementType wider = default_of(kind_of(weak));
  wider.is_weak = true;
  return wider;
}

ElementType promoted(std::span<const ShardedType> operands) {
  if (operands.empty()) return {};
  ElementType element = operands.front().element;
  for (const ShardedType& operand : operands) element = promoted(element, operand.element);
  return element;
}

ElementType promoted_element(const TypingCall& call) { return promoted(call.operands); }
ElementType promoted_cases(const TypingCall& call) {
  return promoted(std::span(call.operands).subspan(1));
}
ElementType second_element(const TypingCall& call) { return call.operands[1].element; }
ElementType boolean_element(const TypingCall&) { return {"bool", false}; }
ElementType index_element(const TypingCall&) { return {"int32", false}; }
ElementType bits_element(const TypingCall&) { return {"uint32", false}; }
ElementType weak_element(const TypingCall&) { return {"float32", true}; }
ElementType key_element(const TypingCall&) { return {"key<fry>", false}; }
ElementType complex_element(const TypingCall&) { return {"complex64", false}; }

ElementType real_element(const TypingCall& call) {
  const ElementType& element = call.operands[0].element;
  return kind_of(element) == NumberKind::complex_number ? ElementType{"float32", false} : element;
}

ElementType sum_element(const TypingCall& call) {
  const ElementType& element = call.operands[0].element;
  if (kind_of(element) == NumberKind::boolean) return {"int32", false};
  if (kind_of(element) != NumberKind::whole || element_bytes(element) >= 4) return element;
  return {element.name.starts_with("u") ? "uint32" : "int32", false};
}

ElementType running_sum_element(const TypingCall& call) {
  const ElementType& element = call.operands[0].element;
  return kind_of(element) == NumberKind::boolean ? ElementType{"int32", false} : element;
}

ElementType power_element(const TypingCall& call) {
  const ElementType element = promoted(call.operands);
  const bool is_counted = kind_of(call.operands[0].element) == NumberKind::boolean &&
                          kind_of(element) <= NumberKind::whole &&
                          (element.is_weak || kind_of(element) == NumberKind::boolean);
  return is_counted ? ElementType{"int32", false} : element;
}

ElementType inexact_element(const TypingCall& call) {
  const ElementType element = promoted(call.operands);
  return kind_of(element) < NumberKind::floating ? ElementType{"float32", element.is_weak}
                                                 : element;
}

ElementType spread_element(const TypingCall& call) {
  const ElementType element = inexact_element(call);
  return kind_of(element) == NumberKind::complex_number ? ElementType{"float32", false} : element;
}

ElementType beside_whole(const TypingCall& call) {
  return promoted(call.operands[0].element, {"int32", true});
}

ElementType beside_float(const TypingCall& call) {
  return promoted(call.operands[0].element, {"float32", true});
}

ElementType softened_element(const TypingCall& call) {
  return kind_of(call.operands[0].element) == NumberKind::boolean ? ElementType{"float32", true}
                                                                  : inexact_element(call);
}

ElementType grouped_element(const TypingCall& call) {
  return promoted(std::span(call.operands).first(2));
}

ElementType named_element(const TypingCall& call) {
  return named(call, "dtype", named(call, "new_dtype", {}));
}

ElementType counted_element(const TypingCall& call) {
  return named(call, "dtype", {"int32", false});
}

ElementType asked_or_same(const TypingCall& call) {
  return named(call, "dtype", call.operands[0].element);
}

ElementType product_element(const TypingCall& call) {
  return named(call, "preferred_element_type", promoted(call.operands));
}

}  // namespace shard::typing
