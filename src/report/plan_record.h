#pragma once
// A plan as a record that can be compared with others.

#include "check/layout_record.h"
#include "report/plan.h"

namespace shard {

/// State, inputs and results of the plan's main function, its collectives and its peak, and what
/// was found. Of a model without a program only the arrays.
LayoutRecord record_of(const Plan& plan);

}  // namespace shard
