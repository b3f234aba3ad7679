#pragma once
// Learning rates that change with the step, as values of the graph. Source: google-deepmind/optax,
// optax/schedules (linear, polynomial, cosine, exponential, piecewise, join).

#include "config/model_config.h"
#include "model/graph_builder.h"

namespace shard {

/// The rate when `count` steps (a scalar i32) were done before this one; a scalar f32. The kind
/// must be one of `schedule_tables`.
ValueId schedule_value(GraphBuilder& builder, const ScheduleConfig& schedule, ValueId count);

}  // namespace shard
