#include <algorithm>
#include <filesystem>

#include "base/nearest.h"
#include "config/checked_map.h"
#include "config/load.h"
#include "config/overrides.h"
#include "config/set_path.h"
#include "text/files.h"
#include "text/read.h"

namespace shard {
namespace {

// Maps key by key, everything else whole; the base's order stays, new keys follow.
void lay_over(TextNode& base, TextNode&& over) {
  if (!base.is_map() || !over.is_map()) {
    base = std::move(over);
    return;
  }
  for (TextEntry& entry : over.entries) {
    const auto found = std::find_if(base.entries.begin(), base.entries.end(),
                                    [&](const TextEntry& one) { return one.key == entry.key; });
    if (found == base.entries.end()) {
      base.entries.push_back(std::move(entry));
      continue;
    }
    // A map that is laid over a map stays where it was; its entries know where they come from.
    if (!found->value.is_map() || !entry.value.is_map()) found->key_at = entry.key_at;
    lay_over(found->value, std::move(entry.value));
  }
}

TextNode take(TextNode& map, std::string_view key) {
  const auto found = std::find_if(map.entries.begin(), map.entries.end(),
                                  [&](const TextEntry& entry) { return entry.key == key; });
  if (found == map.entries.end()) return {};
  TextNode value = std::move(found->value);
  map.entries.erase(found);
  return value;
}

/// Reads a file and all that it is built on.
class Merger {
 public:
  Merger(const KeyTable& table, Sources& sources, Diagnostics& diagnostics)
      : table_(table), sources_(sources), diagnostics_(diagnostics) {}

  TextNode read(const std::string& path, const Location& asked_at) {
    check_cycle(path, asked_at);
    chain_.push_back(path);
    TextNode own = read_yaml(path, sources_.load(path, asked_at));
    if (!own.is_map()) {
      throw Error("wrong-type", own.at.is_known() ? own.at : Location{path},
                  std::string(table_.what) + " holds " + describe(own) + ", expected a map",
                  "its keys: " + joined(table_.valid_keys()));
    }
    const TextNode base = take(own, "base");
    const TextNode set = take(own, "set");
    TextNode merged = read_bases(path, base);
    lay_over(merged, std::move(own));
    apply_set(merged, set);
    chain_.pop_back();
    return merged;
  }

 private:
  static std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
  }

  void check_cycle(const std::string& path, const Location& asked_at) const {
    const auto first = std::find(chain_.begin(), chain_.end(), path);
    if (first == chain_.end()) return;
    std::string way;
    for (auto file = first; file != chain_.end(); ++file) way += *file + " -> ";
    throw Error("base-cycle", asked_at, "'" + path + "' is built on itself: " + way + path,
                "remove one `base`");
  }

  TextNode read_bases(const std::string& path, const TextNode& base) {
    TextNode merged;
    merged.kind = TextNode::Kind::map;
    merged.at = {path};  // the file as a whole has no line
    if (base.is_null()) return merged;
    const std::vector<TextNode> one = {base};
    for (const TextNode& file : base.is_sequence() ? base.items : one) {
      if (!file.is_scalar() || file.scalar.empty()) {
        report_type(file, "'base'", row_of(ValueKind::files).expected, diagnostics_);
        continue;
      }
      lay_over(merged, read(beside(path, file.scalar), file.at));
    }
    return merged;
  }

  void apply_set(TextNode& merged, const TextNode& set) {
    if (set.is_null()) return;
    if (!set.is_map()) {
      report_type(set, "'set'", row_of(ValueKind::settings).expected, diagnostics_);
      return;
    }
    for (const TextEntry& entry : set.entries) {
      set_path(merged, table_, entry.key, entry.key_at, entry.value, diagnostics_);
    }
  }

  const KeyTable& table_;
  Sources& sources_;
  Diagnostics& diagnostics_;
  std::vector<std::string> chain_;  ///< files being read, the asked one first
};

MergedDocument merge_file(const std::string& path, const KeyTable& table, Sources& sources,
                          Diagnostics& diagnostics) {
  MergedDocument document;
  document.file = path;
  document.root = Merger(table, sources, diagnostics).read(path, {});
  return document;
}

// Each key of the set takes the place of the file's, whole.
void lay_rule_set(MergedDocument& document, const std::string& wanted, Diagnostics& diagnostics) {
  if (const TextNode* sets = document.root.find("rule_sets")) {
    for (const TextEntry& set : sets->entries) document.rule_sets.push_back(set.key);
  }
  if (wanted.empty()) return;
  document.rule_set = wanted;
  const TextNode* sets = document.root.find("rule_sets");
  const TextNode* chosen = sets == nullptr ? nullptr : sets->find(wanted);
  if (chosen == nullptr) {
    diagnostics.error("unknown-rule-set", {document.file}, "there is no rule set '" + wanted + "'",
                      document.rule_sets.empty()
                          ? "the file has no rule_sets"
                          : did_you_mean(wanted, document.rule_sets, "rule sets"));
    return;
  }
  const std::vector<TextEntry> entries = chosen->entries;  // of the tree that is changed
  for (const TextEntry& entry : entries) {
    take(document.root, entry.key);
    document.root.entries.push_back(entry);
  }
}

}  // namespace

MergedDocument merge_model_file(const std::string& path, const Overrides& overrides,
                                Sources& sources) {
  Diagnostics diagnostics;
  MergedDocument document = merge_file(path, model_table(), sources, diagnostics);
  override_sizes(document.root, overrides.size_set, sources, diagnostics);
  override_paths(document.root, overrides.set, sources, diagnostics);
  document.problems = diagnostics.all();
  return document;
}

MergedDocument arrays_document(const std::string& path, const Overrides& overrides,
                               Sources& sources) {
  Diagnostics diagnostics;
  MergedDocument document;
  document.file = path;
  document.root.kind = TextNode::Kind::map;
  document.root.at = {path, 0, 0, 1};
  TextNode from;
  from.kind = TextNode::Kind::scalar;
  from.scalar = std::filesystem::path(path).filename().string();
  from.at = document.root.at;
  document.root.entries.push_back({"from", from.at, from});
  override_sizes(document.root, overrides.size_set, sources, diagnostics);
  override_paths(document.root, overrides.set, sources, diagnostics);
  document.problems = diagnostics.all();
  return document;
}

MergedDocument merge_rules_file(const std::string& path, const Overrides& overrides,
                                Sources& sources, const std::string& rule_set) {
  Diagnostics diagnostics;
  MergedDocument document = merge_file(path, rules_table(), sources, diagnostics);
  lay_rule_set(document, rule_set, diagnostics);
  override_mesh(document.root, overrides.mesh, sources, diagnostics);
  add_rules(document.root, overrides.add_rules, sources, diagnostics);
  document.problems = diagnostics.all();
  return document;
}

}  // namespace shard
