#pragma once
// The answer of a command: to stdout, or whole to a file.

#include <string>

#include "cli/options.h"

namespace shard {

/// Writes `text` where `-o` says, or to stdout, or nowhere with `--quiet` and no `-o`. A reader
/// that closed its end of the pipe has had enough: that is no error. Everything else that keeps the
/// answer from being written whole throws `Error` `unwritable-file`.
void write_answer(const Options& options, const std::string& text);

/// Writes all of `text` to the descriptor. Returns 0, or the system's error number.
int write_fully(int fd, const std::string& text);

}  // namespace shard
