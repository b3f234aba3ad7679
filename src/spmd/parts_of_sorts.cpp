// Sorts along a dim that is split, where gathering it would send more. Two ways:
//
//   exchange    another dim is split instead, padded where it does not divide, and back afterwards
//   merging     each part is sorted; then pairs of parts are merged, one keeps what is smaller, the
//               other what is larger, in the order of a sorting network: Batcher, "Sorting Networks
//               and their Applications" (1968), bitonic, in the form in which every comparison puts
//               the smaller to the front. Parts in the place of numbers: Knuth, "The Art of
//               Computer Programming" 3 (1998), 5.3.4, exercise 38. Where equal keys can be told
//               apart, the position is one key more, so that their order stays.
//
// 8 parts are merged in 6 rounds, and a part is sent in each; a gather sends it 7 times.

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "spmd/parts_form.h"
#include "spmd/reshard.h"

namespace shard::spmd {
namespace {

struct SplitSort {
  int dim = 0;
  const Axes& axes;
  std::int64_t parts = 1;
  std::vector<TensorType> local;  ///< of the operands

  explicit SplitSort(const PartsSite& site)
      : dim(static_cast<int>(site.attributes().integer("dim"))),
        axes(site.operand_axes(0, dim)),
        parts(product(axes)) {
    for (std::size_t i = 0; i < site.operands.size(); ++i) local.push_back(site.local_result(i));
  }

  std::int64_t length() const { return local[0].shape[static_cast<std::size_t>(dim)]; }
  std::int64_t bytes() const {
    std::int64_t all = 0;
    for (const TensorType& type : local) all += bytes_of(type).count();
    return all;
  }
};

/// Equal keys are equal bits, and there is nothing but keys.
bool are_alike_where_equal(const PartsSite& site) {
  const auto keys = static_cast<std::size_t>(site.attributes().integer("keys"));
  return keys == site.operands.size() &&
         std::all_of(site.operands.begin(), site.operands.end(),
                     [](const TensorType& type) { return !is_inexact(type.dtype); });
}

// exchange

/// The whole dim that grows least when it is cut into as many parts.
std::optional<std::size_t> exchanged_dim(const PartsSite& site, const SplitSort& sort) {
  const Shape& shape = sort.local[0].shape;
  const auto padded = [&](std::size_t dim) {
    return (shape[dim] + sort.parts - 1) / sort.parts * sort.parts;
  };
  std::optional<std::size_t> best;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    const bool is_free = dim != static_cast<std::size_t>(sort.dim) &&
                         site.operand_axes(0, static_cast<std::int64_t>(dim)).empty();
    if (!is_free || shape[dim] < 2) continue;
    const bool is_better = !best || padded(dim) * shape[*best] < padded(*best) * shape[dim];
    if (is_better) best = dim;
  }
  return best;
}

std::int64_t exchange_bytes(const SplitSort& sort, std::size_t dim) {
  const std::int64_t size = sort.local[0].shape[dim];
  const std::int64_t padded = (size + sort.parts - 1) / sort.parts * sort.parts;
  const Bytes moved(sort.bytes() / size * padded);
  return 2 * wire_bytes(CollectiveKind::all_to_all, moved, sort.parts).count();
}

BufferId padded_along(PartsBuilder& build, BufferId x, std::size_t dim, std::int64_t more) {
  if (more == 0) return x;
  const TensorType type = build.type(x);
  const Shape none(type.shape.size(), 0);
  Shape high = none;
  high[dim] = more;
  return build.emit(Op::pad, {x, build.constant(0, type.dtype)},
                    {{"low", none}, {"high", high}, {"interior", none}});
}

std::vector<BufferId> emit_exchange(PartsBuilder& build, const PartsSite& site,
                                    const SplitSort& sort, std::size_t dim,
                                    const std::vector<BufferId>& operands) {
  const std::int64_t size = sort.local[0].shape[dim];
  const std::int64_t more = (sort.parts - size % sort.parts) % sort.parts;
  const int other = static_cast<int>(dim);
  std::vector<BufferId> lines;
  for (const BufferId operand : operands) {
    lines.push_back(
        build.all_to_all(padded_along(build, operand, dim, more), sort.axes, sort.dim, other));
  }
  std::vector<BufferId> results;
  for (const BufferId line : build.emit_all(Op::sort, lines, site.attributes())) {
    const BufferId back = build.all_to_all(line, sort.axes, other, sort.dim);
    results.push_back(build.slice(back, other, 0, size));
  }
  return results;
}

// merging

bool can_merge_parts(const SplitSort& sort, const PartsSite& site) {
  const bool is_power_of_two = (sort.parts & (sort.parts - 1)) == 0;
  return is_power_of_two && site.operands[0].shape[static_cast<std::size_t>(sort.dim)] <
                                std::numeric_limits<std::int32_t>::max();
}

/// Who is compared with whom in each round: `mask` changes a part's number into the other's, the
/// one that has `bit` keeps what is larger.
struct MergeRound {
  std::int64_t mask = 0;
  int bit = 0;
};

std::vector<MergeRound> merge_rounds(std::int64_t parts) {
  std::vector<MergeRound> rounds;
  for (int stage = 1; (std::int64_t{1} << stage) <= parts; ++stage) {
    rounds.push_back({(std::int64_t{1} << stage) - 1, stage - 1});
    for (int bit = stage - 2; bit >= 0; --bit) rounds.push_back({std::int64_t{1} << bit, bit});
  }
  return rounds;
}

std::int64_t merge_bytes(const SplitSort& sort, const PartsSite& site) {
  const std::int64_t positions =
      are_alike_where_equal(site) ? 0 : bytes_of({DType::i32, sort.local[0].shape}).count();
  return static_cast<std::int64_t>(merge_rounds(sort.parts).size()) * (sort.bytes() + positions);
}

class PartMerge {
 public:
  PartMerge(PartsBuilder& build, const PartsSite& site, const SplitSort& sort)
      : build_(build), sort_(sort), attributes_(site.attributes()) {}

  std::vector<BufferId> run(std::vector<BufferId> operands, bool has_positions) {
    const std::int64_t keys = attributes_.integer("keys");
    if (has_positions) {
      operands.insert(operands.begin() + keys, positions());
      attributes_.set("keys", keys + 1);
    }
    operands = build_.emit_all(Op::sort, operands, attributes_);
    number_ = build_.part_number(sort_.axes);
    for (const MergeRound& round : merge_rounds(sort_.parts)) operands = merged(operands, round);
    if (has_positions) operands.erase(operands.begin() + keys);
    return operands;
  }

 private:
  BufferId positions() {
    const Shape& shape = sort_.local[0].shape;
    const std::int64_t length = sort_.length();
    return build_.along(build_.positions(sort_.axes, {0, length, length}), shape, sort_.dim);
  }

  std::vector<BufferId> merged(const std::vector<BufferId>& own, const MergeRound& round) {
    std::vector<int> senders;
    for (std::int64_t part = 0; part < sort_.parts; ++part) {
      senders.push_back(static_cast<int>(part ^ round.mask));
    }
    std::vector<BufferId> both;
    for (const BufferId part : own) {
      const BufferId other = build_.send(part, sort_.axes, senders);
      both.push_back(build_.emit(Op::concatenate, {part, other},
                                 {{"dim", static_cast<std::int64_t>(sort_.dim)}}));
    }
    both = build_.emit_all(Op::sort, both, attributes_);
    const BufferId side = build_.emit(
        Op::bitwise_and, {build_.emit(Op::shift_right_logical, {number_, build_.number(round.bit)}),
                          build_.number(1)});
    const BufferId start = build_.emit(Op::multiply, {side, build_.number(sort_.length())});
    std::vector<BufferId> kept;
    for (const BufferId lines : both) kept.push_back(half(lines, start));
    return kept;
  }

  BufferId half(BufferId lines, BufferId start) {
    const Shape& shape = sort_.local[0].shape;
    std::vector<BufferId> operands{lines};
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
      const bool is_line = dim == static_cast<std::size_t>(sort_.dim);
      operands.push_back(is_line ? start : build_.number(0));
    }
    return build_.emit(Op::dynamic_slice, operands, {{"sizes", shape}});
  }

  PartsBuilder& build_;
  const SplitSort& sort_;
  Attributes attributes_;
  BufferId number_ = BufferId::none;
};

// the form

FactorRule sort_parts(FactorRule rule, const Node& node) {
  const auto line = static_cast<std::size_t>(
      rule.operands[0][static_cast<std::size_t>(node.attributes.integer("dim"))].front());
  rule.factors[line].kind = FactorKind::permutation;
  rule.factors[line].is_blocked = false;
  return rule;
}

bool sort_fits(const PartsSite& site) {
  const SplitSort sort(site);
  return sort.parts > 1 && sort.bytes() > 0 &&
         (exchanged_dim(site, sort) || can_merge_parts(sort, site));
}

std::vector<BufferId> emit_sort(PartsBuilder& build, const PartsSite& site,
                                const std::vector<BufferId>& operands) {
  const SplitSort sort(site);
  const std::optional<std::size_t> dim = exchanged_dim(site, sort);
  const bool merges =
      can_merge_parts(sort, site) && (!dim || merge_bytes(sort, site) < exchange_bytes(sort, *dim));
  if (!merges) return emit_exchange(build, site, sort, *dim, operands);
  return PartMerge(build, site, sort).run(operands, !are_alike_where_equal(site));
}

constexpr std::array<PartsForm, 1> forms_of_sorts = {{
    {Op::sort, sort_parts, sort_fits, emit_sort},
}};

}  // namespace

std::span<const PartsForm> sort_forms() { return forms_of_sorts; }

}  // namespace shard::spmd
