#pragma once
// The user's words to calls. The only place that catches `Error`, prints and picks the exit code:
// 0 yes, 1 no, 2 bad input, 70 our bug, 130 interrupted.

namespace shard {

int run_command_line(int argc, char** argv);

}  // namespace shard
