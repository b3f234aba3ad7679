#include "spmd/common_factors.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/check.h"
#include "shard/projection.h"

namespace shard::spmd {
namespace {

using Shares = std::vector<FactorShare>;  ///< of one tensor, by factor

class Choice {
 public:
  Choice(const FactorRule& rule, const std::vector<Shape>& shapes,
         const std::vector<AxesPerDim>& axes, const Mesh& mesh)
      : rule_(rule),
        mesh_(mesh),
        count_(static_cast<int>(rule.factors.size())),
        chosen_(rule.factors.size()) {
    layouts_ = rule.operands;
    layouts_.insert(layouts_.end(), rule.results.begin(), rule.results.end());
    SHARD_CHECK(layouts_.size() == shapes.size() && shapes.size() == axes.size(),
                "a rule has a tensor for every operand and result");
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      shares_.emplace_back(rule.factors.size());
      project(with_axes(axes[i]), layouts_[i], rule.factors, shares_.back());
      keep_whole_what_has_no_factor(i, shapes[i]);
      elements_.push_back(element_count(shapes[i]));
      if (!shapes[i].empty()) tensors_.push_back(i);
      for (const FactorShare& share : shares_.back())
        overflow_.insert(overflow_.end(), share.overflow.begin(), share.overflow.end());
    }
  }

  AxesPerDim choose() {
    if (is_compatible()) {
      for (int factor = 0; factor < count_; ++factor) {
        const std::vector<Axes> lists = held(factor);
        if (!lists.empty()) chosen(factor) = lists.front();
      }
    } else if (is_unary()) {
      choose_unary();
    } else {
      choose_greedily();
      redistribute();
    }
    return chosen_;
  }

 private:
  /// A kernel's window may have no factor but one of size 1: its axes go elsewhere.
  void keep_whole_what_has_no_factor(std::size_t tensor, const Shape& shape) {
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
      const std::vector<int>& factors = layouts_[tensor][dim];
      if (shape[dim] == 1 || factors.size() != 1 || factor_at(factors[0]).size != 1 ||
          kind(factors[0]) == FactorKind::permutation)
        continue;
      FactorShare& own = shares_[tensor][static_cast<std::size_t>(factors[0])];
      own.overflow.insert(own.overflow.end(), own.axes.begin(), own.axes.end());
      own.axes.clear();
    }
  }

  Axes& chosen(int factor) { return chosen_[static_cast<std::size_t>(factor)]; }
  const Axes& chosen(int factor) const { return chosen_[static_cast<std::size_t>(factor)]; }
  const Factor& factor_at(int factor) const {
    return rule_.factors[static_cast<std::size_t>(factor)];
  }
  const FactorShare& share(std::size_t tensor, int factor) const {
    return shares_[tensor][static_cast<std::size_t>(factor)];
  }
  FactorKind kind(int factor) const { return factor_at(factor).kind; }

  /// The axes of the factor on each tensor that has it.
  std::vector<Axes> held(int factor) const {
    std::vector<Axes> lists;
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      if (share(i, factor).is_present) lists.push_back(share(i, factor).axes);
    }
    return lists;
  }

  /// Every factor agrees, need-replication factors are whole, no axis is on two factors, nothing
  /// overflows.
  bool is_compatible() const {
    Axes taken;
    for (int factor = 0; factor < count_; ++factor) {
      const std::vector<Axes> lists = held(factor);
      if (lists.empty()) continue;
      const Axes& axes = lists.front();
      const auto differs = [&](const Axes& list) { return list != axes; };
      if (std::any_of(lists.begin(), lists.end(), differs)) return false;
      if (!axes.empty() && kind(factor) == FactorKind::need_replication) return false;
      if (cut(axes, taken) != axes) return false;
      taken.insert(taken.end(), axes.begin(), axes.end());
    }
    return overflow_.empty();
  }

  /// Two tensors that are no scalars, no need-replication factors, no dim with several factors.
  bool is_unary() const {
    const auto needs_replication = [](const Factor& factor) {
      return factor.kind == FactorKind::need_replication;
    };
    if (tensors_.size() != 2 ||
        std::any_of(rule_.factors.begin(), rule_.factors.end(), needs_replication))
      return false;
    return std::all_of(tensors_.begin(), tensors_.end(), [&](std::size_t i) {
      return std::all_of(layouts_[i].begin(), layouts_[i].end(),
                         [](const std::vector<int>& dim) { return dim.size() <= 1; });
    });
  }

  /// One tensor's factors win; factors only in the other keep their axes minus overlaps.
  void choose_unary() {
    const std::size_t first = tensors_[0], second = tensors_[1];
    const bool second_wins = unary_rank(first) < unary_rank(second);
    const std::size_t winner = second_wins ? second : first, loser = second_wins ? first : second;
    Axes taken;
    for (int factor = 0; factor < count_; ++factor) {
      if (!share(winner, factor).is_present) continue;
      chosen(factor) = share(winner, factor).axes;
      taken.insert(taken.end(), chosen(factor).begin(), chosen(factor).end());
    }
    for (int factor = 0; factor < count_; ++factor) {
      if (share(loser, factor).is_present && !share(winner, factor).is_present)
        chosen(factor) = cut(share(loser, factor).axes, taken);
    }
  }

  /// No split permutation factor, then elements, then shards.
  std::tuple<bool, std::int64_t, std::int64_t> unary_rank(std::size_t tensor) const {
    bool stays = true;
    std::int64_t shards = 1;
    for (int factor = 0; factor < count_; ++factor) {
      const Axes& axes = share(tensor, factor).axes;
      if (!axes.empty() && kind(factor) == FactorKind::permutation) stays = false;
      shards *= product(axes);
    }
    return {stays, elements_[tensor], shards};
  }

  struct Candidate {
    int factor = 0;
    Axes axes;
  };
  /// How good a candidate is: elements of the tensors that agree, the factor's kind, the shards it
  /// adds; ties go to the later factor, the longer list and the axes with later names.
  using Rank = std::tuple<std::int64_t, int, std::int64_t, int, std::size_t, Axes>;

  void choose_greedily() {
    std::vector<std::vector<Axes>> candidates;
    for (int factor = 0; factor < count_; ++factor) candidates.push_back(prefixes(factor));
    while (const std::optional<Candidate> best = best_candidate(candidates)) {
      chosen(best->factor) = best->axes;
      for (int other = 0; other < count_; ++other) {
        std::vector<Axes>& list = candidates[static_cast<std::size_t>(other)];
        if (other != best->factor) {
          list = trimmed(other, list, best->axes);
        } else {
          std::erase_if(list, [&](const Axes& axes) {
            return axes == best->axes || !is_prefix(best->axes, axes);
          });
        }
      }
    }
  }

  std::optional<Candidate> best_candidate(const std::vector<std::vector<Axes>>& candidates) const {
    std::optional<Candidate> best;
    Rank best_rank;
    for (int factor = 0; factor < count_; ++factor) {
      if (!is_ready(factor)) continue;
      for (const Axes& axes : candidates[static_cast<std::size_t>(factor)]) {
        const Rank rank = rank_of(factor, axes);
        if (best && rank <= best_rank) continue;
        best = Candidate{factor, axes};
        best_rank = rank;
      }
    }
    return best;
  }

  /// Every non-empty leading part of a list that some tensor has for the factor.
  std::vector<Axes> prefixes(int factor) const {
    std::vector<Axes> lists;
    for (const std::size_t i : tensors_) {
      if (!share(i, factor).is_present) continue;
      const Axes& axes = share(i, factor).axes;
      for (std::size_t end = 1; end <= axes.size(); ++end)
        add_once(lists, Axes(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(end)));
    }
    return lists;
  }

  static void add_once(std::vector<Axes>& lists, Axes axes) {
    if (std::find(lists.begin(), lists.end(), axes) == lists.end())
      lists.push_back(std::move(axes));
  }

  /// Candidates cut where the taken axes overlap; those that bring nothing new are dropped.
  std::vector<Axes> trimmed(int factor, const std::vector<Axes>& candidates,
                            const Axes& taken) const {
    std::vector<Axes> lists;
    for (const Axes& candidate : candidates) {
      const Axes axes = cut(candidate, taken);
      if (!axes.empty() && product(axes) > product(chosen(factor))) add_once(lists, axes);
    }
    return lists;
  }

  /// The factors before it in its dims are fully split.
  bool is_ready(int factor) const {
    for (const std::size_t i : tensors_) {
      for (const std::vector<int>& dim : layouts_[i]) {
        if (std::find(dim.begin(), dim.end(), factor) == dim.end()) continue;
        for (const int earlier : dim) {
          if (earlier == factor) break;
          if (product(chosen(earlier)) != factor_at(earlier).size) return false;
        }
      }
    }
    return true;
  }

  Rank rank_of(int factor, const Axes& axes) const {
    std::int64_t agreeing = 0;
    for (const std::size_t i : tensors_) {
      if (share(i, factor).is_present && is_prefix(axes, share(i, factor).axes))
        agreeing += elements_[i];
    }
    return {agreeing,    precedence(kind(factor)), product(axes) / product(chosen(factor)), factor,
            axes.size(), numbered_by_name(axes)};
  }

  /// The axes with their places in the alphabet for their places in the mesh.
  Axes numbered_by_name(Axes axes) const {
    const std::vector<MeshAxisInfo>& all = mesh_.axes();
    for (AxisRef& axis : axes) {
      const MeshAxis& name = all[static_cast<std::size_t>(axis.axis)].name;
      axis.axis = static_cast<int>(std::count_if(
          all.begin(), all.end(), [&](const MeshAxisInfo& other) { return other.name < name; }));
    }
    return axes;
  }

  static int precedence(FactorKind kind) {
    switch (kind) {
      case FactorKind::need_replication:
        return 0;
      case FactorKind::permutation:
        return 1;
      case FactorKind::reduction:
        return 2;
      case FactorKind::pass_through:
        return 3;
    }
    SHARD_CHECK(false, "every factor kind has a precedence");
  }

  /// Need-replication factors get whole; their axes and overflow axes go to batching factors where
  /// they divide.
  void redistribute() {
    Axes used;
    for (const Axes& axes : chosen_) used.insert(used.end(), axes.begin(), axes.end());
    Axes free;
    for (const AxisRef& axis : overflow_) {
      const bool is_new = std::find(free.begin(), free.end(), axis) == free.end();
      if (is_new && cut({axis}, used) == Axes{axis}) free.push_back(axis);
    }
    for (int factor = 0; factor < count_; ++factor) {
      if (kind(factor) != FactorKind::need_replication) continue;
      if (is_everywhere(factor))
        free.insert(free.end(), chosen(factor).begin(), chosen(factor).end());
      chosen(factor).clear();
    }
    for (int factor = 0; factor < count_; ++factor) {
      while (!free.empty() && is_batching(factor) && takes(factor, free.front())) {
        chosen(factor).push_back(free.front());
        chosen(factor) = merged(chosen(factor));
        free.erase(free.begin());
      }
    }
  }

  bool takes(int factor, const AxisRef& axis) const {
    return factor_at(factor).size % (product(chosen(factor)) * axis.size) == 0;
  }

  bool is_everywhere(int factor) const {
    return std::all_of(tensors_.begin(), tensors_.end(),
                       [&](std::size_t i) { return share(i, factor).is_present; });
  }

  /// Pass-through, in every tensor that is no scalar, the first one of its dims.
  bool is_batching(int factor) const {
    if (kind(factor) != FactorKind::pass_through || !is_everywhere(factor)) return false;
    return std::all_of(tensors_.begin(), tensors_.end(), [&](std::size_t i) {
      return std::all_of(layouts_[i].begin(), layouts_[i].end(), [&](const std::vector<int>& dim) {
        return dim.empty() || dim.front() == factor ||
               std::find(dim.begin(), dim.end(), factor) == dim.end();
      });
    });
  }

  const FactorRule& rule_;
  const Mesh& mesh_;
  int count_;
  std::vector<TensorFactors> layouts_;
  std::vector<Shares> shares_;
  std::vector<std::int64_t> elements_;
  std::vector<std::size_t> tensors_;  ///< those that are no scalars
  Axes overflow_;
  AxesPerDim chosen_;
};

/// What the op's tensors are while it runs.
CommonFactors filled_in(const FactorRule& rule, AxesPerDim factors) {
  CommonFactors common;
  common.factors = std::move(factors);
  std::vector<FactorShare> shares(rule.factors.size());
  for (std::size_t factor = 0; factor < shares.size(); ++factor)
    shares[factor].axes = common.factors[factor];
  for (const std::vector<TensorFactors>* side : {&rule.operands, &rule.results}) {
    for (const TensorFactors& layout : *side) {
      AxesPerDim& dims = common.tensors.emplace_back();
      for (const std::vector<int>& dim : layout)
        unproject(shares, dim, rule.factors, dims.emplace_back());
    }
  }
  for (std::size_t factor = 0; factor < rule.factors.size(); ++factor) {
    if (rule.factors[factor].kind != FactorKind::reduction) continue;
    const Axes& more = common.factors[factor];
    common.reduced.insert(common.reduced.end(), more.begin(), more.end());
  }
  common.reduced = in_mesh_order(common.reduced);
  return common;
}

/// The factors' axes as the first tensor has them, then as the others have them, as long as they
/// divide, overlap nothing and may be split.
AxesPerDim factors_after(const FactorRule& rule, const std::vector<Shares>& shares,
                         std::size_t first) {
  AxesPerDim factors(rule.factors.size());
  Axes taken;
  const auto take = [&](std::size_t tensor) {
    for (std::size_t factor = 0; factor < factors.size(); ++factor) {
      const FactorShare& share = shares[tensor][factor];
      if (!share.is_present || !factors[factor].empty() ||
          rule.factors[factor].kind == FactorKind::need_replication)
        continue;
      const Axes axes = dividing_prefix(cut(share.axes, taken), rule.factors[factor].size);
      factors[factor] = axes;
      taken.insert(taken.end(), axes.begin(), axes.end());
    }
  };
  take(first);
  for (std::size_t tensor = 0; tensor < shares.size(); ++tensor) {
    if (tensor != first) take(tensor);
  }
  return factors;
}

/// Every dim's axes are really those of its factors: nothing is lost between them.
bool is_legal(const FactorRule& rule, const CommonFactors& common,
              const std::vector<Shape>& shapes) {
  std::size_t tensor = 0;
  for (const std::vector<TensorFactors>* side : {&rule.operands, &rule.results}) {
    for (const TensorFactors& layout : *side) {
      for (std::size_t dim = 0; dim < layout.size(); ++dim) {
        std::int64_t parts = 1;
        for (const int factor : layout[dim])
          parts *= product(common.factors[static_cast<std::size_t>(factor)]);
        const Axes& axes = common.tensors[tensor][dim];
        if (product(axes) != parts || shapes[tensor][dim] % parts != 0) return false;
      }
      ++tensor;
    }
  }
  return true;
}

}  // namespace

std::vector<CommonFactors> candidate_factors(const FactorRule& rule,
                                             const std::vector<Shape>& shapes,
                                             const std::vector<AxesPerDim>& axes) {
  std::vector<TensorFactors> layouts = rule.operands;
  layouts.insert(layouts.end(), rule.results.begin(), rule.results.end());
  std::vector<Shares> shares;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    shares.emplace_back(rule.factors.size());
    project(with_axes(axes[i]), layouts[i], rule.factors, shares.back());
  }
  std::vector<CommonFactors> candidates;
  const auto add = [&](AxesPerDim factors) {
    CommonFactors common = filled_in(rule, std::move(factors));
    const bool is_new = std::find(candidates.begin(), candidates.end(), common) == candidates.end();
    if (is_new && is_legal(rule, common, shapes)) candidates.push_back(std::move(common));
  };
  for (std::size_t first = 0; first < shapes.size(); ++first) {
    AxesPerDim factors = factors_after(rule, shares, first);
    add(factors);
    for (std::size_t factor = 0; factor < factors.size(); ++factor) {
      if (rule.factors[factor].kind == FactorKind::reduction) factors[factor].clear();
    }
    add(std::move(factors));
  }
  add(AxesPerDim(rule.factors.size()));
  return candidates;
}

CommonFactors choose_common_factors(const FactorRule& rule, const std::vector<Shape>& shapes,
                                    const std::vector<AxesPerDim>& axes, const Mesh& mesh) {
  return filled_in(rule, Choice(rule, shapes, axes, mesh).choose());
}

}  // namespace shard::spmd
