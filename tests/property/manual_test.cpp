// Collectives of manual regions against what they are by definition, worked out part by part; on
// eight devices, with the bytes of the plan.

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "exec/cluster.h"
#include "exec/measure.h"
#include "planned_equals_counted.h"
#include "support/pipeline.h"

using namespace shard;
using namespace shard::test;

namespace {

constexpr int rows = 8, columns = 16, devices = 4, width = columns / devices;

double element(int row, int column) { return row * 0.5 - column * 0.25 + row * column * 0.125; }

HostTensor table(Shape shape, const std::function<double(int, int)>& at) {
  HostTensor tensor = zeros({DType::f32, std::move(shape)});
  const auto across = static_cast<int>(tensor.type.shape.back());
  for (std::int64_t i = 0; i < element_count(tensor.type.shape); ++i) {
    tensor.data<float>()[i] =
        static_cast<float>(at(static_cast<int>(i) / across, static_cast<int>(i) % across));
  }
  return tensor;
}

/// What the layers of a region make of the array cut along its columns.
HostTensor region(const std::string& layers, const std::string& out_specs,
                  const std::string& block = "[relu]") {
  const std::string model =
      "blocks: {Block: " + block +
      "}\ninputs: {x: \"f32[rows=8, columns=16]\"}\nlayers:\n"
      "  - manual:\n      axes: [model]\n      in_specs: \"P(None, model)\"\n      out_specs: " +
      out_specs + "\n      layers: [" + layers + "]\n";
  const Planned planned = plan_texts(model, "mesh: {data: 2, model: 4}\nrules: []\n", false);
  Cluster cluster(planned.program, {});
  cluster.write_input(0, table({rows, columns}, element));
  cluster.run();
  CHECK(differences_from_plan(planned.program, cluster) == std::vector<std::string>{});
  return cluster.read_output(0);
}

void check_region(const std::string& layers, const std::string& out_specs, Shape shape,
                  const std::function<double(int, int)>& expected,
                  const std::string& block = "[relu]") {
  CAPTURE(layers);
  const HostTensor found = region(layers, out_specs, block);
  const HostTensor wanted = table(std::move(shape), expected);
  REQUIRE(found.type == wanted.type);
  CHECK(compare("output", found, wanted, 1e-6).is_ok());
}

double sum_at(int row, int column) {
  double sum = 0;
  for (int device = 0; device < devices; ++device) sum += element(row, device * width + column);
  return sum;
}

}  // namespace

TEST_CASE("sums and extrema of a manual region are over the devices' parts") {
  check_region("psum: model", "P()", {rows, width}, sum_at);
  check_region("pmean: model", "P()", {rows, width},
               [](int row, int column) { return sum_at(row, column) / devices; });
  check_region("pmax: model", "P()", {rows, width}, [](int row, int column) {
    double largest = -1e9;
    for (int device = 0; device < devices; ++device) {
      largest = std::max(largest, element(row, device * width + column));
    }
    return largest;
  });
  check_region("pmin: model", "P()", {rows, width}, [](int row, int column) {
    double smallest = 1e9;
    for (int device = 0; device < devices; ++device) {
      smallest = std::min(smallest, element(row, device * width + column));
    }
    return smallest;
  });
  check_region("psum: model, psum: model", "P()", {rows, width},
               [](int row, int column) { return sum_at(row, column) * devices; });
}

TEST_CASE("gathers and scatters of a manual region cut along the dim they name") {
  check_region("all_gather: {axes: model, dim: 1}", "\"P(None, model)\"", {rows, columns * devices},
               [](int row, int column) { return element(row, column % columns); });
  check_region("psum_scatter: {axes: model, dim: 1}", "\"P(None, model)\"", {rows, width}, sum_at);
  check_region("psum_scatter: {axes: model, dim: 0}", "P(model)", {rows, width}, sum_at);
}

TEST_CASE("an exchange in a manual region splits one dim and joins another") {
  check_region("all_to_all: {axes: model, split: 0, concat: 1}", "P(model)", {rows, columns},
               element);
  // Each device sends a row block; what arrives stands below each other.
  check_region("all_to_all: {axes: model, split: 0, concat: 0}", "\"P(None, model)\"",
               {rows, columns}, [](int row, int column) {
                 const int part = rows / devices, sender = row / part, at = column / width;
                 return element(at * part + row % part, sender * width + column % width);
               });
}

TEST_CASE("a permutation in a manual region sends the parts on") {
  check_region(
      "ppermute: {axes: model, shift: 1}", "\"P(None, model)\"", {rows, columns},
      [](int row, int column) { return element(row, (column + columns - width) % columns); });
  check_region("ppermute: {axes: model, pairs: [[0, 1], [1, 0], [3, 2]]}", "\"P(None, model)\"",
               {rows, columns}, [](int row, int column) {
                 constexpr int source[] = {1, 0, 3, -1};
                 const int from = source[column / width];
                 return from < 0 ? 0.0 : element(row, from * width + column % width);
               });
}

TEST_CASE("a permutation in a manual region is one collective_permute") {
  const auto planned_of = [](const std::string& permute) {
    return plan_texts(
        "sizes: {rows: 8, columns: 16}\ninputs: {x: \"f32[rows, columns]\"}\nlayers:\n  - param: "
        "{name: w, axes: "
        "[rows, \"columns@model\"]}\n  - manual: {of: [x, w], axes: [model], in_specs: [\"P(None, "
        "model)\", \"P(None, model)\"], out_specs: \"P(None, model)\", layers: [let: y = x * w, " +
            permute +
            "]}\ntrain: {loss: mean, optimizer: {sgd: {learning_rate: 0.1}}, returns: [grads]}\n",
        "mesh: {data: 2, model: 4}\nrules: []\n");
  };
  struct Sent {
    std::string permute;
    std::vector<std::vector<int>> senders;  ///< forward, then those of the gradient
    std::int64_t wire;
  };
  const std::vector<Sent> all = {
      {"ppermute: {axes: model, shift: 1}", {{1, 2, 3, 0}}, 128},
      {"ppermute: {axes: model, pairs: [[0, 1], [1, 3]]}", {{1, 3, -1, -1}}, 128},
      {"ppermute: {axes: model, pairs: [[2, 2]]}", {{-1, -1, 2, -1}}, 0},
  };
  for (const Sent& one : all) {
    CAPTURE(one.permute);
    const Planned planned = planned_of(one.permute);
    std::vector<std::vector<int>> senders;
    for (const Instruction& instruction : planned.program.main().instructions) {
      if (!instruction.collective || instruction.collective->senders.empty()) continue;
      CHECK(instruction.collective->kind == CollectiveKind::collective_permute);
      CHECK(instruction.collective->wire == Bytes(one.wire));
      senders.push_back(instruction.collective->senders);
    }
    CHECK(senders == one.senders);
    for (const CollectiveCount& count : count_collectives(planned.program)) {
      CHECK(count.kind != CollectiveKind::all_to_all);
    }
  }
}

TEST_CASE("a broadcast in a manual region gives all the part of one device") {
  check_region("pbroadcast: {axes: model, source: 2}", "\"P(None, model)\"", {rows, columns},
               [](int row, int column) { return element(row, 2 * width + column % width); });
  // What is the same on all of them stays so.
  check_region("psum: model, pbroadcast: {axes: model, source: 3}", "\"P(None, model)\"",
               {rows, columns}, [](int row, int column) { return sum_at(row, column % width); });
}

TEST_CASE("a broadcast in a manual region is one collective of one part") {
  const std::string model =
      "inputs: {x: \"f32[rows=8, columns=16]\"}\nlayers:\n"
      "  - manual:\n      in_specs: \"P(data, model)\"\n      out_specs: \"P(data, model)\"\n"
      "      layers: [pbroadcast: {axes: [model, data], source: 5}]\n";
  const Planned planned = plan_texts(model, "mesh: {data: 2, model: 4}\nrules: []\n", false);
  const std::vector<CollectiveCount> counts = count_collectives(planned.program);
  REQUIRE(counts.size() == 1);
  CHECK(counts[0].kind == CollectiveKind::collective_broadcast);
  CHECK(counts[0].payload == Bytes(4 * 4 * 4));
  CHECK(counts[0].wire == Bytes(4 * 4 * 4));
  Cluster cluster(planned.program, {});
  cluster.write_input(0, table({rows, columns}, element));
  cluster.run();
  CHECK(differences_from_plan(planned.program, cluster) == std::vector<std::string>{});
  // Number 5 along model and data is the third of model and the second of data.
  const HostTensor wanted = table({rows, columns}, [](int row, int column) {
    return element(4 + row % 4, 2 * width + column % width);
  });
  CHECK(compare("output", cluster.read_output(0), wanted, 1e-6).is_ok());
}

namespace {

/// Each of eight devices along [model, data] sends its first row to the fourth row of the next one,
/// and the `sent` others to the one three further on.
struct RowExchange {
  static constexpr int members = 8, in_rows = 3, out_rows = 5, across = 2;
  int sent = 2;

  int number(const char* list, int member, int other) const {
    const bool is_next = other == (member + 1) % members,
               is_third = other == (member + 3) % members;
    const std::string_view name(list);
    if (name == "recv_sizes") {
      if (other == (member + members - 1) % members) return 1;
      return other == (member + members - 3) % members ? sent : 0;
    }
    if (name == "send_sizes") return is_next ? 1 : is_third ? sent : 0;
    if (name == "input_offsets") return is_third ? 1 : 0;
    return is_next ? 4 : is_third ? 1 : 0;
  }

  /// By rows of the whole arrays.
  double expected(int row, int column) const {
    const int member = row / out_rows, at = row % out_rows;
    if (at == 4) return element((member + members - 1) % members * in_rows, column);
    if (at >= 1 && at <= sent) {
      return element((member + members - 3) % members * in_rows + at, column);
    }
    return -element(row, column);
  }
};

Planned planned_exchange(const std::string& axes) {
  return plan_texts(
      "inputs: {x: \"f32[rows=24, columns=2]\", into: \"f32[room=40, columns=2]\", a: "
      "\"i32[entries=64]\", b: \"i32[entries=64]\", c: \"i32[entries=64]\", d: "
      "\"i32[entries=64]\"}\n"
      "layers:\n  - manual:\n      of: [x, into, a, b, c, d]\n      in_specs: \"P((" +
          axes + "))\"\n      out_specs: \"P((" + axes +
          "))\"\n      layers: [ragged_all_to_all: {of: [x, into, a, b, c, d], axes: [" + axes +
          "]}]\n",
      "mesh: {data: 2, model: 4}\nrules: []\n", false);
}

}  // namespace

TEST_CASE("an exchange of rows in a manual region is one collective of what is sent") {
  for (const char* const axes : {"model, data", "data, model"}) {
    for (const int sent : {0, 1, 2}) {
      CAPTURE(axes);
      CAPTURE(sent);
      const RowExchange exchange{sent};
      const Planned planned = planned_exchange(axes);
      const std::vector<CollectiveCount> counts = count_collectives(planned.program);
      REQUIRE(counts.size() == 1);
      CHECK(counts[0].kind == CollectiveKind::ragged_all_to_all);
      CHECK(counts[0].payload == Bytes(3 * 2 * 4));
      CHECK(counts[0].wire == Bytes(3 * 2 * 4));
      REQUIRE_NOTHROW(verify(planned.program));
      CHECK(read_program("p", to_string(planned.program)) == planned.program);
      Cluster cluster(planned.program, {});
      cluster.write_input(0, table({24, 2}, element));
      cluster.write_input(
          1, table({40, 2}, [](int row, int column) { return -element(row, column); }));
      std::size_t input = 2;
      for (const char* const list :
           {"input_offsets", "send_sizes", "output_offsets", "recv_sizes"}) {
        HostTensor numbers = zeros({DType::i32, {64}});
        for (int k = 0; k < 64; ++k) {
          numbers.data<std::int32_t>()[k] = exchange.number(list, k / 8, k % 8);
        }
        cluster.write_input(input++, numbers);
      }
      cluster.run();
      const HostTensor wanted =
          table({40, 2}, [&](int row, int column) { return exchange.expected(row, column); });
      CHECK(compare("output", cluster.read_output(0), wanted, 0).is_ok());
      REQUIRE(cluster.counters().axes.size() == 1);
      CHECK(cluster.counters().axes[0].wire == Bytes((1 + sent) * 2 * 4));
      CHECK(differences_from_plan(planned.program, cluster).empty() == (sent == 2));
    }
  }
}

TEST_CASE("a device of a manual region knows its number along an axis") {
  check_region(
      "axis_index: {name: me, axes: model}, convert: {of: me, dtype: f32, name: number}, "
      "let: y = x * 0 + number",
      "\"P(None, model)\"", {rows, columns},
      [](int /*row*/, int column) { return column / width; });
}

TEST_CASE("a loop in a manual region passes the parts on in every iteration") {
  const auto passed_on = [](int row, int column) {
    return element(row, (column + columns - 3 * width) % columns);
  };
  for (const char* scan : {"false", "true"}) {
    check_region("repeat: {block: Block, times: 3, axis: null, scan: " + std::string(scan) + "}",
                 "\"P(None, model)\"", {rows, columns}, passed_on,
                 "[ppermute: {axes: model, shift: 1}]");
  }
}

TEST_CASE("a loop in a manual region hands on several values and keeps some of each iteration") {
  // Every device adds up what all have, sent round the ring, and keeps what it got.
  const std::string block =
      "{inputs: [x, part], layers: [let: sum = x + part, ppermute: {of: part, axes: model, "
      "shift: 1, name: part}, let: got = part * 1, let: next = sum * 1]}";
  for (const char* scan : {"false", "true"}) {
    CAPTURE(scan);
    const std::string repeat =
        "let: zero = x * 0, repeat: {block: Block, of: [zero, x], times: 4, axis: null, carries: "
        "part, stacks: got, into: [last, all], scan: " +
        std::string(scan) + "}";
    check_region(
        repeat, "\"P(None, model)\"", {rows, columns},
        [](int row, int column) { return sum_at(row, column % width); }, block);
    check_region(repeat + ", let: y = last * 1", "\"P(None, model)\"", {rows, columns}, element,
                 block);
    // Of the second iteration: what the device two before has.
    check_region(
        repeat +
            ", slice: {of: all, dim: 0, start: 1, limit: 2, name: one}, "
            "reshape: {of: one, shape: [rows=8, 4], name: y}",
        "\"P(None, model)\"", {rows, columns},
        [](int row, int column) { return element(row, (column + columns - 2 * width) % columns); },
        block);
  }
}

TEST_CASE("what a loop in a manual region carries may begin to differ inside") {
  check_region(
      "psum: model, repeat: {block: Block, times: 3, scan: true, axis: null}", "\"P(None, model)\"",
      {rows, columns},
      [](int row, int column) { return sum_at(row, column % width) + 3 * (column / width); },
      "[axis_index: {name: me, axes: model}, convert: {of: me, dtype: f32, name: number}, "
      "let: y = x + number]");
  // Where it does not, the result is the same everywhere, and no device has it four times.
  check_region(
      "psum: model, repeat: {block: Block, times: 3, scan: true, axis: null}", "P()", {rows, width},
      [](int row, int column) { return sum_at(row, column) * 64; }, "[psum: model]");
}

TEST_CASE("every sum that a manual region asks for is made by itself") {
  const std::string model =
      "inputs: {x: \"f32[rows=8, columns=16]\", y: \"f32[rows=8, columns=16]\"}\nlayers:\n"
      "  - manual:\n      of: [x, y]\n      in_specs: \"P(None, model)\"\n      out_specs: P()\n"
      "      layers: [psum: {of: x, axes: model, name: a}, psum: {of: y, axes: model, name: b}, "
      "let: c = a * 2 + b]\n";
  const Planned planned = plan_texts(model, "mesh: {data: 2, model: 4}\nrules: []\n", false);
  const std::vector<CollectiveCount> counts = count_collectives(planned.program);
  REQUIRE(counts.size() == 1);
  CHECK(counts[0].kind == CollectiveKind::all_reduce);
  CHECK(counts[0].count == 2);
  Cluster cluster(planned.program, {});
  cluster.write_input(0, table({rows, columns}, element));
  cluster.write_input(1, table({rows, columns}, element));
  cluster.run();
  CHECK(differences_from_plan(planned.program, cluster) == std::vector<std::string>{});
  const HostTensor wanted =
      table({rows, width}, [](int row, int column) { return 3 * sum_at(row, column); });
  CHECK(compare("output", cluster.read_output(0), wanted, 1e-6).is_ok());
}
