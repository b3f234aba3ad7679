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

const char* train_of(const std::string& program) {
  if (program == "loss") return "optimizer: {sgd: 1}, returns: [loss]";
  if (program == "grad") return "optimizer: {sgd: 1}, returns: [grads]";
  return "optimizer: {adam: 1e-3}, returns: [state, loss]";
}

/// One case of the recording, planned by us.
class RecordedCase {
 public:
  explicit RecordedCase(const json& recorded)
      : recorded_(recorded),
        program_(recorded.at("program").get<std::string>()),
        model_(recorded_model(recorded.at("model"), train_of(program_))),
        planned_(plan_texts(model_.text, recorded_rules(recorded.at("strategy"),
                                                        recorded.at("devices").get<int>()))) {
    if (program_ == "train_free") leave_results_open();
  }

  std::string name() const {
    return recorded_.at("model").get<std::string>() + " " +
           recorded_.at("strategy").get<std::string>() + " " + program_ + " " +
           std::to_string(recorded_.at("devices").get<int>());
  }
  const Program& program() const { return planned_.program; }
  Bytes most() const { return Bytes(recorded_.at("wire_bytes").get<std::int64_t>()); }

  /// The shardings of results that nobody placed, with those that XLA chose for them.
  void compare_gradients(Conformance& gradients) const {
    if (program_ == "grad") compare(gradients, "grads/", recorded_.at("chosen"));
  }
  void compare_updates(Conformance& updates) const {
    if (program_ != "train_free") return;
    const json& chosen = recorded_.at("chosen");
    compare(updates, "params/", chosen.at("params"));
    compare(updates, "opt_state/0/mu/", chosen.at("mu"));
    compare(updates, "opt_state/0/nu/", chosen.at("nu"));
  }

 private:
  void leave_results_open() {
    Graph graph = planned_.model.train_step.value();
    for (GraphOutput& output : graph.outputs) output.placement.reset();
    planned_.sharded = shard_graph(std::move(graph), planned_.rules, planned_.mesh);
    planned_.program = partition(planned_.sharded);
  }

  void compare(Conformance& conformance, const std::string& prefix, const json& chosen) const {
    for (const auto& [recorded, path] : model_.leaves) {
      const ProgramOutput& output =
          planned_.program.outputs[output_at(planned_.program, prefix + path)];
      conformance.expect(name() + " " + prefix + recorded,
                         as_recorded(planned_.mesh, output.sharding), chosen.at(recorded));
    }
  }

  const json& recorded_;
  std::string program_;
  RecordedModel model_;
  Planned planned_;
};

}  // namespace

TEST_CASE("recorded models have the shardings XLA chose and cost no more") {
  const auto file = read_goldens("auto/models.json");
  if (!file) return;
  Conformance gradients("auto/models.json (gradients)");
  Conformance updates("auto/models.json (updates)");
  Conformance bytes("auto/models.json (bytes at most XLA's)");
  Bytes ours, theirs;
  for (const json& one : *file) {
    if (one.at("program") == "forward") continue;
    const RecordedCase planned(one);
    planned.compare_gradients(gradients);
    planned.compare_updates(updates);
    const Bytes wire = wire_of(planned.program());
    const std::string limit = "at most " + std::to_string(planned.most().count());
    bytes.expect(planned.name(), wire <= planned.most() ? limit : std::to_string(wire.count()),
                 limit);
    ours += wire;
    theirs += planned.most();
  }
  const double ratio = static_cast<double>(ours.count()) / static_cast<double>(theirs.count());
  std::cout << "models: " << ours.count() << " bytes, XLA's " << theirs.count() << ", ratio "
            << ratio << '\n';
  CHECK(gradients.matched() == gradients.total());
  CHECK(updates.matched() >= 1074);
  CHECK(bytes.matched() == bytes.total());
  CHECK(ratio <= 0.92);
}
