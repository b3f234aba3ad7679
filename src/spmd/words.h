#pragma once
// The words of the program text, and of whoever prints its parts: one table per enum.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spmd/program.h"

namespace shard {

/// `all_reduce`, `parameter`, `backward`, `optimizer`, `partial_sum`, `sum`.
std::string_view name(CollectiveKind kind);
std::string_view name(Category category);
std::string_view name(Phase phase);
std::string_view name(Role role);
std::string_view name(CollectiveReason::Kind kind);
std::string_view name(Reduction reduction);

namespace spmd {

/// All words of an enum, in its order.
template <class Enum>
std::span<const std::string_view> words();
template <>
std::span<const std::string_view> words<CollectiveKind>();
template <>
std::span<const std::string_view> words<Category>();
template <>
std::span<const std::string_view> words<Phase>();
template <>
std::span<const std::string_view> words<Role>();
template <>
std::span<const std::string_view> words<CollectiveReason::Kind>();
template <>
std::span<const std::string_view> words<Reduction>();

/// The enumerator with that name.
template <class Enum>
std::optional<Enum> named(std::string_view word) {
  const std::span<const std::string_view> all = words<Enum>();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == word) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace spmd
}  // namespace shard
