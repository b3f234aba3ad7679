#include "spmd/words.h"

#include <array>

namespace shard {
namespace {

constexpr std::array<std::string_view, 8> collective_words = {
    "all_reduce",         "all_gather",           "reduce_scatter",    "all_to_all",
    "collective_permute", "collective_broadcast", "ragged_all_to_all", "all_slice"};
constexpr std::array<std::string_view, 7> category_words = {
    "input", "parameter", "optimizer", "gradient", "activation", "collective", "output"};
constexpr std::array<std::string_view, 3> phase_words = {"forward", "backward", "update"};
constexpr std::array<std::string_view, 8> role_words = {
    "input", "parameter", "optimizer", "step", "loss", "gradient", "output", "activation"};
constexpr std::array<std::string_view, 8> reason_words = {
    "partial_sum", "operand", "result", "constraint", "carry", "output", "neighbours", "asked"};
constexpr std::array<std::string_view, 5> reduction_words = {"none", "sum", "max", "min", "prod"};

static_assert(collective_words.size() == static_cast<std::size_t>(CollectiveKind::all_slice) + 1);
static_assert(category_words.size() == static_cast<std::size_t>(Category::output) + 1);
static_assert(phase_words.size() == static_cast<std::size_t>(Phase::update) + 1);
static_assert(role_words.size() == static_cast<std::size_t>(Role::activation) + 1);
static_assert(reason_words.size() == static_cast<std::size_t>(CollectiveReason::Kind::asked) + 1);
static_assert(reduction_words.size() == static_cast<std::size_t>(Reduction::prod) + 1);

}  // namespace

namespace spmd {

template <>
std::span<const std::string_view> words<CollectiveKind>() {
  return collective_words;
}
template <>
std::span<const std::string_view> words<Category>() {
  return category_words;
}
template <>
std::span<const std::string_view> words<Phase>() {
  return phase_words;
}
template <>
std::span<const std::string_view> words<Role>() {
  return role_words;
}
template <>
std::span<const std::string_view> words<CollectiveReason::Kind>() {
  return reason_words;
}
template <>
std::span<const std::string_view> words<Reduction>() {
  return reduction_words;
}

}  // namespace spmd

std::string_view name(CollectiveKind kind) {
  return collective_words[static_cast<std::size_t>(kind)];
}
std::string_view name(Category category) {
  return category_words[static_cast<std::size_t>(category)];
}
std::string_view name(Phase phase) { return phase_words[static_cast<std::size_t>(phase)]; }
std::string_view name(Role role) { return role_words[static_cast<std::size_t>(role)]; }
std::string_view name(CollectiveReason::Kind kind) {
  return reason_words[static_cast<std::size_t>(kind)];
}
std::string_view name(Reduction reduction) {
  return reduction_words[static_cast<std::size_t>(reduction)];
}

}  // namespace shard
