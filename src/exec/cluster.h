#pragma once
// N virtual devices on W worker threads. A device is an instruction stream, a program counter and
// an arena of its own; it touches another device's bytes only inside a collective. Far more devices
// than cores is normal: a device that waits at a rendezvous is just an entry that is not runnable,
// no OS thread ever blocks on it. A rendezvous is a counter; the last arriver makes the
// collective's segments runnable, any worker takes them, and when the last segment is done the
// members run on. Reductions add in device order, so results do not depend on the workers.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/host_tensor.h"
#include "base/units.h"
#include "exec/fault.h"
#include "exec/route.h"
#include "exec/run_failure.h"
#include "exec/step_observer.h"
#include "exec/tally.h"
#include "exec/test_seam.h"
#include "exec/timeline.h"
#include "exec/transport.h"
#include "model/model.h"
#include "spmd/program.h"

namespace shard {

struct ClusterOptions {
  int workers = 0;       ///< 0: one per allowed core
  Bytes memory_limit{};  ///< for all arenas together; 0: what the machine has available
  TestSeam test_seam{};  ///< empty but in tests
  std::optional<Fault> fault{};
  Seconds timeout{};  ///< for one instruction on one device; 0: no limit
  /// Called on another thread when a worker does not come back after a time-out; may end the
  /// process.
  std::function<void(const RunFailure&)> given_up{};
  CollectiveChoice collectives{};
  /// Not owned. Set: the devices are divided over its hosts, and every host has a cluster of the
  /// same program whose functions are called on all in the same order. Collectives are
  /// hierarchical then, over as many hosts.
  Transport* transport = nullptr;
  /// A worker for each device, which alone runs it; `workers` does not matter then.
  bool has_thread_per_device = false;
  /// Pages that cannot be read lie around every arena. Without them small arenas share huge pages,
  /// which makes a step of many small devices faster.
  bool has_guards = true;
};

/// Time and work of one kind of instruction, summed over all devices since `reset_counters`.
struct KindCounter {
  std::string kind;  ///< op name, or `all_reduce model`
  bool is_collective = false;
  std::int64_t calls = 0;  ///< per device streams summed
  Seconds busy;            ///< worker time spent in it
  double flops = 0;
  double bytes = 0;  ///< bytes read and written by kernels / copied by collectives
};

/// Wire bytes one device moved over a set of mesh axes, worked out from the elements really reduced
/// or copied.
struct AxisCounter {
  std::vector<int> axes;  ///< mesh axes
  Bytes wire;             ///< of device 0, optimal algorithm for the counted payload and group
  Bytes copied;           ///< bytes our own collectives read and wrote on behalf of all devices
  std::int64_t collectives = 0;
};

/// One collective instruction of the program, all groups and steps together.
struct CollectiveCounter {
  int body = 0;   ///< of the program
  int index = 0;  ///< in the body
  std::int64_t meetings = 0;
  Seconds busy;     ///< worker time
  Seconds waiting;  ///< of members for the last of them, summed over members
  Bytes copied;     ///< read and written for all devices
};

/// Messages that collectives of one label sent, by sender and receiver.
struct CollectiveLinks {
  std::string collective;  ///< `all_reduce model`
  LinkTallies links;
};

struct Counters {
  std::int64_t steps = 0;
  std::vector<KindCounter> kinds;  ///< largest time first
  std::vector<AxisCounter> axes;
  std::vector<CollectiveCounter> collectives;  ///< in the order of the program
  std::vector<CollectiveLinks> links;          ///< in the order of the program; nothing by owner
  std::vector<Bytes> peak;  ///< per device: highest byte of its arena touched by any instruction
  std::vector<DeviceTally> devices;  ///< sums over the steps
  int workers = 0;                   ///< of all hosts
  Seconds waiting;                   ///< worker time with nothing runnable
  Seconds wall;                      ///< in `run`
  Bytes scratch;  ///< most memory that kernels and crossings used beside the arenas
};

/// What the arenas of all devices are like, beside what the program plans.
struct MemoryCheck {
  Bytes planned;                     ///< of all arenas, rounded to pages
  Bytes resident;                    ///< of that in memory
  std::vector<int> unguarded;        ///< devices whose guard pages can be read
  std::vector<int> written_outside;  ///< devices that wrote beside their arena
  std::vector<Bytes> scratch;        ///< most that kernels used beside the arenas, by worker
  bool is_ok() const { return resident == planned && unguarded.empty() && written_outside.empty(); }
};

class Cluster {
 public:
  /// Allocates the arenas. Refuses with `Error` (`not-enough-memory`, with the figures) before
  /// allocating when devices x peak exceeds what the machine has available. Also throws
  /// `not-yet` for ops on dtypes that have no kernel, `bad-program` for buffers outside the arena,
  /// `hosts-indivisible` and `hosts-cut-groups` for hosts that do not divide the devices or groups,
  /// `serial-blas` (see exec/blas.h), `too-many-groups` for more groups than the transport can
  /// tell apart.
  Cluster(const Program& program, ClusterOptions options);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Splits a whole array over the devices as the input's sharding says.
  void write_input(std::size_t input, const HostTensor& whole);
  /// Fills an input on the devices: `element(global row-major index)` is asked once per local
  /// element.
  void fill_input(std::size_t input, const std::function<double(std::int64_t)>& element);
  /// The same with `initial_element` of a parameter, without a call per element.
  void fill_input(std::size_t input, const InitialValue& init, std::uint64_t seed,
                  const std::string& name);

  /// One step on all devices. Afterwards outputs that are not donated can be read; state outputs
  /// that do not share their input's place are copied back into it, so that the next step continues
  /// from there. Throws `RunFailure`: `deadlock` names the devices at a rendezvous that can never
  /// complete, `device-lost`, `device-stuck` and `device-failed` the device and its instruction.
  void run();
  /// The same while `observer` looks on; slower.
  void run_observed(const StepObserver& observer);
  /// The same while it is written down what every device does, and when; profiled.
  Timeline run_recorded();

  /// The whole array, put together from the devices. Copies of the same piece that differ in any
  /// bit throw `RunFailure`
  /// (`replicas-differ`), with the devices and the first index. Every host gets the whole.
  HostTensor read_output(std::size_t output) const;
  HostTensor read_input(std::size_t input) const;

  MemoryCheck check_memory_use() const;

  const Program& program() const;
  int workers() const;                 ///< of this host
  const HostDevices& devices() const;  ///< of this host
  /// What every host says, by host.
  std::vector<std::vector<std::byte>> gather(std::vector<std::byte> own) const;
  Counters counters() const;  ///< of all hosts; time in `run` is this host's
  void reset_counters();
  /// Per-instruction clocks cost a little; off while a step is timed.
  void set_profiling(bool on);
  bool is_profiling() const;

  /// Who computes products with many rows: `OpenBLAS 0.3.21 pthread, SkylakeX kernels`; `built-in`
  /// where there is no `preferred_blas`; `none needed` when the program has no such product.
  const std::string& gemm_backend() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shard
