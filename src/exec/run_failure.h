#pragma once
// The program ran, and the answer is no: a device failed, waits for ever, or holds what it must
// not. Told like bad input, but the files and options are good: exit code 1.

#include <utility>
#include <vector>

#include "base/diagnostic.h"

namespace shard {

class RunFailure : public Error {
 public:
  /// The instruction of the program that failed; -1: none is known.
  struct At {
    int body = -1;
    int index = -1;  ///< in the body
  };

  using Error::Error;
  RunFailure(std::vector<Diagnostic> diagnostics, At at) : Error(std::move(diagnostics)), at_(at) {}

  At at() const { return at_; }

 private:
  At at_{};
};

}  // namespace shard
