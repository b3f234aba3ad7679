#include "exec/cores.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace shard {
namespace {

namespace fs = std::filesystem;

/// The mask must have room for every core of the machine, however many there are.
int cores_of_affinity() {
  for (int room = 1024; room <= 1 << 20; room *= 2) {
    cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(room));
    if (set == nullptr) return 1;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(room));
    const bool is_read = sched_getaffinity(0, bytes, set) == 0;
    const bool is_too_small = !is_read && errno == EINVAL;
    const int count = is_read ? CPU_COUNT_S(bytes, set) : 1;
    CPU_FREE(set);
    if (!is_too_small) return std::max(1, count);
  }
  return 1;
}

std::optional<int> cores_of(double quota, double period) {
  if (quota <= 0 || period <= 0) return std::nullopt;
  return std::max(1, static_cast<int>(std::ceil(quota / period)));
}

/// Version 2: `150000 100000`, or `max 100000`.
std::optional<int> quota_of_version_2(const fs::path& folder) {
  std::ifstream file(folder / "cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max") return std::nullopt;
  return cores_of(std::strtod(quota.c_str(), nullptr), period);
}

/// Version 1: two files; -1 is no quota.
std::optional<int> quota_of_version_1(const fs::path& folder) {
  std::ifstream quota_file(folder / "cpu.cfs_quota_us");
  std::ifstream period_file(folder / "cpu.cfs_period_us");
  double quota = 0, period = 0;
  if (!(quota_file >> quota) || !(period_file >> period)) return std::nullopt;
  return cores_of(quota, period);
}

using QuotaReader = std::optional<int> (*)(const fs::path&);

void keep_least(std::optional<int>& least, std::optional<int> other) {
  if (other && (!least || *other < *least)) least = other;
}

/// The least of the group at `path` below `mount` and of those above it. In a container the path is
/// often that of the host and not there; what is above it is.
std::optional<int> least_quota(const fs::path& mount, fs::path path, QuotaReader read) {
  std::optional<int> least;
  for (path = path.relative_path(); !path.empty(); path = path.parent_path()) {
    keep_least(least, read(mount / path));
  }
  keep_least(least, read(mount));
  return least;
}

bool names_cpu(const std::string& controllers) {
  return ("," + controllers + ",").find(",cpu,") != std::string::npos;
}

}  // namespace

std::optional<int> cores_of_quota(const CgroupFiles& files) {
  std::optional<int> least = least_quota(files.root, "", quota_of_version_2);
  std::ifstream membership(files.membership);
  for (std::string line; std::getline(membership, line);) {  // `4:cpu,cpuacct:/group`, `0::/group`
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      keep_least(least, least_quota(files.root, path, quota_of_version_2));
    } else if (names_cpu(controllers)) {
      for (const std::string& mount : {controllers, std::string("cpu")}) {
        keep_least(least, least_quota(files.root / mount, path, quota_of_version_1));
      }
    }
  }
  return least;
}

int allowed_cores() {
  const int cores = cores_of_affinity();
  return std::min(cores, cores_of_quota().value_or(cores));
}

}  // namespace shard
