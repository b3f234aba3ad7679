// Hosts that talk by MPI. A library of its own, opened when it is wanted: a program that was built
// with MPI starts without it, and on machines that have none.
//
// One thread alone calls MPI, from MPI_Init to MPI_Finalize: compute workers hand it exchanges and
// never wait for it. While something is on its way it asks again and again, and gives the core away
// between.
//
// A host that is killed says nothing. Those on its machine see it end; the first of them tells,
// before mpirun, which sees it too, ends them by SIGTERM.

#include "exec/transport_library.h"

#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <future>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "mpi/peers.h"

namespace shard {
namespace {

using Clock = std::chrono::steady_clock;

/// A parcel goes in pieces, so that it is seen to move. Small ones go without asking whether the
/// other side is there (Open MPI's limit for that is 64 KiB over TCP); of a large parcel they might
/// fill the memory of one that is not.
constexpr std::int64_t large_parcel_bytes = std::int64_t{1} << 24;
constexpr std::int64_t small_piece_bytes = 64'000;
constexpr std::int64_t large_piece_bytes = std::int64_t{1} << 20;
/// A failure of another host, for host 0; and that host 0 has told one, for the others.
constexpr int failure_tag = 1;
constexpr int told_tag = 2;
/// What host 0 gets to end the job before a host ends it itself.
constexpr std::chrono::seconds failure_patience{3};
/// From SIGTERM, which all hosts get, to the end: no host takes another's end for its cause.
constexpr std::chrono::milliseconds farewell{50};
/// How often a thread without work looks for failures.
constexpr std::chrono::milliseconds idle_pause{20};
/// Looks before the thread begins to sleep between them; how long at first, and at most.
constexpr int eager_looks = 200;
constexpr std::chrono::microseconds look_pause{20};
constexpr int most_pauses = 20;
/// Looks after which it also looks for failures.
constexpr int failure_looks = 100;

/// What SIGTERM finds.
std::atomic<const Peers*> signal_peers{nullptr};
std::atomic<bool> is_asked_to_end{false};
std::atomic<int> ended_before_signal{-1};

void note_signal(int) {
  const Peers* const peers = signal_peers.load();
  if (peers != nullptr && !is_asked_to_end.load()) ended_before_signal.store(peers->ended());
  is_asked_to_end.store(true);
}

struct Failure {
  std::string text;
  int exit_code = 1;
};

/// An exchange on its way.
struct Open {
  Exchange exchange;
  std::uint64_t generation = 0;
  Clock::time_point start;
  std::vector<MPI_Request> requests;
  std::vector<int> hosts;  ///< of each request
  int left = 0;            ///< requests that are not done
  bool is_late = false;
};

/// The first two words of `Open MPI v4.1.4, package: ...`, without the v.
std::string name_of_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string name(text.data(), static_cast<std::size_t>(length));
  name = name.substr(0, name.find(','));
  const std::size_t version = name.find(" v");
  if (version != std::string::npos) name.erase(version + 1, 1);
  return name;
}

std::string name_of_machine() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this machine";
}

void write_all(const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = write(STDERR_FILENO, text.data() + done, text.size() - done);
    if (written <= 0) return;
    done += static_cast<std::size_t>(written);
  }
}

class MpiTransport : public Transport {
 public:
  MpiTransport() {
    // A rank that waits shall not keep a core busy; a user's own setting stays.
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    // Processes on one machine copy through shared memory: reading each other's takes three times
    // as long for messages of half a MiB, and containers forbid it.
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    // Without mpirun there is one process, which needs no daemon (and no ssh to start one).
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    std::promise<void> is_ready;
    std::future<void> ready = is_ready.get_future();
    thread_ = std::thread([this, &is_ready] {
      begin();
      is_ready.set_value();
      serve();
    });
    ready.wait();
  }

  ~MpiTransport() override {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    wakes_.notify_one();
    thread_.join();
  }

  int hosts() const override { return hosts_; }
  int self() const override { return self_; }
  int hosts_on_machine() const override { return hosts_on_machine_; }
  std::string description() const override { return description_; }
  int largest_tag() const override { return largest_tag_; }

  void start(Exchange exchange) override {
    {
      const std::lock_guard lock(mutex_);
      started_.push_back({std::move(exchange), generation_, Clock::now(), {}, {}, 0, false});
    }
    wakes_.notify_one();
  }

  void abandon() override {
    const std::scoped_lock lock(calls_mutex_, mutex_);
    ++generation_;
  }

  void fail(const std::string& text, int exit_code) override {
    {
      const std::lock_guard lock(mutex_);
      failure_ = Failure{text, exit_code};
    }
    wakes_.notify_one();
    while (true) pause();  // until the thread ends the process
  }

 private:
  void begin() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &hosts_);
    MPI_Comm_rank(MPI_COMM_WORLD, &self_);
    MPI_Comm_dup(MPI_COMM_WORLD, &failures_);
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &hosts_on_machine_);
    find_peers(machine);
    MPI_Comm_free(&machine);
    void* bound = nullptr;
    int is_set = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&bound), &is_set);
    largest_tag_ = is_set != 0 ? *static_cast<int*>(bound) : 32767;
    description_ = name_of_library();
    signal_peers.store(&peers_);
    struct sigaction on_end {};
    on_end.sa_handler = note_signal;
    sigaction(SIGTERM, &on_end, &before_);
  }

  void find_peers(MPI_Comm machine) {
    struct Named {
      ProcessName process;
      int host = 0;
    };
    static_assert(std::is_trivially_copyable_v<Named>);
    const Named own{own_process_name(), self_};
    std::vector<Named> all(static_cast<std::size_t>(hosts_on_machine_));
    MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, machine);
    for (const Named& one : all) peers_.add(one.host, one.process);
  }

  void serve() {
    int looks = 0;
    while (true) {
      if (take_started()) looks = 0;
      if (look()) looks = 0;
      if (const std::optional<Failure> failure = own_failure()) tell(*failure);
      if (is_asked_to_end.load()) leave();
      if (open_.empty() || looks % failure_looks == 0) look_around();
      if (!rest(looks)) break;
      ++looks;
    }
    sigaction(SIGTERM, &before_, nullptr);
    signal_peers.store(nullptr);
    MPI_Comm_free(&failures_);
    MPI_Finalize();
  }

  /// Gives the core away for a while; false when the thread is to end.
  bool rest(int looks) {
    if (open_.empty()) {
      std::unique_lock lock(mutex_);
      if (ends_ && started_.empty()) return false;
      wakes_.wait_for(lock, idle_pause,
                      [&] { return ends_ || !started_.empty() || failure_.has_value(); });
    } else if (looks < eager_looks) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(look_pause * std::min(looks / eager_looks, most_pauses));
    }
    return true;
  }

  bool take_started() {
    std::deque<Open> started;
    {
      const std::lock_guard lock(mutex_);
      started.swap(started_);
    }
    for (Open& one : started) {
      for (const Parcel& parcel : one.exchange.received) post(one, parcel, MPI_Irecv);
      for (const Parcel& parcel : one.exchange.sent) post(one, parcel, MPI_Isend);
      one.left = static_cast<int>(one.requests.size());
      open_.push_back(std::move(one));
    }
    return !started.empty();
  }

  template <class Function>
  void post(Open& open, const Parcel& parcel, Function&& function) {
    const std::int64_t piece =
        parcel.count < large_parcel_bytes ? small_piece_bytes : large_piece_bytes;
    for (std::int64_t done = 0; done < parcel.count; done += piece) {
      const std::int64_t count = std::min(piece, parcel.count - done);
      open.hosts.push_back(parcel.host);
      function(parcel.bytes + done, static_cast<int>(count), MPI_BYTE, parcel.host,
               open.exchange.tag, MPI_COMM_WORLD, &open.requests.emplace_back());
    }
  }

  /// True when something has arrived or gone.
  bool look() {
    bool has_moved = false;
    for (auto at = open_.begin(); at != open_.end();) {
      int done = 0;
      done_.resize(at->requests.size());
      MPI_Testsome(static_cast<int>(at->requests.size()), at->requests.data(), &done, done_.data(),
                   MPI_STATUSES_IGNORE);
      if (done != MPI_UNDEFINED) at->left -= done;
      has_moved = has_moved || (done != MPI_UNDEFINED && done > 0);
      if (at->left == 0) {
        call(*at, [](const Exchange& exchange) { exchange.done(); });
        at = open_.erase(at);
      } else {
        look_at_clock(*at);
        ++at;
      }
    }
    return has_moved;
  }

  void look_at_clock(Open& open) {
    const double limit = open.exchange.limit.value;
    if (open.is_late || limit <= 0) return;
    if (std::chrono::duration<double>(Clock::now() - open.start).count() < limit) return;
    open.is_late = true;
    const int host = late_host(open);
    if (host < 0) return;
    call(open, [host](const Exchange& exchange) { exchange.late(host); });
  }

  static int late_host(const Open& open) {
    for (std::size_t i = 0; i < open.requests.size(); ++i) {
      if (open.requests[i] != MPI_REQUEST_NULL) return open.hosts[i];
    }
    return -1;
  }

  template <class Call>
  void call(const Open& open, const Call& call) {
    const std::lock_guard lock(calls_mutex_);
    if (open.generation == generation_) call(open.exchange);
  }

  std::optional<Failure> own_failure() {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

  /// Host 0 tells all failures, so that one is told once.
  void tell(const Failure& failure) {
    if (self_ != 0) {
      std::string message(sizeof failure.exit_code, '\0');
      std::memcpy(message.data(), &failure.exit_code, sizeof failure.exit_code);
      message += "on host " + std::to_string(self_) + ":\n" + failure.text;
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_CHAR, 0, failure_tag,
                failures_, &request);
      const Clock::time_point start = Clock::now();
      while (Clock::now() - start < failure_patience) {
        int done = 0;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        std::this_thread::sleep_for(look_pause);
      }
    }
    tell_first(failure.text);
    MPI_Abort(MPI_COMM_WORLD, failure.exit_code);
  }

  /// The others then know why they end.
  void tell_first(const std::string& text) {
    for (int host = 0; host < hosts_; ++host) {
      if (host == self_ || has_ended_ == host) continue;
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(nullptr, 0, MPI_CHAR, host, told_tag, failures_, &request);
      MPI_Request_free(&request);
    }
    write_all(text);
  }

  void look_around() {
    if (self_ == 0) hear_failures();
    if (const int host = peers_.ended(); host >= 0) tell_lost(host);
  }

  /// Of the hosts that see it the first tells it, unless a failure was told: the host ended for it.
  void tell_lost(int host) {
    int is_told = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, told_tag, failures_, &is_told, MPI_STATUS_IGNORE);
    if (is_told != 0 || peers_.has_living_before(self_) || std::exchange(has_ended_, host) >= 0)
      return;
    tell_first("error: host " + std::to_string(host) +
               " was killed or crashed in the middle of the run: process " +
               std::to_string(peers_.process_of(host)) + " on " + name_of_machine() +
               " has ended [host-lost]\n  hint: `dmesg` says whether memory ran out\n");
    if (!is_asked_to_end.load()) MPI_Abort(MPI_COMM_WORLD, 1);
  }

  /// As the program does at this signal, after a word on what caused it.
  void leave() {
    if (const int host = ended_before_signal.load(); host >= 0) tell_lost(host);
    std::this_thread::sleep_for(farewell);
    sigaction(SIGTERM, &before_, nullptr);
    kill(getpid(), SIGTERM);
    while (true) pause();
  }

  void hear_failures() {
    int is_there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, failure_tag, failures_, &is_there, &status);
    if (is_there == 0) return;
    int size = 0;
    MPI_Get_count(&status, MPI_CHAR, &size);
    std::string message(static_cast<std::size_t>(size), '\0');
    MPI_Recv(message.data(), size, MPI_CHAR, status.MPI_SOURCE, failure_tag, failures_,
             MPI_STATUS_IGNORE);
    int exit_code = 1;
    std::memcpy(&exit_code, message.data(), sizeof exit_code);
    tell_first(message.substr(sizeof exit_code));
    MPI_Abort(MPI_COMM_WORLD, exit_code);
  }

  int hosts_ = 1, self_ = 0, hosts_on_machine_ = 1, largest_tag_ = 0;
  std::string description_;
  MPI_Comm failures_ = MPI_COMM_NULL;
  Peers peers_;
  int has_ended_ = -1;          ///< the host that was told to have
  struct sigaction before_ {};  ///< what the program does at SIGTERM
  std::list<Open> open_;        ///< the thread's own
  std::vector<int> done_;       ///< what MPI says is done

  std::mutex calls_mutex_;  ///< held while something is called; taken before `mutex_`
  std::mutex mutex_;
  std::condition_variable wakes_;
  std::deque<Open> started_;
  std::optional<Failure> failure_;
  std::uint64_t generation_ = 0;  ///< changed under both locks, so that either is enough to read it
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace
}  // namespace shard

shard::Transport* shard_open_transport() { return new shard::MpiTransport; }
