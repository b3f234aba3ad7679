#include "check/layout_record.h"

#include <algorithm>
#include <array>

namespace shard {

std::string_view name_of(LinkClass link) {
  constexpr std::array<std::string_view, 3> names = {"inside node", "ICI", "DCN"};
  return names[static_cast<std::size_t>(link)];
}

bool is_state(Role role) {
  return role == Role::parameter || role == Role::optimizer || role == Role::step;
}

StateBytes state_bytes(const LayoutRecord& record) {
  StateBytes state;
  for (const ArrayLayout& array : record.arrays) {
    if (!is_state(array.role)) continue;
    if (array.bytes) {
      state.bytes += array.count() * *array.bytes;
    } else {
      state.without_type += array.count();
    }
  }
  return state;
}

std::map<Role, Bytes> bytes_by_role(const LayoutRecord& record) {
  std::map<Role, Bytes> bytes;
  for (const ArrayLayout& array : record.arrays) {
    if (array.bytes) bytes[array.role] += array.count() * *array.bytes;
  }
  return bytes;
}

Bytes replicated_bytes(const ArrayLayout& array) {
  if (!array.bytes) return Bytes(0);
  return *array.bytes - Bytes(array.bytes->count() / array.copies);
}

Bytes replicated_bytes(const LayoutRecord& record) {
  Bytes bytes;
  for (const ArrayLayout& array : record.arrays) {
    if (is_state(array.role)) bytes += array.count() * replicated_bytes(array);
  }
  return bytes;
}

std::optional<std::vector<std::pair<std::string, Bytes>>> wire_by_axes(const LayoutRecord& record) {
  if (!record.collectives) return {};
  std::vector<std::pair<std::string, Bytes>> wire;
  for (const CollectiveUse& use : *record.collectives) {
    auto place = std::find_if(wire.begin(), wire.end(),
                              [&](const auto& entry) { return entry.first == use.axes; });
    if (place == wire.end()) place = wire.insert(wire.end(), {use.axes, Bytes(0)});
    place->second += use.wire;
  }
  return wire;
}

std::optional<Bytes> wire_bytes(const LayoutRecord& record) {
  if (!record.collectives) return {};
  Bytes bytes;
  for (const CollectiveUse& use : *record.collectives) bytes += use.wire;
  return bytes;
}

std::optional<std::map<LinkClass, Bytes>> wire_by_link(const LayoutRecord& record) {
  if (!record.collectives) return {};
  std::map<LinkClass, Bytes> wire;
  for (const CollectiveUse& use : *record.collectives) {
    if (!use.link) return {};
    wire[*use.link] += use.wire;
  }
  return wire;
}

std::int64_t count_findings(const LayoutRecord& record, Severity severity) {
  return std::count_if(record.findings.begin(), record.findings.end(),
                       [&](const Finding& finding) { return finding.severity <= severity; });
}

}  // namespace shard
