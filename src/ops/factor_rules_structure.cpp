// Factor rules of ops that move elements. A factor on a dim whose size changes is numbered like the
// others, but must be whole (need_replication) or fetch from neighbours (permutation).

#include <algorithm>
#include <numeric>

#include "ops/factor_rules.h"
#include "ops/rule_builder.h"

namespace shard {
namespace {

using Types = std::span<const TensorType>;
using Dims = std::vector<std::int64_t>;

/// A walk over the dims of one side of a reshape. `reached` is the product of the dims entered,
/// `done` that of the factors handed out.
struct ReshapeCursor {
  const Shape& shape;
  std::size_t dim = 0;
  std::int64_t reached = 1;
  std::int64_t done = 1;

  bool is_open() const { return dim < shape.size(); }
  bool is_at_unit() const { return is_open() && shape[dim] == 1; }
  std::int64_t left() const { return reached / done; }
  void enter() {
    if (is_open() && done == reached) reached *= shape[dim];
  }
  void leave() {
    if (is_open() && done == reached) ++dim;
  }
};

/// Size of a factor that only one side has: one that brings the cursors together again, else one
/// that keeps what both still share.
std::int64_t catch_up(const ReshapeCursor& behind, std::int64_t target, std::int64_t shared) {
  const std::int64_t left = behind.left();
  if (target % behind.done == 0 && left % (target / behind.done) == 0) return target / behind.done;
  return left > shared ? left / shared : left;
}

class ReshapeRule {
 public:
  ReshapeRule(Types operands, Types results)
      : rule_(operands, results), source_{operands[0].shape}, target_{results[0].shape} {}

  FactorRule run() {
    while (source_.is_open() || target_.is_open()) {
      if (source_.is_at_unit() || target_.is_at_unit()) {
        add(1, source_.is_at_unit() ? Side::source : Side::target);
        ++(source_.is_at_unit() ? source_ : target_).dim;
        continue;
      }
      source_.enter();
      target_.enter();
      step();
      source_.leave();
      target_.leave();
    }
    return rule_.take();
  }

 private:
  enum class Side { source, target, both };

  void add(std::int64_t size, Side side) {
    rule_.add(size);
    if (side != Side::target) rule_.on_operand(0, static_cast<std::int64_t>(source_.dim));
    if (side != Side::source) rule_.on_result(0, static_cast<std::int64_t>(target_.dim));
    if (side == Side::both) {
      source_.done *= size;
      target_.done *= size;
    }
  }

  /// A factor that both sides have, one for the side that is behind, or one for each.
  void step() {
    const std::int64_t shared = std::gcd(source_.left(), target_.left());
    if (source_.done == target_.done && shared > 1) return add(shared, Side::both);
    if (source_.done == target_.done) {
      const std::int64_t left = source_.left(), right = target_.left();
      add_private(left, Side::source);
      return add_private(right, Side::target);
    }
    const bool is_source = source_.done < target_.done;
    const ReshapeCursor &behind = is_source ? source_ : target_,
                        &ahead = is_source ? target_ : source_;
    add_private(catch_up(behind, ahead.done, shared), is_source ? Side::source : Side::target);
  }

  /// What one side has alone is mixed on the other.
  void add_private(std::int64_t size, Side side) {
    add(size, side);
    if (size > 1) rule_.need_neighbours();
    (side == Side::source ? source_ : target_).done *= size;
  }

  RuleBuilder rule_;
  ReshapeCursor source_, target_;
};

/// The operand's sizes; dims whose size changes get `kind`.
FactorRule resized_rule(Types operands, Types results, FactorKind kind, bool is_blocked) {
  RuleBuilder rule(operands, results);
  for (std::size_t dim = 0; dim < operands[0].shape.size(); ++dim) {
    const std::int64_t size = operands[0].shape[dim];
    const bool changes = size != results[0].shape[dim];
    rule.add(size, changes ? kind : FactorKind::pass_through);
    if (changes && is_blocked) rule.block();
    rule.everywhere(static_cast<std::int64_t>(dim));
  }
  return rule.take();
}

/// The operand's dims; in those of `dims` elements change places.
FactorRule permuting_rule(Types operands, Types results, const Dims& dims) {
  RuleBuilder rule(operands, results);
  for (std::int64_t dim = 0; dim < results[0].rank(); ++dim) {
    const bool is_permuted = std::find(dims.begin(), dims.end(), dim) != dims.end();
    rule.add(results[0].shape[static_cast<std::size_t>(dim)],
             is_permuted ? FactorKind::permutation : FactorKind::pass_through);
    rule.everywhere(dim);
  }
  return rule.take();
}

}  // namespace

FactorRule reshape_rule(Types operands, Types results, const Attributes&) {
  // An array without elements has nothing to pair.
  if (element_count(operands[0].shape) == 0) return RuleBuilder(operands, results).take();
  return ReshapeRule(operands, results).run();
}

FactorRule slice_rule(Types operands, Types results, const Attributes&) {
  return resized_rule(operands, results, FactorKind::permutation, false);
}

FactorRule pad_rule(Types operands, Types results, const Attributes& attributes) {
  FactorRule rule = resized_rule(operands, results, FactorKind::permutation, false);
  // What is cut at one end and added elsewhere keeps the size, and yet moves elements.
  const Dims& low = attributes.integers("low");
  const Dims& interior = attributes.integers("interior");
  for (std::size_t dim = 0; dim < low.size(); ++dim) {
    rule.factors[dim].needs_neighbours = low[dim] != 0 || interior[dim] != 0;
  }
  return rule;
}

FactorRule dynamic_slice_rule(Types operands, Types results, const Attributes&) {
  return resized_rule(operands, results, FactorKind::need_replication, true);
}

FactorRule top_k_rule(Types operands, Types results, const Attributes&) {
  FactorRule rule = resized_rule(operands, results, FactorKind::need_replication, true);
  rule.factors.back().kind = FactorKind::need_replication;  // all of them are sorted still
  return rule;
}

FactorRule concatenate_rule(Types operands, Types results, const Attributes& attributes) {
  RuleBuilder rule(operands, results);
  const FactorKind kind =
      attributes.has("of_slices") ? FactorKind::permutation : FactorKind::need_replication;
  for (std::int64_t dim = 0; dim < results[0].rank(); ++dim) {
    rule.add(results[0].shape[static_cast<std::size_t>(dim)],
             dim == attributes.integer("dim") ? kind : FactorKind::pass_through);
    rule.everywhere(dim);
  }
  return rule.take();
}

FactorRule reverse_rule(Types operands, Types results, const Attributes& attributes) {
  return permuting_rule(operands, results, attributes.integers("dims"));
}

FactorRule ppermute_rule(Types operands, Types results, const Attributes& attributes) {
  return permuting_rule(operands, results, {attributes.integer("dim")});
}

FactorRule dynamic_update_slice_rule(Types operands, Types results, const Attributes& attributes) {
  RuleBuilder rule(operands, results);
  const FactorKind of_update =
      attributes.has("at_constants") ? FactorKind::pass_through : FactorKind::need_replication;
  for (std::int64_t dim = 0; dim < results[0].rank(); ++dim) {
    const std::int64_t size = operands[0].shape[static_cast<std::size_t>(dim)];
    const std::int64_t part = operands[1].shape[static_cast<std::size_t>(dim)];
    rule.add(size).on_operand(0, dim).on_result(0, dim);
    if (size == part) {
      rule.on_operand(1, dim);
    } else {
      rule.add(part, of_update).on_operand(1, dim);
    }
  }
  return rule.take();
}

}  // namespace shard
