#include "dialects/python_rules.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/nearest.h"
#include "config/in_file_order.h"
#include "dialects/maxtext_keys.h"
#include "dialects/rule_list.h"
#include "dialects/t5x_rules.h"
#include "text/number.h"
#include "text/python_literal.h"

namespace shard {
namespace {

using Kind = PythonValue::Kind;

// A value of the text that may be the rules, by the name it was given.
struct Candidate {
  std::string name;
  Location at;
  int rank = 0;                               // how much the name says that these are rules
  std::vector<const PythonStatement*> parts;  // the value, then what `+=` adds
  const PythonValue* value = nullptr;         // where it is not a whole statement
};

std::string_view last_word(std::string_view dotted) {
  return dotted.substr(dotted.find_last_of("./") + 1);  // npos + 1 is 0
}

bool says_rules(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower.find("rules") != lower.npos;
}

int rank_of(std::string_view name) {
  const std::string_view word = last_word(name);
  if (word.find("logical_axis_rules") != word.npos) return 3;
  if (says_rules(word)) return 2;
  return 1;
}

// `MeshRules(embed='fsdp', mlp='tensor')`
bool is_keyword_rules(const PythonValue& value) {
  return value.kind == Kind::call && value.items.empty() && !value.entries.empty() &&
         last_word(value.text).ends_with("Rules");
}

// Its keywords as the pairs they stand for.
PythonValue pairs_of(const PythonValue& call) {
  PythonValue list;
  list.kind = Kind::list;
  list.at = call.at;
  for (const PythonEntry& entry : call.entries) {
    PythonValue name = entry.key;
    name.kind = Kind::string;
    PythonValue pair;
    pair.kind = Kind::tuple;
    pair.at = entry.key.at;
    pair.items = {std::move(name), entry.value};
    list.items.push_back(std::move(pair));
  }
  return list;
}

bool is_standard_t5x(const PythonValue& value) {
  return (value.kind == Kind::code || value.kind == Kind::call) &&
         value.text.find("standard_logical_axis_rules") != std::string::npos;
}

std::string list_of(const std::vector<Candidate>& candidates) {
  std::string text;
  for (const Candidate& one : candidates) {
    text += (text.empty() ? "" : ", ") + (one.name.empty() ? "one without a name" : one.name) +
            " (line " + std::to_string(one.at.line) + ")";
  }
  return text;
}

class RulesFinder {
 public:
  RulesFinder(const std::string& file, std::string_view text, Diagnostics& diagnostics)
      : file_(file), statements_(read_python_statements(file, text)), diagnostics_(diagnostics) {
    collect();
  }

  PythonRules read(const std::string& selected);

 private:
  void collect();
  void add(const PythonStatement& statement);
  void collect_inside(const PythonValue& value);
  Candidate choose(const std::string& selected) const;
  Candidate named(const std::string& selected) const;
  std::vector<RuleConfig> rules_in(const PythonValue& value);
  std::vector<RuleConfig> rules_of(const Candidate& candidate);
  std::vector<RuleConfig> standard_rules(const Location& at);
  std::int64_t gin_number(std::string_view parameter, std::int64_t otherwise) const;
  const PythonStatement* assigned(std::string_view parameter) const;
  std::vector<MeshAxisConfig> mesh();
  std::vector<MeshAxisConfig> mesh_of_call(const PythonValue& call);
  TextNode settings() const;
  std::vector<MeshAxisConfig> t5x_mesh(const Location& at) const;

  std::string file_;
  std::vector<PythonStatement> statements_;
  Diagnostics& diagnostics_;
  std::vector<Candidate> candidates_;
  std::vector<const PythonValue*> mesh_calls_;
  bool is_t5x_ = false;
};

void RulesFinder::collect() {
  for (const PythonStatement& statement : statements_) {
    add(statement);
    collect_inside(statement.value);
  }
}

// A statement is a candidate when it holds rules, or is named so and could not be read.
void RulesFinder::add(const PythonStatement& statement) {
  const bool is_broken = !statement.problems.empty() && says_rules(last_word(statement.target));
  const bool is_rules = looks_like_rules(statement.value) || is_standard_t5x(statement.value) ||
                        is_keyword_rules(statement.value) ||
                        (says_rules(last_word(statement.target)) && !statement.is_added &&
                         statement.value.kind != Kind::call && statement.value.kind != Kind::code);
  if (!is_broken && !is_rules) return;
  if (statement.is_added) {
    const auto base = std::find_if(candidates_.rbegin(), candidates_.rend(),
                                   [&](const auto& one) { return one.name == statement.target; });
    if (base != candidates_.rend()) base->parts.push_back(&statement);
    return;
  }
  if (last_word(statement.target) == "additional_rules") return;  // read with T5X' standard rules
  Candidate found;
  found.name = statement.target;
  found.at = statement.at;
  found.rank = rank_of(statement.target);
  found.parts.push_back(&statement);
  candidates_.push_back(std::move(found));
}

// Rules given to a call: `PjitPartitioner(logical_axis_rules=[...])`,
// `nn.logical_axis_rules((...))`.
void RulesFinder::collect_inside(const PythonValue& value) {
  if (value.kind == Kind::call) {
    const std::string_view name = last_word(value.text);
    if (name == "make_mesh" || name == "Mesh") mesh_calls_.push_back(&value);
  }
  const auto add_argument = [&](std::string_view name, const PythonValue& argument) {
    if (!looks_like_rules(argument) && !is_keyword_rules(argument)) {
      collect_inside(argument);
      return;
    }
    Candidate found;
    found.name = name;
    found.at = argument.at;
    found.rank = rank_of(name);
    found.value = &argument;
    candidates_.push_back(std::move(found));
  };
  if (value.kind != Kind::call && value.kind != Kind::dict) return;
  for (const PythonValue& item : value.items) {
    add_argument(says_rules(value.text) ? std::string_view(value.text) : std::string_view(), item);
  }
  for (const PythonEntry& entry : value.entries) add_argument(entry.key.text, entry.value);
}

Candidate RulesFinder::named(const std::string& selected) const {
  int line = 0;
  std::from_chars(selected.data(), selected.data() + selected.size(), line);
  std::vector<Candidate> found;
  std::vector<std::string> names;
  for (const Candidate& one : candidates_) {
    names.push_back(one.name);
    const bool is_named = one.name == selected || last_word(one.name) == selected;
    if (is_named || one.at.line == line) found.push_back(one);
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1) {
    throw Error("several-rule-lists", {file_},
                std::to_string(found.size()) + " lists of rules are called '" + selected +
                    "': " + list_of(found),
                "ask for one by its line: " + file_ + "#" + std::to_string(found[0].at.line));
  }
  throw Error("unknown-rule-list", {file_}, "no list of rules is called '" + selected + "'",
              did_you_mean(selected, names, "the file has"));
}

Candidate RulesFinder::choose(const std::string& selected) const {
  if (!selected.empty()) return named(selected);
  int best = 0;
  for (const Candidate& one : candidates_) best = std::max(best, one.rank);
  std::vector<Candidate> found;
  std::copy_if(candidates_.begin(), candidates_.end(), std::back_inserter(found),
               [&](const Candidate& one) { return one.rank == best; });
  if (found.empty() && statements_.size() == 1 && statements_[0].problems.empty() &&
      statements_[0].value.is_sequence()) {  // pasted rules with mistakes in them
    return {"", statements_[0].at, 0, {&statements_[0]}, nullptr};
  }
  if (found.empty()) {
    for (const PythonStatement& statement : statements_) {
      if (!statement.problems.empty()) throw Error(statement.problems);
    }
    throw Error("no-rules", {file_}, "no list of pairs [logical name, mesh axes] is in this text",
                "rules look like (('batch', 'data'), ('embed', None))");
  }
  if (found.size() == 1) return found.front();
  throw Error("several-rule-lists", {file_},
              "the text has " + std::to_string(found.size()) + " lists of rules: " + list_of(found),
              "ask for one by its name or line: " + file_ + "#" +
                  (found[0].name.empty() ? std::to_string(found[0].at.line) : found[0].name));
}

const PythonStatement* RulesFinder::assigned(std::string_view parameter) const {
  const PythonStatement* last = nullptr;  // the last one counts
  for (const PythonStatement& statement : statements_) {
    if (last_word(statement.target) == parameter) last = &statement;
  }
  return last;
}

std::int64_t RulesFinder::gin_number(std::string_view parameter, std::int64_t otherwise) const {
  const PythonStatement* statement = assigned(parameter);
  if (statement == nullptr || statement->value.kind != Kind::number) return otherwise;
  const IntegerReading number = read_integer(statement->value.text);
  return number.fault ? otherwise : number.value;
}

std::vector<RuleConfig> RulesFinder::standard_rules(const Location& at) {
  is_t5x_ = true;
  const std::int64_t activations = gin_number("activation_partitioning_dims", 1);
  const std::int64_t parameters = gin_number("parameter_partitioning_dims", 1);
  std::vector<RuleConfig> rules = standard_t5x_rules(activations, parameters, at);
  if (rules.empty()) {
    diagnostics_.error("no-rules", at,
                       "T5X has no standard rules for activation_partitioning_dims = " +
                           std::to_string(activations) +
                           ", parameter_partitioning_dims = " + std::to_string(parameters),
                       "both are 1 or 2");
    return rules;
  }
  diagnostics_.note("standard-rules", at,
                    "these are T5X' standard rules for activation_partitioning_dims = " +
                        std::to_string(activations) +
                        ", parameter_partitioning_dims = " + std::to_string(parameters));
  if (const PythonStatement* added = assigned("additional_rules")) {
    diagnostics_.append(added->problems);
    if (added->problems.empty() && added->value.kind != Kind::none) {
      const std::vector<RuleConfig> more =
          read_rule_list(to_tree(added->value, diagnostics_), diagnostics_);
      rules.insert(rules.end(), more.begin(), more.end());
    }
  }
  return rules;
}

std::vector<RuleConfig> RulesFinder::rules_in(const PythonValue& value) {
  if (is_standard_t5x(value)) return standard_rules(value.at);
  const PythonValue& list = is_keyword_rules(value) ? pairs_of(value) : value;
  return read_rule_list(to_tree(list, diagnostics_), diagnostics_);
}

std::vector<RuleConfig> RulesFinder::rules_of(const Candidate& candidate) {
  if (candidate.value != nullptr) return rules_in(*candidate.value);
  std::vector<RuleConfig> rules;
  for (const PythonStatement* part : candidate.parts) {
    diagnostics_.append(part->problems);
    if (!part->problems.empty()) continue;
    const std::vector<RuleConfig> more = rules_in(part->value);
    rules.insert(rules.end(), more.begin(), more.end());
  }
  return rules;
}

std::vector<MeshAxisConfig> RulesFinder::mesh_of_call(const PythonValue& call) {
  const bool has_sizes = last_word(call.text) == "make_mesh";
  const auto argument = [&](std::size_t position, std::string_view name) -> const PythonValue* {
    for (const PythonEntry& entry : call.entries) {
      if (entry.key.text == name) return &entry.value;
    }
    return position < call.items.size() ? &call.items[position] : nullptr;
  };
  const PythonValue* names = argument(1, "axis_names");
  const PythonValue* sizes = has_sizes ? argument(0, "axis_shapes") : nullptr;
  if (names == nullptr || !names->is_sequence()) return {};
  Diagnostics ignored;  // a mesh that is code is no mistake of the rules
  std::vector<MeshAxisConfig> axes = read_axis_names(to_tree(*names, ignored), ignored);
  if (ignored.has_errors()) return {};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axes[i].size = -1;
    const bool is_sized = sizes != nullptr && sizes->is_sequence() && i < sizes->items.size() &&
                          sizes->items[i].kind == Kind::number;
    if (!is_sized) continue;
    const IntegerReading number = read_integer(sizes->items[i].text);
    if (!number.fault) axes[i].size = number.value;
  }
  return axes;
}

// T5X sizes its mesh by the model's part; data takes the rest.
std::vector<MeshAxisConfig> RulesFinder::t5x_mesh(const Location& at) const {
  std::vector<MeshAxisConfig> axes = {{MeshAxis("data"), -1, at}, {MeshAxis("model"), -1, at}};
  const PythonStatement* partitions = assigned("num_partitions");
  if (partitions != nullptr && partitions->value.kind == Kind::number) {
    axes[1].size = gin_number("num_partitions", -1);
    axes[1].at = partitions->value.at;
  }
  return axes;
}

std::vector<MeshAxisConfig> RulesFinder::mesh() {
  for (const PythonValue* call : mesh_calls_) {
    std::vector<MeshAxisConfig> axes = mesh_of_call(*call);
    if (!axes.empty()) return axes;
  }
  if (is_t5x_ || assigned("num_partitions") != nullptr) return t5x_mesh({file_, 1, 1, 1});
  return {};
}

// Values that are code stay out: the mesh's sizes are then simply not known.
TextNode RulesFinder::settings() const {
  TextNode map;
  map.kind = TextNode::Kind::map;
  for (const PythonStatement& statement : statements_) {
    const std::string key(last_word(statement.target));
    if (!is_maxtext_key(key) || says_rules(key) || !statement.problems.empty()) continue;
    Diagnostics ignored;
    TextNode value = to_tree(statement.value, ignored);
    if (ignored.has_errors()) continue;
    std::erase_if(map.entries, [&](const TextEntry& entry) { return entry.key == key; });
    map.entries.push_back({key, statement.at, std::move(value)});
  }
  return map;
}

PythonRules RulesFinder::read(const std::string& selected) {
  PythonRules found;
  found.rules.file = file_;
  found.rules.rules = rules_of(choose(selected));
  throw_in_file_order(diagnostics_);
  found.rules.mesh = mesh();
  found.settings = settings();
  return found;
}

}  // namespace

PythonRules read_python_rules(const std::string& file, std::string_view text,
                              const std::string& selected, Diagnostics& diagnostics) {
  return RulesFinder(file, text, diagnostics).read(selected);
}

}  // namespace shard
