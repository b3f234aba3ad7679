#include "exec/site_builder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "exec/moving_collective.h"
#include "exec/ragged_collective.h"
#include "exec/routed_collective.h"

namespace shard {
namespace {

constexpr std::array<std::string_view, 8> kind_names = {
    "all_reduce",         "all_gather",           "reduce_scatter",    "all_to_all",
    "collective_permute", "collective_broadcast", "ragged_all_to_all", "all_slice"};
static_assert(kind_names.size() == static_cast<std::size_t>(CollectiveKind::all_slice) + 1);

/// Which piece of the array a device has under `dims`.
std::vector<std::int64_t> piece_of(const Mesh& mesh, std::int64_t device,
                                   const std::vector<DimSharding>& dims) {
  std::vector<std::int64_t> piece;
  for (const DimSharding& dim : dims) piece.push_back(mesh.linear_coordinate(device, dim.axes));
  return piece;
}

/// For every member the member that has, before a permute, the piece it shall have after it: itself
/// where it has it already, else the first.
std::vector<int> sources(const Mesh& mesh, const Collective& collective,
                         const std::vector<std::int64_t>& group) {
  std::map<std::vector<std::int64_t>, int> holder;
  for (std::size_t m = 0; m < group.size(); ++m) {
    holder.emplace(piece_of(mesh, group[m], collective.from), static_cast<int>(m));
  }
  std::vector<int> source;
  for (std::size_t m = 0; m < group.size(); ++m) {
    const std::vector<std::int64_t> wanted = piece_of(mesh, group[m], collective.to);
    if (piece_of(mesh, group[m], collective.from) == wanted) {
      source.push_back(static_cast<int>(m));
      continue;
    }
    const auto found = holder.find(wanted);
    SHARD_CHECK(found != holder.end(), "a permute's group holds every piece its members need");
    source.push_back(found->second);
  }
  return source;
}

std::vector<int> mesh_axes(const Collective& collective) {
  std::vector<int> axes;
  for (const AxisRef& ref : collective.axes) axes.push_back(ref.axis);
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

/// Elements of `shape` from dim `from` on.
std::int64_t elements_from(const Shape& shape, int from) {
  std::int64_t count = 1;
  for (std::size_t i = static_cast<std::size_t>(from); i < shape.size(); ++i) count *= shape[i];
  return count;
}

/// The members of a group by the hosts that their devices are on.
HostedGroup members_and_hosts(const Mesh& mesh, const std::vector<std::int64_t>& group, int hosts) {
  const std::int64_t on_each = mesh.device_count() / hosts;
  std::map<std::int64_t, std::vector<int>> by_host;
  for (std::size_t m = 0; m < group.size(); ++m) {
    by_host[group[m] / on_each].push_back(static_cast<int>(m));
  }
  HostedGroup hosted;
  for (auto& [host, some] : by_host) {
    hosted.members.push_back(std::move(some));
    hosted.numbers.push_back(static_cast<int>(host));
  }
  return hosted;
}

MembersByHost members_by_host(const Mesh& mesh, const std::vector<std::int64_t>& group, int hosts) {
  return members_and_hosts(mesh, group, hosts).members;
}

std::shared_ptr<const CollectiveWork> work_of(const CollectiveShape& shape,
                                              const CollectiveChoice& choice,
                                              const MembersByHost& hosts) {
  if (const Route* const route = route_of(choice.algorithm)) {
    if (shape.kind == CollectiveKind::ragged_all_to_all) return make_ragged_collective(shape, true);
    if (auto routed = make_routed_collective(shape, *route, {shape.members, hosts})) return routed;
    if (auto moved = make_moving_collective(shape, true)) return moved;
  }
  return make_collective(shape);
}

/// Whose operand each member receives, of a broadcast and of a permute without a window.
std::vector<int> sources_in(const Mesh& mesh, const Collective& collective,
                            const std::vector<std::int64_t>& group) {
  if (collective.kind == CollectiveKind::collective_broadcast) {
    return std::vector<int>(group.size(), collective.source);
  }
  if (collective.kind != CollectiveKind::collective_permute || collective.window) return {};
  if (!collective.senders.empty()) return collective.senders;
  return sources(mesh, collective, group);
}

/// The members' devices, where the work tells of them.
std::vector<int> devices_in(const Collective& collective, const std::vector<std::int64_t>& group) {
  if (collective.kind != CollectiveKind::ragged_all_to_all) return {};
  return {group.begin(), group.end()};
}

CollectiveSite whole_site(const Mesh& mesh, const Collective& collective,
                          const std::vector<std::vector<std::int64_t>>& groups,
                          CollectiveShape shape, int number, const CollectiveChoice& choice) {
  std::vector<std::shared_ptr<const CollectiveWork>> works;
  std::vector<int> last_source;
  MembersByHost last_hosts;
  for (const std::vector<std::int64_t>& group : groups) {
    shape.source = sources_in(mesh, collective, group);
    shape.devices = devices_in(collective, group);
    MembersByHost hosts = members_by_host(mesh, group, choice.hosts);
    if (!works.empty() && shape.source == last_source && shape.devices.empty() &&
        hosts == last_hosts) {  // groups mostly do the same
      works.push_back(works.back());
      continue;
    }
    last_source = shape.source;
    works.push_back(work_of(shape, choice, hosts));
    last_hosts = std::move(hosts);
  }
  return make_site(number, collective.kind, collective_label(mesh, collective), groups,
                   mesh.device_count(), [&](std::size_t group) { return works[group]; });
}

CollectiveSite site_part(const Mesh& mesh, const Collective& collective,
                         const std::vector<std::vector<std::int64_t>>& groups,
                         CollectiveShape shape, int number, const SitePart& part) {
  const CollectiveChoice choice{CollectiveAlgorithm::hierarchical, part.hosts};
  const auto work_of_group = [&](std::size_t number_of_group) {
    const std::vector<std::int64_t>& group = groups[number_of_group];
    shape.source = sources_in(mesh, collective, group);
    shape.devices = devices_in(collective, group);
    HostedGroup hosted = members_and_hosts(mesh, group, part.hosts);
    if (hosted.numbers.size() == 1) return GroupWork{work_of(shape, choice, hosted.members), {}};
    const auto self = std::find(hosted.numbers.begin(), hosted.numbers.end(), part.self);
    hosted.self = static_cast<std::size_t>(self - hosted.numbers.begin());
    return GroupWork{nullptr, make_hosted_collective(shape, std::move(hosted))};
  };
  return make_site_part(number, collective.kind, collective_label(mesh, collective), groups,
                        mesh.device_count(), part, work_of_group);
}

}  // namespace

std::string collective_label(const Mesh& mesh, const Collective& collective) {
  std::string label(kind_names[static_cast<std::size_t>(collective.kind)]);
  for (const AxisRef& ref : collective.axes) label += " " + to_string(mesh, ref);
  return label;
}

bool hosts_cut_alike(const Mesh& mesh, const std::vector<AxisRef>& axes, int hosts) {
  const std::vector<std::vector<std::int64_t>> groups = replica_groups(mesh, axes);
  const MembersByHost first = members_by_host(mesh, groups.front(), hosts);
  return std::all_of(groups.begin(), groups.end(), [&](const std::vector<std::int64_t>& group) {
    return members_by_host(mesh, group, hosts) == first;
  });
}

CollectiveSite build_site(const Mesh& mesh, const Collective& collective,
                          std::span<const TensorType> operands, const TensorType& result,
                          int number, const CollectiveChoice& choice,
                          const std::optional<SitePart>& part) {
  const std::vector<std::vector<std::int64_t>> groups = replica_groups(mesh, collective.axes);
  CollectiveShape shape{collective.kind,
                        collective.reduction,
                        collective.dim,
                        collective.split_dim,
                        operands.front(),
                        result,
                        static_cast<int>(product(collective.axes)),
                        {},
                        collective.window,
                        {operands.begin() + 1, operands.end()}};
  CollectiveSite site = part ? site_part(mesh, collective, groups, shape, number, *part)
                             : whole_site(mesh, collective, groups, shape, number, choice);
  site.axes = mesh_axes(collective);
  site.element_bytes = info(operands.front().dtype).bytes;
  return site;
}

Kernel slice_kernel(const Mesh& mesh, const Collective& collective, const TensorType& operand,
                    const TensorType& result) {
  std::vector<std::int64_t> parts;
  for (std::int64_t device = 0; device < mesh.device_count(); ++device) {
    parts.push_back(mesh.linear_coordinate(device, collective.axes));
  }
  const std::int64_t width = info(operand.dtype).bytes;
  const std::int64_t block = elements_from(result.shape, collective.dim) * width;
  const std::int64_t row = elements_from(operand.shape, collective.dim) * width;
  const std::int64_t rows = bytes_of(operand).count() / row;
  return [=, parts = std::move(parts)](const KernelCall& call) {
    const std::byte* from = call.operands[0] + parts[static_cast<std::size_t>(call.device)] * block;
    for (std::int64_t i = 0; i < rows; ++i) {
      std::memcpy(call.results[0] + i * block, from + i * row, static_cast<std::size_t>(block));
    }
  };
}

}  // namespace shard
