#include "config/in_file_order.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace shard {

void throw_in_file_order(const Diagnostics& diagnostics) {
  std::vector<Diagnostic> all;
  std::set<std::string> seen;
  for (const Diagnostic& one : diagnostics.all()) {
    if (seen.insert(to_string(one)).second) all.push_back(one);
  }
  std::map<std::string, std::size_t> rank;
  for (const Diagnostic& one : all) rank.emplace(one.at.file, rank.size());
  const auto key = [&](const Diagnostic& one) {
    return std::tuple(rank.at(one.at.file), one.at.line, one.at.column);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
  Diagnostics sorted;
  sorted.append(all);
  sorted.throw_if_errors();
}

}  // namespace shard
