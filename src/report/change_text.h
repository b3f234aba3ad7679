#pragma once
// What is different between two layouts, in words.

#include <string>

#include "check/diff.h"

namespace shard {

/// `params/*/Dense_0/kernel (4, and mu, nu)`; the pattern where it means these arrays and no
/// others, else their numbers: `params/B_{0,2}/W2 (2)`.
std::string change_name(const ArrayChange& change);

/// `P(None, 'model') -> P()`, `f32[8] P() -> f32[16] P()`, `new, P()`, `gone, was P()`.
std::string change_specs(const ArrayChange& change);

/// `+3,145,728 B each`, `-12,288 B`; empty when it is not known.
std::string change_bytes(const ArrayChange& change);

/// `all_reduce data 8 x 1,048,576 -> 8 x 4,194,304`, `... -> none`.
std::string change_text(const CollectiveChange& change);

/// `8 x 1,048,576 + 1 x 4`; `none`.
std::string amounts_text(const std::vector<CollectiveAmount>& amounts);

/// `+3,145,728`, `-12,288`, `0`.
std::string signed_bytes(Bytes bytes);

/// `x4.0`, `x0.5`, `x0.04`: a digit that means something below 1; empty when `before` is 0.
std::string ratio_text(Bytes before, Bytes after);

}  // namespace shard
