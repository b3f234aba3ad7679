#pragma once
// What a run found, as one value, and its verdicts.

#include <optional>
#include <string>
#include <vector>

#include "exec/cluster.h"
#include "exec/first_difference.h"
#include "exec/limits.h"
#include "exec/measure.h"
#include "report/plan.h"
#include "report/rows.h"

namespace shard {

/// One function that was run.
struct FunctionRun {
  std::string title;  ///< `train step`, `apply`
  const PlannedFunction* function = nullptr;
  std::vector<Difference>
      differences;  ///< from the unsharded run, one per output; empty: not compared
  int compared_steps = 1;
  /// Elements that differ because their update hangs on a gradient within its rounding error; see
  /// exec/compare_step.h.
  std::int64_t undetermined = 0;
  std::int64_t rounded_otherwise = 0;       ///< the same, on how values of 16 bits are rounded
  std::optional<FirstDifference> first;     ///< where results differ: where that begins
  std::string why_not_compared;             ///< a clause, where steps should be and cannot be
  std::string why_no_first;                 ///< a clause, where they differ and nothing is found
  std::optional<Timing> timing;             ///< nothing: not timed
  Counters counters;                        ///< of profiled steps
  std::optional<MemoryCheck> memory_check;  ///< where it is asked for
  std::optional<Timeline> timeline;         ///< of one step more, where it is asked for

  bool results_equal() const;
  /// A cond leaves one of its blocks out, which the plan counts: what it says are bounds then.
  bool may_do_less() const;
  /// The same of wire bytes alone: also where a collective sends what the data say.
  bool may_send_less() const;
  /// Counted wire bytes of a step over each set of axes are the planned ones, or at most those
  /// where they are a bound.
  bool bytes_equal() const;
  /// Every device's high-water mark is the planned peak.
  bool memory_equal() const;
  /// Pages and guards are as they should be, or nobody looked.
  bool pages_ok() const { return !memory_check || memory_check->is_ok(); }
  /// The output that differs most in relation to its tolerance; nothing when there is none.
  const Difference* worst() const;
};

/// Planned and counted wire bytes per device and step over one set of axes.
struct MovedRow {
  std::string axes;
  Bytes planned;
  bool is_bound = false;  ///< `planned` is what is sent at most
  Bytes counted;
  Bytes copied;  ///< by our own collectives, of all devices
};
std::vector<MovedRow> moved_rows(const FunctionRun& run);

/// A collective instruction and its time in a step, all groups and devices together.
struct CollectiveTimeRow {
  std::int64_t number = 0;  ///< as `explain '#n'` takes it
  std::string name;         ///< `all_reduce model DotReluDot_0/W2`
  Seconds busy;             ///< worker time
  Seconds waiting;          ///< of a member, on average, for the last
  Bytes copied;             ///< read and written
};
/// In the order of the program.
std::vector<CollectiveTimeRow> collective_time_rows(const FunctionRun& run);

/// What the collectives of one label sent in a step.
struct LinkRow {
  std::string collective;
  std::int64_t links = 0;     ///< pairs of sender and receiver
  std::int64_t messages = 0;  ///< of all links
  Bytes bytes;                ///< of all links
  Bytes most;                 ///< of the link that carries most
};
std::vector<LinkRow> link_rows(const FunctionRun& run);

struct RunReport {
  const Plan* plan = nullptr;
  int workers = 1;  ///< of all hosts
  std::int64_t seed = 0;
  std::optional<Fault> fault;  ///< put in on purpose
  CollectiveChoice collectives;
  std::string network;  ///< what the hosts talk by, `Open MPI 4.1.4`; empty: one process runs all
  std::string trace_file;               ///< empty: none
  std::optional<MachineLimits> limits;  ///< measured now or by an earlier run
  std::vector<FunctionRun> functions;   ///< the main function first

  bool is_ok() const;
};

}  // namespace shard
