#include <algorithm>

#include "config/checked_map.h"
#include "config/in_file_order.h"
#include "config/lock_config.h"
#include "config/scalars.h"
#include "text/number.h"
#include "text/read.h"

namespace shard {
namespace {

constexpr std::int64_t version = 1;

void refuse(const TextNode& node, const std::string& key, const std::string& expected,
            Diagnostics& diagnostics) {
  diagnostics.error("bad-lock", node.at,
                    "'" + key + "' is " + describe(node) + ", expected " + expected,
                    "`shard-plan check --update` writes the file anew");
}

/// `1048576 B`
std::optional<Bytes> bytes_of_words(std::string_view text) {
  if (!text.ends_with(" B")) return {};
  const IntegerReading number = read_integer(text.substr(0, text.size() - 2));
  if (number.fault || number.value < 0) return {};
  return Bytes(number.value);
}

/// `f32[8,1024] P('data', None) 16384 B`; type and bytes may be missing together.
std::optional<LockArray> array_of(const std::string& name, const TextNode& node) {
  if (!node.is_scalar()) return {};
  const std::string& text = node.scalar;
  LockArray array{name, "", "", {}, node.at};
  if (text.starts_with("P(")) {
    array.spec = text;
    return array;
  }
  const std::size_t spec = text.find(" P(");
  const std::size_t end = text.rfind(") ");
  if (spec == text.npos || end == text.npos || end < spec) return {};
  array.type = text.substr(0, spec);
  array.spec = text.substr(spec + 1, end - spec);
  array.bytes = bytes_of_words(std::string_view(text).substr(end + 2));
  if (!array.bytes) return {};
  return array;
}

std::vector<LockArray> arrays_of(const CheckedMap& map, std::string_view key,
                                 Diagnostics& diagnostics) {
  std::vector<LockArray> arrays;
  const TextNode* const node = map.get(key);
  if (node == nullptr) return arrays;
  for (const TextEntry& entry : node->entries) {
    if (auto array = array_of(entry.key, entry.value)) {
      array->at = entry.key_at;
      arrays.push_back(std::move(*array));
    } else {
      refuse(entry.value, entry.key, "a type, a spec and bytes such as f32[8] P('data',) 16 B",
             diagnostics);
    }
  }
  return arrays;
}

/// One `8 x 1048576 B` of a list with ` + ` between.
bool add_amount(std::string_view text, LockCollective one, std::vector<LockCollective>& all) {
  const std::size_t times = text.find(" x ");
  if (times == text.npos) return false;
  const IntegerReading count = read_integer(text.substr(0, times));
  const std::optional<Bytes> payload = bytes_of_words(text.substr(times + 3));
  if (count.fault || count.value < 1 || !payload) return false;
  one.count = count.value;
  one.payload = *payload;
  all.push_back(std::move(one));
  return true;
}

bool add_collectives(const TextEntry& entry, std::vector<LockCollective>& all) {
  const std::size_t space = entry.key.find(' ');
  if (!entry.value.is_scalar() || space == std::string::npos) return false;
  LockCollective one{entry.key.substr(0, space), entry.key.substr(space + 1), 0, Bytes(0),
                     entry.key_at};
  std::string_view rest = entry.value.scalar;
  while (true) {
    const std::size_t plus = rest.find(" + ");
    if (!add_amount(rest.substr(0, plus), one, all)) return false;
    if (plus == rest.npos) return true;
    rest.remove_prefix(plus + 3);
  }
}

LockSection section_of(const std::string& job, const TextEntry& entry, Diagnostics& diagnostics) {
  const CheckedMap map(entry.value, lock_section_table(), diagnostics);
  LockSection section;
  section.job = job;
  section.mesh = entry.key;
  section.at = entry.key_at;
  section.state = arrays_of(map, "state", diagnostics);
  section.inputs = arrays_of(map, "inputs", diagnostics);
  section.outputs = arrays_of(map, "outputs", diagnostics);
  section.activations = arrays_of(map, "activations", diagnostics);
  if (const TextNode* node = map.get("collectives")) {
    section.collectives.emplace();
    for (const TextEntry& one : node->entries) {
      if (!add_collectives(one, *section.collectives)) {
        refuse(one.value, one.key, "amounts such as 8 x 1024 B", diagnostics);
      }
    }
  }
  if (const TextNode* node = map.get("peak_bytes")) {
    if (const auto bytes = read_whole(*node, "'peak_bytes'", diagnostics)) {
      section.peak = Bytes(*bytes);
    }
  }
  return section;
}

void check_version(const CheckedMap& map, Diagnostics& diagnostics) {
  const TextNode* const node = map.get("version");
  if (node == nullptr) return;
  const auto found = read_whole(*node, "'version'", diagnostics);
  if (found && *found != version) {
    refuse(*node, "version", std::to_string(version) + ", which this program writes", diagnostics);
  }
}

}  // namespace

std::string without_single_axes(const std::string& mesh) {
  std::string kept;
  std::size_t start = 0;
  while (start <= mesh.size()) {
    const std::size_t end = std::min(mesh.find(',', start), mesh.size());
    const std::string axis = mesh.substr(start, end - start);
    if (!axis.ends_with("=1")) kept += (kept.empty() ? "" : ",") + axis;
    start = end + 1;
  }
  return kept;
}

const LockSection* LockConfig::find(const std::string& job, const std::string& mesh) const {
  const LockSection* alike = nullptr;
  for (const LockSection& section : sections) {
    if (section.job != job) continue;
    if (section.mesh == mesh) return &section;
    if (without_single_axes(section.mesh) == without_single_axes(mesh)) alike = &section;
  }
  return alike;
}

LockConfig read_lock(const std::string& path, Sources& sources) {
  LockConfig lock;
  lock.file = path;
  if (!sources.has(path)) return lock;
  const TextNode root = read_yaml(path, sources.load(path));
  Diagnostics diagnostics;
  const CheckedMap map(root, lock_table(), diagnostics);
  check_version(map, diagnostics);
  if (const TextNode* layouts = map.get("layouts")) {
    for (const TextEntry& job : layouts->entries) {
      if (!job.value.is_map()) {
        report_type(job.value, "'" + job.key + "'", "a map of layouts by mesh", diagnostics);
      }
      for (const TextEntry& mesh : job.value.entries) {
        lock.sections.push_back(section_of(job.key, mesh, diagnostics));
      }
    }
  }
  throw_in_file_order(diagnostics);
  return lock;
}

}  // namespace shard
