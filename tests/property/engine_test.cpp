// Random programs of all kinds, executed: what the devices give together is what the whole gives,
// in auto mode, explicit mode and with some axes of each; bytes and peaks are those of the plan. A
// program that fails is made smaller before it is shown.
//
// SHARD_PLAN_CASES and SHARD_PLAN_FIRST_SEED make a long run of it.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "exec/cluster.h"
#include "exec/measure.h"
#include "exec/reference.h"
#include "property/op_cases.h"
#include "property/planned_equals_counted.h"
#include "spmd/fuse.h"
#include "spmd/partition.h"
#include "spmd/random_program.h"

using namespace shard;
using namespace shard::test;

namespace {

using Lines = std::vector<std::string>;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::vector<HostTensor> drawn_inputs(const Graph& graph, std::uint64_t seed) {
  std::vector<HostTensor> inputs;
  for (const GraphInput& input : graph.inputs)
    inputs.push_back(drawn_values(graph.value(input.value).type, 8, seed * 31 + inputs.size()));
  return inputs;
}

/// Some number is so large that differences mean nothing.
bool overflows(const std::vector<HostTensor>& outputs) {
  for (const HostTensor& output : outputs) {
    for (std::int64_t i = 0; i < element_count(output.type.shape); ++i) {
      if (!(std::abs(output.data<float>()[i]) < 1e20F)) return true;
    }
  }
  return false;
}

std::vector<HostTensor> run_on(const Program& program, int workers,
                               const std::vector<HostTensor>& inputs, Lines& lines) {
  Cluster cluster(program, {workers});
  for (std::size_t i = 0; i < inputs.size(); ++i) cluster.write_input(i, inputs[i]);
  cluster.run();
  for (const std::string& line : differences_from_plan(program, cluster)) lines.push_back(line);
  std::vector<HostTensor> outputs;
  for (std::size_t i = 0; i < program.outputs.size(); ++i)
    outputs.push_back(cluster.read_output(i));
  return outputs;
}

/// The same program, all axes of size 1.
Program on_one_device(const tests::RandomProgram& one) {
  std::vector<MeshAxisInfo> axes = one.mesh.axes();
  for (MeshAxisInfo& axis : axes) axis.size = 1;
  return partition(shard_graph(one.graph, one.rules, Mesh(std::move(axes))));
}

/// Nothing where the numbers overflow; otherwise what differs from the whole, from the plan, or
/// between one worker and three. Sums that cancel and functions that saturate are off on one device
/// too, and ten times as much may be seen on several.
std::optional<Lines> run_from(const tests::RandomProgram& one, const ShardedGraph& sharded,
                              const Program& program, std::uint64_t seed) {
  const std::vector<HostTensor> inputs = drawn_inputs(sharded.given(), seed);
  const std::vector<HostTensor> expected = run_reference(sharded.given(), inputs);
  if (overflows(expected)) return std::nullopt;
  Lines lines;
  const std::vector<HostTensor> found = run_on(program, 1, inputs, lines);
  if (run_on(program, 3, inputs, lines) != found)
    lines.push_back("one and three workers give different bytes");
  if (run_on(fused(program), 2, inputs, lines) != found)
    lines.push_back("fused loops give other bytes");
  std::vector<HostTensor> whole;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::string& path = sharded.graph.outputs[i].path;
    const Difference difference = compare(path, found[i], expected[i], 1e-4);
    if (difference.is_ok()) continue;
    if (whole.empty()) whole = run_on(on_one_device(one), 1, inputs, lines);
    const Difference usual = compare(path, whole[i], expected[i], 1e-4);
    if (difference.largest <= 10 * usual.largest) continue;
    lines.push_back(path + " differs by " + std::to_string(difference.largest) + " at " +
                    std::to_string(difference.index));
  }
  return lines;
}

enum class Outcome { equal, refused, overflowed };

/// What is wrong with the program, one line each. Padding is refused, by name, for ops that need a
/// whole dim; everything else must be computed.
Lines faults_of(const tests::RandomProgram& one, std::uint64_t seed, Outcome& outcome) {
  outcome = Outcome::equal;
  try {
    const ShardedGraph sharded = shard_graph(one.graph, one.rules, one.mesh);
    const Program program = partition(sharded);
    verify(program);
    if (read_program("program", to_string(program)) != program) return {"reads back differently"};
    verify(fused(program));
    // Rounding can flip a comparison or the position of a largest element, and then what follows
    // differs. That does not happen again from other values; a wrong program does.
    Lines lines;
    int compared = 0;
    for (std::uint64_t values : {1, 2, 3}) {
      const std::optional<Lines> found = run_from(one, sharded, program, 100 * seed + values);
      if (!found) continue;
      ++compared;
      lines = *found;
      if (lines.empty()) break;
    }
    if (compared == 0) outcome = Outcome::overflowed;
    return lines;
  } catch (const Error& error) {
    outcome = Outcome::refused;
    Lines lines;
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      const bool is_expected = one.rules.misfit == Misfit::pad && diagnostic.id == "indivisible";
      if (!is_expected) lines.push_back(diagnostic.id + ": " + diagnostic.message);
    }
    return lines;
  } catch (const std::exception& broken) {
    return {broken.what()};
  }
}

Lines faults_of(const std::vector<std::uint32_t>& choices, std::uint64_t seed) {
  Choices replayed(choices);
  Outcome outcome{};
  return faults_of(tests::random_program(replayed), seed, outcome);
}

/// What the devices do, as far as it was planned.
std::string planned_text(const tests::RandomProgram& one) {
  try {
    return to_string(partition(shard_graph(one.graph, one.rules, one.mesh)));
  } catch (const std::exception&) {
    return "";
  }
}

std::string text_of(const tests::RandomProgram& program) {
  std::string types;
  for (const MeshAxisInfo& axis : program.mesh.axes()) types += " " + to_string(axis.type);
  return to_string(program.mesh) + types +
         (program.rules.misfit == Misfit::pad ? " misfit pad\n" : "\n") + to_string(program.graph) +
         planned_text(program);
}

/// What kind of fault it is: the first line without its numbers.
std::string kind_of(const Lines& lines) {
  std::string kind = lines.empty() ? "" : lines.front();
  std::erase_if(kind, [](char c) { return c >= '0' && c <= '9'; });
  return kind;
}

/// The smallest program found that fails in the same way, and how.
std::string smallest(const std::vector<std::uint32_t>& choices, std::uint64_t seed) {
  const std::string kind = kind_of(faults_of(choices, seed));
  const auto fails = [&](std::vector<std::uint32_t> some) {
    return kind_of(faults_of(some, seed)) == kind;
  };
  const std::vector<std::uint32_t> small = shrink(choices, fails, 600);
  Choices replayed(small);
  std::string text = text_of(tests::random_program(replayed));
  for (const std::string& line : faults_of(small, seed)) text += line + "\n";
  return text + "choices " + to_text(small);
}

}  // namespace

TEST_CASE("random programs of all modes give on their devices what they give whole") {
  const std::uint64_t first = number_from("SHARD_PLAN_FIRST_SEED", 1);
  const std::uint64_t cases = number_from("SHARD_PLAN_CASES", 300);
  std::uint64_t equal = 0, refused = 0, overflowed = 0, wrong = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    Choices choices(seed);
    const tests::RandomProgram program = tests::random_program(choices);
    Outcome outcome{};
    if (faults_of(program, seed, outcome).empty()) {
      ++(outcome == Outcome::equal ? equal : outcome == Outcome::refused ? refused : overflowed);
      continue;
    }
    ++wrong;
    FAIL_CHECK("seed " << seed << "\n" << smallest(choices.taken(), seed));
  }
  std::cout << "random programs: " << equal << " equal, " << wrong << " wrong, " << refused
            << " refused (padding), " << overflowed << " left out (numbers overflow)\n";
  CHECK(equal > cases / 2);
}

TEST_CASE("a failing case is shrunk to the choices that make it fail") {
  const auto fails = [](const std::vector<std::uint32_t>& choices) {
    std::uint32_t sum = 0;
    for (const std::uint32_t one : choices) sum += one;
    return sum >= 7;
  };
  CHECK(to_text(shrink(choices_of("3 0 9 1 1 1 40 2"), fails, 1000)) == "7");
}
