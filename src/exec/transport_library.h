#pragma once
// A transport that comes from a library of its own, so that the program starts without it.

#include <filesystem>
#include <memory>
#include <vector>

#include "exec/transport.h"

namespace shard {

/// The transport of the first of these libraries that exists. Throws `Error` `no-mpi` when there is
/// none, or when it cannot be opened.
std::unique_ptr<Transport> open_transport(const std::vector<std::filesystem::path>& libraries);

}  // namespace shard

/// What such a library defines. The caller owns what is returned; it ends what was begun when it is
/// deleted. May be called once in a process.
extern "C" shard::Transport* shard_open_transport();
