#pragma once
// What the terminal can do: colour and width, decided in one place.

#include <optional>

#include "cli/options.h"

namespace shard {

/// `--color` wins; else colour only when `fd` is a terminal, NO_COLOR is unset or empty and TERM is
/// not `dumb`.
bool use_color(ColorChoice choice, int fd);

/// Columns of the terminal at `fd`; nothing when it is none.
std::optional<int> terminal_width(int fd);

/// Exits with 130 on ctrl-C, at once and from any thread, and makes a closed pipe an error code of
/// `write` instead of a signal.
void install_signal_handlers();

}  // namespace shard
