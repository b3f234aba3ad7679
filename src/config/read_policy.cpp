#include "config/read_policy.h"

#include "config/checked_map.h"
#include "config/read_spec.h"
#include "config/scalars.h"

namespace shard {
namespace {

std::optional<Bytes> read_limit(const CheckedMap& map, std::string_view key,
                                Diagnostics& diagnostics) {
  const TextNode* const node = map.get(key);
  return node == nullptr ? std::nullopt : read_limit(*node, key, diagnostics);
}

ReplicationPolicy read_replication(const TextNode& node, Diagnostics& diagnostics) {
  const CheckedMap map(node, replication_table(), diagnostics);
  ReplicationPolicy policy;
  policy.at = node.at;
  policy.per_array = read_limit(map, "per_array", diagnostics);
  policy.total = read_limit(map, "total", diagnostics);
  if (const TextNode* except = map.get("except")) {
    policy.except = read_names(*except, "an item of 'except'", diagnostics);
  }
  return policy;
}

CollectivePolicy read_forbidden(const TextNode& node, Diagnostics& diagnostics) {
  const CheckedMap map(node, forbidden_collective_table(), diagnostics);
  CollectivePolicy policy;
  policy.at = node.at;
  if (const TextNode* kind = map.get("kind")) {
    policy.kind = read_word(*kind, map.row("kind"), diagnostics).value_or("");
  }
  if (const TextNode* axis = map.get("axis")) {
    policy.axis = read_text(*axis, "'axis'", diagnostics).value_or("");
  }
  if (node.is_map() && node.entries.empty()) {
    diagnostics.error("missing-key", node.at, "a forbidden collective has neither kind nor axis",
                      "for example {kind: all_gather, axis: tensor}");
  }
  return policy;
}

std::optional<SpecPolicy> read_required(const TextNode& node, Diagnostics& diagnostics) {
  const CheckedMap map(node, required_spec_table(), diagnostics);
  const TextNode* const path = map.get("path");
  const TextNode* const written = map.get("spec");
  if (path == nullptr || written == nullptr) return {};
  const auto name = read_text(*path, "'path'", diagnostics);
  const auto spec = read_spec(*written, "'spec'", diagnostics);
  if (!name || !spec) return {};
  if (spec->logical() != nullptr) {
    report_type(*written, "'spec'", "mesh axes such as P(None, model)", diagnostics,
                "what must come out is asked for here, not what goes through the rules");
    return {};
  }
  SpecPolicy policy{*name, {}, node.at};
  if (spec->mesh() != nullptr) policy.spec = *spec->mesh();
  if (spec->sharding() != nullptr) policy.tiles = spec->sharding()->text;
  policy.tiles_at = spec->at;
  return policy;
}

}  // namespace

bool PolicyConfig::is_empty() const {
  return !max_bytes_per_device && !max_replicated && forbidden.empty() && required.empty() &&
         findings.empty() && !fits;
}

PolicyConfig laid_over(const PolicyConfig& lower, const PolicyConfig& upper) {
  PolicyConfig policy = lower;
  if (upper.max_bytes_per_device) {
    policy.max_bytes_per_device = upper.max_bytes_per_device;
    policy.max_bytes_at = upper.max_bytes_at;
  }
  if (upper.max_replicated) policy.max_replicated = upper.max_replicated;
  if (!upper.forbidden.empty()) policy.forbidden = upper.forbidden;
  if (!upper.required.empty()) policy.required = upper.required;
  if (upper.fits) policy.fits = upper.fits;
  policy.findings.insert(policy.findings.end(), upper.findings.begin(), upper.findings.end());
  return policy;
}

PolicyConfig read_policy(const TextNode& node, Diagnostics& diagnostics) {
  const CheckedMap map(node, policy_table(), diagnostics);
  PolicyConfig policy;
  policy.max_bytes_per_device = read_limit(map, "max_bytes_per_device", diagnostics);
  policy.max_bytes_at = map.key_at("max_bytes_per_device");
  if (const TextNode* limits = map.get("max_replicated_bytes")) {
    policy.max_replicated = read_replication(*limits, diagnostics);
  }
  if (const TextNode* list = map.get("forbid_collective")) {
    for (const TextNode& item : list->items) {
      policy.forbidden.push_back(read_forbidden(item, diagnostics));
    }
  }
  if (const TextNode* list = map.get("require_spec")) {
    for (const TextNode& item : list->items) {
      if (auto required = read_required(item, diagnostics)) {
        policy.required.push_back(std::move(*required));
      }
    }
  }
  if (const TextNode* levels = map.get("findings")) {
    policy.findings = read_finding_levels(*levels, diagnostics);
  }
  if (const TextNode* fits = map.get("fits")) {
    if (const auto text = read_text(*fits, "'fits'", diagnostics)) {
      policy.fits = PlacedText{*text, fits->at};
    }
  }
  return policy;
}

}  // namespace shard
