#include "report/explain.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>

#include "base/glob.h"
#include "base/nearest.h"
#include "check/used_rules.h"
#include "report/explain_array.h"
#include "report/explain_collective.h"
#include "report/fold.h"
#include "report/why.h"

namespace shard {
namespace {

/// A path, everything below a folder, or a glob.
bool means(const std::string& word, const std::string& name) {
  if (is_glob(word)) return matches_glob(word, name);
  return name == word || name.starts_with(word + '/');
}

std::vector<std::string> meant_names(const std::string& word, const ArrayRow& row) {
  std::vector<std::string> meant;
  if (row.instances == 1) {
    if (means(word, row.name)) meant.push_back(row.name);
    return meant;
  }
  for (std::string& name : unfold_name(row.name)) {
    if (means(word, name)) meant.push_back(std::move(name));
  }
  return meant;
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

struct FileLine {
  std::string file;
  int line = 0;
};

/// `rules/flax_guide.yaml:4`, a column behind it allowed; nothing for other words.
std::optional<FileLine> file_line(const std::string& word) {
  std::string text = word;
  std::optional<std::int64_t> line;
  for (int part = 0; part < 2; ++part) {
    const auto colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0) break;
    const auto number = number_of(std::string_view(text).substr(colon + 1));
    if (!number || *number < 1 || *number > 1'000'000'000) break;
    line = number;
    text.resize(colon);
  }
  if (!line) return {};
  return FileLine{text, static_cast<int>(*line)};
}

bool is_at(const FileLine& asked, const Location& at) {
  return at.line == asked.line && (at.file == asked.file || at.file.ends_with('/' + asked.file) ||
                                   asked.file.ends_with('/' + at.file));
}

bool is_array_at(const FileLine& asked, const NamedArray& array) {
  if (is_at(asked, array.row.at)) return true;
  for (const std::vector<Reason>& dim : array.function->sharded.reasons[index_of(array.value)]) {
    for (const Reason& reason : dim) {
      if (is_at(asked, reason.at)) return true;
    }
  }
  return false;
}

std::string use_text(const UsedRule& used) {
  std::string text = rule_text(used) + " decides " + with_commas(used.use.fired) + " of ";
  return text + with_commas(used.use.named) +
         (used.use.named == 1 ? " dim called " : " dims called ") + used.rule.logical.text();
}

LineAnswer explain_line(const Plan& plan, const FileLine& asked) {
  LineAnswer answer;
  answer.place = asked.file + ':' + std::to_string(asked.line);
  const PlanFacts facts{plan.model, plan.main().sharded, plan.main().program, plan.rules};
  for (const UsedRule& used : used_rules(facts)) {
    if (is_at(asked, used.rule.at)) answer.rules.push_back(use_text(used));
  }
  ArrayAnswers arrays(plan);
  for (const NamedArray& array : arrays_with_values(plan)) {
    if (!is_array_at(asked, array)) continue;
    arrays.add(array, array.row.instances == 1 ? std::vector<std::string>{array.row.name}
                                               : unfold_name(array.row.name));
  }
  answer.arrays = arrays.take(false);
  if (plan.model.has_program) {
    for (CollectiveRow& row : collective_rows(plan.main())) {
      if (is_at(asked, row.at)) answer.collectives.push_back(std::move(row));
    }
  }
  for (const Finding& finding : plan.findings) {
    if (is_at(asked, finding.at)) answer.findings.push_back(finding);
  }
  return answer;
}

/// All names and the folders they stand in.
std::vector<std::string> known_words(const std::vector<NamedArray>& all) {
  std::set<std::string> words;
  for (const NamedArray& array : all) {
    const std::string& name = array.row.name;
    words.insert(name);
    for (auto at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
      words.insert(name.substr(0, at));
    }
  }
  return {words.begin(), words.end()};
}

CollectiveAnswer numbered_collective(const Plan& plan, const std::string& word) {
  if (!plan.model.has_program) {
    throw Error("no-program", {"command line"},
                plan.model.name + " is a list of arrays: what it communicates is not known");
  }
  const std::vector<CollectiveRow> rows = collective_rows(plan.main());
  const auto number = number_of(std::string_view(word).substr(1));
  for (const CollectiveRow& row : rows) {
    if (number && *number >= row.number && *number < row.number + row.instances) {
      return explain_collective(plan, row, *number);
    }
  }
  const std::int64_t most = rows.empty() ? 0 : rows.back().number + rows.back().instances - 1;
  throw Error("unknown-collective", {"command line"}, "there is no collective " + word,
              most == 0 ? "the plan has none"
                        : "the plan has #1" + (most > 1 ? " to #" + std::to_string(most) : ""));
}

}  // namespace

Explanation explain(const Plan& plan, const std::string& word) {
  Explanation explanation;
  if (word.starts_with('#')) {
    explanation.collectives.push_back(numbered_collective(plan, word));
    return explanation;
  }
  const std::vector<NamedArray> all = arrays_with_values(plan);
  ArrayAnswers answers(plan);
  for (const NamedArray& array : all) {
    const std::vector<std::string> names = meant_names(word, array.row);
    if (!names.empty()) answers.add(array, names);
  }
  explanation.arrays = answers.take(true);
  if (!explanation.arrays.empty()) return explanation;
  if (const auto place = file_line(word)) {
    LineAnswer line = explain_line(plan, *place);
    if (!line.empty()) {
      explanation.lines.push_back(std::move(line));
      return explanation;
    }
    throw Error("nothing-there", {"command line"}, "nothing is decided or placed at " + line.place,
                "FILE:LINE is a line of the model or of the rules, as `plan` prints them");
  }
  throw Error("unknown-array", {"command line"}, "no array is called '" + word + "'",
              did_you_mean(word, known_words(all), "arrays and folders", 8));
}

}  // namespace shard
