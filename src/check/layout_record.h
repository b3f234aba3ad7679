#pragma once
// What one rule set on one mesh makes of a model, as far as it can be compared with another: specs
// and bytes of the arrays, collectives, peak, findings. A plan gives one, a lock file another, and
// `diff.h` says what is different.
//
// What is not known is absent: a model that is a list of arrays has no collectives and no peak,
// which is something else than none and 0.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/array_names.h"
#include "check/findings.h"
#include "spmd/program.h"

namespace shard {

/// Arrays that are alike in everything said here.
struct ArrayLayout {
  SharedNames names;
  Role role = Role::parameter;
  std::string type;            ///< `f32[1024,1024]`, `f32[?,8]`; empty: not known
  std::string spec;            ///< effective, as Python prints it
  std::optional<Bytes> bytes;  ///< of one array on one device; nothing when a size is not known
  std::int64_t copies = 1;     ///< devices that hold each piece
  std::string slot;            ///< of an array that follows a parameter: `mu`; else empty
  int follows = -1;            ///< position of the parameters, named in the same order; -1: none
  std::string why;             ///< the rules or specs that decided, in words
  Location decided_at;         ///< the first of them; unknown when none did
  Location at;                 ///< where the model makes the (first) array

  std::int64_t count() const { return static_cast<std::int64_t>(names->list.size()); }
};

/// How far the members of a collective's groups are from each other, slowest step counted.
enum class LinkClass { node, ici, dcn };
std::string_view name_of(LinkClass link);

/// Equal collectives of one step.
struct CollectiveUse {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string axes;               ///< `data`, `data,model`; without axes of size 1
  std::int64_t count = 0;         ///< executions
  Bytes payload;                  ///< of each
  Bytes wire;                     ///< of all, per device
  std::optional<LinkClass> link;  ///< nothing when nobody said which hosts the devices are in
  Location at;                    ///< of the op that makes the first one necessary

  friend bool operator==(const CollectiveUse&, const CollectiveUse&) = default;
};

struct LayoutRecord {
  std::string model;
  std::string rules;
  std::string mesh;  ///< `data=2,model=4`, as --mesh takes it
  std::int64_t devices = 1;
  std::vector<ArrayLayout> arrays;  ///< state, inputs, results
  std::optional<std::vector<CollectiveUse>> collectives;
  std::optional<Bytes> peak;  ///< highest byte of a device's memory
  std::vector<CategoryBytes> at_peak;
  std::vector<Finding> findings;
  std::optional<Fit> fit;
  Location at;  ///< of the rule set, or of the section of the lock file
};

/// Parameters, optimizer state and the step counter.
bool is_state(Role role);

/// Bytes of one device. `without_type` counts arrays whose type is not known, which are not in it.
struct StateBytes {
  Bytes bytes;
  std::int64_t without_type = 0;
};
StateBytes state_bytes(const LayoutRecord& record);

/// Bytes of one device by what they are for, roles without arrays absent.
std::map<Role, Bytes> bytes_by_role(const LayoutRecord& record);

/// Bytes of one device that splitting the copies further could save: of an array that two devices
/// hold each piece of, half of its local bytes. Of the state.
Bytes replicated_bytes(const LayoutRecord& record);
/// The same of one array.
Bytes replicated_bytes(const ArrayLayout& array);

/// Wire bytes of one device and step over each set of axes, in order of first use; absent like the
/// collectives.
std::optional<std::vector<std::pair<std::string, Bytes>>> wire_by_axes(const LayoutRecord& record);
std::optional<Bytes> wire_bytes(const LayoutRecord& record);

/// The same by link; absent too where one collective's link is not known.
std::optional<std::map<LinkClass, Bytes>> wire_by_link(const LayoutRecord& record);

/// How many findings have at least this severity.
std::int64_t count_findings(const LayoutRecord& record, Severity severity);

}  // namespace shard
