#include "shard/path_rules.h"

#include "base/glob.h"

namespace shard {
namespace {

int first_match(const std::vector<PathRuleConfig>& rules, const std::string& path) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (matches_glob(rules[i].glob, path)) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

int PathRules::find(const std::string& path, const std::string& followed) const {
  const int own = first_match(rules_, path);
  return own >= 0 || followed.empty() ? own : first_match(rules_, followed);
}

const PathRuleConfig* PathRules::take(const std::string& path, const std::string& followed,
                                      std::int64_t arrays) {
  const int found = find(path, followed);
  if (found < 0) return nullptr;
  arrays_[static_cast<std::size_t>(found)] += arrays;
  return &rules_[static_cast<std::size_t>(found)];
}

void MirroredParameters::add(const std::string& parameter) {
  const std::size_t slash = parameter.find('/');
  by_tail_.emplace(slash == parameter.npos ? parameter : parameter.substr(slash + 1), parameter);
}

std::string MirroredParameters::find(const std::string& path) const {
  for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    const auto found = by_tail_.find(path.substr(slash + 1));
    if (found != by_tail_.end()) return found->second;
  }
  return "";
}

}  // namespace shard
