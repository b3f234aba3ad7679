#include "exec/cluster.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/diagnostic.h"
#include "exec/arena.h"
#include "exec/blas.h"
#include "exec/compile.h"
#include "exec/cores.h"
#include "exec/element.h"
#include "exec/gathered_array.h"
#include "exec/initial.h"
#include "exec/kernel.h"
#include "exec/packed.h"
#include "exec/places.h"
#include "exec/scheduler.h"
#include "exec/shard_layout.h"

namespace shard {
namespace {

using Clock = std::chrono::steady_clock;

/// Elements that one worker fills or compares at a time.
constexpr std::int64_t slab = std::int64_t{1} << 16;

/// What a worker gets to come back after a time-out.
constexpr Seconds grace{1};

int worker_count(const ClusterOptions& options, const HostDevices& devices) {
  if (options.has_thread_per_device) return devices.count;
  return options.workers > 0 ? options.workers : allowed_cores();
}

const CollectiveChoice& checked(const CollectiveChoice& choice, std::int64_t devices) {
  if (choice.hosts >= 1 && devices % choice.hosts == 0) return choice;
  throw Error("hosts-indivisible", {},
              std::to_string(devices) + " virtual devices cannot be divided evenly over " +
                  std::to_string(choice.hosts) + " hosts",
              "choose a number of hosts that divides the devices");
}

HostDevices devices_here(const ClusterOptions& options, std::int64_t devices) {
  if (options.transport == nullptr) return {0, static_cast<int>(devices)};
  const int each = static_cast<int>(devices) / options.transport->hosts();
  return {options.transport->self() * each, each};
}

std::optional<SitePart> part_here(const ClusterOptions& options, std::int64_t devices) {
  if (options.transport == nullptr) return std::nullopt;
  const int hosts = options.transport->hosts();
  SHARD_CHECK(options.collectives.algorithm == CollectiveAlgorithm::hierarchical &&
                  options.collectives.hosts == hosts,
              "collectives over hosts are hierarchical");
  return SitePart{devices_here(options, devices), options.transport->self(), hosts, first_free_tag};
}

/// Ranks on one machine have the same memory.
Bytes memory_share(const ClusterOptions& options) {
  if (options.memory_limit > Bytes(0)) return options.memory_limit;
  const int sharers = options.transport == nullptr ? 1 : options.transport->hosts_on_machine();
  return Bytes(available_memory().count() / sharers);
}

void check_tags(const ClusterOptions& options, std::int64_t end_tag) {
  if (options.transport == nullptr || end_tag <= options.transport->largest_tag()) return;
  throw Error("too-many-groups", {},
              "the program's collectives need " + with_commas(end_tag) + " message tags, and " +
                  options.transport->description() + " has " +
                  with_commas(options.transport->largest_tag()),
              "a coarser mesh has fewer groups");
}

std::string backend_text(bool is_needed) {
  if (!is_needed) return "none needed";
  const Blas* blas = preferred_blas();
  return blas == nullptr ? "built-in" : blas->description();
}

}  // namespace

class Cluster::Impl {
 public:
  Impl(const Program& program, const ClusterOptions& options)
      : program_(program),
        places_(program_),
        transport_(options.transport),
        compiled_(compile(program_, options.test_seam,
                          checked(options.collectives, program_.mesh.device_count()),
                          part_here(options, program_.mesh.device_count()))),
        here_(devices_here(options, program_.mesh.device_count())),
        backend_(backend_text(compiled_.has_many_row_product)),
        pool_(worker_count(options, here_)) {
    check_tags(options, compiled_.end_tag);
    check_memory(here_.count, program_.memory.peak, memory_share(options));
    std::vector<DeviceState> states;
    arenas_ =
        Arena::row_of(program_.memory.peak.count(), here_.count, here_.first, options.has_guards);
    for (const Arena& arena : arenas_) {
      DeviceState state;
      state.stream = &compiled_.stream;
      state.base = arena.base();
      states.push_back(state);
    }
    pool_.for_each(here_.count,
                   [&](std::int64_t i) { arenas_[static_cast<std::size_t>(i)].populate(); });
    scheduler_.emplace(pool_, std::move(states), std::move(compiled_.sites),
                       static_cast<int>(compiled_.kinds.size()), here_.first);
    if (transport_ != nullptr) scheduler_->connect(*transport_, options.timeout);
    if (options.has_thread_per_device) scheduler_->bind_devices();
    if (options.fault) scheduler_->inject(*options.fault);
    if (options.timeout > Seconds{0}) {
      scheduler_->watch(options.timeout, grace, options.given_up);
    }
  }

  void write_input(std::size_t number, const HostTensor& whole) {
    const ProgramInput& input = input_at(number);
    SHARD_CHECK(whole.type == input.global, "an input is written with an array of its type");
    const std::int64_t width = info(whole.type.dtype).bytes;
    for_each_slab(input, [&](const ShardLayout::Run& run, const std::vector<int>& holders) {
      const std::byte* from = whole.bytes.data() + run.global * width;
      put(input.buffer, holders, run, from, width);
    });
  }

  /// `fill(first, numbers)` gives the elements from `first` on.
  template <class Fill>
  void fill_input(std::size_t number, const Fill& fill) {
    const ProgramInput& input = input_at(number);
    const DType dtype = input.global.dtype;
    const std::int64_t width = info(dtype).bytes;
    for_each_slab(input, [&](const ShardLayout::Run& run, const std::vector<int>& holders) {
      std::vector<double> numbers(number_count(dtype, run.count));
      fill(static_cast<std::int64_t>(number_count(dtype, run.global)), std::span(numbers));
      std::vector<std::byte> bytes(static_cast<std::size_t>(run.count * width));
      from_doubles(numbers.data(), dtype, bytes.data(), numbers.size());
      put(input.buffer, holders, run, bytes.data(), width);
    });
  }

  /// Every element is `value`.
  void fill_input_with(std::size_t number, double value) {
    const ProgramInput& input = input_at(number);
    const DType dtype = input.global.dtype;
    std::vector<std::byte> pattern(static_cast<std::size_t>(info(dtype).bytes));
    from_doubles(&value, dtype, pattern.data(), 1);
    for_each_slab(input, [&](const ShardLayout::Run& run, const std::vector<int>& holders) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(run.count) * pattern.size());
      fill_elements(bytes.data(), pattern.data(), pattern.size(),
                    static_cast<std::size_t>(run.count));
      put(input.buffer, holders, run, bytes.data(), info(dtype).bytes);
    });
  }

  void run_observed(const StepObserver& observer) {
    scheduler_->observe(observer);
    try {
      run();
    } catch (...) {  // whatever ends the run, nobody looks on
      scheduler_->observe({});
      throw;
    }
    scheduler_->observe({});
  }

  Timeline run_recorded() {
    const bool was_profiling = scheduler_->is_profiling();
    scheduler_->set_profiling(true);
    scheduler_->set_recording(true);
    const auto stop = [&] {
      scheduler_->set_recording(false);
      scheduler_->set_profiling(was_profiling);
    };
    try {
      run();
    } catch (...) {  // whatever ends the run, nothing more is recorded
      stop();
      throw;
    }
    stop();
    return gathered_timeline();
  }

  void run() {
    const Clock::time_point start = Clock::now();
    scheduler_->run();
    wall_ += std::chrono::duration<double>(Clock::now() - start).count();
    ++steps_;
  }

  /// The whole array of an input or output: every host packs the pieces that it has, once each.
  template <class Port>
  HostTensor read(const Port& port) const {
    const TensorType& global = port.global;
    const ShardLayout layout(program_.mesh, port.sharding, port.stored(), global.shape);
    const std::int64_t offset = places_.of(port.buffer).offset;
    const GatheredArray pieces(global, layout, here_,
                               [&](int device) { return local(device, offset); });
    return pieces.whole(shard::gather(transport_, pieces.told()), port.path);
  }

  Counters counters() const {
    Counters counters;
    counters.steps = steps_;
    counters.wall = {wall_};
    const WorkerTally tally = gathered_tally(counters);
    counters.waiting = {tally.waiting};
    for (std::size_t i = 0; i < compiled_.kinds.size(); ++i) {
      const KindTally& kind = tally.kinds[i];
      counters.kinds.push_back({compiled_.kinds[i].name,
                                compiled_.kinds[i].is_collective,
                                kind.calls,
                                {kind.seconds},
                                kind.flops,
                                kind.bytes});
    }
    std::stable_sort(
        counters.kinds.begin(), counters.kinds.end(),
        [](const KindCounter& a, const KindCounter& b) { return a.busy.value > b.busy.value; });
    counters.axes = axis_counters(tally);
    counters.links = link_counters(tally);
    for (std::size_t i = 0; i < tally.sites.size(); ++i) {
      const CollectiveSite& site = scheduler_->sites()[i];
      const SiteTally& one = tally.sites[i];
      counters.collectives.push_back({site.body,
                                      site.index,
                                      one.collectives,
                                      {one.seconds},
                                      {one.meeting},
                                      Bytes(one.copied)});
    }
    return counters;
  }

  void reset_counters() {
    scheduler_->reset_tally();
    steps_ = 0;
    wall_ = 0;
  }

  MemoryCheck check_memory_use() const {
    Packer own;
    own.put_all<Bytes>(scheduler_->scratch_peaks());
    for (const Arena& arena : arenas_) {
      own.put(arena.footprint());
      own.put(arena.resident());
      own.put(arena.is_guarded());
      own.put(arena.is_clean_outside());
    }
    MemoryCheck check;
    int device = 0;
    for (const std::vector<std::byte>& bytes : shard::gather(transport_, std::move(own).bytes())) {
      Unpacker told(bytes);
      const std::vector<Bytes> scratch = told.take_all<Bytes>();
      check.scratch.insert(check.scratch.end(), scratch.begin(), scratch.end());
      for (int i = 0; i < here_.count; ++i, ++device) {
        check.planned += told.take<Bytes>();
        check.resident += told.take<Bytes>();
        if (!told.take<bool>()) check.unguarded.push_back(device);
        if (!told.take<bool>()) check.written_outside.push_back(device);
      }
    }
    return check;
  }

  const Program& program() const { return program_; }
  const HostDevices& here() const { return here_; }
  Transport* transport() const { return transport_; }
  int workers() const { return pool_.size(); }
  const std::string& backend() const { return backend_; }
  Scheduler& scheduler() { return *scheduler_; }

 private:
  /// What the workers of all hosts counted; adds the peaks and the scratch to `counters`.
  WorkerTally gathered_tally(Counters& counters) const {
    Packer own;
    scheduler_->tally().put_into(own);
    own.put(pool_.size());
    own.put(scheduler_->scratch_peak() + scheduler_->crossing_bytes());
    own.put_all<DeviceTally>(scheduler_->device_tallies());
    for (const DeviceState& device : scheduler_->devices()) {
      own.put(Bytes(std::max(device.high_water, written_)));
    }
    std::optional<WorkerTally> sum;
    for (const std::vector<std::byte>& bytes : shard::gather(transport_, std::move(own).bytes())) {
      Unpacker told(bytes);
      const WorkerTally tally = WorkerTally::taken_from(told);
      if (sum) {
        sum->add(tally);
      } else {
        sum = tally;
      }
      counters.workers += told.take<int>();
      counters.scratch += told.take<Bytes>();
      const std::vector<DeviceTally> times = told.take_all<DeviceTally>();
      counters.devices.insert(counters.devices.end(), times.begin(), times.end());
      for (int i = 0; i < here_.count; ++i) counters.peak.push_back(told.take<Bytes>());
    }
    return *sum;
  }

  /// What all hosts recorded; each counts time from the moment when it began the step.
  Timeline gathered_timeline() {
    Timeline timeline = scheduler_->take_timeline();
    Packer own;
    own.put(timeline.workers);
    own.put_all<TimelineSpan>(timeline.spans);
    timeline.devices = static_cast<int>(program_.mesh.device_count());
    timeline.workers = 0;
    timeline.spans.clear();
    for (const std::vector<std::byte>& bytes : shard::gather(transport_, std::move(own).bytes())) {
      Unpacker told(bytes);
      const int workers = told.take<int>();
      for (TimelineSpan& span : told.take_all<TimelineSpan>()) {
        span.worker += timeline.workers;
        timeline.spans.push_back(span);
      }
      timeline.workers += workers;
    }
    number_meetings(timeline.spans);
    return timeline;
  }

  const ProgramInput& input_at(std::size_t number) const {
    SHARD_CHECK(number < program_.inputs.size(), "an input of the program is named");
    return program_.inputs[number];
  }

  std::byte* local(int device, std::int64_t offset) const {
    return arenas_[static_cast<std::size_t>(device - here_.first)].base() + offset;
  }

  /// Visits all runs of all pieces of an input; pieces and parts of them in parallel.
  template <class Visit>
  void for_each_slab(const ProgramInput& input, const Visit& visit) {
    const ShardLayout layout(program_.mesh, input.sharding, input.stored(), input.global.shape);
    const std::int64_t slabs = (layout.piece_size() + slab - 1) / slab;
    pool_.for_each(layout.piece_count() * slabs, [&](std::int64_t i) {
      const std::int64_t piece = i / slabs, begin = i % slabs * slab;
      std::vector<int> holders = layout.holders(piece);
      std::erase_if(holders, [&](int device) { return !here_.has(device); });
      if (holders.empty()) return;
      layout.for_each_run(piece, begin, std::min(layout.piece_size(), begin + slab),
                          [&](const ShardLayout::Run& run) { visit(run, holders); });
    });
    const Place place = places_.of(input.buffer);
    written_ = std::max(written_, place.offset + place.bytes);
  }

  void put(BufferId buffer, const std::vector<int>& holders, const ShardLayout::Run& run,
           const std::byte* from, std::int64_t width) const {
    const std::int64_t offset = places_.of(buffer).offset + run.local * width;
    for (const int device : holders) {
      std::memcpy(local(device, offset), from, static_cast<std::size_t>(run.count * width));
    }
  }

  std::vector<AxisCounter> axis_counters(const WorkerTally& tally) const {
    std::map<std::vector<int>, AxisCounter> by_axes;
    for (std::size_t i = 0; i < tally.sites.size(); ++i) {
      const CollectiveSite& site = scheduler_->sites()[i];
      AxisCounter& counter = by_axes[site.axes];
      counter.axes = site.axes;
      counter.wire += Bytes(tally.sites[i].wire);
      counter.copied += Bytes(tally.sites[i].copied);
      counter.collectives += tally.sites[i].collectives;
    }
    std::vector<AxisCounter> counters;
    for (auto& [axes, counter] : by_axes) counters.push_back(std::move(counter));
    return counters;
  }

  std::vector<CollectiveLinks> link_counters(const WorkerTally& tally) const {
    std::vector<CollectiveLinks> counters;
    for (std::size_t i = 0; i < tally.sites.size(); ++i) {
      if (tally.sites[i].links.empty()) continue;
      const std::string& label = scheduler_->sites()[i].label;
      auto known = std::find_if(counters.begin(), counters.end(), [&](const CollectiveLinks& one) {
        return one.collective == label;
      });
      if (known == counters.end()) known = counters.insert(known, {label, {}});
      add(known->links, tally.sites[i].links);
    }
    return counters;
  }

  const Program program_;
  Places places_;
  Transport* transport_;
  CompiledProgram compiled_;
  HostDevices here_;
  std::string backend_;
  mutable WorkerPool pool_;
  std::vector<Arena> arenas_;
  std::optional<Scheduler> scheduler_;
  std::int64_t written_ = 0;  ///< highest byte that inputs were written to
  std::int64_t steps_ = 0;
  double wall_ = 0;
};

Cluster::Cluster(const Program& program, ClusterOptions options)
    : impl_(std::make_unique<Impl>(program, options)) {}

Cluster::~Cluster() = default;

void Cluster::write_input(std::size_t input, const HostTensor& whole) {
  impl_->write_input(input, whole);
}

void Cluster::fill_input(std::size_t input, const std::function<double(std::int64_t)>& element) {
  impl_->fill_input(input, [&](std::int64_t first, std::span<double> numbers) {
    for (double& number : numbers) number = element(first++);
  });
}

void Cluster::fill_input(std::size_t input, const InitialValue& init, std::uint64_t seed,
                         const std::string& name) {
  const DType dtype = impl_->program().inputs[input].global.dtype;
  const InitialFunction function(number_of(init, dtype), seed, hash_name(name));
  if (function.is_constant()) return impl_->fill_input_with(input, function(0));
  impl_->fill_input(
      input, [&](std::int64_t first, std::span<double> numbers) { function.fill(first, numbers); });
}

void Cluster::run() { impl_->run(); }
void Cluster::run_observed(const StepObserver& observer) { impl_->run_observed(observer); }
MemoryCheck Cluster::check_memory_use() const { return impl_->check_memory_use(); }
Timeline Cluster::run_recorded() { return impl_->run_recorded(); }
const Program& Cluster::program() const { return impl_->program(); }

HostTensor Cluster::read_output(std::size_t output) const {
  SHARD_CHECK(output < impl_->program().outputs.size(), "an output of the program is named");
  return impl_->read(impl_->program().outputs[output]);
}

HostTensor Cluster::read_input(std::size_t input) const {
  SHARD_CHECK(input < impl_->program().inputs.size(), "an input of the program is named");
  return impl_->read(impl_->program().inputs[input]);
}

int Cluster::workers() const { return impl_->workers(); }
const HostDevices& Cluster::devices() const { return impl_->here(); }
std::vector<std::vector<std::byte>> Cluster::gather(std::vector<std::byte> own) const {
  return shard::gather(impl_->transport(), std::move(own));
}
Counters Cluster::counters() const { return impl_->counters(); }
void Cluster::reset_counters() { impl_->reset_counters(); }
void Cluster::set_profiling(bool on) { impl_->scheduler().set_profiling(on); }
bool Cluster::is_profiling() const { return impl_->scheduler().is_profiling(); }
const std::string& Cluster::gemm_backend() const { return impl_->backend(); }

}  // namespace shard
