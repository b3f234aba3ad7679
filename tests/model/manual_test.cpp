// Manual regions: what each device sees, and what a file can get wrong.
#include <doctest/doctest.h>

#include "config/load.h"
#include "model/model.h"
#include "support/told_by.h"

using namespace shard;

namespace {

/// On a mesh data 2 x model 4.
Model manual_model(const std::string& text, bool has_mesh = true) {
  MemoryReader memory({{"model.yaml", text}});
  Sources sources(memory);
  BuildOptions options;
  if (has_mesh) options.mesh_axes = {{"data", 2}, {"model", 4}};
  return build_model(read_model(merge_model_file("model.yaml", {}, sources)), options);
}

/// A region over x f32[batch=8, embed=16] from line 4 on; its layers stand on line 8.
std::string region(const std::string& layers, const std::string& in = "P(data)",
                   const std::string& out = "P(data)", const std::string& more = "") {
  return "sizes: {batch: 8, embed: 16}\n"
         "inputs: {x: \"f32[batch, embed]\"}\n"
         "layers:\n"
         "  - manual:\n"
         "      in_specs: " +
         in + "\n      out_specs: " + out + "\n" + more + "      layers: " + layers + "\n";
}

std::string mistakes_in_region(const std::string& text, bool has_mesh = true) {
  return told_by([&] { manual_model(text, has_mesh); });
}

}  // namespace

TEST_CASE("a region's ops work on the parts of all devices at once") {
  const Model model = manual_model(region("[reduce_sum: embed, psum: data]", "P(data)", "P()"));
  verify(model.apply);
  const std::string text = to_string(model.apply);
  for (const char* line :
       {"= reshape(%1) {shape=[2,4,16]} : f32[2,4,16]", "= reduce_sum(%3) {dims=[2]} : f32[2,4]",
        "= reduce_sum(%4) {dims=[0]} : f32[4]"}) {
    CHECK_MESSAGE(text.find(line) != text.npos, line << " is not in\n" << text);
  }
  CHECK(to_string(model.apply.value(model.apply.outputs[0].value).type) == "f32[4]");
}

TEST_CASE("a region that does not fit the mesh is told") {
  CHECK(mistakes_in_region(region("[relu]"), false) ==
        "model.yaml:4:5: error: the parts of a manual region depend on the mesh, and there is none "
        "[no-mesh]\n");
  CHECK(mistakes_in_region(region("[relu]", "P(data)", "P(data)", "      axes: [dta]\n")) ==
        "model.yaml:4:5: error: axis 'dta' of the manual region is not in the mesh "
        "[unknown-mesh-axis]\n"
        "  hint: did you mean 'data'? the mesh has: data, model\n");
  CHECK(mistakes_in_region(region("[relu]", "P(model)", "P(data)", "      axes: [data]\n")) ==
        "model.yaml:5:17: error: 'model' in in_specs is no axis of the manual region: P('model',) "
        "[manual-axis]\n"
        "  hint: its axes: data\n");
  CHECK(mistakes_in_region(region("[relu]", "\"P(None, (data, model), None)\"")) ==
        "model.yaml:5:17: error: P(None, ('data', 'model'), None) has 3 entries, f32[batch=8, "
        "embed=16] has 2 dims [rank-mismatch]\n");
  CHECK(mistakes_in_region("sizes: {batch: 6}\ninputs: {x: \"f32[batch]\"}\nlayers:\n  - manual: "
                           "{in_specs: P(model), out_specs: P(model), layers: [relu]}\n") ==
        "model.yaml:4:24: error: dim 0 of f32[batch=6] is not cut into 4 equal parts by "
        "P('model',) [indivisible]\n"
        "  hint: a manual region needs equal parts on all devices\n");
  CHECK(mistakes_in_region(region("[relu]", "[P(data), P(data)]")) ==
        "model.yaml:4:5: error: manual has 2 in_specs for 1 inputs [wrong-argument-count]\n"
        "  hint: one spec for all of them, or one for each\n");
}

TEST_CASE("a result that devices do not share has their axes in its spec") {
  CHECK(mistakes_in_region(region("[reduce_sum: embed]", "\"P(data, model)\"")) ==
        "model.yaml:6:18: error: the result of the manual region may differ between the devices "
        "along model, and P('data',) does not name it [out-specs]\n"
        "  hint: name it in out_specs, or make the result the same, e.g. by psum: model\n");
  CHECK(mistakes_in_region(region("[reduce_sum: embed, psum: model]", "\"P(data, model)\"")) == "");
}

TEST_CASE("what cannot stand in a region is told") {
  CHECK(mistakes_in_region(region("[dense: embed]")) ==
        "model.yaml:7:16: error: a parameter cannot be made inside a manual region: "
        "params/manual_0/Dense_0/kernel [manual-parameter]\n"
        "  hint: make it before with `param`, and name it in `of`\n");
  CHECK(mistakes_in_region(region("[constrain: P(model)]")) ==
        "model.yaml:7:27: error: a constraint inside a manual region can only name mesh axes that "
        "the region leaves alone: P('model',) [manual-axis]\n"
        "  hint: the parts of the axes of the region are set by in_specs and out_specs\n");
  CHECK(mistakes_in_region(region("[manual: {in_specs: P(), out_specs: P(), layers: [relu]}]")) ==
        "model.yaml:7:16: error: a manual region cannot stand in another one yet [not-yet]\n"
        "  hint: make all its axes manual in one region\n");
}

TEST_CASE("collectives that do not fit are told") {
  CHECK(mistakes_in_region(
            "sizes: {batch: 8}\ninputs: {x: \"f32[batch]\"}\nlayers:\n  - psum: data\n") ==
        "model.yaml:4:5: error: psum stands outside of a manual region [outside-manual]\n"
        "  hint: elsewhere the partitioner finds the collectives: use reduce_sum and the like, or "
        "manual: {in_specs: .., out_specs: .., layers: [..]}\n");
  CHECK(mistakes_in_region(region("[psum: tensor]")) ==
        "model.yaml:7:16: error: 'tensor' of psum is no axis of the manual region [manual-axis]\n"
        "  hint: its axes: data, model\n");
  CHECK(mistakes_in_region(region("[axis_index: {axes: [data, model], name: me}]")) ==
        "model.yaml:7:16: error: axis_index runs over one axis, found 2 [wrong-argument-count]\n");
  CHECK(mistakes_in_region(region("[psum_scatter: {axes: [data, model], dim: batch}]")) ==
        "model.yaml:7:16: error: psum_scatter over 8 devices does not cut a dim of 4: "
        "f32[batch=4, embed=16] [indivisible]\n");
  CHECK(mistakes_in_region(region("[ppermute: {axes: data}]")) ==
        "model.yaml:7:16: error: ppermute needs either shift or pairs [missing-key]\n"
        "  hint: shift: 1 sends to the next one, pairs: [[0, 1]] from 0 to 1\n");
  CHECK(mistakes_in_region(region("[ppermute: {axes: data, pairs: [[0, 2]]}]")) ==
        "model.yaml:7:16: error: ppermute has no pair [0, 2] among 2 devices [bad-pairs]\n"
        "  hint: along data they are 0 to 1\n");
  CHECK(mistakes_in_region(region("[ppermute: {axes: data, pairs: [[0, 1], [0, 0]]}]")) ==
        "model.yaml:7:16: error: ppermute sources and destinations must be unique: 0 sends twice, "
        "[0, 1] and [0, 0] [bad-pairs]\n"
        "  hint: each device sends at most once and gets at most once\n");
  CHECK(mistakes_in_region(region("[ppermute: {axes: data, pairs: [[0, 1], [1, 1]]}]")) ==
        "model.yaml:7:16: error: ppermute sources and destinations must be unique: 1 gets twice, "
        "[0, 1] and [1, 1] [bad-pairs]\n"
        "  hint: each device sends at most once and gets at most once\n");
  CHECK(mistakes_in_region(region("[pbroadcast: {axes: [data, model], source: 8}]")) ==
        "model.yaml:7:16: error: pbroadcast has no device 8 among 8 [bad-source]\n"
        "  hint: they are counted from 0 along its axes, the first axis major\n");
}

TEST_CASE("inputs of an exchange of rows that do not fit are told") {
  const auto mistakes = [](const std::string& lists, const std::string& of,
                           const std::string& axes = "data") {
    return mistakes_in_region(
        "inputs: {x: \"f32[rows=8, embed=16]\", narrow: \"f32[rows=8, two=2]\", " + lists +
        "}\nlayers:\n  - manual:\n      of: [x, narrow, a, b]\n      in_specs: "
        "P(data)\n      out_specs: P(data)\n      layers: [ragged_all_to_all: "
        "{of: [" +
        of + "], axes: " + axes + "}]\n");
  };
  const std::string integers = "a: \"i32[entries=8]\", b: \"i32[entries=8]\"";
  const std::string hint =
      " [bad-exchange]\n  hint: its inputs are operand[n, ..], output[m, ..], input_offsets, "
      "send_sizes, output_offsets and recv_sizes\n";
  const std::string where = "model.yaml:7:16: error: ragged_all_to_all: ";
  CHECK(mistakes(integers, "x, x, a, b, a, b") == "");
  CHECK(mistakes(integers, "x, narrow, a, b, a, b") ==
        where + "rows differ: operand is f32[4,16], output is f32[4,2]" + hint);
  CHECK(mistakes(integers, "x, x, a, b, a, x") ==
        where + "recv_sizes is f32[4,16], not a list of integers" + hint);
  CHECK(mistakes("a: \"i32[entries=8]\", b: \"f32[entries=8]\"", "x, x, a, b, a, a") ==
        where + "send_sizes is f32[4], not a list of integers" + hint);
  CHECK(mistakes("a: \"i32[entries=8]\", b: \"i32[some=4]\"", "x, x, a, b, a, b") ==
        where + "send_sizes has 2 entries, input_offsets 4" + hint);
  CHECK(mistakes("a: \"i32[entries=6]\", b: \"i32[entries=6]\"", "x, x, a, b, a, b") ==
        where + "3 entries are not as many for each of 2 members" + hint);
  CHECK(mistakes(integers, "x, x, a, b, a, b", "dta") ==
        "model.yaml:7:16: error: 'dta' of ragged_all_to_all is no axis of the manual region "
        "[manual-axis]\n"
        "  hint: did you mean 'data'? its axes: data, model\n");
  CHECK(mistakes(integers, "x, x, a, b, a") ==
        "model.yaml:7:40: error: ragged_all_to_all takes 6 inputs, found 5 [wrong-input-count]\n"
        "  hint: name them: of: [a, b]\n");
}

TEST_CASE("a typed region has a spec for all inputs or one for each") {
  CHECK(mistakes_in_region(
            "sizes: {batch: 8}\ninputs: {x: \"f32[batch]\"}\nlayers:\n  - explicit_axes: "
            "{in_sharding: [P(data), P()], layers: [relu]}\n") ==
        "model.yaml:4:5: error: explicit_axes has 2 specs in in_sharding for 1 inputs "
        "[wrong-argument-count]\n"
        "  hint: one spec for all of them, or one for each\n");
}

TEST_CASE("specs of a region are mesh axes and its loops may be scanned") {
  CHECK(mistakes_in_region(region("[relu]", "[[batch, embed]]")) ==
        "model.yaml:5:18: error: in_specs of manual are mesh axes, found [batch, embed] "
        "[bad-spec]\n"
        "  hint: write P(data, None)\n");
  CHECK(mistakes_in_region("blocks: {Twice: [scale: 2]}\n" +
                           region("[repeat: {block: Twice, times: 2, scan: true, axis: null}]")) ==
        "");
  CHECK(mistakes_in_region("blocks: {Twice: [scale: 2]}\n" +
                           region("[repeat: {block: Twice, times: 2}]")) == "");
  CHECK(mistakes_in_region(region("[reduce_sum, all_gather: data]", "P(data)", "P()")) ==
        "model.yaml:7:28: error: all_gather needs at least one dim, found f32[] "
        "[rank-mismatch]\n");
}
