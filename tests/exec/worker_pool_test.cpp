#include "exec/worker_pool.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>

#include "base/diagnostic.h"

using namespace shard;

namespace {

/// What a pool of that many workers is refused with by a process that may map `bytes` more.
std::string refusal_with_room(int workers, rlim_t bytes) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::ifstream sizes("/proc/self/statm");
    rlim_t pages = 0;
    sizes >> pages;
    const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + bytes;
    const rlimit limit{most, most};
    setrlimit(RLIMIT_AS, &limit);
    std::string told = "nothing was refused";
    try {
      const WorkerPool pool(workers);
    } catch (const Error& error) {
      told = to_string(error.diagnostics().front());
    }
    [[maybe_unused]] const ssize_t written = write(ends[1], told.data(), told.size());
    _exit(0);
  }
  close(ends[1]);
  std::string told(4096, ' ');
  const ssize_t count = read(ends[0], told.data(), told.size());
  close(ends[0]);
  waitpid(child, nullptr, 0);
  told.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return told;
}

}  // namespace

TEST_CASE("every worker of a pool does a task once") {
  WorkerPool pool(3);
  std::atomic<int> sum{0};
  pool.run([&](int worker) { sum += 1 << worker; });
  CHECK(sum == 7);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they map terabytes
TEST_CASE("more threads than the system starts are refused and those that began end") {
  const std::string told = refusal_with_room(4096, rlim_t{256} << 20);
  const std::string begin = "error: the system starts no more than ";
  CHECK(told.substr(0, begin.size()) == begin);
  const std::string end =
      " of 4096 worker threads: Resource temporarily unavailable [too-many-workers]\n"
      "  hint: `--workers N` with fewer workers: more than there are cores gain nothing";
  REQUIRE(told.size() > end.size());
  CHECK(told.substr(told.size() - end.size()) == end);
}
#endif
