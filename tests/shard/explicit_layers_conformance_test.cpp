// JAX and Flax NNX running code with layers in explicit mode, step by step. Every line of code is
// said again as the typed ops that the layer consists of; a line that is not there is a miss.

#include <doctest/doctest.h>

#include "layer_stories.h"

using namespace shard;
using namespace shard::tests;

namespace {

Story story_of(const Layers& on, const std::string& name) {
  if (name.starts_with("linear")) return linear_story(on);
  if (name.starts_with("kernel sharding")) return metadata_story(on, name.ends_with(" on"));
  if (name.starts_with("embedding")) return embedding_story(on);
  if (name.starts_with("other")) return other_story(on);
  if (name.starts_with("stacked")) return stacked_story(on);
  return swiglu_story(on, name.find("seq=64 ") == name.npos ? 4096 : 64);
}

}  // namespace

TEST_CASE("layers give the types that Flax NNX gives in explicit mode") {
  const std::optional<json> recorded = read_goldens("explicit/nnx.json");
  if (!recorded) return;
  Conformance conformance("explicit/nnx.json");
  for (const json& one : *recorded) {
    const std::string name = one.at("name").get<std::string>();
    const Layers on(one.at("mesh"));
    const Story story = story_of(on, name);
    for (const json& step : one.at("steps")) {
      const std::string code = step.at("code").get<std::string>();
      compare_typing(conformance, name.substr(0, 20) + ": " + code, step, recorded_print(step),
                     [&] { return story.run(code); });
    }
  }
  CHECK(conformance.matched() == conformance.total());
}
