#pragma once
// The whole text of the first diagnostic that a call throws.

#include <string>

#include "base/diagnostic.h"

namespace shard::test {

/// `rules.yaml:3:1: error: message [id]` with its hint; empty when nothing is thrown.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return to_string(error.diagnostics().front());
  }
  return "";
}

}  // namespace shard::test
