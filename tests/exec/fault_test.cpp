#include "exec/fault.h"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>

#include "exec/cluster.h"
#include "exec/measure.h"
#include "exec/numbers.h"
#include "exec/program_maker.h"

using namespace shard;
using namespace shard::test;

namespace {

const HostTensor& left() {
  static const HostTensor x = random_tensor({DType::f32, {4, 8}}, 1);
  return x;
}
const HostTensor& right() {
  static const HostTensor w = random_tensor({DType::f32, {8, 6}}, 2);
  return w;
}

ClusterOptions with(const Fault& fault, int workers = 2) {
  ClusterOptions options;
  options.workers = workers;
  options.fault = fault;
  return options;
}

Fault fault_of(FaultKind kind, int device) {
  Fault fault;
  fault.kind = kind;
  fault.device = device;
  return fault;
}

HostTensor product(const ClusterOptions& options) {
  Cluster cluster(split_product(), options);
  cluster.write_input(0, left());
  cluster.write_input(1, right());
  cluster.run();
  return cluster.read_output(0);
}

std::string failure_of_run(const ClusterOptions& options) {
  try {
    product(options);
  } catch (const RunFailure& failure) {
    return to_string(failure.diagnostics().front());
  }
  return "nothing was noticed";
}

std::atomic<bool> is_released{false};

KernelResult make_endless(const KernelSite&) {
  return [](const KernelCall& call) {
    while (call.device == 2 && !is_released.load()) std::this_thread::yield();
  };
}

}  // namespace

TEST_CASE("a device that is late changes no bit") {
  const HostTensor expected = product(ClusterOptions());
  for (const int workers : {1, 2, 8}) {
    Fault fault = fault_of(FaultKind::late_device, 3);
    fault.delay = {0.01};
    CHECK(product(with(fault, workers)).bytes == expected.bytes);
  }
}

TEST_CASE("a device that stops is named with those that wait for it") {
  for (const int workers : {1, 2, 8}) {
    CHECK(failure_of_run(with(fault_of(FaultKind::kill_device, 2), workers)) ==
          "error: device 2 at instruction 0 (dot) stopped and does not come back; 1 of 4 devices "
          "wait and never go on: device 3 at instruction 1 (all_reduce model) [device-lost]");
  }
}

TEST_CASE("a device that stops where nobody waits for it is named alone") {
  ProgramMaker maker(make_mesh_of({{"x", 2}}));
  const BufferId a = maker.input("a", {DType::f32, {4}}, sharding_of({{}}));
  maker.output("b", maker.compute(Op::negate, {a}), {DType::f32, {4}}, sharding_of({{}}));
  Cluster cluster(maker.program, with(fault_of(FaultKind::kill_device, 1)));
  CHECK_THROWS_WITH_AS(cluster.run(),
                       doctest::Contains("device 1 at instruction 0 (negate) stopped and does not "
                                         "come back; nobody waits for it"),
                       RunFailure);
}

TEST_CASE("a dropped collective leaves partial sums and counts no bytes") {
  Cluster cluster(split_product(), with(fault_of(FaultKind::drop_collective, 0)));
  cluster.write_input(0, left());
  cluster.write_input(1, right());
  cluster.run();
  CHECK(cluster.counters().axes.front().wire == Bytes(0));
  CHECK_THROWS_WITH_AS(cluster.read_output(0), doctest::Contains("devices 0 and 1 hold different"),
                       RunFailure);
}

TEST_CASE("a flipped bit before a sum is in the sum of every member") {
  const HostTensor expected = product(ClusterOptions());
  const HostTensor found = product(with(fault_of(FaultKind::bit_flip, 1)));
  CHECK(!compare("y", found, expected, 1e-6).is_ok());
}

TEST_CASE("a device that is later than the time-out is named and all workers end") {
  for (const int workers : {1, 2, 8}) {
    Fault fault = fault_of(FaultKind::late_device, 1);
    fault.delay = {100};
    ClusterOptions options = with(fault, workers);
    options.timeout = {0.02};
    CHECK(failure_of_run(options) ==
          "error: device 1 at instruction 0 (dot) has not come to its end within 0.02 s "
          "[device-stuck]\n"
          "  hint: `--timeout SECONDS` sets how long one instruction may take");
  }
}

TEST_CASE("a worker that never comes back is given up with the device named") {
  is_released = false;
  std::string told;
  ClusterOptions options;
  options.workers = 2;
  options.timeout = {0.02};
  options.test_seam.kernels = {{Op::dot, make_endless}};
  options.given_up = [&](const RunFailure& failure) {
    told = failure.diagnostics().front().message;
    is_released = true;
  };
  CHECK(failure_of_run(options).starts_with("error: device 2 at instruction 0 (dot) has not"));
  CHECK(told == "device 2 at instruction 0 (dot) has not come to its end within 0.02 s");
}

TEST_CASE("runs within the time-out are left alone") {
  ClusterOptions options;
  options.timeout = {30};
  CHECK(product(options).bytes == product(ClusterOptions()).bytes);
}

TEST_CASE("bits are flipped where the fault says") {
  std::vector<std::byte> bytes(8, std::byte{0});
  Fault fault;
  flip_bit(fault, bytes.data(), 8, 4);
  CHECK(bytes[3] == std::byte{0x40});
  fault.element = 3;  // from the begin again: element 1
  fault.bit = 9;
  flip_bit(fault, bytes.data(), 8, 4);
  CHECK(bytes[5] == std::byte{2});
  flip_bit(Fault(), bytes.data(), 8, 1);  // a bool stays one
  CHECK(bytes[0] == std::byte{1});
  flip_bit(fault, nullptr, 0, 4);
}

TEST_CASE("a fault is described with its place") {
  CHECK(to_string(Fault()) == "bit-flip on device 0 (instruction 0, element 0 of every step)");
  CHECK(to_string(fault_of(FaultKind::drop_collective, 3)) ==
        "drop-collective on device 3 (collective 0 of every step)");
}
