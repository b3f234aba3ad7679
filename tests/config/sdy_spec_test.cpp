#include "config/sdy_spec.h"

#include <doctest/doctest.h>

#include "config/read_spec.h"

using namespace shard;

namespace {

std::string read_sdy(const std::string& text) {
  TextNode node;
  node.kind = TextNode::Kind::scalar;
  node.scalar = text;
  node.at = {"rules.yaml", 3, 5};
  Diagnostics diagnostics;
  try {
    const std::optional<SpecConfig> spec = read_spec(node, "the spec", diagnostics);
    diagnostics.throw_if_errors();
    return to_string(*spec);
  } catch (const Error& problem) {
    return problem.what();
  }
}

}  // namespace

TEST_CASE("Shardy's attribute is a spec wherever P is") {
  CHECK(read_sdy(R"(<@mesh, [{"data"}, {}]>)") == "P('data', None)");
  CHECK(read_sdy(R"(#sdy.sharding<@mesh, [{"data", "model"}, {?}]>)") ==
        "P(('data', 'model'), UNCONSTRAINED)");
  CHECK(read_sdy(R"(<@mesh, [{}p0, {"x"}p1], unreduced={"y"}>)") ==
        "P(None, 'x', unreduced={'y'})");
}

TEST_CASE("what no PartitionSpec says is refused with its place") {
  CHECK(read_sdy(R"(<@mesh, [{"x":(1)2}]>)") ==
        "rules.yaml:3:16: error: a part of axis 'x' has no PartitionSpec [spec-syntax]\n"
        "  hint: make the part an axis of the mesh");
  CHECK(read_sdy(R"(<@mesh, [{"x", ?}]>)") ==
        "rules.yaml:3:16: error: an open dim with axes has no PartitionSpec [spec-syntax]\n"
        "  hint: leave the '?' out");
  CHECK(read_sdy(R"(<@mesh, [{}], replicated={"x"}>)") ==
        "rules.yaml:3:32: error: axes that are held back have no PartitionSpec [spec-syntax]\n"
        "  hint: leave 'replicated=' out");
  CHECK(read_sdy(R"(<@mesh, [{"x"}], unreduce={"y"}>)") ==
        "rules.yaml:3:22: error: 'unreduce' is not part of a sharding [spec-syntax]\n"
        "  hint: did you mean 'unreduced'? valid: replicated, unreduced");
  CHECK(read_sdy(R"(<@mesh, [{""}]>)") ==
        "rules.yaml:3:16: error: an axis has an empty name, expected the name of a mesh axis "
        "[spec-syntax]\n"
        "  hint: Shardy writes <@mesh, [{\"data\"}, {}]>");
  CHECK(read_sdy("<@mesh [{}]>") ==
        "rules.yaml:3:12: error: found '[', expected ',' [spec-syntax]\n"
        "  hint: Shardy writes <@mesh, [{\"data\"}, {}]>");
}
