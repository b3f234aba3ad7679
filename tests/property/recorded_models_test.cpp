// The decoders of the recording under its strategies: which shardings their gradients have, and how
// many bytes a device sends beside what XLA's program sends.

#include <doctest/doctest.h>

#include <iostream>

#include "recorded_models.h"
#include "support/pipeline.h"
#include "support/recordings.h"

using namespace shard;
using namespace shard::test;
using namespace shard::tests;

namespace {

/// `[{data}, {}]`, as the recording has it.
std::string as_recorded(const Mesh& mesh, const Sharding& sharding) {
  std::string text = "[";
  for (std::size_t dim = 0; dim < sharding.dims.size(); ++dim) {
    text += dim == 0 ? "{" : ", {";
    const std::vector<AxisRef>& axes = sharding.dims[dim].axes;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      text += (i == 0 ? "" : ", ") + to_string(mesh, axes[i]);
    }
    text += "}";
  }
  return text + "]";
}

std::int64_t wire_of(const Program& program) {
  std::int64_t bytes = 0;
  for (const CollectiveCount& line : count_collectives(program)) bytes += line.wire.count();
  return bytes;
}

const char* train_of(const std::string& program) {
  if (program == "grad") return "optimizer: {sgd: 1}, returns: [grads]";
  return "optimizer: {adam: 1e-3}, returns: [state, loss]";
}

}  // namespace

TEST_CASE("gradients of recorded models have the shardings XLA chose and cost no more") {
  const auto file = read_goldens("auto/models.json");
  if (!file) return;
  Conformance gradients("auto/models.json (gradients)");
  int cheaper = 0, programs = 0;
  std::int64_t ours = 0, theirs = 0;
  std::vector<std::string> misses;
  for (const json& one : *file) {
    const auto name = one.at("model").get<std::string>();
    const auto program = one.at("program").get<std::string>();
    if (name.starts_with("guide") || (program != "grad" && program != "train")) continue;
    const RecordedModel model = recorded_model(name, train_of(program));
    const Planned planned =
        plan_texts(model.text, recorded_rules(one.at("strategy"), one.at("devices").get<int>()));
    const std::string id = name + " " + one.at("strategy").get<std::string>() + " " + program +
                           " " + std::to_string(one.at("devices").get<int>());
    if (program == "grad") {
      for (const auto& [recorded, path] : model.leaves) {
        const ProgramOutput& output =
            planned.program.outputs[output_at(planned.program, "grads/" + path)];
        gradients.expect(id + " " + recorded, as_recorded(planned.mesh, output.sharding),
                         one.at("chosen").at(recorded));
      }
    }
    const std::int64_t wire = wire_of(planned.program);
    const auto xla = one.at("wire_bytes").get<std::int64_t>();
    ours += wire;
    theirs += xla;
    ++programs;
    if (wire <= xla) {
      ++cheaper;
    } else {
      misses.push_back("  " + id + ": found " + std::to_string(wire) + ", XLA sends " +
                       std::to_string(xla) + "\n");
    }
  }
  std::cout << "conformance auto/models.json (bytes at most XLA's): " << cheaper << "/" << programs
            << ", all together " << static_cast<double>(ours) / static_cast<double>(theirs)
            << " of XLA's\n";
  for (const std::string& miss : misses) std::cout << miss;
  CHECK(gradients.matched() == gradients.total());
  CHECK(static_cast<double>(ours) <= 0.92 * static_cast<double>(theirs));
}
