#pragma once
// Files that are written whole or not at all.

#include <string>

namespace shard {

/// Writes a whole file atomically (temporary file beside it, flushed, renamed). Throws `Error`
/// `unwritable-file` with the system's reason (also when the disk is full) and leaves nothing
/// behind; refuses to overwrite unless `force` (`file-exists`).
void write_file(const std::string& path, const std::string& bytes, bool force);

/// Throws what `write_file` would throw, as far as that can be told before there is something to
/// write.
void check_writable(const std::string& path, bool force);

/// Removes the temporary file of a `write_file` that goes on right now, for a process that is about
/// to end. To be called in a signal handler on the thread that writes, where it cannot come between
/// two steps of `write_file` that belong together.
void remove_unfinished_file() noexcept;

}  // namespace shard
