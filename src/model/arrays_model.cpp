#include "model/arrays_model.h"

#include <algorithm>
#include <unordered_map>

#include "base/glob.h"
#include "model/optimizer_state.h"
#include "model/state_paths.h"

namespace shard {
namespace {

std::string counted(std::size_t count, const std::string& noun) {
  return with_commas(static_cast<std::int64_t>(count)) + ' ' + noun + (count == 1 ? "" : "s");
}

/// The globs of `axes`, which remember whether they ever matched.
class AxesGlobs {
 public:
  explicit AxesGlobs(const std::vector<PathRuleConfig>& globs)
      : globs_(globs), is_used_(globs.size(), false) {}

  /// Position of the first that matches, or -1.
  int find(const std::string& path) {
    for (std::size_t i = 0; i < globs_.size(); ++i) {
      if (!matches_glob(globs_[i].glob, path)) continue;
      is_used_[i] = true;
      return static_cast<int>(i);
    }
    return -1;
  }

  const SpecConfig& axes(int glob) const { return globs_[static_cast<std::size_t>(glob)].spec; }

  void note_unused(Diagnostics& notes) const {
    for (std::size_t i = 0; i < globs_.size(); ++i) {
      if (is_used_[i]) continue;
      notes.warning("glob-unmatched", globs_[i].at,
                    "no array matches '" + globs_[i].glob + "', so its axes are never used",
                    "`*` is any run of characters, `?` any one; the first glob that matches wins");
    }
  }

 private:
  const std::vector<PathRuleConfig>& globs_;
  std::vector<bool> is_used_;
};

std::size_t rank_of(const SpecConfig& axes) {
  if (const LogicalSpec* names = axes.logical()) return names->names.size();
  if (const PartitionSpec* placed = axes.mesh()) return placed->entries.size();
  return 0;
}

std::vector<std::string> labels_of(const SpecConfig& axes, std::size_t rank) {
  std::vector<std::string> labels(rank);
  const LogicalSpec* names = axes.logical();
  if (names == nullptr) return labels;
  for (std::size_t dim = 0; dim < std::min(rank, names->names.size()); ++dim) {
    if (names->names[dim]) labels[dim] = names->names[dim]->text();
  }
  return labels;
}

class ArraysBuilder {
 public:
  explicit ArraysBuilder(const ArraysConfig& config) : config_(config), globs_(config.axes) {}

  Model build() {
    model_.name = config_.name;
    model_.has_program = false;
    for (const ArrayConfig& array : config_.arrays) add(array);
    if (model_.state.empty()) {
      diagnostics_.error("no-arrays", {config_.file, 0, 0, 1}, "the model lists no arrays",
                         "write arrays: {NAME: \"bf16[embed=4096, mlp=14336]\"}, or from: FILE");
    }
    if (config_.optimizer) derive(*config_.optimizer);
    link_slots();
    count();
    diagnostics_.throw_if_errors();
    make_graph();
    restyle_paths(model_, config_.paths);
    if (config_.optimizer) note_reduced(*config_.optimizer);
    note_what_is_missing();
    globs_.note_unused(diagnostics_);
    model_.notes = config_.remarks;
    const std::vector<Diagnostic>& own = diagnostics_.all();
    model_.notes.insert(model_.notes.end(), own.begin(), own.end());
    return std::move(model_);
  }

 private:
  void add(const ArrayConfig& array) {
    StateLeaf& leaf = model_.state.emplace_back();
    leaf.path = array.name;
    leaf.role = config_.holds_activations ? Role::activation : role_of(array.name);
    leaf.at = array.at;
    const int glob = globs_.find(array.name);
    leaf.placement = glob >= 0 ? globs_.axes(glob) : array.axes;
    const std::size_t rank = array.shape ? array.shape->size() : rank_of(leaf.placement);
    leaf.type.dtype = array.dtype.value_or(config_.dtype.value_or(DType::f32));
    leaf.type.shape = array.shape.value_or(Shape(rank, unknown_size));
    leaf.labels = labels_of(leaf.placement, rank);
    assumed_dtypes_ += array.dtype || config_.dtype ? 0U : 1U;
    unknown_shapes_ += has_unknown_size(leaf.type.shape) ? 1U : 0U;
  }

  void derive(const OptimizerConfig& optimizer) {
    std::vector<StateLeaf> parameters;
    for (StateLeaf& leaf : model_.state) {
      if (leaf.role == Role::parameter) {
        parameters.push_back(std::move(leaf));
        continue;
      }
      diagnostics_.error("conflicting-keys", optimizer.at,
                         "an optimizer is asked for, and the arrays have a train state already: '" +
                             leaf.path + "'",
                         "leave out the key optimizer, or list the parameters alone");
      return;
    }
    model_.state = train_state(std::move(parameters), optimizer, config_.naming);
    override_derived();
  }

  /// A glob for the slots alone wins over what they have from their parameters; one that the
  /// parameter has its axes from is meant for the parameter.
  void override_derived() {
    if (config_.axes.empty()) return;
    std::unordered_map<std::string, int> glob_of_tail;
    const StatePaths& paths = state_paths_of(config_.naming, config_.arrays.front().name);
    for (const StateLeaf& leaf : model_.state) {
      if (leaf.role != Role::parameter) continue;
      glob_of_tail.emplace(tail_of(leaf.path, paths), globs_.find(leaf.path));
    }
    for (StateLeaf& leaf : model_.state) {
      if (leaf.role != Role::optimizer || leaf.type.shape.empty()) continue;
      const int glob = globs_.find(leaf.path);
      if (glob < 0 || glob == glob_of_parameter(glob_of_tail, leaf.path)) continue;
      leaf.placement = globs_.axes(glob);
      leaf.labels = labels_of(leaf.placement, leaf.type.shape.size());
    }
  }

  static int glob_of_parameter(const std::unordered_map<std::string, int>& glob_of_tail,
                               std::string_view slot) {
    while (slot.find('/') != slot.npos) {
      slot.remove_prefix(slot.find('/') + 1);
      const auto found = glob_of_tail.find(std::string(slot));
      if (found != glob_of_tail.end()) return found->second;
    }
    return -1;
  }

  void note_reduced(const OptimizerConfig& optimizer) {
    std::size_t reduced = 0;
    const StateLeaf* first = nullptr;
    for (const StateLeaf& leaf : model_.state) {
      const bool is_reduced =
          leaf.role == Role::optimizer && leaf.follows < 0 && !leaf.type.shape.empty();
      if (!is_reduced) continue;
      if (first == nullptr) first = &leaf;
      ++reduced;
    }
    if (first == nullptr) return;
    diagnostics_.note(
        "reduced-axes", optimizer.at,
        counted(reduced, "array") + " of the optimizer have other dims than their parameters (" +
            first->path + " is " + to_string(first->type) +
            "): they have the axes of the dims that are left",
        "Flax keeps all names of the parameter there, and JAX refuses them by their rank");
  }

  /// Slots that are listed follow the parameters whose paths theirs end with.
  void link_slots() {
    std::unordered_map<std::string_view, int> parameter_of;
    for (std::size_t i = 0; i < model_.state.size(); ++i) {
      const StateLeaf& leaf = model_.state[i];
      if (leaf.role != Role::parameter) continue;
      const std::string_view path = leaf.path;
      const std::size_t root = path.find('/');
      if (root != path.npos) parameter_of.emplace(path.substr(root + 1), static_cast<int>(i));
      parameter_of.emplace(path, static_cast<int>(i));
    }
    for (StateLeaf& leaf : model_.state) {
      if (leaf.role != Role::optimizer || leaf.follows >= 0) continue;
      std::string_view tail = leaf.path;
      while (tail.find('/') != tail.npos) {
        tail.remove_prefix(tail.find('/') + 1);
        const auto found = parameter_of.find(tail);
        if (found == parameter_of.end()) continue;
        const StateLeaf& parameter = model_.state[static_cast<std::size_t>(found->second)];
        if (parameter.type.shape == leaf.type.shape) leaf.follows = found->second;
        break;
      }
    }
  }

  void count() {
    std::int64_t bytes = 0;
    for (const StateLeaf& leaf : model_.state) {
      std::vector<std::int64_t> factors = leaf.type.shape;
      if (has_unknown_size(factors)) continue;
      factors.push_back(info(leaf.type.dtype).bytes);
      const auto own = checked_product(factors);
      const bool is_too_large = !own || __builtin_add_overflow(bytes, *own, &bytes);
      if (is_too_large) {
        diagnostics_.error("size-overflow", leaf.at,
                           "the arrays together take more than 2^63 - 1 bytes");
        return;
      }
      if (leaf.role == Role::parameter) {
        model_.parameter_count += element_count(leaf.type.shape);
      }
    }
  }

  void note_what_is_missing() {
    const Location file{config_.file, 0, 0, 1};
    const auto missing = [](std::size_t count, const std::string& what) {
      return counted(count, "array") + (count == 1 ? " comes" : " come") + " without " + what;
    };
    if (assumed_dtypes_ > 0) {
      diagnostics_.note("dtype-assumed", file,
                        missing(assumed_dtypes_, "an element type: f32 is assumed"),
                        "say which: dtype: bf16 in the file, or --set dtype=bf16");
    }
    if (unknown_shapes_ > 0) {
      diagnostics_.note("shape-unknown", file,
                        missing(unknown_shapes_,
                                "a shape: the split is known, the bytes and whether the sizes "
                                "divide are not"));
    }
  }

  void make_graph() {
    Graph& graph = model_.apply;
    graph.name = "arrays";
    graph.regions.resize(1);
    graph.values.reserve(model_.state.size());
    graph.inputs.reserve(model_.state.size());
    for (std::size_t i = 0; i < model_.state.size(); ++i) {
      const StateLeaf& leaf = model_.state[i];
      const ValueId value = id_at<ValueId>(i);
      graph.values.push_back({leaf.type, leaf.path, leaf.labels, NodeId::none, leaf.at});
      graph.regions.front().parameters.push_back(value);
      graph.inputs.push_back(
          {value, leaf.path, leaf.role, static_cast<int>(i), leaf.placement, leaf.iteration});
    }
  }

  const ArraysConfig& config_;
  AxesGlobs globs_;
  Diagnostics diagnostics_;
  Model model_;
  std::size_t assumed_dtypes_ = 0;
  std::size_t unknown_shapes_ = 0;
};

}  // namespace

Model build_arrays_model(const ArraysConfig& config) { return ArraysBuilder(config).build(); }

}  // namespace shard
