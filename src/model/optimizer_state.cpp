#include "model/optimizer_state.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace shard {
namespace {

enum class SlotKind {
  count,           ///< a scalar
  schedule_count,  ///< a scalar, if the learning rate is a schedule
  mirror,          ///< a tree like the parameters
  rows,            ///< without the largest dim, where the parameter is factored
  columns,         ///< without the second largest
  unfactored,      ///< a tree like the parameters, where they are not factored
};

struct Slot {
  std::string_view name;
  SlotKind kind;
  std::string_view dtype_argument = {};  ///< of the optimizer; nothing given: the parameter's
  bool is_f32_by_default = false;        ///< ... or f32
};

/// What one transformation keeps.
struct Transformation {
  std::string_view word;
  std::span<const Slot> slots;
};

constexpr std::array<Slot, 3> adam_slots = {
    {{"count", SlotKind::count}, {"mu", SlotKind::mirror, "mu_dtype"}, {"nu", SlotKind::mirror}}};
constexpr std::array<Slot, 2> lion_slots = {
    {{"count", SlotKind::count}, {"mu", SlotKind::mirror, "mu_dtype"}}};
constexpr std::array<Slot, 4> factored_slots = {{{"count", SlotKind::count},
                                                 {"v_row", SlotKind::rows},
                                                 {"v_col", SlotKind::columns},
                                                 {"v", SlotKind::unfactored}}};
constexpr std::array<Slot, 1> trace_slots = {{{"trace", SlotKind::mirror, "accumulator_dtype"}}};
constexpr std::array<Slot, 2> ema_slots = {
    {{"count", SlotKind::count}, {"ema", SlotKind::mirror, "dtype_momentum", true}}};
constexpr std::array<Slot, 1> rms_slots = {{{"nu", SlotKind::mirror}}};
constexpr std::array<Slot, 1> rss_slots = {{{"sum_of_squares", SlotKind::mirror}}};
constexpr std::array<Slot, 1> rate_slots = {{{"count", SlotKind::schedule_count}}};

constexpr std::array<Transformation, 16> transformations = {{
    {"identity", {}},
    {"clip", {}},
    {"clip_by_global_norm", {}},
    {"clip_by_block_rms", {}},
    {"add_decayed_weights", {}},
    {"scale", {}},
    {"scale_by_learning_rate", rate_slots},
    {"scale_by_adam", adam_slots},
    {"scale_by_lion", lion_slots},
    {"scale_by_rms", rms_slots},
    {"scale_by_rss", rss_slots},
    {"scale_by_trust_ratio", {}},
    {"scale_by_param_block_rms", {}},
    {"scale_by_factored_rms", factored_slots},
    {"trace", trace_slots},
    {"ema", ema_slots},
}};

enum class Presence {
  always,
  if_given,     ///< if the argument is given
  unless_zero,  ///< unless the argument is given as zero
};

/// One transformation of an optimizer's chain.
struct Link {
  std::string_view transformation;
  Presence presence = Presence::always;
  std::string_view argument = {};
  std::string_view instead = {};  ///< what stands there when it is absent; empty: nothing does
};

struct OptimizerRow {
  std::string_view word;
  std::span<const Link> links;
};

constexpr std::array<Link, 2> sgd_links = {
    {{"trace", Presence::if_given, "momentum", "identity"}, {"scale_by_learning_rate"}}};
constexpr std::array<Link, 2> momentum_links = {{{"trace"}, {"scale_by_learning_rate"}}};
constexpr std::array<Link, 2> adam_links = {{{"scale_by_adam"}, {"scale_by_learning_rate"}}};
constexpr std::array<Link, 3> adamw_links = {
    {{"scale_by_adam"}, {"add_decayed_weights"}, {"scale_by_learning_rate"}}};
constexpr std::array<Link, 3> lion_links = {
    {{"scale_by_lion"}, {"add_decayed_weights"}, {"scale_by_learning_rate"}}};
constexpr std::array<Link, 7> adafactor_links = {{
    {"scale_by_factored_rms"},
    {"clip_by_block_rms", Presence::unless_zero, "clipping_threshold"},
    {"scale_by_learning_rate", Presence::if_given, "learning_rate"},
    {"scale_by_param_block_rms", Presence::unless_zero, "multiply_by_parameter_scale"},
    {"ema", Presence::if_given, "momentum"},
    {"add_decayed_weights", Presence::if_given, "weight_decay_rate"},
    {"scale"},
}};

constexpr std::array<Link, 3> rmsprop_links = {
    {{"scale_by_rms"},
     {"scale_by_learning_rate"},
     {"trace", Presence::if_given, "momentum", "identity"}}};
constexpr std::array<Link, 2> adagrad_links = {{{"scale_by_rss"}, {"scale_by_learning_rate"}}};
constexpr std::array<Link, 4> lamb_links = {{{"scale_by_adam"},
                                             {"add_decayed_weights"},
                                             {"scale_by_trust_ratio"},
                                             {"scale_by_learning_rate"}}};

constexpr std::array<OptimizerRow, 9> optimizers = {{
    {"sgd", sgd_links},
    {"momentum", momentum_links},
    {"adam", adam_links},
    {"adamw", adamw_links},
    {"lion", lion_links},
    {"adafactor", adafactor_links},
    {"rmsprop", rmsprop_links},
    {"adagrad", adagrad_links},
    {"lamb", lamb_links},
}};

template <class Row, std::size_t Count>
const Row* row_named(const std::array<Row, Count>& rows, std::string_view word) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.word == word; });
  return found == rows.end() ? nullptr : &*found;
}

std::optional<double> argument_of(const OptimizerConfig& optimizer, std::string_view name) {
  for (const auto& [key, value] : optimizer.arguments) {
    if (key == name) return value;
  }
  return std::nullopt;
}

bool is_present(const Link& link, const OptimizerConfig& optimizer) {
  if (link.presence == Presence::always) return true;
  const auto value = argument_of(optimizer, link.argument);
  return link.presence == Presence::if_given ? value.has_value() : value.value_or(1) != 0;
}

template <class Item>
void drop(std::vector<Item>& items, std::size_t dim) {
  if (dim < items.size()) items.erase(items.begin() + static_cast<std::ptrdiff_t>(dim));
}

/// Axes without those of one dim.
SpecConfig without_dim(SpecConfig spec, std::size_t dim) {
  if (auto* names = std::get_if<LogicalSpec>(&spec.spec)) {
    drop(names->names, dim);
    drop(names->verbatim, dim);
  } else if (auto* placed = std::get_if<PartitionSpec>(&spec.spec)) {
    drop(placed->entries, dim);
  } else if (auto* sharding = std::get_if<ShardingText>(&spec.spec)) {
    sharding->edits.push_back({dim});
  }
  return spec;
}

/// Walks the tree of an optimizer's state.
class StateBuilder {
 public:
  StateBuilder(std::span<const StateLeaf> parameters, const StateRequest& request)
      : parameters_(parameters), request_(request) {}

  void add(const OptimizerConfig& optimizer, const std::string& path) {
    if (const Transformation* row = row_named(transformations, optimizer.kind)) {
      return add_slots(*row, optimizer, path);
    }
    if (const OptimizerRow* row = row_named(optimizers, optimizer.kind)) {
      return add_links(*row, optimizer, path);
    }
    const auto wrapper = std::find_if(wrappers.begin(), wrappers.end(),
                                      [&](const auto& one) { return one.word == optimizer.kind; });
    SHARD_CHECK(wrapper != wrappers.end(), "the reader knows the same optimizers");
    (this->*wrapper->add)(optimizer, path);
  }

  OptimizerState take() { return {std::move(leaves_), std::move(uses_)}; }

 private:
  struct Wrapper {
    std::string_view word;
    void (StateBuilder::*add)(const OptimizerConfig& optimizer, const std::string& path);
  };
  static const std::array<Wrapper, 2> wrappers;

  std::string field(const std::string& path, std::string_view name) const {
    return path + '/' + std::string(request_.paths.field) + std::string(name);
  }
  std::string item(const std::string& path, std::size_t position) const {
    return path + '/' + std::string(request_.paths.open) + std::to_string(position) +
           std::string(request_.paths.close);
  }

  void add_chain(const OptimizerConfig& optimizer, const std::string& path) {
    for (std::size_t i = 0; i < optimizer.parts.size(); ++i) {
      add(optimizer.parts[i], item(path, i));
    }
  }

  void add_multi_steps(const OptimizerConfig& optimizer, const std::string& path) {
    TransformationUse use{"multi_steps", &optimizer};
    add_count("mini_step", use, path);
    add_count("gradient_step", use, path);
    std::vector<TransformationUse> outer = std::exchange(uses_, {});
    for (const OptimizerConfig& part : optimizer.parts) add(part, field(path, "inner_opt_state"));
    use.inner = std::exchange(uses_, std::move(outer));
    add_tree({"acc_grads", SlotKind::mirror, "accumulator_dtype"}, use, path);
    uses_.push_back(std::move(use));
  }

  void add_links(const OptimizerRow& row, const OptimizerConfig& optimizer,
                 const std::string& path) {
    std::size_t position = 0;
    for (const Link& link : row.links) {
      const std::string_view word =
          is_present(link, optimizer) ? link.transformation : link.instead;
      if (word.empty()) continue;
      const Transformation* transformation = row_named(transformations, word);
      SHARD_CHECK(transformation != nullptr, "an optimizer is a chain of known transformations");
      add_slots(*transformation, optimizer, item(path, position++));
    }
  }

  void add_slots(const Transformation& row, const OptimizerConfig& optimizer,
                 const std::string& path) {
    TransformationUse use{row.word, &optimizer};
    for (const Slot& slot : row.slots) {
      const bool is_count = slot.kind == SlotKind::count || slot.kind == SlotKind::schedule_count;
      if (!is_count) {
        add_tree(slot, use, path);
      } else if (slot.kind == SlotKind::count || optimizer.is_scheduled) {
        add_count(slot.name, use, path);
      }
    }
    uses_.push_back(std::move(use));
  }

  void add_count(std::string_view name, TransformationUse& use, const std::string& path) {
    use.slots.push_back({name, leaves_.size(), false});
    StateLeaf& count = leaves_.emplace_back();
    count.path = field(path, name);
    count.role = Role::optimizer;
    count.type.dtype = DType::i32;
    count.init.kind = "zeros";
    count.at = use.optimizer->at;
  }

  void add_tree(const Slot& slot, TransformationUse& use, const std::string& path) {
    use.slots.push_back({slot.name, leaves_.size(), true});
    const OptimizerConfig& optimizer = *use.optimizer;
    const std::string tree = field(path, slot.name) + '/';
    leaves_.reserve(leaves_.size() + parameters_.size());
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const StateLeaf& parameter = parameters_[i];
      StateLeaf leaf = parameter;
      leaf.path = tree + std::string(tail_of(parameter.path, request_.paths));
      leaf.role = Role::optimizer;
      leaf.init = first_value(use);
      leaf.follows = request_.first + static_cast<int>(i);
      leaf.type.dtype = dtype_of(slot, optimizer, parameter);
      reduce(leaf, slot.kind, optimizer);
      leaves_.push_back(std::move(leaf));
    }
  }

  /// Everything begins at zero but adagrad's squares.
  static InitialValue first_value(const TransformationUse& use) {
    if (use.word != "scale_by_rss") return {"zeros", 0};
    return {"constant", argument_of(*use.optimizer, "initial_accumulator_value").value_or(0.1)};
  }

  DType dtype_of(const Slot& slot, const OptimizerConfig& optimizer,
                 const StateLeaf& parameter) const {
    for (const auto& [key, dtype] : optimizer.dtypes) {
      if (key == slot.dtype_argument) return dtype;
    }
    // The files' dtype of optimizer state is one of real numbers.
    if (info(parameter.type.dtype).is_complex) return parameter.type.dtype;
    if (slot.is_f32_by_default) return DType::f32;
    return request_.dtype.value_or(parameter.type.dtype);
  }

  void reduce(StateLeaf& leaf, SlotKind kind, const OptimizerConfig& optimizer) const {
    if (kind == SlotKind::mirror) return;
    const auto dims = factored_dims(leaf.type.shape, optimizer);
    if (!dims && kind == SlotKind::unfactored) return;
    leaf.follows = -1;
    const bool is_kept = request_.reduced == ReducedAxes::kept_dims;
    if (!dims || kind == SlotKind::unfactored) {  // a placeholder
      leaf.type.shape = {1};
      leaf.labels = {""};
      if (is_kept) leaf.placement.spec = std::monostate{};
      return;
    }
    const std::size_t dim = kind == SlotKind::rows ? dims->largest : dims->second;
    drop(leaf.type.shape, dim);
    drop(leaf.labels, dim);
    if (is_kept) leaf.placement = without_dim(std::move(leaf.placement), dim);
  }

  std::span<const StateLeaf> parameters_;
  const StateRequest& request_;
  std::vector<StateLeaf> leaves_;
  std::vector<TransformationUse> uses_;
};

const std::array<StateBuilder::Wrapper, 2> StateBuilder::wrappers = {
    {{"chain", &StateBuilder::add_chain}, {"multi_steps", &StateBuilder::add_multi_steps}}};

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// NNX sorts by key at each level; positions in a list are numbers.
bool sorts_before(std::string_view a, std::string_view b) {
  while (true) {
    const std::string_view x = a.substr(0, a.find('/'));
    const std::string_view y = b.substr(0, b.find('/'));
    if (x != y) {
      const bool are_numbers = is_digits(x) && is_digits(y) && x.size() != y.size();
      return are_numbers ? x.size() < y.size() : x < y;
    }
    if (x.size() == a.size() || y.size() == b.size()) return a.size() < b.size();
    a.remove_prefix(x.size() + 1);
    b.remove_prefix(y.size() + 1);
  }
}

std::vector<StateLeaf> sorted_by_path(std::vector<StateLeaf> state) {
  std::vector<std::size_t> order(state.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return sorts_before(state[a].path, state[b].path);
  });
  std::vector<int> place_of(state.size());
  for (std::size_t i = 0; i < order.size(); ++i) place_of[order[i]] = static_cast<int>(i);
  std::vector<StateLeaf> sorted;
  sorted.reserve(state.size());
  for (const std::size_t i : order) {
    StateLeaf& leaf = sorted.emplace_back(std::move(state[i]));
    if (leaf.follows >= 0) leaf.follows = place_of[static_cast<std::size_t>(leaf.follows)];
  }
  return sorted;
}

}  // namespace

// Of equal dims the later one is the larger, as a stable sort has it.
std::optional<FactoredDims> factored_dims(const Shape& shape, const OptimizerConfig& optimizer) {
  const bool is_off = argument_of(optimizer, "factored").value_or(1) == 0;
  if (is_off || shape.size() < 2 || has_unknown_size(shape)) return std::nullopt;
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return shape[a] < shape[b]; });
  const std::size_t second = order[order.size() - 2];
  const double least = argument_of(optimizer, "min_dim_size_to_factor").value_or(128);
  if (static_cast<double>(shape[second]) < least) return std::nullopt;
  return FactoredDims{second, order.back()};
}

const SlotPlace* TransformationUse::slot(std::string_view name) const {
  const auto found =
      std::find_if(slots.begin(), slots.end(), [&](const auto& one) { return one.name == name; });
  return found == slots.end() ? nullptr : &*found;
}

OptimizerState optimizer_state(const OptimizerConfig& optimizer,
                               std::span<const StateLeaf> parameters, const StateRequest& request) {
  StateBuilder builder(parameters, request);
  builder.add(optimizer, std::string(request.paths.optimizer));
  return builder.take();
}

StateLeaf step_leaf(const StatePaths& paths, const Location& at) {
  StateLeaf step;
  step.path = paths.step;
  step.role = Role::step;
  step.type.dtype = paths.step_dtype;
  step.init.kind = "zeros";
  step.at = at;
  return step;
}

std::vector<StateLeaf> train_state(std::vector<StateLeaf> parameters,
                                   const OptimizerConfig& optimizer, Naming naming,
                                   ReducedAxes reduced) {
  const StatePaths& paths =
      state_paths_of(naming, parameters.empty() ? std::string_view() : parameters.front().path);
  std::vector<StateLeaf> slots =
      optimizer_state(optimizer, parameters, {paths, 1, std::nullopt, reduced}).leaves;
  std::vector<StateLeaf> state;
  state.reserve(1 + parameters.size() + slots.size());
  state.push_back(step_leaf(paths, optimizer.at));
  std::move(parameters.begin(), parameters.end(), std::back_inserter(state));
  std::move(slots.begin(), slots.end(), std::back_inserter(state));
  return naming == Naming::nnx ? sorted_by_path(std::move(state)) : state;
}

}  // namespace shard
