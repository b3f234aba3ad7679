#pragma once
// What is only repeated numbers need not be kept.
//
// A gradient reads many broadcasts of the forward pass: the inverse root of a norm over all points
// of its row, the mask over all heads. Kept until then, or from iteration to iteration for the loop
// that goes back, each is an array; made once more in the chain that reads it, it is never one.

#include "spmd/program.h"

namespace shard::spmd {

/// Products, loops and collectives: what takes long, and what memory is planned around.
bool ends_chains(const Instruction& instruction);

/// Where steps of chains only read a broadcast that was made before the last such instruction, or
/// in another loop's iterations, they get one of their own; what is kept then is what it repeats.
/// Only such broadcasts whose operand has at most half the bytes.
/// Says whether there are any: then results have no places yet.
bool spread_again(Program& program);

}  // namespace shard::spmd
