#include "support/pipeline.h"

#include <doctest/doctest.h>

#include <utility>

#include "shard/build_on.h"

namespace shard::test {
namespace {

template <class List>
std::size_t position_of(const List& list, const std::string& path) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].path == path) return i;
  }
  FAIL("nothing is called " << path);
  return 0;
}

Planned plan_files(const std::string& model, const std::string& rules, const Overrides& overrides,
                   bool train, FileReader& reader) {
  Sources sources(reader);
  Planned planned;
  planned.rules = read_rules(merge_rules_file(rules, overrides, sources));
  planned.mesh = make_mesh(planned.rules);
  planned.model = build_model(read_model(merge_model_file(model, overrides, sources)),
                              options_on(planned.mesh));
  planned.sharded = shard_graph(train ? planned.model.train_step.value() : planned.model.apply,
                                planned.rules, planned.mesh);
  planned.program = partition(planned.sharded);
  return planned;
}

}  // namespace

Planned plan_shipped(const std::string& model, const std::string& rules, const Overrides& overrides,
                     bool train) {
  DiskReader disk;
  const std::string root = SHARD_SOURCE_DIR;
  return plan_files(root + "/models/" + model + ".yaml", root + "/rules/" + rules + ".yaml",
                    overrides, train, disk);
}

Planned plan_texts(const std::string& model, const std::string& rules, bool train) {
  MemoryReader memory({{"model.yaml", model}, {"rules.yaml", rules}});
  return plan_files("model.yaml", "rules.yaml", {}, train, memory);
}

std::size_t input_at(const Program& program, const std::string& path) {
  return position_of(program.inputs, path);
}
std::size_t output_at(const Program& program, const std::string& path) {
  return position_of(program.outputs, path);
}

}  // namespace shard::test
