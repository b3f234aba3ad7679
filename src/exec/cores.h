#pragma once
// How many cores this process may use.

#include <filesystem>
#include <optional>

namespace shard {

/// Number of cores this process may use: those of its affinity mask, but no more than the cgroup
/// quota grants.
int allowed_cores();

/// Where the kernel tells about cgroups.
struct CgroupFiles {
  std::filesystem::path root = "/sys/fs/cgroup";
  std::filesystem::path membership = "/proc/self/cgroup";
};

/// Whole cores, rounded up, that the tightest CPU quota of the process's cgroup and of those above
/// it grants (version 2 and version 1); nothing when there is no quota.
std::optional<int> cores_of_quota(const CgroupFiles& files = {});

}  // namespace shard
