#include <doctest/doctest.h>

#include <set>

#include "ops/op.h"

using namespace shard;

TEST_CASE("every op has one row with a name of its own and one line of help") {
  std::set<std::string_view> names;
  for (const OpDef& row : op_table()) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(op_named(row.name) == row.op);
    CHECK(&def(row.op) == &row);
    CHECK_FALSE(row.help.empty());
    CHECK(row.help.find('\n') == std::string_view::npos);
  }
  CHECK(names.size() == static_cast<std::size_t>(Op::count_));
  CHECK(op_named("reluu") == std::nullopt);
}

TEST_CASE("only ops that training never goes through lack a derivative") {
  std::set<std::string_view> without;
  for (const OpDef& row : op_table()) {
    if (row.derivative == nullptr) without.insert(row.name);
  }
  CHECK(without == std::set<std::string_view>{"constant", "iota", "sgd_update", "momentum_update",
                                              "adam_update", "repeat", "select_and_scatter_add"});
}

TEST_CASE("only sources and loops lack a factor rule") {
  std::set<std::string_view> without;
  for (const OpDef& row : op_table()) {
    if (row.factor_rule == nullptr) without.insert(row.name);
  }
  CHECK(without == std::set<std::string_view>{"constant", "iota", "repeat"});
}

TEST_CASE("propagation schedules data flow first and broadcasts last") {
  CHECK(def(Op::relu).pass_class == PassClass::pass_through);
  CHECK(def(Op::constrain).pass_class == PassClass::pass_through);
  CHECK(def(Op::adam_update).pass_class == PassClass::pass_through);
  CHECK(def(Op::transpose).pass_class == PassClass::pass_through);
  CHECK(def(Op::reshape).pass_class == PassClass::pass_through);
  CHECK(def(Op::broadcast).pass_class == PassClass::broadcast_like);
  CHECK(def(Op::dynamic_slice).pass_class == PassClass::slice_like);
  CHECK(def(Op::dot).pass_class == PassClass::other);
  CHECK(def(Op::reduce_max).pass_class == PassClass::other);
}

TEST_CASE("an elementwise result may take an operand's place and no other may") {
  for (const OpDef& row : op_table()) {
    CAPTURE(row.name);
    CHECK(row.may_reuse_operand == row.is_elementwise);
  }
}
