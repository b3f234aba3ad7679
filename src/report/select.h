#pragma once
// Which arrays a user means.

#include <string>
#include <vector>

#include "report/plan.h"
#include "report/rows.h"

namespace shard {

/// Every array that has a name: data inputs, the state, the values and the results of both
/// functions. Results of `apply` that are no results of the train step come from `apply`.
std::vector<ArrayRow> named_arrays(const Plan& plan);

/// The arrays meant by `names`, in the order asked, each once. A name is a path, a folder (all
/// below it) or a glob (`*` and `?`, also across `/`). No name: the data inputs, the parameters of
/// the first block, the results. Throws `Error` `unknown-array` for all names that mean nothing,
/// with the nearest.
std::vector<ArrayRow> select_arrays(const std::vector<ArrayRow>& all,
                                    const std::vector<std::string>& names);

}  // namespace shard
