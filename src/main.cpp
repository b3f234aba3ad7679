#include "base/allocator.h"
#include "cli/run.h"

int main(int argc, char** argv) {
  shard::allocate_in_large_pages();
  return shard::run_command_line(argc, argv);
}
