// Cases that people have reported, each with the finding or the mistake that names it.
#include <doctest/doctest.h>

#include "check/arrays_scene.h"
#include "check/uneven_pieces.h"

using namespace shard;
using namespace shard::test;

namespace {

/// `file:line:col: severity: message [id]`, the fix, what it costs.
std::string told(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& one : findings) {
    text += to_string(Diagnostic{one.severity, one.id, one.at, one.message, one.fix});
    if (one.cost > Bytes(0)) text += "\n  costs " + with_commas(one.cost) + " B";
    text += '\n';
  }
  return text;
}

/// w [embed, mlp] of which mlp takes an axis that embed's rule needs too.
ArraysScene shared_axis(std::int64_t fsdp, std::int64_t fsdp_t, std::int64_t tensor) {
  ArraysScene scene({{"fsdp", fsdp}, {"fsdp_t", fsdp_t}, {"tensor", tensor}});
  scene.array("params/w", {1024, 4096}, {"embed", "mlp"});
  return scene.rule("mlp", {"fsdp_t", "tensor"}).rule("embed", {"fsdp", "fsdp_t"});
}

}  // namespace

TEST_CASE("a fallback rule for the same name fits where the dictionary of NNX collides") {
  ArraysScene scene({{"data", 4}, {"model", 2}});
  scene.array("y", {8, 16, 32}, {"batch", "length", "embed"});
  scene.rule("batch", {"data"}).rule("vocab", {"model"}).rule("mlp", {"model"});
  scene.rule("heads", {"model"}).rule("kv", {}).rule("embed", {"model"}).rule("embed", {"data"});
  scene.rule("length", {});
  CHECK(scene.spec("y") == "P('data', None, 'model')");
  CHECK(told(scene.findings("resolvers-disagree")) ==
        "arrays.yaml:2:20: warning: the resolvers disagree about y with [batch, length, embed]: "
        "linen P('data', None, 'model'), nnx P('data', None, 'data'), which is refused "
        "(duplicate-mesh-axis) [resolvers-disagree]\n"
        "  hint: one rule for each name, with axes that no other dim of the array takes\n");
  CHECK(told(scene.findings("rule-shadowed")) ==
        "rules.yaml:8:5: note: rule 7 [embed, data] never decides (1 dim has that name): rule 6 "
        "[embed, model] always decides embed before it [rule-shadowed]\n"
        "  hint: drop it\n");
  CHECK(scene.findings("rule-never-used").size() == 4);
}

TEST_CASE("one shared axis that loses a whole rule is told with what the rest would save") {
  ArraysScene scene = shared_axis(4, 2, 2);
  CHECK(scene.spec("params/w") == "P(None, ('fsdp_t', 'tensor'))");
  CHECK(scene.local_bytes("params/w") == Bytes(4'194'304));
  CHECK(told(scene.findings("rule-shadowed")) ==
        "rules.yaml:3:5: warning: rule 2 [embed, [fsdp, fsdp_t]] never decides (1 dim has that "
        "name): fsdp_t is taken in [embed, mlp] of params/w: dim 1 (mlp) has it from rule 1 "
        "[rule-shadowed]\n"
        "  hint: the rule [embed, fsdp] behind the others\n"
        "  costs 3,145,728 B\n");
  CHECK(told(scene.findings("axis-unused")) ==
        "rules.yaml:1:7: warning: no array uses fsdp (4), so 4 devices at a time do the same "
        "work: rule 2 brings it to 'embed', but never decides [axis-unused]\n"
        "  hint: the rule [embed, fsdp]\n");
}

TEST_CASE("the rule that the fix names gives what it says") {
  ArraysScene scene = shared_axis(4, 2, 2);
  scene.rule("embed", {"fsdp"});
  CHECK(scene.spec("params/w") == "P('fsdp', ('fsdp_t', 'tensor'))");
  CHECK(scene.local_bytes("params/w") == Bytes(4'194'304 - 3'145'728));
  // What the second rule wanted the third gives in part: no longer a loss.
  CHECK(told(scene.findings("rule-shadowed")) ==
        "rules.yaml:3:5: note: rule 2 [embed, [fsdp, fsdp_t]] never decides (1 dim has that "
        "name): fsdp_t is taken in [embed, mlp] of params/w: dim 1 (mlp) has it from rule 1 "
        "[rule-shadowed]\n");
  CHECK(scene.findings("axis-unused").empty());
}

TEST_CASE("an axis of one device that blocks a rule is told as that") {
  ArraysScene scene = shared_axis(8, 1, 1);
  CHECK(scene.spec("params/w") == "P()");
  CHECK(scene.local_bytes("params/w") == Bytes(16'777'216));
  CHECK(told(scene.findings("size-1-axis-blocks")) ==
        "rules.yaml:3:5: warning: rule 2 [embed, [fsdp, fsdp_t]] is blocked by fsdp_t, which has "
        "one device, in [embed, mlp] of params/w: dim 1 (mlp) has it from rule 1 "
        "[size-1-axis-blocks]\n"
        "  hint: the rule [embed, fsdp] behind the others\n"
        "  costs 14,680,064 B\n");
  CHECK(scene.findings("rule-shadowed").empty());
  scene.rule("embed", {"fsdp"});
  CHECK(scene.local_bytes("params/w") == Bytes(2'097'152));
  CHECK(scene.findings("size-1-axis-blocks").empty());
}

TEST_CASE("two dims that want the same axes are quiet under Linen and fatal under NNX") {
  ArraysScene scene({{"fsdp", 4}, {"expert", 2}});
  scene.array("params/w", {2048, 1536}, {"embed", "q_lora"});
  scene.rule("embed", {"fsdp", "expert"}).rule("q_lora", {"fsdp", "expert"});
  CHECK(scene.spec("params/w") == "P(('fsdp', 'expert'), None)");
  CHECK(told(scene.findings()) ==
        "rules.yaml:3:5: warning: rule 2 [q_lora, [fsdp, expert]] never decides (1 dim has that "
        "name): fsdp is taken in [embed, q_lora] of params/w: dim 0 (embed) has it from rule 1 "
        "[rule-shadowed]\n"
        "arrays.yaml:2:20: warning: the resolvers disagree about params/w with [embed, q_lora]: "
        "linen P(('fsdp', 'expert'),), nnx P(('fsdp', 'expert'), ('fsdp', 'expert')), which is "
        "refused (duplicate-mesh-axis) [resolvers-disagree]\n"
        "  hint: one rule for each name, with axes that no other dim of the array takes\n");
}

TEST_CASE("a misspelt name is a warning with the nearest and a missing one a note") {
  ArraysScene scene({{"fsdp", 2}, {"tensor", 4}});
  scene.array("params/w", {512, 16, 64}, {"embed", "heds", "kv"});
  scene.rule("embed", {"fsdp"}).rule("heads", {"tensor"});
  CHECK(scene.spec("params/w") == "P('fsdp', None, None)");
  CHECK(told(scene.findings("unmatched-name")) ==
        "arrays.yaml:2:20: warning: no rule names heds, and no array has a dim called heads "
        "[unmatched-name]\n"
        "  hint: is the rule for 'heads' meant for 'heds'?\n"
        "arrays.yaml:2:20: note: no rule names kv: these dims stay whole [unmatched-name]\n");
  CHECK(told(scene.findings("resolvers-disagree")) ==
        "arrays.yaml:2:20: note: under NNX names without a rule are taken for mesh axes, and "
        "refused (unknown-mesh-axis): heds, kv [resolvers-disagree]\n"
        "  hint: for NNX: a rule [heds, None] and so on\n");
  scene.rules.unmatched = Unmatched::error;
  CHECK(scene.mistakes() ==
        "arrays.yaml:2:20: error: 'heds' of [embed, heds, kv], the names of params/w, did not "
        "match a rule [unmatched-name]\n"
        "  hint: did you mean 'heads'? the rules name: embed, heads\n"
        "arrays.yaml:2:20: error: 'kv' of [embed, heds, kv], the names of params/w, did not match "
        "a rule [unmatched-name]\n"
        "  hint: the rules name: embed, heads\n");
}

TEST_CASE("a name near to one that is used is asked about in a note") {
  ArraysScene scene({{"fsdp", 2}});
  scene.array("params/w", {512, 16}, {"embed", "mlp"}).array("params/v", {512}, {"embd"});
  scene.rule("embed", {"fsdp"}).rule("mlp", {});
  CHECK(told(scene.findings("unmatched-name")) ==
        "arrays.yaml:3:20: note: no rule names embd: its dims stay whole [unmatched-name]\n"
        "  hint: did you mean 'embed'?\n");
}

TEST_CASE("the same name on two dims is refused for every such array even without a target") {
  ArraysScene scene({{"x", 2}});
  scene.array("a", {128, 64}, {"vocab_in", "vocab_in"});
  scene.array("b", {128, 64}, {"vocab_in", "vocab_in"}).rule("vocab_in", {});
  CHECK(scene.mistakes() ==
        "arrays.yaml:2:20: error: dims 'vocab_in' occur more than once in array names [vocab_in, "
        "vocab_in] of a [duplicate-logical-name]\n"
        "  hint: give each dim a name of its own, or None\n"
        "arrays.yaml:3:20: error: dims 'vocab_in' occur more than once in array names [vocab_in, "
        "vocab_in] of b [duplicate-logical-name]\n"
        "  hint: give each dim a name of its own, or None\n");
}

TEST_CASE("a rule that takes the axis of another dim leaves its own axis idle") {
  ArraysScene scene({{"data", 32}, {"model", 4}});
  scene.array("params/w", {16384, 53248}, {"embed", "mlp"});
  scene.rule("embed", {"data"}).rule("vocab", {"data"}).rule("mlp", {"data"});
  CHECK(scene.spec("params/w") == "P('data', None)");
  CHECK(scene.local_bytes("params/w") == Bytes(109'051'904));
  CHECK(told(scene.findings("rule-shadowed")) ==
        "rules.yaml:4:5: warning: rule 3 [mlp, data] never decides (1 dim has that name): data is "
        "taken in [embed, mlp] of params/w: dim 0 (embed) has it from rule 1 [rule-shadowed]\n");
  CHECK(told(scene.findings("axis-unused")) ==
        "rules.yaml:1:8: warning: no array uses model (4), so 4 devices at a time do the same "
        "work: no rule brings it to a logical axis [axis-unused]\n"
        "  hint: the rule [mlp, model]\n");
  scene.rules.rules[2].target.axes = {MeshAxis("model")};
  CHECK(scene.spec("params/w") == "P('data', 'model')");
  CHECK(scene.local_bytes("params/w") == Bytes(27'262'976));
}

TEST_CASE("a rule behind one that maps to nothing is unreachable") {
  ArraysScene scene({{"data", 2}, {"model", 2}});
  scene.array("y", {8, 32}, {"batch", "embed"});
  scene.rule("embed", {}).rule("batch", {"data"}).rule("embed", {"model"});
  CHECK(scene.spec("y") == "P('data', None)");
  CHECK(told(scene.findings("rule-shadowed")) ==
        "rules.yaml:4:5: warning: rule 3 [embed, model] never decides (1 dim has that name): "
        "unreachable after rule 1 [embed, None], which is final [rule-shadowed]\n"
        "  hint: put it before rule 1, or drop one of the two\n");
  CHECK(told(scene.findings("resolvers-disagree")) ==
        "arrays.yaml:2:20: warning: the resolvers disagree about y with [batch, embed]: linen "
        "P('data',), nnx P('data', 'model') [resolvers-disagree]\n"
        "  hint: one rule for each name, with axes that no other dim of the array takes\n");
}

TEST_CASE("rules of the optimizer alone split its state") {
  ArraysScene scene({{"data", 8}});
  scene.array("params/w", {1024, 1024}, {"embed", "mlp"}).moments();
  const auto state = [&] {
    return scene.local_bytes("opt_state/0/mu/w") + scene.local_bytes("opt_state/0/nu/w");
  };
  CHECK(state() == Bytes(8'388'608));
  CHECK(told(scene.findings("optimizer-follows-replicated")) ==
        "arrays.yaml:2:3: note: 2 arrays of the optimizer follow parameters (params/w first) that "
        "are whole on all 8 devices: 7,340,032 B per device would go if only the optimizer's were "
        "split [optimizer-follows-replicated]\n"
        "  hint: rules_for: {optimizer: [[embed, data]]}\n"
        "  costs 7,340,032 B\n");
  scene.optimizer_rule("embed", {"data"});
  CHECK(state() == Bytes(1'048'576));
  CHECK(scene.local_bytes("params/w") == Bytes(4'194'304));
  CHECK(scene.findings("optimizer-follows-replicated").empty());
}

TEST_CASE("optimizer state of a large table that is whole is told with what it costs") {
  ArraysScene scene({{"data", 64}});
  scene.placed("params/embedding", {128256, 6144}, spec_of("P(None, None)")).moments();
  CHECK(scene.local_bytes("params/embedding") == Bytes(3'152'019'456));
  CHECK(told(scene.findings("optimizer-follows-replicated")) ==
        "arrays.yaml:2:3: note: 2 arrays of the optimizer follow parameters (params/embedding "
        "first) that are whole on all 64 devices: 6,205,538,304 B per device would go if only the "
        "optimizer's were split [optimizer-follows-replicated]\n"
        "  hint: paths: [[\"opt_state/*/embedding\", \"P('data', None)\"]]\n"
        "  costs 6,205,538,304 B\n");
}

TEST_CASE("optimizer state that is whole while other state is split is a warning") {
  ArraysScene scene({{"data", 2}});
  scene.placed("params/a", {1024, 1024}, spec_of("P(None, None)")).moments();
  scene.placed("params/b", {1024, 1024}, spec_of("P(data)"));
  const auto found = scene.findings("optimizer-follows-replicated");
  REQUIRE(found.size() == 1);
  CHECK(found[0].severity == Severity::warning);
}

TEST_CASE("a dim that does not divide names its size and factor and the rule that asked") {
  ArraysScene scene({{"x", 4}, {"y", 2}});
  scene.placed("out", {5}, spec_of("P(x)"));
  CHECK(scene.mistakes() ==
        "arrays.yaml:2:20: error: dim 0 of out has size 5, and P('x',) splits it 4 ways (x 4), "
        "which should evenly divide the shape 5 [indivisible]\n"
        "  hint: nearest legal sizes: 4 or 8 (padding 3); 5 divides into 1 or 5\n");
}

TEST_CASE(
    "fewer heads than devices are told with the legal numbers of parts and what else divides") {
  ArraysScene scene({{"tensor", 4}});
  scene.array("params/wk", {2048, 2, 128}, {"embed", "kv_heads", "head_dim"}, DType::bf16);
  scene.rule("kv_heads", {"tensor"}).rule("head_dim", {"tensor"});
  CHECK(scene.mistakes() ==
        "arrays.yaml:2:20: error: dim 1 (kv_heads) of params/wk has size 2, and P(None, 'tensor', "
        "None) splits it 4 ways (tensor 4), by rule 1 at rules.yaml:2:5, which should evenly "
        "divide the shape 2048,2,128 [indivisible]\n"
        "  hint: nearest legal sizes: 4 (padding 2); 2 divides into 1 or 2; dim 0 (embed) divides: "
        "P('tensor', None, None), 262,144 B per device, without 1,048,576 B; dim 2 (head_dim) "
        "too\n");
}

TEST_CASE("a vocabulary over two axes is told with its padding") {
  ArraysScene scene({{"fsdp", 64}, {"tensor", 4}});
  scene.array("params/head", {151936, 4096}, {"vocab", "embed"}).rule("vocab", {"tensor", "fsdp"});
  CHECK(scene.mistakes() ==
        "arrays.yaml:2:20: error: dim 0 (vocab) of params/head has size 151936, and P(('tensor', "
        "'fsdp'), None) splits it 256 ways (tensor 4 x fsdp 64), by rule 1 at rules.yaml:2:5, "
        "which should evenly divide the shape 151936,4096 [indivisible]\n"
        "  hint: nearest legal sizes: 151808 or 152064 (padding 128); 151936 divides into 32, 64 "
        "or 128; dim 1 (embed) divides: P(None, ('tensor', 'fsdp')), 9,723,904 B per device, "
        "without 2,489,319,424 B\n");
}

TEST_CASE("a short batch is told with the factor of each axis") {
  ArraysScene scene({{"batch", 4}, {"fsdp", 1}});
  scene.placed("x", {19, 10, 33}, spec_of("P((batch, fsdp))"));
  CHECK(scene.mistakes() ==
        "arrays.yaml:2:20: error: dim 0 of x has size 19, and P(('batch', 'fsdp'),) splits it 4 "
        "ways (batch 4 x fsdp 1), which should evenly divide the shape 19,10,33 [indivisible]\n"
        "  hint: nearest legal sizes: 16 or 20 (padding 1); no other dim is a free multiple of "
        "4\n");
}

TEST_CASE("an odd number of devices divides no dim and every array says so") {
  ArraysScene scene({{"data", 5}});
  scene.array("params/a", {768, 3072}, {"embed", "mlp"});
  scene.array("params/b", {50257, 768}, {"vocab", "embed"}).rule("embed", {"data"});
  const std::string tail =
      "  hint: nearest legal sizes: 765 or 770 (padding 2); 768 divides into 2, 3, 4 or 6; no "
      "other dim is a free multiple of 5\n";
  CHECK(scene.mistakes() ==
        "arrays.yaml:2:20: error: dim 0 (embed) of params/a has size 768, and P('data', None) "
        "splits it 5 ways (data 5), by rule 1 at rules.yaml:2:5, which should evenly divide the "
        "shape 768,3072 [indivisible]\n" +
            tail +
            "arrays.yaml:3:20: error: dim 1 (embed) of params/b has size 768, and P(None, 'data') "
            "splits it 5 ways (data 5), by rule 1 at rules.yaml:2:5, which should evenly divide "
            "the shape 50257,768 [indivisible]\n" +
            tail);
}

TEST_CASE("a leading dim smaller than the axis is told with the dim that would do") {
  ArraysScene scene({{"fsdp", 8}});
  scene.placed("params/w", {4, 512, 256}, spec_of("P(fsdp)"));
  CHECK(scene.mistakes() ==
        "arrays.yaml:2:20: error: dim 0 of params/w has size 4, and P('fsdp',) splits it 8 ways "
        "(fsdp 8), which should evenly divide the shape 4,512,256 [indivisible]\n"
        "  hint: nearest legal sizes: 8 (padding 4); 4 divides into 1, 2 or 4; dim 1 divides: "
        "P(None, 'fsdp', None), 262,144 B per device, without 2,097,152 B; dim 2 too\n");
}

TEST_CASE("names that do not reach the rank are a missing layer axis and no matter of sizes") {
  ArraysScene scene({{"a", 2}, {"b", 4}});
  scene.rule("A", {"a"}).rule("B", {"b"});
  SUBCASE("an error where they do not divide either") {
    scene.array("params/w", {1, 16, 16}, {"A", "B"});
    CHECK(scene.mistakes() ==
          "arrays.yaml:2:20: error: [A, B] has 2 names, and params/w is f32[1,16,16] of rank 3: "
          "likely a layer axis is missing at dim 0, so that P('a', 'b') goes to the wrong dims "
          "[rank-mismatch]\n"
          "  hint: [layers, A, B]\n");
  }
  SUBCASE("a warning where they happen to divide") {
    scene.array("params/v", {4, 16, 16}, {"A", "B"}).array("params/w", {4, 16, 16}, {"A", "B"});
    CHECK(told(scene.findings("rank-mismatch")) ==
          "arrays.yaml:2:20: warning: 2 names [A, B] for params/v and 1 more, f32[4,16,16] of rank "
          "3: they go to the first dims; likely a layer axis is missing at dim 0 [rank-mismatch]\n"
          "  hint: [layers, A, B]\n");
  }
  SUBCASE("nothing where every dim has a name") {
    scene.array("params/w", {1, 16, 16}, {"layers", "A", "B"});
    CHECK(scene.spec("params/w") == "P(None, 'a', 'b')");
    CHECK(scene.findings("rank-mismatch").empty());
  }
}

TEST_CASE("axes of one device make no difference") {
  ArraysScene scene({{"data", 1}, {"tensor", 4}});
  scene.placed("a", {1, 4, 128}, spec_of("P(data, tensor, None)"));
  scene.placed("b", {1, 4, 128}, spec_of("P(None, tensor, None)"));
  CHECK(scene.spec("a") == scene.spec("b"));
  CHECK(scene.findings().empty());
}

TEST_CASE("arrays that nothing places are told once with what they cost") {
  ArraysScene scene({{"fsdp", 4}});
  scene.placed("params/a/kernel", {1024, 1024}, SpecConfig{});
  scene.placed("params/b/kernel", {1024, 1024}, SpecConfig{});
  CHECK(told(scene.findings("array-without-axes")) ==
        "arrays.yaml:2:20: warning: params/a/kernel and 1 more have no axes and no glob of the "
        "rules' `paths`: whole on all 4 devices [array-without-axes]\n"
        "  hint: axes: or paths: with a glob for params/a/kernel\n"
        "  costs 6,291,456 B\n");
}

TEST_CASE("a glob that no path matches is told with the nearest path") {
  ArraysScene scene({{"fsdp", 4}});
  scene.placed("params/attn/kernel", {1024, 1024}, spec_of("P(fsdp)"));
  scene.path("*/kernel", spec_of("P(fsdp)")).path("params/attn/kernal", spec_of("P(fsdp)"));
  CHECK(told(scene.findings("path-matches-nothing")) ==
        "rules.yaml:31:5: warning: no array has a path like 'params/attn/kernal' "
        "[path-matches-nothing]\n"
        "  hint: did you mean 'params/attn/kernel'?\n");
}

TEST_CASE("a glob behind one that matches everything first is told as that") {
  ArraysScene scene({{"fsdp", 4}});
  scene.placed("params/attn/kernel", {1024, 1024}, SpecConfig{});
  scene.path("*", spec_of("P(fsdp)")).path("*/kernel", spec_of("P(None, fsdp)"));
  CHECK(told(scene.findings("path-matches-nothing")) ==
        "rules.yaml:31:5: warning: the glob '*/kernel' places no array: an earlier one always "
        "matches first [path-matches-nothing]\n"
        "  hint: put it before that one, or drop it\n");
}

TEST_CASE("axes that a file lets drop are told") {
  ArraysScene scene({{"a", 2}, {"b", 4}, {"c", 3}});
  scene.placed("t", {12}, spec_of("P((a, b, c))"));
  CHECK(scene.mistakes() ==
        "arrays.yaml:2:20: error: dim 0 of t has size 12, and P(('a', 'b', 'c'),) splits it 24 "
        "ways (a 2 x b 4 x c 3), which should evenly divide the shape 12 [indivisible]\n"
        "  hint: nearest legal sizes: 24 (padding 12); 12 divides into 4, 6 or 12\n");
  scene.rules.misfit = Misfit::drop_axes;
  CHECK(scene.spec("t") == "P(('a', 'c'),)");
  CHECK(told(scene.findings("axes-dropped")) ==
        "arrays.yaml:2:20: warning: dim 0 of t has size 12, and b 4 dropped: what the other axes "
        "leave of it is no multiple [axes-dropped]\n");
}

TEST_CASE("pieces that a file lets pad are told with those that hold nothing") {
  ArraysScene scene({{"fsdp", 8}});
  scene.rules.misfit = Misfit::pad;
  scene.placed("params/w", {4, 512, 256}, spec_of("P(fsdp)"));
  CHECK(scene.local_bytes("params/w") == Bytes(4 * 131'072));
  CHECK(told(scene.findings("uneven")) ==
        "arrays.yaml:2:20: warning: dim 0 of params/w has size 4, and fsdp 8 does not divide it: "
        "padded to 8 (4 padding, 100% over), pieces 4 x 1, 4 x 0: 4 devices hold nothing "
        "[uneven]\n"
        "  hint: sizes that divide: 8\n");
}

TEST_CASE("the share of parameters that an axis leaves whole is counted in bytes") {
  ArraysScene scene({{"fsdp", 4}});
  scene.placed("params/a", {1000}, spec_of("P()"));
  SUBCASE("a tenth of the bytes is told") {
    scene.placed("params/b", {9000}, spec_of("P(fsdp)"));
    CHECK(told(scene.findings("unsplit-share")) ==
          "rules.yaml:1:7: note: fsdp splits parameters, but not 4,000 of 40,000 B (10.0%) in 1 "
          "array, the largest params/a [unsplit-share]\n"
          "  costs 3,000 B\n");
  }
  SUBCASE("a twentieth is not") {
    scene.placed("params/b", {19000}, spec_of("P(fsdp)"));
    CHECK(scene.findings("unsplit-share").empty());
  }
}

TEST_CASE("more than three lists of axes that the resolvers disagree about are counted") {
  ArraysScene scene({{"x", 2}});
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    scene.array(std::string("params/") + name, {8, 8}, {"in", name}).rule(name, {"x"});
  }
  scene.rule("in", {"x"});
  const auto found = scene.findings("resolvers-disagree");
  REQUIRE(found.size() == 3);
  CHECK(found[2].message ==
        "the resolvers disagree about params/c with [in, c]: linen P(None, 'x'), nnx P('x', 'x'), "
        "which is refused (duplicate-mesh-axis) (and 2 more lists of axes: `explain` shows each)");
}

TEST_CASE("uneven pieces are blocks of the rounded-up size") {
  CHECK(pieces_text(uneven_pieces(17, 8)) ==
        "24 (7 padding, 41% over), pieces 5 x 3, 2, 2 x 0: 2 devices hold nothing");
  CHECK(pieces_text(uneven_pieces(7, 8)) ==
        "8 (1 padding, 14% over), pieces 7 x 1, 1 x 0: 1 device holds nothing");
  CHECK(pieces_text(uneven_pieces(768, 5)) == "770 (2 padding, 0% over), pieces 4 x 154, 152");
  CHECK(uneven_pieces(0, 4) == UnevenPieces{4, 0, 4, 0, 0, 0});
}

TEST_CASE("an axis that rules have for the batch is a note in a list of arrays") {
  ArraysScene scene({{"data", 2}, {"fsdp", 4}});
  scene.array("params/w", {1024, 1024}, {"embed", "mlp"});
  scene.rule("batch", {"data"}).rule("embed", {"fsdp"});
  CHECK(told(scene.findings("replicated-large")) ==
        "arrays.yaml:2:3: note: 1 array is copied over data (x2): 524,288 B per device would go if "
        "they were split [replicated-large]\n"
        "  hint: the rule [mlp, data]\n"
        "  costs 524,288 B\n");
  CHECK(told(scene.findings("axis-unused")) ==
        "rules.yaml:1:7: note: no array uses data (2), so 2 devices at a time do the same work: "
        "rule 1 brings it to 'batch', which no array has [axis-unused]\n"
        "  hint: the rule [mlp, data]\n");
}

TEST_CASE("a rules file says how loud a finding is") {
  ArraysScene scene({{"fsdp", 2}, {"tensor", 4}});
  scene.array("params/w", {512, 16}, {"embed", "kv"}).rule("embed", {"fsdp"});
  scene.level("unmatched-name", FindingLevel::error).level("axis-unused", FindingLevel::off);
  CHECK(scene.findings("axis-unused").empty());
  CHECK(told(scene.findings("unmatched-name")) ==
        "arrays.yaml:2:20: error: no rule names kv: these dims stay whole [unmatched-name]\n");
}
