#include "base/object_pool.h"
#include "cli/run.h"

int main(int argc, char** argv) {
  shard::pool_objects();
  return shard::run_command_line(argc, argv);
}
