#include <algorithm>
#include <map>

#include "config/lock_config.h"
#include "text/tree.h"
#include "text/write_yaml.h"

namespace shard {
namespace {

TextNode scalar(std::string text) {
  TextNode node;
  node.kind = TextNode::Kind::scalar;
  node.scalar = std::move(text);
  return node;
}

TextNode empty_map() {
  TextNode node;
  node.kind = TextNode::Kind::map;
  return node;
}

void add(TextNode& map, const std::string& key, TextNode value) {
  map.entries.push_back({key, {}, std::move(value)});
}

TextNode arrays_node(const std::vector<LockArray>& arrays) {
  TextNode node = empty_map();
  for (const LockArray& array : arrays) {
    std::string text = array.spec;
    if (array.bytes) {
      text = array.type + ' ' + array.spec + ' ' + std::to_string(array.bytes->count()) + " B";
    }
    add(node, array.name, scalar(std::move(text)));
  }
  return node;
}

TextNode collectives_node(const std::vector<LockCollective>& collectives) {
  TextNode node = empty_map();
  for (const LockCollective& one : collectives) {
    const std::string key = one.kind + ' ' + one.axes;
    const std::string amount =
        std::to_string(one.count) + " x " + std::to_string(one.payload.count()) + " B";
    const auto same = std::find_if(node.entries.begin(), node.entries.end(),
                                   [&](const TextEntry& entry) { return entry.key == key; });
    if (same == node.entries.end()) {
      add(node, key, scalar(amount));
    } else {
      same->value.scalar += " + " + amount;
    }
  }
  return node;
}

TextNode section_node(const LockSection& section) {
  TextNode node = empty_map();
  const auto add_arrays = [&](const char* key, const std::vector<LockArray>& arrays) {
    if (!arrays.empty()) add(node, key, arrays_node(arrays));
  };
  add_arrays("state", section.state);
  add_arrays("inputs", section.inputs);
  add_arrays("outputs", section.outputs);
  add_arrays("activations", section.activations);
  if (section.collectives) add(node, "collectives", collectives_node(*section.collectives));
  if (section.peak) add(node, "peak_bytes", scalar(std::to_string(section.peak->count())));
  return node;
}

}  // namespace

std::string write_lock(const LockConfig& lock) {
  TextNode layouts = empty_map();
  for (const LockSection& section : lock.sections) {
    auto job = std::find_if(layouts.entries.begin(), layouts.entries.end(),
                            [&](const TextEntry& entry) { return entry.key == section.job; });
    if (job == layouts.entries.end()) {
      add(layouts, section.job, empty_map());
      job = layouts.entries.end() - 1;
    }
    add(job->value, section.mesh, section_node(section));
  }
  TextNode root = empty_map();
  add(root, "version", scalar("1"));
  add(root, "layouts", std::move(layouts));
  return "# Layouts that were agreed to. `shard-plan check` compares with them and `--update` "
         "writes them anew.\n" +
         write_yaml(root, 5);
}

}  // namespace shard
