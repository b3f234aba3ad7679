#pragma once
// Hosts that are threads of one process, with memory as their network.

#include <memory>
#include <vector>

#include "exec/transport.h"

namespace shard {

/// One transport for each of `hosts`, which know each other. A host that fails makes `fail` of its
/// own transport throw `RunFailure` with the text; nobody ends the process.
std::vector<std::unique_ptr<Transport>> in_process_transports(int hosts);

}  // namespace shard
