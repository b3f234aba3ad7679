#pragma once
// Chains of elementwise ops as one instruction each.
//
// An op by itself reads arrays from memory and writes one; a chain of ten reads and writes each
// array between them. Fused, the ten run one after another over some thousand points, whose numbers
// are in the cache the whole time, and what only they read is never stored: neither time nor place
// goes to it. Results are the same to the bit.

#include <string_view>

#include "spmd/offsets.h"
#include "spmd/program.h"

namespace shard {

enum class Fusion { off, on };

/// The program with its chains fused, places and memory planned anew. A chain are instructions that
/// read each other's results, or a common operand, with no product, loop or collective between
/// them: so nothing is kept alive for longer than until the next of these. Instructions of one
/// phase and one iteration only. Outputs and inputs stay as they are.
Program fused(Program program, Offsets offsets = Offsets::planned);

/// The program as it is, or fused.
Program with_fusion(Program program, Fusion fusion);

}  // namespace shard
