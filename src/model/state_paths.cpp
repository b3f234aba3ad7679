#include "model/state_paths.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_set>
#include <vector>

namespace shard {
namespace {

constexpr StatePaths flax = {"params/", "opt_state", "step", "", "", "", DType::i32};
constexpr StatePaths jax = {".params/", ".opt_state", ".step", ".", "[", "]", DType::i32};
constexpr StatePaths nnx = {"model/",  "optimizer/opt_state", "optimizer/step", "", "", "",
                            DType::u32};

struct RoleStart {
  std::string_view first;  ///< part of a path
  Role role;
};
constexpr std::array<RoleStart, 6> role_starts = {{
    {"opt_state", Role::optimizer},
    {".opt_state", Role::optimizer},
    {"optimizer", Role::optimizer},
    {"step", Role::step},
    {".step", Role::step},
    {"optimizer/step", Role::step},
}};

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = std::min(path.find('/'), path.size());
    parts.emplace_back(path.substr(0, end));
    if (end == path.size()) return parts;
    path.remove_prefix(end + 1);
  }
}

std::string joined(const std::vector<std::string>& parts) {
  std::string path;
  for (const std::string& part : parts) path += (path.empty() ? "" : "/") + part;
  return path;
}

bool is_number(std::string_view part) {
  return !part.empty() &&
         std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// `.mu`, `['Dense_0']` and `[0]` are `mu`, `Dense_0` and `0`.
std::string plain(std::string part) {
  if (part.starts_with('.')) return part.substr(1);
  if (part.starts_with("['") && part.ends_with("']")) return part.substr(2, part.size() - 4);
  if (part.starts_with('[') && part.ends_with(']')) return part.substr(1, part.size() - 2);
  return part;
}

std::string flax_path(const std::string& path) {
  if (!path.starts_with('.')) return path;
  std::vector<std::string> parts = parts_of(path);
  // The collection `params` stands in TrainState.params and in each tree that mirrors it.
  const auto collection = std::find(parts.begin(), parts.end(), "['params']");
  if (collection != parts.end() && collection != parts.begin()) parts.erase(collection);
  for (std::string& part : parts) part = plain(std::move(part));
  return joined(parts);
}

/// The positions from which the parts of a slot's path are those of a parameter.
std::size_t tail_start(const std::vector<std::string>& parts,
                       const std::unordered_set<std::string>& tails) {
  for (std::size_t start = 1; start < parts.size(); ++start) {
    if (tails.contains(joined({parts.begin() + static_cast<std::ptrdiff_t>(start), parts.end()}))) {
      return start;
    }
  }
  return parts.size();
}

std::string jax_path(const std::string& path, Role role,
                     const std::unordered_set<std::string>& tails) {
  const bool is_nnx = path.starts_with(nnx.parameters) || path.starts_with("optimizer/");
  if (path.starts_with('.') || is_nnx) return path;
  std::vector<std::string> parts = parts_of(path);
  std::size_t tail = parts.size();
  if (role == Role::parameter) {
    const bool has_root = parts.front() == "params" && parts.size() > 1;
    if (!has_root) parts.insert(parts.begin(), "params");
    tail = 1;
  } else {
    tail = tail_start(parts, tails);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool is_index = i > 0 && i < tail && is_number(parts[i]);
    if (i >= tail) {
      parts[i] = "['" + parts[i] + "']";
    } else {
      parts[i] = is_index ? '[' + parts[i] + ']' : '.' + parts[i];
    }
  }
  if (tail < parts.size()) {
    parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(tail), "['params']");
  }
  return joined(parts);
}

void rename_graph(Graph& graph, const std::vector<StateLeaf>& state) {
  const auto path_of = [&](int leaf) { return state[static_cast<std::size_t>(leaf)].path; };
  for (GraphInput& input : graph.inputs) {
    if (input.state_leaf < 0) continue;
    input.path = path_of(input.state_leaf);
    graph.values[index_of(input.value)].name = input.path;
  }
  for (GraphOutput& output : graph.outputs) {
    if (output.state_leaf >= 0) output.path = path_of(output.state_leaf);
  }
}

}  // namespace

const StatePaths& state_paths_of(Naming naming, std::string_view first_parameter) {
  if (naming == Naming::nnx) return nnx;
  return first_parameter.starts_with(jax.parameters) ? jax : flax;
}

std::string_view tail_of(std::string_view parameter, const StatePaths& paths) {
  if (parameter.starts_with(paths.parameters)) parameter.remove_prefix(paths.parameters.size());
  return parameter;
}

Role role_of(std::string_view path) {
  const std::string_view first = path.substr(0, path.find('/'));
  Role role = Role::parameter;
  for (const RoleStart& start : role_starts) {
    if (start.first == first || start.first == path) role = start.role;
  }
  // A parameter may be called so, a step counter has nothing below it.
  return role == Role::step && path.find('/') != path.npos && path != nnx.step ? Role::parameter
                                                                               : role;
}

void restyle_paths(Model& model, PathStyle style) {
  if (style == PathStyle::as_given) return;
  std::unordered_set<std::string> tails;
  for (const StateLeaf& leaf : model.state) {
    if (leaf.role == Role::parameter) tails.emplace(tail_of(leaf.path, flax));
  }
  for (StateLeaf& leaf : model.state) {
    if (leaf.role == Role::activation) continue;
    leaf.path =
        style == PathStyle::jax ? jax_path(leaf.path, leaf.role, tails) : flax_path(leaf.path);
  }
  rename_graph(model.apply, model.state);
  if (model.train_step) rename_graph(*model.train_step, model.state);
}

}  // namespace shard
