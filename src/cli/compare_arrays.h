#pragma once
// Layouts of a list of arrays under many rule sets, each class of arrays planned once.

#include "check/array_classes.h"
#include "check/layout_record.h"
#include "cli/options.h"
#include "config/rules_config.h"

namespace shard {

/// What these rules make of the model. Nothing may be placed by its path. Throws `Error`.
LayoutRecord record_of_classes(const ClassModel& classes, const RulesConfig& rules,
                               const Options& options);

}  // namespace shard
