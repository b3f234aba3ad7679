#pragma once
// The rows of the op table, in enum order; read them through `def` and `op_table`.

#include <array>

#include "ops/op.h"

namespace shard {

using OpRows = std::array<OpDef, static_cast<std::size_t>(Op::count_)>;
const OpRows& op_rows();

}  // namespace shard
