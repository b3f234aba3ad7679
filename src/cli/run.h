#pragma once
// The user's words to calls. The only place that catches `Error`, prints and picks the exit code:
// 0 yes, 1 no, 2 bad input, 70 our bug, 130 interrupted.

#include <exception>
#include <string>

#include "text/files.h"

namespace shard {

/// What the user is told of an exception, and the exit code it means.
struct Failure {
  std::string text;
  int exit_code = 0;
};
Failure failure_of(const std::exception_ptr& exception, Sources& sources);

int run_command_line(int argc, char** argv);

}  // namespace shard
