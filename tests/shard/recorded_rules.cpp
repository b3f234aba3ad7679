#include "recorded_rules.h"

#include <doctest/doctest.h>

#include <array>
#include <set>

#include "config/load.h"
#include "config/read_spec.h"
#include "dialects/rule_list.h"
#include "shard/resolve.h"
#include "text/read.h"

namespace shard::tests {
namespace {

constexpr const char* no_name = "a mesh axis or a logical axis is no name";
constexpr const char* mixed_tuple = "a tuple has None or UNCONSTRAINED beside a mesh axis";

bool is_mark(const json& value) { return value.is_null() || value == "UNCONSTRAINED"; }

/// As YAML that a person would write: tuples and lists are lists, texts are quoted.
std::string yaml_of(const json& value) {
  if (value.is_object()) return yaml_of(value.contains("list") ? value["list"] : value["P"]);
  if (!value.is_array()) return value == "UNCONSTRAINED" ? "UNCONSTRAINED" : value.dump();
  std::string text;
  for (const json& item : value) text += (text.empty() ? "[" : ", ") + yaml_of(item);
  return text.empty() ? "[]" : text + "]";
}

/// As Python prints it inside `P(...)`.
std::string python_of(const json& value) {
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_string()) {
    const std::string text = value.get<std::string>();
    if (text == "UNCONSTRAINED") return text;
    const char quote = text.find('\'') == std::string::npos ? '\'' : '"';
    return quote + text + quote;
  }
  const json& items = value.is_object() ? value.at("list") : value;
  if (!items.is_array()) return value.dump();
  std::string text;
  for (const json& item : items) text += python_of(item) + ", ";
  return "(" + text + ")";
}

std::string partition_text(const json& recorded) {
  const json& entries = recorded.is_object() ? recorded.at("P") : recorded;
  std::string text;
  for (const json& entry : entries) text += (text.empty() ? "" : ", ") + python_of(entry);
  for (const char* const set : {"unreduced", "reduced"}) {
    const json axes = recorded.is_object() ? recorded.value(set, json::array()) : json::array();
    if (axes.empty()) continue;
    text += (text.empty() ? "" : ", ") + std::string(set) + "=" + python_of(axes);
  }
  return "P(" + text + ")";
}

/// The value that `read` makes, or the first thing it complains about.
template <class Value, class Reader>
Read<Value> attempt(Reader&& read) {
  try {
    Diagnostics diagnostics;
    Value value = read(diagnostics);
    diagnostics.throw_if_errors();
    return {std::move(value), ""};
  } catch (const Error& error) {
    // One class of Python's: what is no spec, no list of names, no rule.
    const std::string& id = error.diagnostics().front().id;
    const bool is_malformed = id == "spec-syntax" || id == "wrong-type" || id == "bad-rule";
    return {std::nullopt, "refused: " + (is_malformed ? "malformed" : id)};
  }
}

std::string nonsense_in_axes(const json& value) {
  if (is_mark(value)) return "";
  if (value.is_string()) return value.get<std::string>().empty() ? no_name : "";
  const json& items = value.is_object() ? value.value("list", json()) : value;
  if (!items.is_array()) return no_name;
  for (const json& item : items) {
    if (is_mark(item) && items.size() > 1) return mixed_tuple;
    if (item.is_array()) continue;  // a tuple inside a tuple, which is refused there too
    if (!nonsense_in_axes(item).empty()) return no_name;
  }
  return "";
}

std::string repeated_axis(const json& target) {
  const json& items = target.is_object() ? target.value("list", json()) : target;
  if (!items.is_array()) return "";
  std::set<std::string> seen;
  for (const json& item : items) {
    if (item.is_string() && !seen.insert(item.get<std::string>()).second) {
      return "a rule has a mesh axis twice";
    }
  }
  return "";
}

}  // namespace

void compare_kind(const std::string& file, const std::string& kind, CompareOne compare_one) {
  const std::optional<json> recording = read_goldens(file);
  if (!recording) return;
  Conformance conformance(file + ' ' + kind);
  for (const json& one : *recording) {
    if (one.at("kind") == kind) compare_one(conformance, one);
  }
  CHECK(conformance.matched() == conformance.total());
}

Read<SpecConfig> read_names(const json& recorded) {
  return attempt<SpecConfig>([&](Diagnostics&) {
    return read_spec_text(yaml_of(recorded), {"names", 1, 1, 1});
  });
}

Read<std::vector<RuleConfig>> read_recorded_rules(const json& recorded) {
  if (recorded.is_null()) return {std::vector<RuleConfig>{}, ""};
  const bool is_map = recorded.is_object() && !recorded.contains("list");
  const std::string text = is_map ? recorded.dump() : yaml_of(recorded);
  return attempt<std::vector<RuleConfig>>([&](Diagnostics& diagnostics) {
    return read_rule_list(read_yaml("rules", text), diagnostics);
  });
}

Read<PartitionSpec> read_recorded_spec(const json& recorded) {
  return attempt<PartitionSpec>([&](Diagnostics&) {
    return read_partition_text(partition_text(recorded), {"spec", 1, 1, 1});
  });
}

std::string spec_text(const json& recorded) {
  if (recorded.is_null()) return "none";
  const Read<PartitionSpec> spec = read_recorded_spec(recorded);
  return spec ? to_string(*spec.value) : spec.refusal;
}

std::string first_of(const std::vector<std::string>& reasons) {
  for (const std::string& reason : reasons) {
    if (!reason.empty()) return reason;
  }
  return "";
}

std::string nonsense_in_names(const json& recorded) {
  if (recorded.is_null()) return "";
  if (recorded.is_string()) return "the names are one text";
  const json& names = recorded.is_array()      ? recorded
                      : recorded.contains("P") ? recorded.at("P")
                                               : recorded.at("list");
  for (const json& name : names) {
    const std::string why = nonsense_in_axes(name);
    if (!why.empty()) return why;
  }
  return "";
}

std::string nonsense_in_rules(const json& recorded) {
  const json& rules = recorded.is_object() ? recorded.value("list", json()) : recorded;
  if (!rules.is_array()) return "";
  for (const json& rule : rules) {
    if (rule.is_string() && rule.get<std::string>().size() == 2) return "a rule is one text";
    if (!rule.is_array() || rule.size() != 2) continue;
    const bool has_name = rule[0].is_string() && rule[0] != "" && rule[0] != "UNCONSTRAINED";
    if (!has_name) return no_name;
    const std::string why = first_of({nonsense_in_axes(rule[1]), repeated_axis(rule[1])});
    if (!why.empty()) return why;
  }
  return "";
}

bool has_python_list(const json& recorded) {
  return recorded.dump().find("{\"list\"") != std::string::npos;
}

json rules_in_force(const json& asked) {
  const json own = asked.value("rules", json());
  return own.is_null() ? asked.value("context_rules", json::array()) : own;
}

std::string constrained(const json& asked, const json& rules, const std::string& fallback) {
  const auto names = read_names(asked.at("names"));
  if (!names) return names.refusal;
  if (names.value->is_unannotated()) return "none";
  const auto list = read_recorded_rules(rules);
  if (!list) return list.refusal;
  RulesConfig config;
  config.rules = *list.value;
  config.misfit = Misfit::pad;
  config.unmatched = fallback == "RAISE_ERROR"     ? Unmatched::error
                     : fallback == "NO_CONSTRAINT" ? Unmatched::no_constraint
                                                   : Unmatched::unsharded;
  const Mesh mesh = mesh_of(asked.at("mesh"));
  Diagnostics diagnostics;
  Resolver resolver(config, mesh, diagnostics);
  const TensorType type{DType::f32, asked.at("shape").get<Shape>()};
  const Resolved answer = resolver.resolve({*names.value, type, Part::activations, "x"});
  if (diagnostics.has_errors()) return "refused: " + diagnostics.all().front().id;
  return answer.is_constraint ? to_string(answer.spec) : "none";
}

std::string expected_refusal(const json& error) {
  struct Row {
    const char* phrase;
    const char* id;
  };
  constexpr std::array<Row, 22> rows = {{
      {"has duplicate entries for", "duplicate-mesh-axis"},
      {"is not found in mesh", "unknown-mesh-axis"},
      {"should evenly divide the shape", "indivisible"},
      {"does not evenly divide the dimension size", "indivisible"},
      {"only valid for values of rank at least", "rank-mismatch"},
      {"Unconstrained dims are not allowed", "unconstrained-argument"},
      {"cannot contain `P.UNCONSTRAINED` when", "unconstrained-without-auto"},
      {"can only refer to mesh axes that is of type", "unreduced-axis-type"},
      {"cannot contain a nested tuple", "malformed"},
      {"cannot overlap", "malformed"},
      {"cannot contain None", "malformed"},
      {"Unknown axis rule specification type", "malformed"},
      {"values to unpack", "malformed"},
      {"occur more than once", "duplicate-logical-name"},
      {"did not match a rule", "unmatched-name"},
      {"Inconsistent logical axis annotations", "inconsistent-rules"},
      {"Unhandled OpSharding type", "manual-axis"},
      {"pytree structure error", "nested-names"},
      {"can only refer to Auto axes", "explicit-constraint"},
      {"acts as an assert", "explicit-constraint"},
      {"same size, saw", "duplicate-mesh-axis"},
      {"got sharding None", "missing-names"},
  }};
  const std::string kind = error.at("class").get<std::string>();
  const std::string message = error.at("message").get<std::string>();
  if (kind == "KeyError" && message.find("UNCONSTRAINED") != std::string::npos) {
    return "refused: unconstrained-argument";
  }
  for (const Row& row : rows) {
    if (message.find(row.phrase) != std::string::npos) return std::string("refused: ") + row.id;
  }
  return "refused: " + kind + " " + message;
}

std::string recorded_answer(const json& out) {
  if (out.is_object() && out.contains("error")) return expected_refusal(out.at("error"));
  return spec_text(out);
}

std::string placed(const Mesh& mesh, const PartitionSpec& spec, const Shape& shape, Part part,
                   Misfit misfit) {
  RulesConfig rules;
  rules.misfit = misfit;
  Diagnostics diagnostics;
  Resolver resolver(rules, mesh, diagnostics);
  const SpecConfig written{spec, {}};
  const TensorType type{DType::f32, shape};
  resolver.resolve({written, type, part, "x"});
  for (const Diagnostic& one : diagnostics.all()) {
    const bool is_asked = one.id != "explicit-constraint" && one.id != "not-yet";
    if (one.severity == Severity::error && is_asked) {
      return "refused: " + one.id;
    }
  }
  return to_string(spec);
}

}  // namespace shard::tests
