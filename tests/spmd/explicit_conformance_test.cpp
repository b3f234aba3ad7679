// Inserted reshards and all_reduces against those of Shardy's explicit-reshard pass, recorded.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "shard/flow.h"
#include "shard/recorded_program.h"
#include "spmd/common_factors.h"
#include "support/goldens.h"

using namespace shard;
using namespace shard::tests;

namespace {

Shape shape_of(const std::string& type) {
  Shape shape;
  const std::size_t open = type.find('[');
  std::string sizes = type.substr(open + 1, type.size() - open - 2);
  for (std::size_t at = 0; at < sizes.size();) {
    std::size_t used = 0;
    shape.push_back(std::stoll(sizes.substr(at), &used));
    at += used + 1;
  }
  return shape;
}

/// The moves as one text; the recordings list those of loops in another order.
std::string joined(std::vector<std::string> moves) {
  std::sort(moves.begin(), moves.end());
  std::string text;
  for (const std::string& move : moves) text += (text.empty() ? "" : "; ") + move;
  return text;
}

/// Walks a recorded program in order and notes what would be inserted.
class Inserter {
 public:
  explicit Inserter(const json& program) : mesh_(mesh_of(program.at("mesh"))) {
    for (const json& argument : program.at("args")) declare(argument);
    insert_ops(program.at("ops"));
    for (const json& result : program.at("results"))
      use(result.at(0).get<int>(), axes(result.at(1)));
  }

  std::string text() const { return joined(moves_); }

 private:
  spmd::AxesPerDim axes(const json& text) const {
    return spmd::axes_of(read_sharding(mesh_, text.get<std::string>()));
  }

  void declare(const json& value) {
    const int number = value.at(0).get<int>();
    shapes_[number] = shape_of(value.at(1).get<std::string>());
    shardings_[number] = axes(value.at(2));
  }

  void insert_ops(const json& ops) {
    for (const json& op : ops) {
      for (const json& result : op.at("out")) declare(result);
      const std::string kind = op.at("op").get<std::string>();
      const bool has_regions = op.contains("body") || op.contains("branches");
      if (has_regions || kind == "optimization_barrier")
        insert_edges(op, kind);
      else if (op.contains("rule") || kind == "constraint")
        insert_op(op);
    }
  }

  /// What flows into and out of loops and branches fits the edge.
  void insert_edges(const json& op, const std::string& kind) {
    std::vector<spmd::AxesPerDim> wanted;
    for (const json& result : op.at("out"))
      wanted.push_back(shardings_.at(result.at(0).get<int>()));
    std::vector<spmd::AxesPerDim> inputs = wanted;
    if (op.contains("in_shardings")) {
      inputs.clear();
      for (const json& one : op.at("in_shardings")) inputs.push_back(axes(one));
    }
    const std::vector<int> operands = op.at("in").get<std::vector<int>>();
    if (kind != "case") use_all(operands, inputs);
    std::vector<const json*> regions;
    for (const char* key : {"cond", "body"}) {
      if (op.contains(key)) regions.push_back(&op.at(key));
    }
    if (op.contains("branches")) {
      for (const json& branch : op.at("branches")) regions.push_back(&branch);
    }
    for (const json* region : regions) {
      for (const json& argument : region->at("args")) declare(argument);
      insert_ops(region->at("ops"));
      const bool returns = kind == "case" || (kind == "while" && region != regions.front());
      if (returns) use_all(region->at("results").get<std::vector<int>>(), wanted);
    }
  }

  void use_all(const std::vector<int>& values, const std::vector<spmd::AxesPerDim>& wanted) {
    for (std::size_t i = 0; i < std::min(values.size(), wanted.size()); ++i)
      use(values[i], wanted[i]);
  }

  void insert_op(const json& op) {
    const std::vector<int> operands = op.at("in").get<std::vector<int>>();
    std::vector<int> values = operands;
    for (const json& result : op.at("out")) values.push_back(result.at(0).get<int>());
    const FactorRule rule = op.contains("rule") ? read_rule(op.at("rule").get<std::string>())
                                                : identity_rule(shapes_.at(values.front()), 1);
    std::vector<Shape> shapes;
    std::vector<spmd::AxesPerDim> axes_of_values;
    for (const int value : values) {
      shapes.push_back(shapes_.at(value));
      axes_of_values.push_back(shardings_.at(value));
    }
    const auto common = spmd::choose_common_factors(rule, shapes, axes_of_values, mesh_);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const spmd::AxesPerDim& wanted = common.tensors[i];
      if (i < operands.size()) {
        use(values[i], wanted);
        continue;
      }
      if (!common.reduced.empty()) note("all_reduce", values[i], wanted, wanted, common.reduced);
      if (wanted != shardings_.at(values[i]))
        note("reshard", values[i], wanted, shardings_.at(values[i]), {});
    }
  }

  void use(int value, const spmd::AxesPerDim& wanted) {
    if (shardings_.at(value) != wanted) note("reshard", value, shardings_.at(value), wanted, {});
  }

  void note(const std::string& kind, int value, const spmd::AxesPerDim& before,
            const spmd::AxesPerDim& after, const Axes& reduced) {
    std::string move = kind + " " + std::to_string(value) + " " +
                       recorded_form(mesh_, spmd::with_axes(before)) + " -> " +
                       recorded_form(mesh_, spmd::with_axes(after));
    for (const AxisRef& axis : reduced) move += " " + to_string(mesh_, axis);
    moves_.push_back(std::move(move));
  }

  Mesh mesh_;
  std::map<int, Shape> shapes_;
  std::map<int, spmd::AxesPerDim> shardings_;
  std::vector<std::string> moves_;
};

std::string recorded_text(const json& explicit_record) {
  std::vector<std::string> moves;
  for (const json& move : explicit_record.at("inserted")) {
    std::string text =
        move.at("op").get<std::string>() + " " + std::to_string(move.at("of").get<int>()) + " " +
        move.at("from").get<std::string>() + " -> " + move.at("to").get<std::string>();
    for (const json& axis : move.value("axes", json::array()))
      text += " " + axis.get<std::string>();
    moves.push_back(std::move(text));
  }
  return joined(std::move(moves));
}

}  // namespace

TEST_CASE("inserted reshards of random programs are those of Shardy") {
  const std::optional<json> programs = read_goldens("auto/propagate.json");
  const std::optional<json> explicits = read_goldens("auto/explicit.json");
  if (!programs || !explicits) return;
  std::map<std::string, std::string> expected;  // a program that is absent has nothing inserted
  for (const json& one : *explicits)
    expected[one.at("name").get<std::string>()] = recorded_text(one);
  Conformance conformance("auto/explicit.json");
  for (const json& program : *programs) {
    const std::string name = program.at("name").get<std::string>();
    conformance.expect(name, Inserter(program).text(), expected[name]);
  }
  CHECK(conformance.total() > 0);
  CHECK(conformance.matched() == conformance.total());
}

TEST_CASE("inserted reshards of loops branches and hand-made programs are those of Shardy") {
  const std::optional<json> programs = read_goldens("auto/hand.json");
  if (!programs) return;
  Conformance conformance("auto/hand.json");
  for (const json& program : *programs) {
    const bool has_moves = program.contains("explicit");
    conformance.expect(program.at("name").get<std::string>(), Inserter(program).text(),
                       has_moves ? recorded_text(program.at("explicit")) : "");
  }
  CHECK(conformance.total() > 0);
  CHECK(conformance.matched() == conformance.total());
}
