// Names of stacked parameters, as Flax keeps them in `nn.scan`, `nn.vmap` and their NNX twins.

#include <doctest/doctest.h>

#include <functional>

#include "model/stacked_spec.h"
#include "recorded_rules.h"

using namespace shard;
using namespace shard::tests;

namespace {

/// Linen inserts into empty names too, NNX leaves them alone.
enum class Library { linen, nnx };

constexpr const char* no_partition_name = "without a partition name a stack is unnamed here";

/// Names as recorded; null is none at all.
struct Names {
  bool has_names = false;
  LogicalSpec names;
};

Names names_of(const json& recorded) {
  Names made;
  made.has_names = !recorded.is_null();
  if (made.has_names) made.names = *read_names(recorded).value->logical();
  return made;
}

std::string text_of(const Names& names) {
  return names.has_names ? to_string(names.names) : "none";
}

std::optional<LogicalAxis> partition_name(const json& params) {
  const json& name = params.at("partition_name");
  return name.is_null() ? std::nullopt : std::optional(LogicalAxis(name.get<std::string>()));
}

Names stacked(Names names, int index, const std::optional<LogicalAxis>& name, Library library) {
  const bool is_left = library == Library::nnx && names.names.names.empty();
  if (names.has_names && !is_left) {
    names.names = with_stacked_dim(std::move(names.names), index, name);
  }
  return names;
}

std::string removed(Names names, int index, const std::optional<LogicalAxis>& name) {
  try {
    if (names.has_names) names.names = without_stacked_dim(std::move(names.names), index, name, {});
    return text_of(names);
  } catch (const Error& error) {
    return "refused: " + error.diagnostics().front().id;
  }
}

/// Assertions, exhausted lists and NNX's own message are one refusal of ours.
std::string recorded_names(const json& recorded) {
  const bool is_error = recorded.is_object() && recorded.contains("error");
  return is_error ? "refused: partition-name" : text_of(names_of(recorded));
}

void compare_add(Conformance& conformance, const json& one, Library library) {
  const json& asked = one.at("in");
  const json& out = one.at("out");
  if (!asked.at("params").contains("partition_name")) {
    return conformance.leave_out(no_partition_name);
  }
  const int index = asked.at("index").get<int>();
  const auto name = partition_name(asked.at("params"));
  const Names added = stacked(names_of(asked.at("names")), index, name, library);
  conformance.expect(one.at("id").get<std::string>(),
                     text_of(added) + " " + removed(added, index, name),
                     recorded_names(out.at("names")) + " " + recorded_names(out.at("removed")));
}

void compare_remove(Conformance& conformance, const json& one) {
  const json& asked = one.at("in");
  const json& out = one.at("out");
  if (!asked.at("params").contains("partition_name")) {
    return conformance.leave_out(no_partition_name);
  }
  conformance.expect(one.at("id").get<std::string>(),
                     removed(names_of(asked.at("names")), asked.at("index").get<int>(),
                             partition_name(asked.at("params"))),
                     recorded_names(out.contains("names") ? out.at("names") : out));
}

Shape stacked_shape(Shape shape, int index, std::int64_t count) {
  const int at = index < 0 ? static_cast<int>(shape.size()) + 1 + index : index;
  shape.insert(shape.begin() + at, count);
  return shape;
}

constexpr std::int64_t layers = 4;

/// One stacked parameter of Linen's.
void compare_lift(Conformance& conformance, const json& one) {
  const json& asked = one.at("in");
  const json& out = one.at("out");
  if (asked.at("axis").is_null() && asked.at("transform") == "scan") {
    return conformance.leave_out("a broadcast collection in a scan fails an assertion there");
  }
  const bool is_boxed = asked.value("boxed", true);
  const json params = asked.at("params").is_null() ? json::object() : asked.at("params");
  const bool is_lifted = !asked.at("axis").is_null();
  if (is_boxed && is_lifted && !params.contains("partition_name")) {
    return conformance.leave_out(no_partition_name);
  }
  Names names = names_of(is_boxed ? asked.at("names") : json::array());
  Shape shape = {6, 8};
  if (is_lifted) {
    const int axis = asked.at("axis").get<int>();
    shape = stacked_shape(shape, axis, layers);
    if (is_boxed) names = stacked(names, axis, partition_name(params), Library::linen);
  }
  conformance.expect(
      one.at("id").get<std::string>(), text_of(names) + " " + to_string(shape),
      recorded_names(out.at("partition_spec")) + " " + to_string(out.at("shape").get<Shape>()));
}

/// What `nnx.vmap` makes of a variable: names are touched only where a partition name is given.
void compare_vmap(Conformance& conformance, const json& one) {
  const json& asked = one.at("in");
  const json& out = one.at("out");
  const int axis = asked.at("axis").get<int>();
  Names names = names_of(asked.at("names"));
  if (!asked.at("params").is_null() && asked.at("params").contains("partition_name")) {
    names = stacked(names, axis, partition_name(asked.at("params")), Library::nnx);
  }
  // A variable without names is placed by `P()`.
  const Names placed = names.has_names ? names : Names{true, {}};
  conformance.expect(
      one.at("id").get<std::string>(),
      text_of(names) + " " + text_of(placed) + " " + to_string(stacked_shape({8, 8}, axis, layers)),
      recorded_names(out.at("names")) + " " + recorded_names(out.at("partition_spec")) + " " +
          to_string(out.at("shape").get<Shape>()));
}

std::string view(const json& recorded) {
  return recorded_names(recorded.at("names")) + " " + to_string(recorded.at("shape").get<Shape>());
}

/// What `nnx.scan` shows outside and inside.
void compare_scan(Conformance& conformance, const json& one) {
  const json& asked = one.at("in");
  const json& out = one.at("out");
  const int axis = asked.at("axis").get<int>();
  const bool has_name =
      !asked.at("params").is_null() && asked.at("params").contains("partition_name");
  const Names own = names_of(asked.at("names"));
  const Names outside =
      has_name ? stacked(own, axis, partition_name(asked.at("params")), Library::nnx) : own;
  const std::string inside =
      has_name ? removed(outside, axis, partition_name(asked.at("params"))) : text_of(own);
  const std::string shape = to_string(stacked_shape({6, 8}, axis, layers));
  std::string found = inside;
  if (!inside.starts_with("refused")) {
    found = text_of(outside) + " " + shape + " | " + inside + " " + to_string(Shape{6, 8});
  }
  const std::string expected = out.contains("error")
                                   ? recorded_names(out)
                                   : view(out.at("outside")) + " | " + view(out.at("inside"));
  conformance.expect(one.at("id").get<std::string>(), found, expected);
}

void compare_stacking(const std::string& file, const std::string& kind,
                      const std::function<void(Conformance&, const json&)>& compare_one) {
  const std::optional<json> recording = read_goldens(file);
  if (!recording) return;
  Conformance conformance(file + " " + kind);
  for (const json& one : *recording) {
    if (one.at("kind") == kind) compare_one(conformance, one);
  }
  CHECK(conformance.matched() == conformance.total());
}

constexpr const char* linen = "semantics/rules_linen.json";
constexpr const char* nnx = "semantics/rules_nnx.json";

}  // namespace

TEST_CASE("stacked parameters have the names that Linen gives them") {
  compare_stacking(linen, "lift", compare_lift);
  compare_stacking(linen, "add_axis", [](Conformance& all, const json& one) {
    compare_add(all, one, Library::linen);
  });
  compare_stacking(linen, "remove_axis", compare_remove);
}

TEST_CASE("a partition name that is not there is told with what is there") {
  const LogicalSpec names = {{LogicalAxis("embed"), std::nullopt}};
  const auto told = [&](int index) {
    try {
      without_stacked_dim(names, index, LogicalAxis("layer"), {});
      return std::string();
    } catch (const Error& error) {
      return error.diagnostics().front().id + ": " + error.diagnostics().front().message;
    }
  };
  CHECK(told(0) ==
        "partition-name: expected to remove 'layer' at dim 0 of [embed, None], found 'embed'");
  CHECK(told(-1) ==
        "partition-name: expected to remove 'layer' at dim -1 of [embed, None], found None");
  CHECK(told(2) ==
        "partition-name: there is no name at dim 2 of [embed, None], expected the partition name "
        "'layer'");
}

TEST_CASE("stacked variables have the names that NNX gives them") {
  compare_stacking(nnx, "add_axis",
                   [](Conformance& all, const json& one) { compare_add(all, one, Library::nnx); });
  compare_stacking(nnx, "remove_axis", compare_remove);
  compare_stacking(nnx, "vmap", compare_vmap);
  compare_stacking(nnx, "scan", compare_scan);
}
