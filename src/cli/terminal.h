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

/// False when LC_ALL, LC_CTYPE or LANG, the first that is set, names another encoding than UTF-8.
/// When none is set nothing is known, and terminals of today read UTF-8.
bool has_utf8_locale();

/// Before anything else: ctrl-C exits with 130 and SIGTERM with 143, at once, whatever the threads
/// do, and leaves no half-written file; a closed pipe or a file size limit is an error code of
/// `write` instead of a signal; the numbers of closed standard descriptors are not given to files.
void prepare_process();

}  // namespace shard
