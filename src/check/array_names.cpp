#include "check/array_names.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <unordered_map>

namespace shard {
namespace {

/// Parts with the separator behind each, so that they put together are the name.
std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find_first_of("/."), name.size() - 1);
    parts.push_back(name.substr(0, end + 1));
    name.remove_prefix(end + 1);
  }
  return parts;
}

bool is_separator(char c) { return c == '/' || c == '.'; }

}  // namespace

std::string number_pattern(const std::string& name) {
  std::string pattern;
  bool in_number = false;
  for (const char c : name) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!is_digit) pattern += c;
    if (is_digit && !in_number) pattern += '#';
    in_number = is_digit;
  }
  return pattern;
}

SharedNames shared_names(std::vector<std::string> list) {
  auto names = std::make_shared<ArrayNames>();
  std::unordered_map<std::string, std::size_t> family_of;
  for (std::size_t position = 0; position < list.size(); ++position) {
    std::string pattern = number_pattern(list[position]);
    const auto [place, is_new] = family_of.try_emplace(pattern, names->families.size());
    if (is_new) names->families.push_back({std::move(pattern), {}});
    names->families[place->second].positions.push_back(position);
  }
  names->list = std::move(list);
  return names;
}

std::string glob_of(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  const std::vector<std::string_view> first = parts_of(names.front());
  std::vector<bool> varies(first.size());
  for (const std::string& name : names) {
    const std::vector<std::string_view> parts = parts_of(name);
    if (parts.size() != first.size()) return "";
    for (std::size_t i = 0; i < parts.size(); ++i) varies[i] = varies[i] || parts[i] != first[i];
  }
  std::string glob;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!varies[i]) {
      glob += first[i];
    } else {
      glob += '*';
      if (is_separator(first[i].back())) glob += first[i].back();
    }
  }
  return glob;
}

}  // namespace shard
