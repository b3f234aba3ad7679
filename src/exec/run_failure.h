#pragma once
// The program ran, and the answer is no: a device failed, waits for ever, or holds what it must
// not. Told like bad input, but the files and options are good: exit code 1.

#include "base/diagnostic.h"

namespace shard {

class RunFailure : public Error {
 public:
  using Error::Error;
};

}  // namespace shard
