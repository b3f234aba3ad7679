#include "cli/host_team.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/log.h"
#include "cli/answer.h"
#include "cli/run.h"
#include "exec/packed.h"
#include "exec/transport_library.h"

namespace shard {
namespace {

/// Beside the program that was built, or where it is installed.
std::vector<std::filesystem::path> mpi_libraries() {
  std::error_code problem;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem) return {};
  const std::filesystem::path folder = program.parent_path();
  return {folder / "shard-plan-mpi.so", folder / "../lib/shard-plan/shard-plan-mpi.so"};
}

/// Who starts several processes of a program, and where it says how many. Slurm's variable is that
/// of a step: a batch script has none, though its job may have many tasks.
struct Launcher {
  const char* name;
  const char* variable;
};
constexpr std::array<Launcher, 3> launchers = {{
    {"mpirun", "OMPI_COMM_WORLD_SIZE"},
    {"mpiexec", "PMI_SIZE"},
    {"srun", "SLURM_STEP_NUM_TASKS"},
}};

/// `srun started 4 processes`; empty where this one is alone. Open MPI's mpirun starts its helpers
/// by srun, so the first that says something is believed.
std::string started_together() {
  for (const Launcher& launcher : launchers) {
    const char* const count = std::getenv(launcher.variable);
    if (count == nullptr) continue;
    if (std::string_view(count) == "1") return {};
    return std::string(launcher.name) + " started " + count + " processes";
  }
  return {};
}

void check_alone() {
  const std::string started = started_together();
  if (started.empty()) return;
  throw Error("usage", {"--backend"}, started + ", and each would do the whole run by itself",
              "`--backend mpi` divides the devices over them");
}

constexpr const char* how_to_start =
    "start them by its own mpirun, or by `srun --mpi pmix` where `srun --mpi list` has it";

/// Without `--mpi` srun does not tell its processes how they reach each other, by PMIx or PMI; Open
/// MPI would end such a process before it says who it is.
void check_introduced() {
  const std::string started = started_together();
  constexpr std::array<const char*, 4> introductions = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK",
                                                        "PMI_RANK", "PMI_SIZE"};
  const bool are_introduced =
      std::any_of(introductions.begin(), introductions.end(),
                  [](const char* variable) { return std::getenv(variable) != nullptr; });
  if (started.empty() || are_introduced) return;
  throw Error("usage", {"--backend"},
              started + " and did not tell them how they reach each other for MPI", how_to_start);
}

/// MPI may have been started by somebody whom it does not know.
void check_joined(const Transport& transport) {
  const std::string started = started_together();
  if (started.empty() || transport.hosts() > 1) return;
  throw Error("usage", {"--backend"},
              started + ", and " + transport.description() +
                  " does not know of the others: each would do the whole run by itself",
              how_to_start);
}

std::vector<std::byte> packed_failure(const Failure& failure) {
  Packer packer;
  packer.put(failure.exit_code);
  packer.put_all<char>(failure.text);
  return std::move(packer).bytes();
}

}  // namespace

HostTeam::HostTeam(const Options& options, Sources& sources) : sources_(sources) {
  if (options.backend == Backend::threads) check_alone();
  if (options.backend == Backend::mpi) {
    check_introduced();
    transport_ = open_transport(mpi_libraries());
  }
  if (transport_) check_joined(*transport_);
  if (!is_first()) set_log_level(LogLevel::quiet);
}

Options HostTeam::own(const Options& options) const {
  Options own = options;
  // mpirun gives every process a terminal of its own, and may write to a file what comes out there.
  if (transport_ && own.color == ColorChoice::automatic) own.color = ColorChoice::never;
  if (is_first()) return own;
  own.quiet = true;
  own.output.clear();
  own.dump.clear();
  return own;
}

std::optional<int> HostTeam::together(const std::function<void()>& work) const {
  if (!transport_) {
    work();
    return std::nullopt;
  }
  Failure own{"", 0};
  try {
    work();
  } catch (...) {  // told below, by one host
    own = failure_of(std::current_exception(), sources_);
  }
  const auto by_host = gather(transport_.get(), packed_failure(own));
  for (std::size_t host = 0; host < by_host.size(); ++host) {
    Unpacker told(by_host[host]);
    const int exit_code = told.take<int>();
    if (exit_code == 0) continue;
    const std::vector<char> text = told.take_all<char>();
    const std::string where = host == 0 ? "" : "on host " + std::to_string(host) + ":\n";
    if (is_first()) write_fully(STDERR_FILENO, where + std::string(text.begin(), text.end()));
    return exit_code;
  }
  return std::nullopt;
}

void HostTeam::bound(const std::function<void()>& work) const {
  if (!transport_) return work();
  try {
    work();
  } catch (...) {  // others may be in the middle of a step
    const Failure failure = failure_of(std::current_exception(), sources_);
    transport_->fail(failure.text, failure.exit_code);
  }
}

int HostTeam::agreed(int exit_code) const {
  Packer own;
  own.put(exit_code);
  return Unpacker(gather(transport_.get(), std::move(own).bytes()).front()).take<int>();
}

}  // namespace shard
