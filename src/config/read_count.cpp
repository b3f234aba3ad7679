#include "base/nearest.h"
#include "config/checked_map.h"
#include "config/read_context.h"
#include "config/scalars.h"

namespace shard {
namespace {

std::vector<std::string> known_counts(const ReadContext& context) {
  std::vector<std::string> names = context.sizes.names();
  if (const auto found = context.blocks.find(context.block); found != context.blocks.end()) {
    for (const auto& [name, value] : found->second) names.push_back(name);
  }
  return names;
}

void report_unknown(const TextNode& node, std::string_view what, const ReadContext& context) {
  const bool is_product = node.scalar.find('*') != node.scalar.npos;
  const std::string hint =
      is_product ? "name it under sizes, e.g. NAME: " + node.scalar + ", and write NAME here"
                 : did_you_mean(node.scalar, known_counts(context), "sizes");
  context.diagnostics.error(
      "unknown-size", node.at,
      std::string(what) + " is '" + node.scalar + "', which is neither a number nor a size", hint);
}

}  // namespace

const CountConfig* ReadContext::argument(std::string_view name) const {
  const auto found = blocks.find(block);
  if (found == blocks.end()) return nullptr;
  for (const auto& [argument_name, value] : found->second) {
    if (argument_name == name) return &value;
  }
  return nullptr;
}

std::optional<CountConfig> read_count(const TextNode& node, std::string_view what,
                                      ReadContext& context) {
  if (!node.is_scalar() || node.scalar.empty()) {
    report_type(node, what, row_of(ValueKind::count).expected, context.diagnostics);
    return std::nullopt;
  }
  CountConfig count;
  count.at = node.at;
  if (const CountConfig* argument = context.argument(node.scalar)) {
    count = *argument;
    count.argument = node.scalar;
    count.at = node.at;
    return count;
  }
  if (context.sizes.is_declared(node.scalar)) {
    const auto value = context.sizes.value(node.scalar);
    if (!value) return std::nullopt;  // the size itself was refused
    count.value = *value;
    count.label = node.scalar;
    return count;
  }
  if (is_identifier(node.scalar) || node.scalar.find('*') != node.scalar.npos) {
    report_unknown(node, what, context);
    return std::nullopt;
  }
  const auto value = read_positive(node.scalar, node.at, what, context.diagnostics);
  if (!value) return std::nullopt;
  count.value = *value;
  return count;
}

}  // namespace shard
