#include "check/diff.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/glob.h"
#include "check/pair_arrays.h"

namespace shard {
namespace {

std::optional<ArrayState> state_of(const LayoutRecord& record, int array) {
  if (array < 0) return {};
  const ArrayLayout& layout = record.arrays[static_cast<std::size_t>(array)];
  return ArrayState{layout.type, layout.spec, layout.bytes};
}

/// A pair that is not equal, with the slots that changed like it.
struct ChangedPair {
  const ArrayPair* pair = nullptr;
  std::optional<ArrayState> before;
  std::optional<ArrayState> after;
  std::vector<std::string> slots;
  bool is_slot = false;  ///< is part of the pair it follows
};

class ArrayDiff {
 public:
  ArrayDiff(const LayoutRecord& before, const LayoutRecord& after)
      : before_(before), after_(after), pairs_(pair_arrays(before, after)) {}

  std::vector<ArrayChange> changes();

 private:
  const LayoutRecord& newer(const ArrayPair& pair) const {
    return pair.after >= 0 ? after_ : before_;
  }
  const ArrayLayout& layout(const ArrayPair& pair) const {
    return newer(pair).arrays[static_cast<std::size_t>(pair.after >= 0 ? pair.after : pair.before)];
  }
  void find_changed();
  void attach_slots();
  void add(const ChangedPair& changed, std::vector<ArrayChange>& changes);
  ArrayChange make_change(const ChangedPair& changed) const;
  std::string exact_glob(const ArrayChange& change) const;
  bool means_only(const std::string& glob, const LayoutRecord& record, std::size_t wanted) const;

  const LayoutRecord& before_;
  const LayoutRecord& after_;
  std::vector<ArrayPair> pairs_;
  std::vector<ChangedPair> changed_;
  std::map<std::string, std::size_t> change_of_;  ///< by what makes changes alike
};

void ArrayDiff::find_changed() {
  for (const ArrayPair& pair : pairs_) {
    ChangedPair changed{
        &pair, state_of(before_, pair.before), state_of(after_, pair.after), {}, false};
    if (changed.before != changed.after) changed_.push_back(std::move(changed));
  }
}

/// `mu` and `nu` of a kernel that changed like the kernel are told with it.
void ArrayDiff::attach_slots() {
  using Key = std::tuple<bool, int, std::vector<std::size_t>>;
  std::map<Key, std::size_t> changed_of;
  for (std::size_t i = 0; i < changed_.size(); ++i) {
    const ArrayPair& pair = *changed_[i].pair;
    changed_of.emplace(
        Key{pair.after >= 0, pair.after >= 0 ? pair.after : pair.before, pair.positions}, i);
  }
  for (ChangedPair& changed : changed_) {
    const ArrayLayout& slot = layout(*changed.pair);
    if (slot.follows < 0) continue;
    const auto found =
        changed_of.find({changed.pair->after >= 0, slot.follows, changed.pair->positions});
    if (found == changed_of.end()) continue;
    ChangedPair& owner = changed_[found->second];
    if (owner.before != changed.before || owner.after != changed.after) continue;
    owner.slots.push_back(slot.slot);
    changed.is_slot = true;
  }
}

ArrayChange ArrayDiff::make_change(const ChangedPair& changed) const {
  const ArrayLayout& newest = layout(*changed.pair);
  ArrayChange change;
  change.slots = changed.slots;
  change.role = newest.role;
  change.before = changed.before;
  change.after = changed.after;
  change.why = newest.why;
  change.decided_at = newest.decided_at;
  change.at = newest.at;
  if (changed.pair->before >= 0) {
    change.before_at = before_.arrays[static_cast<std::size_t>(changed.pair->before)].decided_at;
  }
  return change;
}

std::string state_key(const std::optional<ArrayState>& state) {
  if (!state) return "-";
  return state->type + ' ' + state->spec + ' ' +
         (state->bytes ? std::to_string(state->bytes->count()) : "?");
}

void ArrayDiff::add(const ChangedPair& changed, std::vector<ArrayChange>& changes) {
  std::string alike = state_key(changed.before) + '\n' + state_key(changed.after);
  for (const std::string& slot : changed.slots) alike += '\n' + slot;
  for (const NameFamily& family : changed.pair->names->families) {
    const auto [place, is_new] =
        change_of_.try_emplace(family.pattern + '\n' + alike, changes.size());
    if (is_new) changes.push_back(make_change(changed));
    ArrayChange& change = changes[place->second];
    for (const std::size_t position : family.positions) {
      change.names.push_back(changed.pair->names->list[position]);
    }
  }
}

/// Whether the pattern means `wanted` arrays of the record, where it is known to mean as many.
bool ArrayDiff::means_only(const std::string& glob, const LayoutRecord& record,
                           std::size_t wanted) const {
  const std::string pattern = number_pattern(glob);
  std::size_t candidates = 0;
  std::vector<std::pair<const ArrayNames*, const NameFamily*>> families;
  for (const ArrayLayout& array : record.arrays) {
    for (const NameFamily& family : array.names->families) {
      if (array.follows >= 0 || !matches_glob(pattern, family.pattern)) continue;
      candidates += family.positions.size();
      families.emplace_back(array.names.get(), &family);
    }
  }
  if (candidates <= wanted) return candidates == wanted;
  std::size_t meant = 0;
  for (const auto& [names, family] : families) {
    for (const std::size_t position : family->positions) {
      meant += matches_glob(glob, names->list[position]) ? 1 : 0;
    }
  }
  return meant == wanted;
}

std::string ArrayDiff::exact_glob(const ArrayChange& change) const {
  if (change.names.size() < 2) return "";
  const std::string glob = glob_of(change.names);
  const std::size_t wanted = change.names.size();
  const bool is_exact = !glob.empty() && means_only(glob, before_, change.before ? wanted : 0) &&
                        means_only(glob, after_, change.after ? wanted : 0);
  return is_exact ? glob : "";
}

std::vector<ArrayChange> ArrayDiff::changes() {
  find_changed();
  attach_slots();
  std::vector<ArrayChange> changes;
  for (const ChangedPair& changed : changed_) {
    if (!changed.is_slot) add(changed, changes);
  }
  for (ArrayChange& change : changes) change.glob = exact_glob(change);
  std::stable_sort(changes.begin(), changes.end(), [](const ArrayChange& a, const ArrayChange& b) {
    return a.total() > b.total();
  });
  return changes;
}

using UseKey = std::pair<CollectiveKind, std::string>;

std::vector<CollectiveChange> collective_changes(const std::vector<CollectiveUse>& before,
                                                 const std::vector<CollectiveUse>& after) {
  std::vector<CollectiveChange> changes;
  std::set<UseKey> seen;
  for (const std::vector<CollectiveUse>* side : {&before, &after}) {
    for (const CollectiveUse& use : *side) {
      const UseKey key{use.kind, use.axes};
      if (!seen.insert(key).second) continue;
      CollectiveChange change{use.kind,
                              use.axes,
                              amounts_of(before, use.kind, use.axes),
                              amounts_of(after, use.kind, use.axes),
                              {}};
      const auto newer = std::find_if(after.begin(), after.end(), [&](const CollectiveUse& one) {
        return UseKey{one.kind, one.axes} == key;
      });
      if (newer != after.end()) change.at = newer->at;
      if (change.before != change.after) changes.push_back(std::move(change));
    }
  }
  return changes;
}

/// Findings of `here` that `there` has not.
std::vector<Finding> findings_only_in(const std::vector<Finding>& here,
                                      const std::vector<Finding>& there) {
  std::vector<Finding> only;
  for (const Finding& finding : here) {
    const bool is_there = std::any_of(there.begin(), there.end(), [&](const Finding& other) {
      return other.id == finding.id && other.message == finding.message;
    });
    if (!is_there) only.push_back(finding);
  }
  return only;
}

}  // namespace

std::optional<Bytes> ArrayChange::each() const {
  Bytes each;
  if (after) {
    if (!after->bytes) return {};
    each += *after->bytes;
  }
  if (before) {
    if (!before->bytes) return {};
    each = each - *before->bytes;
  }
  return each;
}

Bytes ArrayChange::total() const { return count() * each().value_or(Bytes(0)); }

std::vector<CollectiveAmount> amounts_of(const std::vector<CollectiveUse>& uses,
                                         CollectiveKind kind, const std::string& axes) {
  std::map<std::int64_t, std::int64_t> count_by_payload;
  for (const CollectiveUse& use : uses) {
    if (use.kind == kind && use.axes == axes) count_by_payload[use.payload.count()] += use.count;
  }
  std::vector<CollectiveAmount> amounts;
  for (const auto& [payload, count] : count_by_payload) amounts.push_back({count, Bytes(payload)});
  return amounts;
}

LayoutDiff diff(const LayoutRecord& before, const LayoutRecord& after) {
  LayoutDiff result;
  result.arrays = ArrayDiff(before, after).changes();
  result.knows_collectives = before.collectives && after.collectives;
  if (result.knows_collectives) {
    result.collectives = collective_changes(*before.collectives, *after.collectives);
  }
  result.state = {state_bytes(before).bytes, state_bytes(after).bytes};
  result.peak = {before.peak, after.peak};
  result.wire = {wire_bytes(before), wire_bytes(after)};
  result.new_findings = findings_only_in(after.findings, before.findings);
  result.gone_findings = findings_only_in(before.findings, after.findings);
  return result;
}

}  // namespace shard
