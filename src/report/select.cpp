#include "report/select.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/diagnostic.h"
#include "base/glob.h"
#include "base/nearest.h"

namespace shard {
namespace {

/// `params/DotReluDot_0/` of the first parameter: one block stands for all.
std::string first_block(const std::vector<ArrayRow>& all) {
  const auto first = std::find_if(all.begin(), all.end(),
                                  [](const ArrayRow& row) { return row.role == Role::parameter; });
  if (first == all.end()) return "";
  const auto owner = first->name.find('/');
  const auto block = owner == std::string::npos ? owner : first->name.find('/', owner + 1);
  return first->name.substr(0, block);
}

bool is_in(const std::string& folder, const std::string& name) {
  return name == folder || name.starts_with(folder + '/');
}

bool is_meant(const std::string& asked, const std::string& name) {
  return is_glob(asked) ? matches_glob(asked, name) : is_in(asked, name);
}

/// Words to compare a mistyped name with: all names and the folders they stand in.
std::vector<std::string> known_words(const std::vector<ArrayRow>& all) {
  std::set<std::string> words;
  for (const ArrayRow& row : all) {
    words.insert(row.name);
    for (auto at = row.name.find('/'); at != std::string::npos; at = row.name.find('/', at + 1)) {
      words.insert(row.name.substr(0, at));
    }
  }
  return {words.begin(), words.end()};
}

/// Adds the rows that are meant and not there yet; says whether any row is meant.
bool add_meant(const std::vector<ArrayRow>& all, const std::function<bool(const ArrayRow&)>& meant,
               std::vector<ArrayRow>& chosen) {
  std::set<std::string> there;
  for (const ArrayRow& row : chosen) there.insert(row.name);
  bool any = false;
  for (const ArrayRow& row : all) {
    if (!meant(row)) continue;
    any = true;
    if (there.insert(row.name).second) chosen.push_back(row);
  }
  return any;
}

}  // namespace

std::vector<ArrayRow> named_arrays(const Plan& plan) {
  std::vector<ArrayRow> all = unfolded(value_rows(plan.main()));
  const auto is_input = [&](const ArrayRow& row) { return row.role == Role::input; };
  const auto first_value = std::find_if_not(all.begin(), all.end(), is_input);
  const std::vector<ArrayRow> state = unfolded(state_rows(plan));
  all.insert(first_value, state.begin(), state.end());
  add_meant(
      output_rows(plan.main()), [](const ArrayRow&) { return true; }, all);
  add_meant(
      output_rows(plan.apply), [](const ArrayRow&) { return true; }, all);
  return all;
}

std::vector<ArrayRow> select_arrays(const std::vector<ArrayRow>& all,
                                    const std::vector<std::string>& names) {
  std::vector<ArrayRow> chosen;
  if (names.empty()) {
    const std::string block = first_block(all);
    add_meant(
        all,
        [&](const ArrayRow& row) {
          return row.role == Role::input || row.is_result || is_in(block, row.name);
        },
        chosen);
    return chosen;
  }
  Diagnostics diagnostics;
  for (const std::string& name : names) {
    const auto meant = [&](const ArrayRow& row) { return is_meant(name, row.name); };
    if (add_meant(all, meant, chosen)) continue;
    diagnostics.error("unknown-array", {"command line"}, "no array is called '" + name + "'",
                      did_you_mean(name, known_words(all), "arrays and folders", 8));
  }
  diagnostics.throw_if_errors();
  return chosen;
}

}  // namespace shard
