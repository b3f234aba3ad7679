#pragma once
// The table of options: one row each. To add an option: a field of `Options` and a row here.

#include <span>
#include <string>

#include "cli/options.h"

namespace shard {

/// One row per option. `value` is the placeholder of its argument, empty for a flag.
struct OptionRow {
  const char* flags;
  const char* value;
  const char* help;
  unsigned commands;  ///< the bits of those that know it
  void (*set)(Options& options, const std::string& value);
};

/// All options, in the order of the help screens. Flags may repeat where commands differ.
std::span<const OptionRow> option_table();

}  // namespace shard
