#pragma once
// Layers with arguments of their own as functions in expressions: `cumsum(x, dim=length)`,
// `psum(h @ w, axes=model)`.

#include <vector>

#include "model/expressions.h"
#include "model/layer_kinds.h"

namespace shard {

/// Whether calls of this layer are built here.
bool is_callable_layer(std::string_view word);

/// The layer on these operands. Errors: `unknown-argument`, `bad-argument`, `missing-argument`,
/// `wrong-input-count`, those of the layer.
ValueId call_layer(Lowering& lowering, const Scope& scope, const Expression& call,
                   const LayerKind& kind, const std::vector<Operand>& operands);

}  // namespace shard
