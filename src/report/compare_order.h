#pragma once
// By what the sets of a comparison are ordered.

namespace shard {

enum class CompareOrder { given, state, replicated, wire, peak, time };

}  // namespace shard
