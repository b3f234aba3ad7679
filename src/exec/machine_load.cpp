#include "exec/machine_load.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

namespace shard {
namespace {

MachineLoad load_now() {
  std::ifstream file("/proc/stat");
  return read_machine_load(file);
}

/// CPU time of this process.
double own_seconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

MachineLoad read_machine_load(std::istream& text) {
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, io_wait = 0, irq = 0, soft_irq = 0, steal = 0;
  if (!(text >> name >> user >> nice >> system >> idle >> io_wait >> irq >> soft_irq)) return {};
  if (!(text >> steal)) steal = 0;  // kernels before 2.6.11
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return {(user + nice + system + irq + soft_irq) / ticks, steal / ticks, true};
}

LoadWatch::LoadWatch() : machine_(load_now()), own_(own_seconds()), start_(clock_seconds()) {}

OtherLoad LoadWatch::others() const {
  const MachineLoad now = load_now();
  const double wall = clock_seconds() - start_;
  if (!now.is_known || !machine_.is_known || wall <= 0) return {};
  const double busy = now.busy - machine_.busy - (own_seconds() - own_);
  return {std::max(0.0, busy / wall), std::max(0.0, (now.stolen - machine_.stolen) / wall)};
}

}  // namespace shard
