#pragma once
// A folder of texts in memory and what reading them gives.

#include <map>
#include <string>
#include <vector>

#include "config/layered_rules.h"
#include "config/load.h"
#include "config/outline.h"
#include "text/rendered.h"

namespace shard {

/// Paths and texts; each call reads them anew.
class TestFiles {
 public:
  explicit TestFiles(std::map<std::string, std::string> files) : files_(std::move(files)) {}
  /// One file, `m.yaml`.
  explicit TestFiles(const char* text) : files_{{"m.yaml", text}} {}

  /// The outline of the model, or the rendered diagnostics.
  std::string model(const std::string& path = "m.yaml", const Overrides& overrides = {}) const {
    return answer([&](Sources& sources) {
      return outline(read_model(merge_model_file(path, overrides, sources)));
    });
  }
  /// What `show` makes of a list of arrays, or the rendered diagnostics.
  template <class Show>
  std::string arrays(Show show) const {
    return answer([&](Sources& sources) {
      return show(read_arrays(merge_model_file("m.yaml", {}, sources)));
    });
  }
  std::string rules(const std::string& path = "m.yaml", const Overrides& overrides = {},
                    const std::string& rule_set = "") const {
    return answer([&](Sources& sources) {
      return outline(read_rules(merge_rules_file(path, overrides, sources, rule_set)));
    });
  }
  std::string resolved_model(const std::string& path = "m.yaml",
                             const Overrides& overrides = {}) const {
    return answer([&](Sources& sources) {
      return write_resolved(merge_model_file(path, overrides, sources));
    });
  }
  std::string resolved_rules(const std::string& path = "m.yaml",
                             const Overrides& overrides = {}) const {
    return answer([&](Sources& sources) {
      return write_resolved(merge_rules_file(path, overrides, sources));
    });
  }

  /// `path` with the files `upper` laid over it one by one, then the overrides.
  std::string layered(const std::string& path, const std::vector<std::string>& upper,
                      RuleMerge merge, const Overrides& overrides = {}) const {
    return answer([&](Sources& sources) {
      RulesConfig rules = read_rules(merge_rules_file(path, {}, sources));
      for (const std::string& one : upper) {
        rules = laid_over(std::move(rules), read_rules(merge_rules_file(one, {}, sources)), merge);
      }
      Diagnostics diagnostics;
      override_rules(rules, overrides, sources, diagnostics);
      diagnostics.throw_if_errors();
      return outline(rules);
    });
  }

 private:
  template <class Call>
  std::string answer(Call call) const {
    MemoryReader reader(files_);
    Sources sources(reader);
    std::string text;
    const std::string problems = rendered(sources, [&] { text = call(sources); });
    return text.empty() ? problems : text;
  }

  std::map<std::string, std::string> files_;
};

}  // namespace shard
