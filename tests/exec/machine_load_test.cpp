#include "exec/machine_load.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <sstream>
#include <string>

#include "exec/limits.h"

using namespace shard;

namespace {

MachineLoad load_of(const std::string& text) {
  std::istringstream stream(text);
  return read_machine_load(stream);
}

std::string name_in(const std::string& text) {
  std::istringstream stream(text);
  return processor_name(stream);
}

}  // namespace

TEST_CASE("the machine's load leaves out idling and tells stolen time apart") {
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const MachineLoad load = load_of("cpu  100 20 30 4000 500 6 7 80 9 10\ncpu0 1 2 3 4 5 6 7 8\n");
  CHECK(load.is_known);
  CHECK(load.busy == (100 + 20 + 30 + 6 + 7) / ticks);
  CHECK(load.stolen == 80 / ticks);
}

TEST_CASE("a kernel that knows no stolen time steals none") {
  const MachineLoad load = load_of("cpu 1 0 0 0 0 0 0\n");
  CHECK(load.is_known);
  CHECK(load.stolen == 0);
}

TEST_CASE("a machine's load is unknown where there is nothing to read") {
  CHECK_FALSE(load_of("").is_known);
  CHECK_FALSE(load_of("cpu 1 2\n").is_known);
  CHECK_FALSE(load_of("something else entirely\n").is_known);
}

TEST_CASE("what this process does is no other load") {
  const LoadWatch watch;
  volatile double sum = 0;
  for (int i = 0; i < 1'000'000; ++i) sum = sum + i;
  const OtherLoad others = watch.others();
  CHECK(others.busy >= 0);
  CHECK(others.stolen >= 0);
}

TEST_CASE("a processor's name has the numbers of its kind") {
  CHECK(name_in("processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
                "model name\t: Intel(R) Xeon(R) Processor\nstepping\t: 8\n\nprocessor\t: 1\n"
                "model name\t: another\n") ==
        "Intel(R) Xeon(R) Processor (cpu family 6, model 143, stepping 8)");
  CHECK(name_in("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n") ==
        "processor (CPU implementer 0x41, CPU part 0xd0c)");
  CHECK(name_in("model name\t: Plain\n") == "Plain");
  CHECK(name_in("") == "unknown processor");
}

TEST_CASE("limits of the machine are measured with all workers") {
  WorkerPool pool(2);
  CHECK(measure_copies(pool) > 1e6);
}
