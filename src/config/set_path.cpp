#include "config/set_path.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/nearest.h"

namespace shard {
namespace {

// Maps at the top whose keys are names of the user's own, where a new name would change nothing.
constexpr std::array<std::string_view, 5> maps_of_names = {"sizes", "inputs", "blocks", "outputs",
                                                           "mesh"};

struct Step {
  std::string_view name;
  Location at;
};

std::vector<Step> steps_of(std::string_view path, const Location& at) {
  std::vector<Step> steps;
  std::size_t start = 0;
  while (true) {
    const std::size_t end = std::min(path.find('.', start), path.size());
    const std::string_view name = path.substr(start, end - start);
    steps.push_back({name,
                     {at.file, at.line, at.column + static_cast<int>(start),
                      std::max(1, static_cast<int>(name.size()))}});
    if (end == path.size()) return steps;
    start = end + 1;
  }
}

std::vector<std::string> keys_of(const TextNode& map) {
  std::vector<std::string> keys;
  for (const TextEntry& entry : map.entries) keys.push_back(entry.key);
  return keys;
}

TextNode* item_at(TextNode& list, const Step& step, Diagnostics& diagnostics) {
  std::size_t index = 0;
  const char* end = step.name.data() + step.name.size();
  const auto [stop, error] = std::from_chars(step.name.data(), end, index);
  if (error == std::errc() && stop == end && index < list.items.size()) return &list.items[index];
  const std::string count = std::to_string(list.items.size());
  diagnostics.error(
      "bad-set-path", step.at, "'" + std::string(step.name) + "' is no item of a list of " + count,
      list.items.empty() ? ""
                         : "items are counted from 0 to " + std::to_string(list.items.size() - 1));
  return nullptr;
}

TextEntry* entry_of(TextNode& map, std::string_view key) {
  const auto found = std::find_if(map.entries.begin(), map.entries.end(),
                                  [&](const TextEntry& entry) { return entry.key == key; });
  return found == map.entries.end() ? nullptr : &*found;
}

/// Follows the steps one by one and remembers how it got there.
class Walker {
 public:
  Walker(TextNode& root, Diagnostics& diagnostics) : node_(&root), diagnostics_(diagnostics) {}

  void put(const std::vector<Step>& steps, const TextNode& value) {
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
      node_ = child(steps[i]);
      if (node_ == nullptr) return;
      way_ += (way_.empty() ? "" : ".") + std::string(steps[i].name);
    }
    put_last(steps.back(), value);
  }

 private:
  void put_last(const Step& step, const TextNode& value) {
    if (node_->is_sequence()) {
      if (TextNode* item = item_at(*node_, step, diagnostics_)) *item = value;
      return;
    }
    if (!node_->is_map()) return report_no_map(step);
    if (TextEntry* entry = entry_of(*node_, step.name)) {
      entry->value = value;
      entry->key_at = step.at;
      return;
    }
    const bool is_closed =
        std::find(maps_of_names.begin(), maps_of_names.end(), way_) != maps_of_names.end();
    if (is_closed) return report_missing(step);
    node_->entries.push_back({std::string(step.name), step.at, value});
  }

  TextNode* child(const Step& step) {
    if (node_->is_sequence()) return item_at(*node_, step, diagnostics_);
    if (!node_->is_map()) {
      report_no_map(step);
      return nullptr;
    }
    if (TextEntry* entry = entry_of(*node_, step.name)) return &entry->value;
    report_missing(step);
    return nullptr;
  }

  std::string place() const { return way_.empty() ? "the file" : "'" + way_ + "'"; }

  void report_missing(const Step& step) {
    diagnostics_.error("bad-set-path", step.at,
                       place() + " has no '" + std::string(step.name) + "'",
                       did_you_mean(step.name, keys_of(*node_), "it has"));
  }

  void report_no_map(const Step& step) {
    diagnostics_.error(
        "bad-set-path", step.at,
        place() + " is " + describe(*node_) + ", which has no '" + std::string(step.name) + "'",
        "set " + place() + " itself");
  }

  TextNode* node_;
  std::string way_;
  Diagnostics& diagnostics_;
};

}  // namespace

void set_path(TextNode& root, const KeyTable& table, const std::string& path,
              const Location& path_at, const TextNode& value, Diagnostics& diagnostics) {
  std::vector<Step> steps = steps_of(path, path_at);
  const TextNode* sizes = root.find("sizes");
  const bool is_size =
      steps.size() == 1 && value.is_scalar() && sizes != nullptr && sizes->find(path) != nullptr;
  if (is_size) steps.insert(steps.begin(), {"sizes", path_at});
  if (table.find(steps.front().name) == nullptr && root.find(steps.front().name) == nullptr) {
    std::vector<std::string> valid =
        sizes == nullptr ? std::vector<std::string>() : keys_of(*sizes);
    for (const std::string& key : table.valid_keys()) valid.push_back(key);
    diagnostics.error("bad-set-path", steps.front().at,
                      "'" + std::string(steps.front().name) + "' is neither a key of " +
                          std::string(table.what) + " nor a size",
                      did_you_mean(steps.front().name, valid));
    return;
  }
  Walker(root, diagnostics).put(steps, value);
}

}  // namespace shard
