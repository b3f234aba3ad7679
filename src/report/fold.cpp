#include "report/fold.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

namespace shard {
namespace {

/// A name taken apart: texts[0] numbers[0] texts[1] numbers[1] ... texts.back().
struct Pattern {
  std::vector<std::string> texts{""};
  std::vector<long long> numbers;
};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

Pattern pattern_of(const std::string& name) {
  constexpr std::size_t most_digits = 18;
  Pattern pattern;
  for (std::size_t at = 0; at < name.size();) {
    if (!is_digit(name[at])) {
      pattern.texts.back() += name[at++];
      continue;
    }
    std::size_t end = at;
    while (end < name.size() && is_digit(name[end])) ++end;
    const std::string digits = name.substr(at, end - at);
    if (digits.size() > most_digits || (digits.size() > 1 && digits[0] == '0')) {
      pattern.texts.back() += digits;
    } else {
      pattern.numbers.push_back(std::stoll(digits));
      pattern.texts.emplace_back();
    }
    at = end;
  }
  return pattern;
}

std::vector<std::vector<long long>> sorted_columns(const std::vector<Pattern>& patterns) {
  std::vector<std::vector<long long>> columns;
  for (std::size_t position = 0; position < patterns.front().numbers.size(); ++position) {
    std::set<long long> values;
    for (const Pattern& pattern : patterns) values.insert(pattern.numbers[position]);
    columns.emplace_back(values.begin(), values.end());
  }
  return columns;
}

/// Equal texts, all number vectors distinct, and every combination of the numbers occurs.
bool is_full_product(const std::vector<Pattern>& patterns) {
  std::set<std::vector<long long>> distinct;
  for (const Pattern& pattern : patterns) {
    if (pattern.texts != patterns.front().texts) return false;
    distinct.insert(pattern.numbers);
  }
  if (distinct.size() != patterns.size()) return false;
  std::size_t combinations = 1;
  for (const auto& column : sorted_columns(patterns)) combinations *= column.size();
  return combinations == patterns.size();
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
  std::map<std::vector<long long>, std::size_t> part_of;
  std::set<std::vector<long long>> seen;
  for (const std::size_t item : items) {
    std::vector<long long> numbers = patterns[item].numbers;
    const bool is_new = seen.insert(numbers).second;
    if (varying != columns.end()) numbers[static_cast<std::size_t>(varying - columns.begin())] = 0;
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

}  // namespace

std::string number_set(const std::vector<long long>& sorted) {
  if (sorted.size() == 1) return std::to_string(sorted.front());
  std::string text;
  for (std::size_t first = 0; first < sorted.size();) {
    std::size_t last = first;
    while (last + 1 < sorted.size() && sorted[last + 1] == sorted[last] + 1) ++last;
    if (last - first == 1) last = first;  // a run of two reads better as two numbers
    if (!text.empty()) text += ',';
    text += std::to_string(sorted[first]);
    if (last > first) text += ".." + std::to_string(sorted[last]);
    first = last + 1;
  }
  return '{' + text + '}';
}

std::string fold_names(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  if (names.size() == 1) return names.front();
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

}  // namespace shard
