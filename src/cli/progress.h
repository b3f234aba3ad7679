#pragma once
// One line on stderr that says what is going on, for people who wait.

#include <chrono>
#include <string>

#include "cli/options.h"

namespace shard {

/// Shows nothing before a second has passed, nothing unless stderr is a terminal, nothing with
/// --quiet; the line is overprinted and gone at the end.
class Progress {
 public:
  explicit Progress(const Options& options);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void say(const std::string& what);
  /// Takes the line away, before an answer is written.
  void clear();

 private:
  bool is_on_ = false;
  bool is_shown_ = false;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace shard
