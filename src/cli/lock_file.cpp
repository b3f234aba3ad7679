#include "cli/lock_file.h"

#include "base/diagnostic.h"
#include "base/nearest.h"
#include "report/fold.h"
#include "spmd/words.h"

namespace shard {
namespace {

/// Which list of a section an array belongs to, and what its arrays count as.
struct SectionPart {
  std::vector<LockArray> LockSection::*list;
  Role role;
  bool (*has)(Role role);
};
constexpr SectionPart parts[] = {
    {&LockSection::state, Role::parameter, is_state},
    {&LockSection::inputs, Role::input, [](Role role) { return role == Role::input; }},
    {&LockSection::activations, Role::activation,
     [](Role role) { return role == Role::activation; }},
    {&LockSection::outputs, Role::output,
     [](Role role) {
       return role == Role::output || role == Role::loss || role == Role::gradient;
     }},
};

std::string key_of(const ArrayLayout& array) {
  return array.type + ' ' + array.spec + (array.bytes ? "" : " ?");
}

/// The arrays of one part, those that are alike folded into one line.
std::vector<LockArray> lines_of(const LayoutRecord& record, const SectionPart& part) {
  std::vector<FoldItem> items;
  std::vector<const ArrayLayout*> owners;
  for (const ArrayLayout& array : record.arrays) {
    if (!part.has(array.role)) continue;
    for (const std::string& name : array.names->list) {
      items.push_back({name, key_of(array)});
      owners.push_back(&array);
    }
  }
  std::vector<LockArray> lines;
  for (const std::vector<std::size_t>& group : fold_groups(items)) {
    std::vector<std::string> names;
    for (const std::size_t item : group) names.push_back(items[item].name);
    const ArrayLayout& first = *owners[group.front()];
    lines.push_back({fold_names(names), first.type, first.spec, first.bytes, {}});
  }
  return lines;
}

void add_arrays(const LockSection& section, const SectionPart& part, LayoutRecord& record) {
  for (const LockArray& line : section.*part.list) {
    ArrayLayout array;
    array.names = shared_names(unfold_name(line.name));
    array.role = part.role;
    array.type = line.type;
    array.spec = line.spec;
    array.bytes = line.bytes;
    array.decided_at = line.at;
    record.arrays.push_back(std::move(array));
  }
}

CollectiveUse use_of(const LockCollective& line) {
  const auto kind = spmd::named<CollectiveKind>(line.kind);
  if (!kind) {
    std::vector<std::string> known;
    for (const std::string_view word : spmd::words<CollectiveKind>()) known.emplace_back(word);
    throw Error("bad-lock", line.at, "there is no collective called '" + line.kind + "'",
                did_you_mean(line.kind, known, "collectives"));
  }
  CollectiveUse use;
  use.kind = *kind;
  use.axes = line.axes;
  use.count = line.count;
  use.payload = line.payload;
  use.at = line.at;
  return use;
}

}  // namespace

LockSection section_of(const LayoutRecord& record, const std::string& job,
                       const std::string& mesh) {
  LockSection section;
  section.job = job;
  section.mesh = mesh;
  for (const SectionPart& part : parts) section.*part.list = lines_of(record, part);
  if (record.collectives) {
    section.collectives.emplace();
    for (const CollectiveUse& use : *record.collectives) {
      section.collectives->push_back(
          {std::string(name(use.kind)), use.axes, use.count, use.payload, {}});
    }
  }
  section.peak = record.peak;
  return section;
}

LayoutRecord record_of(const LockSection& section) {
  LayoutRecord record;
  record.mesh = section.mesh;
  record.at = section.at;
  for (const SectionPart& part : parts) add_arrays(section, part, record);
  if (section.collectives) {
    record.collectives.emplace();
    for (const LockCollective& line : *section.collectives) {
      record.collectives->push_back(use_of(line));
    }
  }
  record.peak = section.peak;
  return record;
}

}  // namespace shard
