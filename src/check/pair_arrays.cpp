#include "check/pair_arrays.h"

#include <map>
#include <string_view>
#include <unordered_map>

namespace shard {
namespace {

struct Place {
  int array = -1;
  std::size_t position = 0;
};

/// A side's arrays that no shared list of names has paired yet.
class OpenNames {
 public:
  OpenNames(const LayoutRecord& record, const std::vector<bool>& is_paired) : record_(record) {
    for (std::size_t array = 0; array < record.arrays.size(); ++array) {
      if (is_paired[array]) continue;
      const std::vector<std::string>& list = record.arrays[array].names->list;
      for (std::size_t position = 0; position < list.size(); ++position) {
        places_.emplace(list[position], Place{static_cast<int>(array), position});
      }
    }
  }

  /// Where the name stands; -1 when this side has not got it. It is given out once.
  Place take(const std::string& name) {
    const auto found = places_.find(name);
    if (found == places_.end()) return {};
    const Place place = found->second;
    places_.erase(found);
    return place;
  }

  /// What nobody took, array by array.
  std::map<int, std::vector<std::size_t>> rest() const {
    std::map<int, std::vector<std::size_t>> rest;
    for (std::size_t array = 0; array < record_.arrays.size(); ++array) {
      const std::vector<std::string>& list = record_.arrays[array].names->list;
      for (std::size_t position = 0; position < list.size(); ++position) {
        const auto found = places_.find(list[position]);
        if (found != places_.end() && found->second.array == static_cast<int>(array))
          rest[static_cast<int>(array)].push_back(position);
      }
    }
    return rest;
  }

 private:
  const LayoutRecord& record_;
  std::unordered_map<std::string_view, Place> places_;
};

/// The pair of some of an array's names; all of them keep their shared list.
ArrayPair pair_of(int before, int after, const ArrayLayout& array,
                  std::vector<std::size_t> positions) {
  if (positions.size() == array.names->list.size()) return {before, after, array.names, {}};
  std::vector<std::string> names;
  for (const std::size_t position : positions) names.push_back(array.names->list[position]);
  return {before, after, shared_names(std::move(names)), std::move(positions)};
}

void pair_by_name(const LayoutRecord& after, int array, OpenNames& open,
                  std::vector<ArrayPair>& pairs) {
  const ArrayLayout& layout = after.arrays[static_cast<std::size_t>(array)];
  std::map<int, std::vector<std::size_t>> by_partner;
  for (std::size_t position = 0; position < layout.names->list.size(); ++position) {
    by_partner[open.take(layout.names->list[position]).array].push_back(position);
  }
  for (auto& [partner, positions] : by_partner) {
    pairs.push_back(pair_of(partner, array, layout, std::move(positions)));
  }
}

}  // namespace

std::vector<ArrayPair> pair_arrays(const LayoutRecord& before, const LayoutRecord& after) {
  std::unordered_map<const ArrayNames*, int> shared;
  for (std::size_t array = 0; array < before.arrays.size(); ++array) {
    shared.emplace(before.arrays[array].names.get(), static_cast<int>(array));
  }
  std::vector<int> partner(after.arrays.size(), -1);
  std::vector<bool> is_paired(before.arrays.size());
  for (std::size_t array = 0; array < after.arrays.size(); ++array) {
    const auto found = shared.find(after.arrays[array].names.get());
    if (found == shared.end()) continue;
    partner[array] = found->second;
    is_paired[static_cast<std::size_t>(found->second)] = true;
  }
  OpenNames open(before, is_paired);
  std::vector<ArrayPair> pairs;
  for (std::size_t array = 0; array < after.arrays.size(); ++array) {
    if (partner[array] >= 0) {
      pairs.push_back({partner[array], static_cast<int>(array), after.arrays[array].names, {}});
    } else {
      pair_by_name(after, static_cast<int>(array), open, pairs);
    }
  }
  for (auto& [array, positions] : open.rest()) {
    pairs.push_back(
        pair_of(array, -1, before.arrays[static_cast<std::size_t>(array)], std::move(positions)));
  }
  return pairs;
}

}  // namespace shard
