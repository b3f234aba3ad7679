#include "check/policy.h"

#include <algorithm>

#include "base/glob.h"
#include "base/nearest.h"
#include "config/load.h"
#include "mesh/chips.h"
#include "mesh/mesh.h"
#include "shard/sharding_text.h"
#include "spmd/words.h"
#include "text/number.h"

namespace shard {
namespace {

/// What a device holds, as far as it is known.
struct Held {
  Bytes bytes;
  bool is_peak = false;
};

Held held_bytes(const LayoutRecord& record) {
  if (record.peak) return {*record.peak, true};
  Held held;
  for (const auto& [role, bytes] : bytes_by_role(record)) held.bytes += bytes;
  return held;
}

std::string held_text(const Held& held) {
  return (held.is_peak ? "peak " : "arrays of ") + with_commas(held.bytes) + " B per device";
}

void check_bytes(const LayoutRecord& record, const PolicyConfig& policy,
                 std::vector<Breach>& breaches) {
  const Held held = held_bytes(record);
  if (!policy.max_bytes_per_device || held.bytes <= *policy.max_bytes_per_device) return;
  breaches.push_back(
      {"max_bytes_per_device", policy.max_bytes_at,
       held_text(held) + ", allowed are " + with_commas(*policy.max_bytes_per_device), ""});
}

bool is_any_of(const std::string& name, const std::vector<std::string>& globs) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return matches_glob(glob, name); });
}

/// The arrays that count, by what each has too many of.
struct Replicated {
  std::vector<std::string> names;  ///< of a class
  Bytes each;
};

std::vector<Replicated> replicated_of(const LayoutRecord& record, const ReplicationPolicy& policy) {
  std::vector<Replicated> all;
  for (const ArrayLayout& array : record.arrays) {
    const Bytes each = replicated_bytes(array);
    if (!is_state(array.role) || each == Bytes(0)) continue;
    Replicated one{{}, each};
    for (const std::string& name : array.names->list) {
      if (!is_any_of(name, policy.except)) one.names.push_back(name);
    }
    if (!one.names.empty()) all.push_back(std::move(one));
  }
  return all;
}

std::string many(std::size_t count, const std::string& first) {
  if (count == 1) return first;
  return with_commas(static_cast<std::int64_t>(count)) + " arrays (" + first + ", ...)";
}

void check_replication(const LayoutRecord& record, const ReplicationPolicy& policy,
                       std::vector<Breach>& breaches) {
  std::size_t count = 0;
  Replicated worst;
  Bytes total;
  for (const Replicated& one : replicated_of(record, policy)) {
    total += static_cast<std::int64_t>(one.names.size()) * one.each;
    if (!policy.per_array || one.each <= *policy.per_array) continue;
    count += one.names.size();
    if (one.each > worst.each) worst = one;
  }
  if (count > 0) {
    breaches.push_back({"max_replicated_bytes", policy.at,
                        many(count, worst.names.front()) + " with up to " +
                            with_commas(worst.each) +
                            " B per device that others hold too, allowed are " +
                            with_commas(*policy.per_array) + " per array",
                        ""});
  }
  if (policy.total && total > *policy.total) {
    breaches.push_back({"max_replicated_bytes", policy.at,
                        with_commas(total) + " B per device that others hold too, allowed are " +
                            with_commas(*policy.total) + " in all",
                        ""});
  }
}

bool has_axis(const std::string& axes, const std::string& wanted) {
  return (',' + axes + ',').find(',' + wanted + ',') != std::string::npos;
}

std::string policy_text(const CollectivePolicy& policy) {
  return (policy.kind.empty() ? "collectives" : policy.kind) +
         (policy.axis.empty() ? "" : " over " + policy.axis);
}

void check_forbidden(const LayoutRecord& record, const CollectivePolicy& policy,
                     std::vector<Breach>& breaches) {
  if (!record.collectives) {
    breaches.push_back(
        {"forbid_collective", policy.at,
         policy_text(policy) + " cannot be told: the model is a list of arrays, without a program",
         "give a model with layers, or take the policy out"});
    return;
  }
  for (const CollectiveUse& use : *record.collectives) {
    if (!policy.kind.empty() && policy.kind != name(use.kind)) continue;
    if (!policy.axis.empty() && !has_axis(use.axes, policy.axis)) continue;
    breaches.push_back({"forbid_collective", policy.at,
                        std::string(name(use.kind)) + ' ' + use.axes + ' ' +
                            with_commas(use.count) + " x " + with_commas(use.payload) +
                            ", must not be there",
                        ""});
  }
}

/// The entries that split something, on this mesh.
std::vector<PartitionEntry> effective(PartitionSpec spec, const std::string& mesh) {
  const auto is_single = [&](const MeshAxis& axis) { return has_axis(mesh, axis.text() + "=1"); };
  for (PartitionEntry& entry : spec.entries) std::erase_if(entry.axes, is_single);
  while (!spec.entries.empty() && spec.entries.back() == PartitionEntry{}) {
    spec.entries.pop_back();
  }
  return spec.entries;
}

bool has_spec(const ArrayLayout& array, const PartitionSpec& wanted, const std::string& mesh) {
  if (array.spec.find(":(") != std::string::npos) return false;  // a part of an axis
  const SpecConfig found = read_spec_text(array.spec, {"spec"});
  return found.mesh() != nullptr && effective(*found.mesh(), mesh) == effective(wanted, mesh);
}

/// The mesh of `data=2,model=4`, without hardware.
Mesh mesh_of(const std::string& text) {
  std::vector<MeshAxisInfo> axes;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::size_t equals = text.rfind('=', end);
    axes.push_back({MeshAxis(text.substr(start, equals - start)),
                    std::stoll(text.substr(equals + 1, end - equals - 1))});
    start = end + 1;
  }
  return Mesh(std::move(axes));
}

/// What the tiles are on this mesh, as arrays have it; the rank is that of the tiles.
std::string spec_of_tiles(const SpecPolicy& policy, const std::string& mesh_text) {
  const Mesh mesh = mesh_of(mesh_text);
  const std::optional<HloSharding> tiles = read_hlo_sharding(policy.tiles);
  const std::size_t rank =
      tiles && !tiles->dims.empty() ? tiles->dims.size() - tiles->groups.size() : 0;
  return spec_text(mesh,
                   read_sharding_text(mesh, policy.tiles, static_cast<int>(rank), policy.tiles_at));
}

/// Arrays that are meant; what follows a parameter is told with it.
void check_required(const LayoutRecord& record, const SpecPolicy& policy,
                    std::vector<Breach>& breaches) {
  std::vector<std::pair<std::string, std::size_t>> wrong;  // specs that are found, and how often
  const bool is_tiles = !policy.tiles.empty();
  const std::string wanted = is_tiles ? spec_of_tiles(policy, record.mesh) : to_string(policy.spec);
  bool is_any_meant = false;
  for (const ArrayLayout& array : record.arrays) {
    const auto meant = static_cast<std::size_t>(
        std::count_if(array.names->list.begin(), array.names->list.end(),
                      [&](const std::string& name) { return matches_glob(policy.path, name); }));
    is_any_meant = is_any_meant || meant > 0;
    const bool is_told_with_another = array.follows >= 0 && !policy.path.starts_with("opt_state");
    if (meant == 0 || is_told_with_another) continue;
    const bool is_right =
        is_tiles ? array.spec == wanted : has_spec(array, policy.spec, record.mesh);
    if (is_right) continue;
    const auto same = std::find_if(wrong.begin(), wrong.end(),
                                   [&](const auto& one) { return one.first == array.spec; });
    if (same == wrong.end()) {
      wrong.emplace_back(array.spec, meant);
    } else {
      same->second += meant;
    }
  }
  const std::string must = ", must be " + wanted + (is_tiles ? ", from " + policy.tiles : "");
  if (!is_any_meant) {
    breaches.push_back({"require_spec", policy.at, policy.path + " matches no array" + must, ""});
  }
  for (const auto& [spec, count] : wrong) {
    breaches.push_back({"require_spec", policy.at,
                        policy.path + " is " + spec + must + " (" +
                            with_commas(static_cast<std::int64_t>(count)) +
                            (count == 1 ? " array)" : " arrays)"),
                        ""});
  }
}

Bytes capacity_of(const PlacedText& fits) {
  if (const Chip* const chip = chip_named(fits.text)) return chip->hbm;
  if (const auto bytes = read_bytes(fits.text)) return *bytes;
  const std::vector<std::string> known = chip_names();
  throw Error("unknown-device", fits.at,
              "'" + fits.text + "' is neither a chip nor a number of bytes such as 16 GiB",
              did_you_mean(fits.text, known, "known chips", known.size()));
}

void check_fits(const LayoutRecord& record, const PlacedText& fits, std::vector<Breach>& breaches) {
  const Bytes capacity = capacity_of(fits);
  const Held held = held_bytes(record);
  if (held.bytes > capacity) {
    breaches.push_back(
        {"fits", fits.at,
         held_text(held) + " do not fit into " + fits.text + " (" + with_commas(capacity) + " B)",
         ""});
  } else if (!held.is_peak) {
    breaches.push_back({"fits", fits.at,
                        "whether it fits cannot be told: the model is a list of arrays, without a "
                        "program that says what else a device holds",
                        "max_bytes_per_device limits the arrays alone"});
  }
}

void check_findings(const LayoutRecord& record, const PolicyConfig& policy,
                    std::vector<Breach>& breaches) {
  for (const Finding& finding : apply_levels(record.findings, policy.findings)) {
    if (finding.severity != Severity::error) continue;
    breaches.push_back({finding.id, finding.at, "error: " + finding.message, finding.fix});
  }
}

}  // namespace

std::vector<Breach> breaches_of(const LayoutRecord& record, const PolicyConfig& policy) {
  std::vector<Breach> breaches;
  check_findings(record, policy, breaches);
  check_bytes(record, policy, breaches);
  if (policy.max_replicated) check_replication(record, *policy.max_replicated, breaches);
  for (const CollectivePolicy& one : policy.forbidden) check_forbidden(record, one, breaches);
  for (const SpecPolicy& one : policy.required) check_required(record, one, breaches);
  if (policy.fits) check_fits(record, *policy.fits, breaches);
  return breaches;
}

}  // namespace shard
