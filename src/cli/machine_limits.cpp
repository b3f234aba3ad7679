#include "cli/machine_limits.h"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "checkpoint/write_file.h"
#include "cli/answer.h"
#include "cli/stages.h"
#include "report/limits_file.h"

namespace shard {
namespace {

std::filesystem::path folder_in(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::filesystem::path() : std::filesystem::path(value);
}

/// What is in the file; empty when there is none. Throws what `read_limits` throws.
std::vector<KeptLimits> kept_limits(const std::filesystem::path& path, Sources& sources) {
  if (!sources.has(path.string())) return {};
  return read_limits(path.string(), sources.load(path.string()));
}

void keep_limits(const std::filesystem::path& path, const KeptLimits& found, Sources& sources) {
  std::vector<KeptLimits> kept;
  try {
    kept = kept_limits(path, sources);
  } catch (const Error&) {  // whatever it was, it is written anew
    kept.clear();
  }
  std::erase_if(kept, [&](const KeptLimits& one) {
    return one.processor == found.processor && one.workers == found.workers;
  });
  kept.push_back(found);
  write_file(path.string(), limits_text(kept), true);
}

}  // namespace

std::optional<std::filesystem::path> limits_path() {
  std::filesystem::path folder = folder_in("XDG_CACHE_HOME");
  if (!folder.is_absolute()) folder = folder_in("HOME") / ".cache";
  if (!folder.is_absolute()) return std::nullopt;
  return folder / "shard-plan" / "limits.json";
}

MachineLimits profile_machine(int workers, Sources& sources, Progress& progress) {
  const std::optional<std::filesystem::path> path = limits_path();
  if (!path) {
    throw Error("no-cache-folder", {"--profile"},
                "neither XDG_CACHE_HOME nor HOME names a folder to keep the limits in",
                "set one of them to an absolute path");
  }
  make_folder(path->parent_path().string(), "--profile");
  check_writable(path->string(), true);
  progress.say("measuring what this machine can do");
  WorkerPool pool(workers);
  const KeptLimits found{processor_name(), pool.size(), measure_limits(pool)};
  keep_limits(*path, found, sources);
  return found.limits;
}

MachineLimits profile_share(int workers, Progress& progress) {
  progress.say("measuring what this machine can do");
  WorkerPool pool(workers);
  return measure_limits(pool);
}

std::optional<MachineLimits> known_limits(int workers, Sources& sources) {
  const std::optional<std::filesystem::path> path = limits_path();
  if (!path) return std::nullopt;
  try {
    const std::vector<KeptLimits> kept = kept_limits(*path, sources);
    const KeptLimits* const found = limits_of(kept, processor_name(), workers);
    return found == nullptr ? std::nullopt : std::optional(found->limits);
  } catch (const Error& error) {
    for (Diagnostic one : error.diagnostics()) {
      one.severity = Severity::warning;
      write_fully(STDERR_FILENO, render(one, sources));
    }
    return std::nullopt;
  }
}

}  // namespace shard
