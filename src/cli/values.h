#pragma once
// Values typed on a command line, each read whole or refused with what was expected.

#include <cstdint>
#include <string>

#include "base/units.h"

namespace shard {

/// A whole number in [least, most]. Throws `Error` `bad-value` at `option`.
std::int64_t read_count(const std::string& option, const std::string& text, std::int64_t least,
                        std::int64_t most);

/// `16GiB`, `16 GiB`, `800MB`, `1024`: KiB, MiB, GiB, TiB are powers of 1024, KB, MB, GB, TB of
/// 1000. Throws `Error` `bad-value` at `option`.
Bytes read_bytes(const std::string& option, const std::string& text);

/// `10`, `2.5`, `0`, with or without a `%`: a percentage of 0 or more. Throws `Error` `bad-value`
/// at `option`.
double read_percent(const std::string& option, const std::string& text);

/// `30`, `0.5`: seconds, 0 or more. Throws `Error` `bad-value` at `option`.
Seconds read_seconds(const std::string& option, const std::string& text);

}  // namespace shard
