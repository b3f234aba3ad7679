#include "report/limits_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/number.h"
#include "text/read.h"

namespace shard {
namespace {

constexpr const char* limits_hint = "`shard-plan run --profile` measures and writes it anew";

[[noreturn]] void refuse_limits(const Location& at, const std::string& wanted) {
  throw Error("bad-limits", at, "expected " + wanted + " of a machine's limits", limits_hint);
}

const TextNode& limits_member(const TextNode& node, const char* key) {
  const TextNode* const found = node.is_map() ? node.find(key) : nullptr;
  if (found == nullptr) refuse_limits(node.at, std::string("a key `") + key + "`");
  return *found;
}

double positive_limit(const TextNode& node, const char* key) {
  const TextNode& value = limits_member(node, key);
  const auto number = value.is_scalar() ? read_number(value.scalar) : std::nullopt;
  if (!number || *number <= 0) {
    refuse_limits(value.at, std::string("a positive number as `") + key + "`");
  }
  return *number;
}

}  // namespace

std::vector<KeptLimits> read_limits(const std::string& file, std::string_view text) {
  const TextNode document = read_json(file, text);
  const TextNode& list = limits_member(document, "limits");
  if (!list.is_sequence()) refuse_limits(list.at, "a list");
  std::vector<KeptLimits> kept;
  for (const TextNode& item : list.items) {
    KeptLimits one;
    one.processor = limits_member(item, "processor").scalar;
    one.workers = static_cast<int>(positive_limit(item, "workers"));
    one.limits.product_flops = positive_limit(item, "product_flops_per_second");
    one.limits.copy_bytes = positive_limit(item, "copy_bytes_per_second");
    kept.push_back(std::move(one));
  }
  return kept;
}

std::string limits_text(const std::vector<KeptLimits>& kept) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const KeptLimits& one : kept) {
    list.push_back({{"processor", one.processor},
                    {"workers", one.workers},
                    {"product_flops_per_second", one.limits.product_flops},
                    {"copy_bytes_per_second", one.limits.copy_bytes}});
  }
  const nlohmann::ordered_json document = {{"limits", list}};
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

const KeptLimits* limits_of(const std::vector<KeptLimits>& kept, const std::string& processor,
                            int workers) {
  const auto found = std::find_if(kept.begin(), kept.end(), [&](const KeptLimits& one) {
    return one.processor == processor && one.workers == workers;
  });
  return found == kept.end() ? nullptr : &*found;
}

}  // namespace shard
