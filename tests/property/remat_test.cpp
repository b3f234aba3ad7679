// Blocks whose backward pass computes their inside again: the numbers stay to the bit, and less
// memory is needed.

#include <doctest/doctest.h>

#include <cmath>

#include "exec/cluster.h"
#include "exec/initial.h"
#include "spmd/fuse.h"
#include "spmd/fused_form.h"
#include "support/pipeline.h"

using namespace shard;
using namespace shard::test;

namespace remat_runs {
namespace {

const char* const whole = "mesh: {data: 1}\nrules: []\n";
const char* const split =
    "mesh: {data: 2, model: 4}\nrules: [[batch, data], [mlp, model], [heads, model]]\n";

/// Decoders with dropout, written out or scanned.
std::string decoder(const std::string& repeat) {
  return "sizes: {batch: 4, length: 8, embed: 16, heads: 4, head_dim: 4, mlp: 32}\n"
         "inputs: {x: [batch, length, embed]}\n"
         "defaults: {use_bias: false}\n"
         "blocks:\n"
         "  Decoder:\n"
         "    - residual: [rms_norm, attention: {heads: heads, head_dim: head_dim, mask: causal}]\n"
         "    - residual: [rms_norm, swiglu: mlp, dropout: 0.25]\n"
         "    - constrain: [batch, length, embed]\n"
         "  Pair: [repeat: {block: Decoder, times: 2, scan: true, axis: null}]\n"
         "layers: [repeat: {" +
         repeat +
         "}]\n"
         "train: {loss: mse, optimizer: {sgd: 0.1}, returns: [loss, grads]}\n";
}

struct Outcome {
  std::vector<HostTensor> results;
  Bytes peak;
};

Outcome run_program(const Planned& planned, const Program& program) {
  Cluster cluster(program, {});
  for (const StateLeaf& leaf : planned.model.state) {
    const HostTensor start = leaf.role == Role::parameter
                                 ? initial_tensor(leaf.init, leaf.type, 1, leaf.path)
                                 : zeros(leaf.type);
    cluster.write_input(input_at(program, leaf.path), start);
  }
  const std::size_t x = input_at(program, "x");
  cluster.write_input(x, example_input(program.inputs[x].global, 1, "x"));
  cluster.run();
  CHECK(cluster.counters().peak.front() == program.memory.peak);
  Outcome outcome{{}, program.memory.peak};
  for (const ProgramOutput& output : program.outputs) {
    outcome.results.push_back(cluster.read_output(output_at(program, output.path)));
  }
  return outcome;
}

Outcome run_step(const std::string& model, const std::string& rules) {
  const Planned planned = plan_texts(model, rules);
  return run_program(planned, planned.program);
}

double difference(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b) {
  double most = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    for (std::int64_t i = 0; i < element_count(a[k].type.shape); ++i) {
      const double one = a[k].data<float>()[i], other = b[k].data<float>()[i];
      most = std::max(most, std::fabs(one - other));
    }
  }
  return most;
}

/// Attention over a sequence that is split between its layers.
std::string long_decoder(const std::string& length, const std::string& repeat) {
  return "sizes: {batch: 1, length: " + length +
         ", part: length, embed: 8, heads: 2, head_dim: 4}\n"
         "inputs: {x: [batch, length, embed]}\n"
         "defaults: {use_bias: false}\n"
         "blocks:\n"
         "  Decoder:\n"
         "    - residual: [rms_norm, attention: {heads: heads, head_dim: head_dim, mask: causal}]\n"
         "    - constrain: [batch, part, embed]\n"
         "layers:\n"
         "  - constrain: [batch, part, embed]\n"
         "  - repeat: {block: Decoder, times: 2, " +
         repeat +
         "}\n"
         "train: {loss: mse, optimizer: {sgd: 0.1}, returns: [loss, grads]}\n";
}

int count_named(const Program& program, std::string_view name) {
  int count = 0;
  for (const Body& body : program.bodies) {
    for (const Instruction& one : body.instructions) {
      if (one.kind == Instruction::Kind::fused && fused_name(one) == name) ++count;
    }
  }
  return count;
}

}  // namespace

TEST_CASE("attention over a split sequence makes its scores again where its gradient needs them") {
  // 1,041 positions on three devices and on four: the last one's part is padded.
  for (const std::string length : {"1040", "1041"}) {
    for (const std::string devices : {"3", "4"}) {
      for (const std::string repeat : {"scan: true, axis: null", "scan: false"}) {
        CAPTURE(length);
        CAPTURE(devices);
        CAPTURE(repeat);
        const Planned planned = plan_texts(long_decoder(length, repeat),
                                           "mesh: {seq: " + devices + "}\nrules: [[part, seq]]\n");
        const Program made_again = fused(planned.program);
        const int layers = repeat == "scan: false" ? 2 : 1;
        CHECK(count_named(made_again, "fused attention") == layers);
        CHECK(count_named(made_again, "fused attention gradient") == layers);
        const Outcome kept = run_program(planned, planned.program);
        const Outcome remade = run_program(planned, made_again);
        CHECK(difference(remade.results, kept.results) < 1e-6);
        CHECK(remade.peak < kept.peak);
      }
    }
  }
}

TEST_CASE("remat changes no bit of the gradients and needs less memory") {
  for (const std::string repeat :
       {"block: Decoder, times: 3", "block: Decoder, times: 3, scan: true, axis: null",
        "block: Pair, times: 2, scan: true, axis: null"}) {
    for (const char* const rules : {whole, split}) {
      CAPTURE(repeat);
      CAPTURE(rules);
      const Outcome kept = run_step(decoder(repeat), rules);
      CHECK(run_step(decoder(repeat + ", remat: none"), rules).peak == kept.peak);
      for (const std::string policy : {"dots", "dots_no_batch", "full"}) {
        CAPTURE(policy);
        const Outcome remade = run_step(decoder(repeat + ", remat: " + policy), rules);
        // Split, sums may be added up at other places.
        if (rules == whole) CHECK(remade.results == kept.results);
        CHECK(difference(remade.results, kept.results) < 1e-6);
        CHECK(remade.peak < kept.peak);
      }
    }
  }
}

}  // namespace remat_runs
