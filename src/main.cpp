#include "cli/run.h"

int main(int argc, char** argv) { return shard::run_command_line(argc, argv); }
