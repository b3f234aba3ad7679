#include "exec/cores.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

using namespace shard;

namespace {

/// A folder in the place of the kernel's files.
class Cgroups {
 public:
  explicit Cgroups(const std::string& name)
      : folder_(std::filesystem::temp_directory_path() /
                ("shard-plan-cgroups-" + name + "-" + std::to_string(::getpid()))) {}
  ~Cgroups() { std::filesystem::remove_all(folder_); }

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = folder_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  std::optional<int> quota() const {
    return cores_of_quota({folder_ / "root", folder_ / "membership"});
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace

TEST_CASE("without cgroups there is no quota") {
  const Cgroups groups("none");
  CHECK(groups.quota() == std::nullopt);
}

TEST_CASE("a quota of version 2 grants whole cores rounded up") {
  const Cgroups groups("v2");
  groups.write("membership", "0::/\n");
  groups.write("root/cpu.max", "150000 100000\n");
  CHECK(groups.quota() == 2);
  groups.write("root/cpu.max", "10000 100000\n");
  CHECK(groups.quota() == 1);
  groups.write("root/cpu.max", "max 100000\n");
  CHECK(groups.quota() == std::nullopt);
  groups.write("root/cpu.max", "nonsense\n");
  CHECK(groups.quota() == std::nullopt);
}

TEST_CASE("the tightest quota from the own group upwards counts") {
  const Cgroups groups("nested");
  groups.write("membership", "0::/jobs/mine\n");
  groups.write("root/jobs/mine/cpu.max", "800000 100000\n");
  groups.write("root/jobs/cpu.max", "300000 100000\n");
  groups.write("root/jobs/other/cpu.max", "100000 100000\n");
  CHECK(groups.quota() == 3);
}

TEST_CASE("a quota of version 1 is read from its two files") {
  const Cgroups groups("v1");
  groups.write("membership", "9:name=systemd:/\n4:cpu,cpuacct:/pod/box\n3:cpuset:/\n");
  groups.write("root/cpu,cpuacct/pod/cpu.cfs_quota_us", "250000\n");
  groups.write("root/cpu,cpuacct/pod/cpu.cfs_period_us", "50000\n");
  CHECK(groups.quota() == 5);
  groups.write("root/cpu,cpuacct/pod/cpu.cfs_quota_us", "-1\n");
  CHECK(groups.quota() == std::nullopt);
  groups.write("root/cpu/cpu.cfs_quota_us", "100000\n");
  groups.write("root/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(groups.quota() == 1);
}

TEST_CASE("a thread that may use one core is allowed one") {
  CHECK(allowed_cores() >= 1);
  int cores = 0;
  std::thread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &set);
    sched_setaffinity(0, sizeof(set), &set);
    cores = allowed_cores();
  }).join();
  CHECK(cores == 1);
}
