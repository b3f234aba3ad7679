#include "cli/fault_option.h"

#include <doctest/doctest.h>

#include <string>

#include "base/diagnostic.h"
#include "support/told_by.h"

using namespace shard;

namespace {

std::string refusals_of(const std::string& text) {
  return told_by([&] { read_fault(text); });
}

}  // namespace

TEST_CASE("a fault is read with its settings") {
  const Fault flip = read_fault("bit-flip:device=3,at=7,element=2,bit=5");
  CHECK(flip.kind == FaultKind::bit_flip);
  CHECK(flip.device == 3);
  CHECK(flip.at == 7);
  CHECK(flip.element == 2);
  CHECK(flip.bit == 5);
  const Fault late = read_fault("late-device:seconds=0.25");
  CHECK(late.kind == FaultKind::late_device);
  CHECK(late.delay == Seconds{0.25});
  CHECK(read_fault("kill-device").kind == FaultKind::kill_device);
  CHECK(read_fault("drop-collective").kind == FaultKind::drop_collective);
}

TEST_CASE("a fault that does not exist is refused with the nearest") {
  CHECK(refusals_of("bitflip") ==
        "--inject: error: there is no fault called 'bitflip' [bad-value]\n"
        "  hint: did you mean 'bit-flip'? faults: drop-collective, late-device, kill-device, "
        "bit-flip\n");
}

TEST_CASE("all settings that a fault does not know are refused at once") {
  CHECK(refusals_of("kill-device:devise=3,bit=2,at=-1") ==
        "--inject: error: expected settings of kill-device such as device=3, found 'devise=3' "
        "[bad-value]\n"
        "  hint: did you mean 'device'? settings: device, at\n"
        "--inject: error: expected settings of kill-device such as device=3, found 'bit=2' "
        "[bad-value]\n"
        "  hint: settings: device, at\n"
        "--inject: error: expected a whole number from 0 to 2147483647, found '-1' [bad-value]\n");
  CHECK(refusals_of("bit-flip:") ==
        "--inject: error: expected settings of bit-flip such as device=3, found '' [bad-value]\n"
        "  hint: settings: device, at, element, bit\n");
}

TEST_CASE("a fault on a device that the mesh does not have is refused") {
  Fault fault;
  fault.device = 8;
  CHECK_THROWS_WITH_AS(check_fault(fault, 8),
                       "--inject: error: there is no device 8: the mesh has 8, counted from 0 "
                       "[bad-value]",
                       Error);
  fault.device = 7;
  check_fault(fault, 8);
}
