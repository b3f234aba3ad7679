// Clusters that run one program together, each with its part of the devices.

#include <doctest/doctest.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "exec/cluster.h"
#include "exec/in_process_transport.h"
#include "exec/numbers.h"
#include "exec/program_maker.h"
#include "exec/transport_library.h"

using namespace shard;
using namespace shard::test;

namespace {

/// Calls `body(transport)` on a thread for each host; what they throw, by host (empty: nothing).
std::vector<std::string> on_hosts(int hosts, const std::function<void(Transport&)>& body) {
  const auto transports = in_process_transports(hosts);
  std::vector<std::string> thrown(static_cast<std::size_t>(hosts));
  std::vector<std::thread> threads;
  for (std::size_t host = 0; host < thrown.size(); ++host) {
    threads.emplace_back([&, host] {
      try {
        body(*transports[host]);
      } catch (const Error& error) {
        thrown[host] = to_string(error.diagnostics().front());
      } catch (const std::exception& error) {
        thrown[host] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

ClusterOptions options_of(int hosts, int workers = 2) {
  ClusterOptions options;
  options.workers = workers;
  options.collectives = {CollectiveAlgorithm::hierarchical, hosts};
  return options;
}

struct HostsRan {
  std::vector<HostTensor> outputs;
  Counters counters;
};

HostsRan run_steps(const Program& program, const ClusterOptions& options) {
  Cluster cluster(program, options);
  for (std::size_t input = 0; input < program.inputs.size(); ++input) {
    cluster.write_input(input, random_tensor(program.inputs[input].global, input));
  }
  cluster.run();
  cluster.run();
  HostsRan ran;
  for (std::size_t output = 0; output < program.outputs.size(); ++output) {
    ran.outputs.push_back(cluster.read_output(output));
  }
  ran.counters = cluster.counters();
  return ran;
}

bool count_alike(const Counters& a, const Counters& b) {
  const auto same_axes = [](const AxisCounter& x, const AxisCounter& y) {
    return x.axes == y.axes && x.wire == y.wire && x.collectives == y.collectives;
  };
  const auto same_links = [](const CollectiveLinks& x, const CollectiveLinks& y) {
    return x.collective == y.collective &&
           std::equal(x.links.begin(), x.links.end(), y.links.begin(), y.links.end(),
                      [](const auto& p, const auto& q) {
                        return p.first == q.first && p.second.messages == q.second.messages &&
                               p.second.bytes == q.second.bytes;
                      });
  };
  const auto calls = [](const Counters& counters) {
    std::vector<std::string> texts;
    for (const KindCounter& kind : counters.kinds) {
      texts.push_back(kind.kind + " " + std::to_string(kind.calls));
    }
    std::sort(texts.begin(), texts.end());
    return texts;
  };
  return a.steps == b.steps && a.peak == b.peak && calls(a) == calls(b) &&
         std::equal(a.axes.begin(), a.axes.end(), b.axes.begin(), b.axes.end(), same_axes) &&
         std::equal(a.links.begin(), a.links.end(), b.links.begin(), b.links.end(), same_links);
}

void check_as_one_process(const Program& program, const std::vector<int>& hosts_to_try) {
  for (const int hosts : hosts_to_try) {
    const HostsRan expected = run_steps(program, options_of(hosts));
    for (const int workers : {0, 1, 3}) {
      CAPTURE(hosts);
      CAPTURE(workers);
      std::vector<HostsRan> ran(static_cast<std::size_t>(hosts));
      const std::vector<std::string> thrown = on_hosts(hosts, [&](Transport& transport) {
        ClusterOptions options = options_of(hosts, workers);
        options.has_thread_per_device = workers == 0;
        options.transport = &transport;
        ran[static_cast<std::size_t>(transport.self())] = run_steps(program, options);
      });
      CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(hosts)));
      for (const HostsRan& one : ran) {
        CHECK(one.outputs == expected.outputs);
        CHECK(count_alike(one.counters, expected.counters));
      }
    }
  }
}

Collective moving(CollectiveKind kind, std::vector<AxisRef> axes, int dim, int split_dim = -1) {
  Collective collective;
  collective.kind = kind;
  collective.axes = std::move(axes);
  collective.dim = dim;
  collective.split_dim = split_dim;
  return collective;
}

/// On x 2, y 4: sums over everything, both axes and parts of them, and every way to move.
Program all_kinds() {
  const Mesh mesh = make_mesh_of({{"x", 2}, {"y", 4}});
  const AxisRef x = mesh.full(0), y = mesh.full(1), major{1, 1, 2}, minor{1, 2, 2};
  ProgramMaker maker(mesh);
  const TensorType whole{DType::f32, {16, 3'200}}, part{DType::f32, {2, 3'200}};
  BufferId value = maker.input("a", whole, sharding_of({{x, y}, {}}));
  for (const std::vector<AxisRef>& axes : {std::vector<AxisRef>{x}, {x, major}, {minor}, {x, y}}) {
    value = maker.collective(all_reduce(axes), value, part);
  }
  maker.output("sum", value, part, sharding_of({{}, {}}));
  const TensorType exchanged{DType::f32, {16, 400}};
  const BufferId turned =
      maker.collective(moving(CollectiveKind::all_to_all, {x, y}, 0, 1), value, exchanged);
  maker.output("turned", turned, {DType::f32, {16, 3'200}}, sharding_of({{}, {x, y}}));
  const BufferId gathered =
      maker.collective(moving(CollectiveKind::all_gather, {x}, 1), turned, {DType::f32, {16, 800}});
  maker.output("gathered", gathered, {DType::f32, {16, 3'200}}, sharding_of({{}, {y}}));
  Collective scatter = moving(CollectiveKind::reduce_scatter, {x, y}, 0);
  scatter.reduction = Reduction::sum;
  const BufferId scattered = maker.collective(scatter, gathered, {DType::f32, {2, 800}});
  maker.output("scattered", scattered, {DType::f32, {16, 800}}, sharding_of({{x, y}, {}}));
  Collective permute = moving(CollectiveKind::collective_permute, {x, y}, -1);
  permute.from = sharding_of({{x, y}, {}}).dims;
  permute.to = sharding_of({{y, x}, {}}).dims;
  const BufferId permuted = maker.collective(permute, scattered, {DType::f32, {2, 800}});
  maker.output("permuted", permuted, {DType::f32, {16, 800}}, sharding_of({{y, x}, {}}));
  Collective broadcast = moving(CollectiveKind::collective_broadcast, {y, x}, -1);
  broadcast.source = 5;
  const BufferId sent = maker.collective(broadcast, permuted, {DType::f32, {2, 800}});
  maker.output("sent", sent, {DType::f32, {2, 800}}, sharding_of({{}, {}}));
  return maker.program;
}

/// An all_reduce over hosts in every iteration of a loop.
Program in_a_loop() {
  const Mesh mesh = make_mesh_of({{"x", 4}});
  ProgramMaker maker(mesh);
  const TensorType type{DType::f32, {900}};
  const BufferId start = maker.input("a", type, sharding_of({{}}));
  const BufferId carry = maker.buffer(type, "carry");
  const BufferId negated = maker.buffer(type, "negated");
  const int body = maker.add_body();
  maker.compute_into(negated, Op::negate, {carry}, {}, body);
  Instruction sum;
  sum.kind = Instruction::Kind::collective;
  sum.operands = sum.results = {negated};
  sum.collective = all_reduce({mesh.full(0)});
  Body& made = maker.program.bodies[static_cast<std::size_t>(body)];
  made.instructions.push_back(std::move(sum));
  made.parameters = {carry};
  made.results = {negated};
  const BufferId end = maker.buffer(type, "end");
  maker.loop(body, {start}, {end},
             {{"times", std::int64_t{5}},
              {"carries", std::int64_t{1}},
              {"stacked", std::int64_t{0}},
              {"reverse", std::int64_t{0}}});
  maker.output("y", end, type, sharding_of({{}}));
  return maker.program;
}

/// Of two hosts the first, which cannot tell many messages apart.
class FewTags : public Transport {
 public:
  int hosts() const override { return 2; }
  int self() const override { return 0; }
  int hosts_on_machine() const override { return 2; }
  std::string description() const override { return "Tiny MPI 1.0"; }
  int largest_tag() const override { return 5; }
  void start(Exchange) override { FAIL("nothing is started"); }
  void abandon() override {}
  void fail(const std::string&, int) override {}
};

std::vector<std::string> failures(const Program& program, int hosts, const Fault& fault,
                                  Seconds timeout) {
  return on_hosts(hosts, [&](Transport& transport) {
    ClusterOptions options = options_of(hosts);
    options.transport = &transport;
    options.fault = fault;
    options.timeout = timeout;
    run_steps(program, options);
  });
}

}  // namespace

TEST_CASE("hosts that run one program together give the bits and counts of one process") {
  check_as_one_process(all_kinds(), {1, 2, 4, 8});
  check_as_one_process(split_product(), {2, 4});
}

TEST_CASE("a loop's collectives cross in every iteration") {
  check_as_one_process(in_a_loop(), {2, 4});
}

TEST_CASE("members of a collective on several hosts have one number in every host's timeline") {
  const Program program = in_a_loop();
  std::vector<Timeline> timelines(2);
  const auto thrown = on_hosts(2, [&](Transport& transport) {
    ClusterOptions options = options_of(2);
    options.transport = &transport;
    timelines[static_cast<std::size_t>(transport.self())] =
        Cluster(program, options).run_recorded();
  });
  CHECK(thrown == std::vector<std::string>(2));
  for (const Timeline& timeline : timelines) {
    std::map<std::int64_t, std::vector<std::pair<int, std::int64_t>>> meetings;
    for (const TimelineSpan& span : timeline.spans) {
      if (span.meeting >= 0) meetings[span.meeting].emplace_back(span.device, span.iteration);
    }
    REQUIRE(meetings.size() == 5);
    for (std::int64_t i = 0; i < 5; ++i) {
      CHECK(meetings[i] ==
            std::vector<std::pair<int, std::int64_t>>{{0, i}, {1, i}, {2, i}, {3, i}});
    }
  }
}

TEST_CASE("a device that is lost ends the run of its host and of those that wait for it") {
  Fault fault;
  fault.kind = FaultKind::kill_device;
  fault.device = 3;
  CHECK(failures(in_a_loop(), 2, fault, {1}) ==
        std::vector<std::string>{
            "error: host 1 has not done its part of all_reduce x within 1 s [host-stuck]\n"
            "  hint: `--timeout SECONDS` sets how long one instruction may take",
            "error: device 3 at instruction 0 (copy) stopped and does not come back "
            "[device-lost]"});
}

TEST_CASE("copies on two hosts that differ are named on every host") {
  Fault fault;
  fault.device = 2;
  fault.at = 11;  // the copy of the loop's result, behind all sums
  const auto failure = [](const std::string& devices) {
    return "error: devices " + devices +
           " hold different values of 'y', first at index [0]; copies of the same piece must be "
           "equal to the bit [replicas-differ]";
  };
  CHECK(failures(in_a_loop(), 2, fault, {}) == std::vector<std::string>(2, failure("2 and 3")));
  CHECK(failures(in_a_loop(), 4, fault, {}) == std::vector<std::string>(4, failure("0 and 2")));
}

TEST_CASE("a collective dropped on one host leaves wrong numbers and no one waiting") {
  Fault fault;
  fault.kind = FaultKind::drop_collective;
  fault.device = 0;
  const std::vector<std::string> found = failures(split_product(), 4, fault, {5});
  CHECK(found == std::vector<std::string>(4, found.front()));
}

TEST_CASE("devices that hosts do not divide are refused on every host") {
  const std::vector<std::string> found = on_hosts(3, [&](Transport& transport) {
    ClusterOptions options = options_of(3);
    options.transport = &transport;
    Cluster(split_product(), options);
  });
  CHECK(found ==
        std::vector<std::string>(
            3,
            "error: 4 virtual devices cannot be divided evenly over 3 hosts [hosts-indivisible]\n"
            "  hint: choose a number of hosts that divides the devices"));
}

TEST_CASE("more groups than messages can be told apart for are refused") {
  FewTags transport;
  ClusterOptions options = options_of(2);
  options.transport = &transport;
  std::string refusal;
  try {
    Cluster(split_product(), options);
  } catch (const Error& error) {
    refusal = to_string(error.diagnostics().front());
  }
  CHECK(refusal ==
        "error: the program's collectives need 6 message tags, and Tiny MPI 1.0 has 5 "
        "[too-many-groups]\n"
        "  hint: a coarser mesh has fewer groups");
}

TEST_CASE("every host hears what each says") {
  const std::vector<std::string> wrong = on_hosts(3, [&](Transport& transport) {
    for (int round = 0; round < 3; ++round) {
      const std::byte self = static_cast<std::byte>(transport.self());
      const std::vector<std::byte> own(static_cast<std::size_t>(transport.self() * round), self);
      const auto all = gather(&transport, own);
      for (std::size_t host = 0; host < all.size(); ++host) {
        const std::vector<std::byte> expected(host * static_cast<std::size_t>(round),
                                              static_cast<std::byte>(host));
        if (all[host] != expected) throw std::runtime_error("round " + std::to_string(round));
      }
    }
  });
  CHECK(wrong == std::vector<std::string>(3));
}

TEST_CASE("a transport comes from the first library that exists or it is said why not") {
  const auto refusal = [](const std::vector<std::filesystem::path>& libraries) {
    try {
      open_transport(libraries);
    } catch (const Error& error) {
      return to_string(error.diagnostics().front());
    }
    return std::string("opened");
  };
  CHECK(refusal({"no/such/library.so"}) ==
        "--backend: error: this shard-plan was built without MPI [no-mpi]\n"
        "  hint: on Debian: apt-get install libopenmpi-dev openmpi-bin, then configure and build "
        "again");
  const std::string other = FAKE_BLAS_SERIAL;
  CHECK(refusal({"no/such/library.so", other}) ==
        "--backend: error: '" + other + "' is no backend of this program: " + other +
            ": undefined symbol: shard_open_transport [no-mpi]\n"
            "  hint: install it together with the program");
  const std::string text = SHARD_TESTS_DIR "/CMakeLists.txt";
  CHECK(refusal({text}) == "--backend: error: the MPI backend cannot be opened: " + text +
                               ": invalid ELF header [no-mpi]\n"
                               "  hint: on Debian: apt-get install openmpi-bin");
}
