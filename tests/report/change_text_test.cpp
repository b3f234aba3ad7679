#include "report/change_text.h"

#include <doctest/doctest.h>

using namespace shard;

namespace {

ArrayChange change() {
  ArrayChange made;
  made.names = {"params/B_0/k", "params/B_1/k"};
  made.glob = "params/*/k";
  made.slots = {"mu", "nu"};
  made.before = ArrayState{"f32[8]", "P('model',)", Bytes(1024)};
  made.after = ArrayState{"f32[8]", "P()", Bytes(4096)};
  return made;
}

}  // namespace

TEST_CASE("a change is named by its pattern with count and slots") {
  ArrayChange one = change();
  CHECK(change_name(one) == "params/*/k (2, and mu, nu)");
  one.slots.clear();
  CHECK(change_name(one) == "params/*/k (2)");
  one.glob.clear();
  CHECK(change_name(one) == "params/B_{0,1}/k (2)");
  one.names.pop_back();
  CHECK(change_name(one) == "params/B_0/k");
  one.slots = {"trace"};
  CHECK(change_name(one) == "params/B_0/k (and trace)");
}

TEST_CASE("a change says its specs and its types where they differ") {
  ArrayChange one = change();
  CHECK(change_specs(one) == "P('model',) -> P()");
  one.after->type = "f32[16]";
  CHECK(change_specs(one) == "f32[8] P('model',) -> f32[16] P()");
  one.before.reset();
  CHECK(change_specs(one) == "new, P()");
  one = change();
  one.after.reset();
  CHECK(change_specs(one) == "gone, was P('model',)");
}

TEST_CASE("a change says what each array needs more") {
  ArrayChange one = change();
  CHECK(change_bytes(one) == "+3,072 B each");
  one.slots.clear();
  one.names.pop_back();
  CHECK(change_bytes(one) == "+3,072 B");
  one.after->bytes = Bytes(1024);
  CHECK(change_bytes(one) == "0 B");
  one.after->bytes.reset();
  CHECK(change_bytes(one).empty());
}

TEST_CASE("amounts of collectives read like products") {
  CHECK(amounts_text({}) == "none");
  CHECK(amounts_text({{8, Bytes(1048576)}, {1, Bytes(4)}}) == "8 x 1,048,576 + 1 x 4");
  const CollectiveChange one{CollectiveKind::all_reduce, "model", {{6, Bytes(16384)}}, {}, {}};
  CHECK(change_text(one) == "all_reduce model 6 x 16,384 -> none");
}

TEST_CASE("ratios keep a digit that means something") {
  CHECK(ratio_text(Bytes(25'165'832), Bytes(100'663'304)) == "x4.0");
  CHECK(ratio_text(Bytes(25'165'832), Bytes(12'582'920)) == "x0.5");
  CHECK(ratio_text(Bytes(8'536'064), Bytes(58'720'256)) == "x6.9");
  CHECK(ratio_text(Bytes(8'536'064), Bytes(344'064)) == "x0.04");
  CHECK(ratio_text(Bytes(100'000), Bytes(345)) == "x0.003");
  CHECK(ratio_text(Bytes(100'000'000), Bytes(8)) == "<x0.001");
  CHECK(ratio_text(Bytes(10), Bytes(0)) == "x0");
  CHECK(ratio_text(Bytes(0), Bytes(10)).empty());
}
