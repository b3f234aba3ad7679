#pragma once
// What is different between two layouts, by meaning: order does not count, axes of one device do
// not count, arrays that changed alike are one change.
//
// On the guide's mesh without its rule [hidden, model] eight kernels and their 16 optimizer slots
// become whole, and that is two changes: `params/*/Dense_0/kernel` (4, with mu and nu) from
// P(None, 'model') to P(), and the same for W2.

#include <optional>
#include <string>
#include <vector>

#include "check/layout_record.h"

namespace shard {

/// What one array is on one side.
struct ArrayState {
  std::string type;
  std::string spec;
  std::optional<Bytes> bytes;  ///< on one device

  friend bool operator==(const ArrayState&, const ArrayState&) = default;
};

/// Arrays that changed alike, or are on one side only.
struct ArrayChange {
  std::vector<std::string> names;  ///< without the slots below; differ in numbers only
  std::string glob;                ///< `params/*/W2` when it means these and no others; else empty
  std::vector<std::string> slots;  ///< `mu`, `nu`: what follows each of them and changed like it
  Role role = Role::parameter;
  std::optional<ArrayState> before;  ///< nothing: they are new
  std::optional<ArrayState> after;   ///< nothing: they are gone
  std::string why;                   ///< of the newer side that has them
  Location decided_at;
  Location at;         ///< where the model makes the first of them
  Location before_at;  ///< its `decided_at` on the older side: the line of a lock file

  /// Arrays with their slots.
  std::int64_t count() const {
    return static_cast<std::int64_t>(names.size() * (1 + slots.size()));
  }
  /// What each needs more on one device; nothing when a side's type is not known.
  std::optional<Bytes> each() const;
  /// What all of them need more; 0 when it is not known.
  Bytes total() const;
};

/// Equal collectives, on either side.
struct CollectiveAmount {
  std::int64_t count = 0;
  Bytes payload;

  friend bool operator==(const CollectiveAmount&, const CollectiveAmount&) = default;
};

/// Those of one kind over these axes, ordered by payload.
std::vector<CollectiveAmount> amounts_of(const std::vector<CollectiveUse>& uses,
                                         CollectiveKind kind, const std::string& axes);

/// The collectives of one kind over the same axes; an empty side has none.
struct CollectiveChange {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string axes;
  std::vector<CollectiveAmount> before;  ///< ordered by payload
  std::vector<CollectiveAmount> after;
  Location at;  ///< of the newer side's first, if it has one
};

template <class Value>
struct BeforeAfter {
  Value before;
  Value after;
  bool is_change() const { return before != after; }
};

struct LayoutDiff {
  std::vector<ArrayChange> arrays;  ///< what needs most bytes more first
  /// By kind and axes in order of first use; empty when a side does not know its collectives.
  std::vector<CollectiveChange> collectives;
  bool knows_collectives = false;  ///< both sides do
  BeforeAfter<Bytes> state;        ///< of one device, as far as types are known
  BeforeAfter<std::optional<Bytes>> peak;
  BeforeAfter<std::optional<Bytes>> wire;
  std::vector<Finding> new_findings;   ///< of the newer side: with an id and message that the older
                                       ///< one has not
  std::vector<Finding> gone_findings;  ///< the reverse

  /// Arrays or collectives are different.
  bool is_change() const { return !arrays.empty() || !collectives.empty(); }
};

LayoutDiff diff(const LayoutRecord& before, const LayoutRecord& after);

}  // namespace shard
