#include "report/fold.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "model/range_names.h"

namespace shard {
namespace {

using Range = NumberRange;

/// A name taken apart: texts[0] numbers[0] texts[1] numbers[1] ... texts.back().
struct Pattern {
  std::vector<std::string> texts{""};
  std::vector<Range> numbers;

  void add(Range range) {
    numbers.push_back(range);
    texts.emplace_back();
  }
};

/// Characters from `at` on that belong together as text: one, or a run of digits.
std::size_t text_length(std::string_view name, std::size_t at) {
  std::size_t end = at;
  while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
  return std::max<std::size_t>(1, end - at);
}

Pattern pattern_of(std::string_view name) {
  Pattern pattern;
  for (std::size_t at = 0; at < name.size();) {
    if (const auto number = number_at(name, at)) {
      pattern.add(number->range);
      at += number->length;
    } else {
      const std::size_t length = text_length(name, at);
      pattern.texts.back() += name.substr(at, length);
      at += length;
    }
  }
  return pattern;
}

long long names_in(const Pattern& pattern) {
  long long count = 1;
  for (const Range& range : pattern.numbers) count *= range.count();
  return count;
}

long long numbers_in(const std::vector<Range>& column) {
  long long count = 0;
  for (const Range& range : column) count += range.count();
  return count;
}

/// By position the numbers that occur there, each once.
std::vector<std::vector<Range>> sorted_columns(const std::vector<Pattern>& patterns) {
  std::vector<std::vector<Range>> columns;
  for (std::size_t position = 0; position < patterns.front().numbers.size(); ++position) {
    std::set<Range> values;
    for (const Pattern& pattern : patterns) values.insert(pattern.numbers[position]);
    columns.emplace_back(values.begin(), values.end());
  }
  return columns;
}

/// Equal texts, all number vectors distinct, and every combination of the numbers occurs.
bool is_full_product(const std::vector<Pattern>& patterns) {
  std::set<std::vector<Range>> distinct;
  long long names = 0;
  for (const Pattern& pattern : patterns) {
    if (pattern.texts != patterns.front().texts) return false;
    distinct.insert(pattern.numbers);
    names += names_in(pattern);
  }
  if (distinct.size() != patterns.size()) return false;
  long long combinations = 1;
  for (const auto& column : sorted_columns(patterns)) combinations *= numbers_in(column);
  return combinations == names;
}

std::vector<Pattern> patterns_of(const std::vector<std::string>& names) {
  std::vector<Pattern> patterns;
  for (const std::string& name : names) patterns.push_back(pattern_of(name));
  return patterns;
}

/// Splits items with equal texts and keys so that each part folds: by all numbers but the first
/// that varies.
std::vector<std::vector<std::size_t>> parts_that_fold(const std::vector<std::size_t>& items,
                                                      const std::vector<Pattern>& patterns) {
  std::vector<Pattern> chosen;
  for (const std::size_t item : items) chosen.push_back(patterns[item]);
  if (is_full_product(chosen)) return {items};
  const auto columns = sorted_columns(chosen);
  const auto varying = std::find_if(columns.begin(), columns.end(),
                                    [](const auto& column) { return column.size() > 1; });
  std::vector<std::vector<std::size_t>> parts;
  std::map<std::vector<Range>, std::size_t> part_of;
  std::set<std::vector<Range>> seen;
  for (const std::size_t item : items) {
    std::vector<Range> numbers = patterns[item].numbers;
    const bool is_new = seen.insert(numbers).second;
    if (varying != columns.end()) numbers[static_cast<std::size_t>(varying - columns.begin())] = {};
    const auto [place, first] = part_of.try_emplace(numbers, parts.size());
    if (first || !is_new) {
      parts.push_back({item});
      place->second = parts.size() - 1;
    } else {
      parts[place->second].push_back(item);
    }
  }
  return parts;
}

/// `{0..3,7}` for sorted ranges; a single number stands alone.
std::string number_set(const std::vector<Range>& sorted) {
  if (sorted.size() == 1 && sorted.front().count() == 1)
    return std::to_string(sorted.front().first);
  std::string text;
  for (std::size_t i = 0; i < sorted.size();) {
    Range run = sorted[i++];
    while (i < sorted.size() && sorted[i].first == run.last + 1) run.last = sorted[i++].last;
    if (!text.empty()) text += ',';
    text += std::to_string(run.first);
    if (run.count() == 2) text += ',' + std::to_string(run.last);  // reads better as two numbers
    if (run.count() > 2) text += ".." + std::to_string(run.last);
  }
  return '{' + text + '}';
}

}  // namespace

std::string fold_names(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  const std::vector<Pattern> patterns = patterns_of(names);
  if (!is_full_product(patterns)) return "";
  const auto columns = sorted_columns(patterns);
  std::string text = patterns.front().texts.front();
  for (std::size_t position = 0; position < columns.size(); ++position) {
    text += number_set(columns[position]) + patterns.front().texts[position + 1];
  }
  return text;
}

std::vector<std::vector<std::size_t>> fold_groups(const std::vector<FoldItem>& items) {
  std::vector<Pattern> patterns;
  std::vector<std::vector<std::size_t>> alike;
  std::map<std::pair<std::string, std::vector<std::string>>, std::size_t> group_of;
  for (std::size_t item = 0; item < items.size(); ++item) {
    patterns.push_back(pattern_of(items[item].name));
    const auto key = std::make_pair(items[item].key, patterns.back().texts);
    const auto [place, is_new] = group_of.try_emplace(key, alike.size());
    if (is_new) alike.emplace_back();
    alike[place->second].push_back(item);
  }
  std::vector<std::vector<std::size_t>> groups;
  for (const auto& group : alike) {
    for (auto& part : parts_that_fold(group, patterns)) groups.push_back(std::move(part));
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.front() < b.front(); });
  return groups;
}

std::string join_folded(const std::vector<std::string>& names) {
  std::vector<FoldItem> items;
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (seen.insert(name).second) items.push_back({name, ""});
  }
  std::string text;
  for (const auto& group : fold_groups(items)) {
    std::vector<std::string> members;
    for (const std::size_t item : group) members.push_back(items[item].name);
    if (!text.empty()) text += ", ";
    text += fold_names(members);
  }
  return text;
}

std::int64_t count_names(const std::string& name) { return names_in(pattern_of(name)); }

std::vector<std::string> unfold_name(const std::string& name) {
  const Pattern pattern = pattern_of(name);
  std::vector<std::string> names = {pattern.texts.front()};
  for (std::size_t position = 0; position < pattern.numbers.size(); ++position) {
    const Range& range = pattern.numbers[position];
    std::vector<std::string> longer;
    for (const std::string& start : names) {
      for (long long number = range.first; number <= range.last; ++number) {
        longer.push_back(start + std::to_string(number) + pattern.texts[position + 1]);
      }
    }
    names = std::move(longer);
  }
  return names;
}

}  // namespace shard
