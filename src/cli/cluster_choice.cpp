#include "cli/cluster_choice.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/diagnostic.h"
#include "cli/answer.h"
#include "exec/cores.h"
#include "report/sections.h"

namespace shard {
namespace {

void tell_of_fewer(const Options& options, std::int64_t useful, std::int64_t devices) {
  if (options.quiet) return;
  Diagnostic note;
  note.severity = Severity::note;
  note.id = "fewer-workers";
  note.at = {"--workers"};
  note.message = with_commas(useful) + " of " + with_commas(options.workers) +
                 " workers are used: there is nothing to do for more with " +
                 counted(devices, "device") + " and " + counted(allowed_cores(), "core");
  write_fully(STDERR_FILENO, to_string(note) + "\n");
}

}  // namespace

int useful_workers(const Options& options, std::int64_t devices) {
  const std::int64_t most = std::max<std::int64_t>(devices, allowed_cores());
  if (options.workers <= most) return options.workers;
  tell_of_fewer(options, most, devices);
  return static_cast<int>(most);
}

CollectiveChoice own_collectives(const Options& options) {
  const CollectiveChoice& choice = options.collectives;
  if (choice.hosts > 1 && choice.algorithm != CollectiveAlgorithm::hierarchical) {
    throw Error(
        "usage", {"--hosts"},
        "--collectives " + std::string(to_string(choice.algorithm)) + " does not tell hosts apart",
        "only --collectives hierarchical does");
  }
  return choice;
}

ClusterOptions cluster_choice(const Options& options, std::int64_t devices) {
  ClusterOptions made;
  made.workers = useful_workers(options, devices);
  made.collectives = own_collectives(options);
  return made;
}

}  // namespace shard
