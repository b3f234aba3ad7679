#include "spmd/reshard_space.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace shard::spmd {
namespace {

constexpr char from_padding = 1, to_padding = 2;
constexpr char dim_end = '\0';

std::int64_t padded_size(std::int64_t size, const DimSharding& dim) {
  const std::int64_t parts = product(dim.axes);
  return (size + parts - 1) / parts * parts;
}

}  // namespace

ReshardSpace::ReshardSpace(const TensorType& global, const Sharding& from, const Sharding& to,
                           Axes pieces)
    : global_(global), pieces_(std::move(pieces)), rank_(from.rank()) {
  number_kinds();
  kept_.unreduced = to.unreduced;
  choose_paddings(from, to);
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const auto holds = [&](const AxisRef& axis) { return contains(axis, pieces_[i]); };
    if (!std::any_of(kept_.unreduced.begin(), kept_.unreduced.end(), holds)) continue;
    unused_ += static_cast<char>(first_piece + static_cast<int>(i));
    --kind_counts_[static_cast<unsigned char>(kind_of(unused_.back()))];
  }
  start_ = layout_of(from, from_padding);
  goal_ = layout_of(to, to_padding);
}

void ReshardSpace::number_kinds() {
  const std::size_t count = pieces_.size();
  SHARD_CHECK(count < 100, "the mesh has fewer pieces than there are letters");
  sizes_.assign(first_piece + 2 * count, 1);
  kinds_.assign(first_piece + count, dim_end);
  kind_counts_.assign(first_piece + 2 * count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    sizes_[first_piece + i] = pieces_[i].size;
    const auto alike = [&](char kind) { return size(kind) == pieces_[i].size; };
    auto found = std::find_if(all_kinds_.begin(), all_kinds_.end(), alike);
    if (found == all_kinds_.end()) {
      const auto letter = static_cast<char>(first_piece + count + all_kinds_.size());
      sizes_[static_cast<std::size_t>(letter)] = pieces_[i].size;
      found = all_kinds_.insert(found, letter);
    }
    kinds_[first_piece + i] = *found;
    ++kind_counts_[static_cast<std::size_t>(*found)];
  }
}

/// A dim that is whole on one side is padded as the other side wants it.
void ReshardSpace::choose_paddings(const Sharding& from, const Sharding& to) {
  for (std::size_t dim = 0; dim < from.dims.size(); ++dim) {
    const std::int64_t size = global_.shape[dim];
    std::int64_t before = padded_size(size, from.dims[dim]);
    std::int64_t after = padded_size(size, to.dims[dim]);
    if (from.dims[dim].axes.empty()) before = after;
    if (to.dims[dim].axes.empty()) after = before;
    padded_.emplace_back(before, after);
    if (before != size || after != size) is_even_ = false;
  }
}

bool ReshardSpace::has_two_paddings(int dim) const {
  const auto& [before, after] = padded_[static_cast<std::size_t>(dim)];
  return before != after;
}

Layout ReshardSpace::layout_of(const Sharding& sharding, char padding) const {
  const auto add = [&](Layout& layout, const Axes& axes) {
    for (const AxisRef& axis : axes) {
      for (std::size_t i = 0; i < pieces_.size(); ++i) {
        const auto letter = static_cast<char>(first_piece + static_cast<int>(i));
        if (contains(axis, pieces_[i]) && unused_.find(letter) == std::string::npos)
          layout += letter;
      }
    }
  };
  Layout layout;
  for (int dim = 0; dim < rank_; ++dim) {
    const Axes& axes = sharding.dims[static_cast<std::size_t>(dim)].axes;
    if (has_two_paddings(dim) && !axes.empty()) layout += padding;
    add(layout, axes);
    layout += dim_end;
  }
  Layout sums;
  add(sums, sharding.unreduced);
  std::sort(sums.begin(), sums.end());
  return layout + sums;
}

std::pair<std::size_t, std::size_t> ReshardSpace::dim_range(const Layout& layout, int dim) const {
  std::size_t begin = 0;
  for (int i = 0; i < dim; ++i) begin = layout.find(dim_end, begin) + 1;
  const std::size_t end = layout.find(dim_end, begin);
  return {begin < end && has_two_paddings(dim) ? begin + 1 : begin, end};
}

std::size_t ReshardSpace::sums_begin(const Layout& layout) const {
  std::size_t begin = 0;
  for (int i = 0; i < rank_; ++i) begin = layout.find(dim_end, begin) + 1;
  return begin;
}

std::int64_t ReshardSpace::product_of(const Layout& layout, std::size_t begin,
                                      std::size_t end) const {
  std::int64_t parts = 1;
  for (std::size_t i = begin; i < end; ++i) parts *= size(layout[i]);
  return parts;
}

Shape ReshardSpace::local_shape(const Layout& layout) const {
  Shape shape = global_.shape;
  std::size_t at = 0;
  for (std::size_t dim = 0; dim < shape.size(); ++dim, ++at) {
    const bool is_split = layout[at] != dim_end;
    const bool is_to = is_split && layout[at] == to_padding;
    std::int64_t parts = 1;
    for (; layout[at] != dim_end; ++at) parts *= size(layout[at]);
    if (is_split) shape[dim] = (is_to ? padded_[dim].second : padded_[dim].first) / parts;
  }
  return shape;
}

std::int64_t ReshardSpace::local_bytes(const Layout& layout) const {
  return bytes_of({global_.dtype, local_shape(layout)}).count();
}

bool ReshardSpace::divides(const Layout& layout) const {
  std::size_t at = 0;
  for (std::size_t dim = 0; dim < padded_.size(); ++dim, ++at) {
    const bool is_to = layout[at] == to_padding;
    std::int64_t parts = 1;
    for (; layout[at] != dim_end; ++at) parts *= size(layout[at]);
    if ((is_to ? padded_[dim].second : padded_[dim].first) % parts != 0) return false;
  }
  return true;
}

std::vector<Layout> ReshardSpace::appended(const Layout& layout, int dim,
                                           const std::string& pieces) const {
  const auto [begin, end] = dim_range(layout, dim);
  std::vector<Layout> results;
  const auto add = [&](const std::string& text) {
    Layout next = layout;
    next.insert(end, text);
    if (divides(next)) results.push_back(std::move(next));
  };
  if (begin < end || !has_two_paddings(dim)) {
    add(pieces);
  } else {
    add(from_padding + pieces);
    add(to_padding + pieces);
  }
  return results;
}

Layout ReshardSpace::without(const Layout& layout, int dim, std::size_t count) const {
  const auto [begin, end] = dim_range(layout, dim);
  const bool gets_whole = begin + count == end && has_two_paddings(dim);
  Layout next = layout;
  next.erase(end - count - (gets_whole ? 1 : 0), count + (gets_whole ? 1 : 0));
  return next;
}

Layout ReshardSpace::with_sums(const Layout& layout, const std::string& pieces) const {
  Layout next = layout + pieces;
  std::sort(next.begin() + static_cast<std::ptrdiff_t>(sums_begin(next)), next.end());
  return next;
}

Layout ReshardSpace::without_sum(const Layout& layout, char piece) const {
  Layout next = layout;
  next.erase(next.find(piece, sums_begin(next)), 1);
  return next;
}

std::string ReshardSpace::free_pieces(const Layout& layout) const {
  std::string free, useless_kinds;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const auto letter = static_cast<char>(first_piece + static_cast<int>(i));
    if (layout.find(letter) != Layout::npos || unused_.find(letter) != std::string::npos) continue;
    const bool is_in_goal = goal_.find(letter) != Layout::npos;
    if (!is_in_goal && useless_kinds.find(kind_of(letter)) != std::string::npos) continue;
    free += letter;
    if (!is_in_goal) useless_kinds += kind_of(letter);
  }
  return free;
}

std::string ReshardSpace::free_kinds(const Layout& layout) const {
  std::string free;
  for (const char kind : all_kinds_) {
    const auto used = std::count(layout.begin(), layout.end(), kind);
    if (used < kind_counts_[static_cast<unsigned char>(kind)]) free += kind;
  }
  return free;
}

char ReshardSpace::free_piece(const Layout& layout, char kind, const std::string& wished) const {
  const auto is_free = [&](char letter) {
    return letter >= first_piece && static_cast<std::size_t>(letter) < kinds_.size() &&
           kind_of(letter) == kind && layout.find(letter) == Layout::npos &&
           unused_.find(letter) == std::string::npos;
  };
  for (const char letter : wished) {
    if (is_free(letter)) return letter;
  }
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const auto letter = static_cast<char>(first_piece + static_cast<int>(i));
    if (is_free(letter)) return letter;
  }
  SHARD_CHECK(false, "a free kind has a free piece");
}

Layout ReshardSpace::kinds_of(const Layout& layout) const {
  Layout kinds = layout;
  for (char& letter : kinds) {
    if (letter >= first_piece) letter = kind_of(letter);
  }
  std::sort(kinds.begin() + static_cast<std::ptrdiff_t>(sums_begin(kinds)), kinds.end());
  return kinds;
}

namespace {

/// Fills dim after dim with kinds until each has its number of parts.
class Arranger {
 public:
  Arranger(const std::vector<std::int64_t>& sizes, const std::string& kinds,
           std::vector<std::int64_t> counts)
      : sizes_(sizes), kinds_(kinds), counts_(std::move(counts)) {}

  void fill(const std::vector<std::pair<std::string, std::int64_t>>& dims, std::size_t dim,
            std::int64_t rest, const Layout& done, std::vector<Layout>& found) {
    if (dim == dims.size()) return found.push_back(done);
    if (rest == 1) {
      const Layout next = done + dim_end;
      if (dim + 1 == dims.size()) return found.push_back(next);
      return fill(dims, dim + 1, dims[dim + 1].second, next + dims[dim + 1].first, found);
    }
    for (const char kind : kinds_) {
      const auto at = static_cast<std::size_t>(kind);
      if (counts_[at] == 0 || rest % sizes_[at] != 0) continue;
      --counts_[at];
      fill(dims, dim, rest / sizes_[at], done + kind, found);
      ++counts_[at];
    }
  }

 private:
  const std::vector<std::int64_t>& sizes_;
  const std::string& kinds_;
  std::vector<std::int64_t> counts_;
};

}  // namespace

std::vector<Layout> ReshardSpace::rearranged(const Layout& kinds) const {
  std::vector<std::pair<std::string, std::int64_t>> dims;  // padding and parts
  for (int dim = 0; dim < rank_; ++dim) {
    const auto [begin, end] = dim_range(kinds, dim);
    const bool has_padding = begin > 0 && kinds[begin - 1] != dim_end;
    dims.emplace_back(has_padding ? kinds.substr(begin - 1, 1) : "", product_of(kinds, begin, end));
  }
  std::vector<Layout> found;
  if (dims.empty()) return {kinds};
  Arranger(sizes_, all_kinds_, kind_counts_)
      .fill(dims, 0, dims.front().second, dims.front().first, found);
  return found;
}

/// A sum over `parts` is cut by all pieces that are left, at the most, when it is reduced. What a
/// device then has of it, it need not receive any more.
std::int64_t ReshardSpace::bytes_to_reduce(const Layout& layout, std::int64_t parts) const {
  std::int64_t cuts = 1;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const auto letter = static_cast<char>(first_piece + static_cast<int>(i));
    if (layout.find(letter) == Layout::npos && unused_.find(letter) == std::string::npos)
      cuts *= size(letter);
  }
  const std::int64_t held = local_bytes(layout) / cuts, own = held / parts;
  return held - own + std::max<std::int64_t>(local_bytes(goal_) - own, 0);
}

/// On the devices whose piece is the last of where the layouts part and of which the goal is the
/// first, the two have nothing in common.
std::int64_t ReshardSpace::bytes_to_receive(const Layout& layout) const {
  if (!is_even_) return 0;
  const std::int64_t wanted = local_bytes(goal_);
  const std::size_t sums = sums_begin(layout);
  if (sums < layout.size()) return bytes_to_reduce(layout, product_of(layout, sums, layout.size()));
  std::int64_t beyond = 1;
  for (int dim = 0; dim < rank_; ++dim) {
    auto [at, end] = dim_range(layout, dim);
    auto [goal_at, goal_end] = dim_range(goal_, dim);
    while (at < end && goal_at < goal_end && layout[at] == goal_[goal_at]) ++at, ++goal_at;
    if (at < end && goal_at < goal_end) return wanted;
    beyond *= product_of(layout, at, end);
  }
  return wanted - wanted / beyond;
}

Sharding ReshardSpace::sharding_of(const Layout& layout) const {
  const auto axes = [&](std::size_t begin, std::size_t end) {
    Axes list;
    for (std::size_t i = begin; i < end; ++i)
      append_joined(list, pieces_[static_cast<std::size_t>(layout[i] - first_piece)]);
    return list;
  };
  Sharding sharding = kept_;
  for (int dim = 0; dim < rank_; ++dim) {
    const auto [begin, end] = dim_range(layout, dim);
    sharding.dims.push_back({axes(begin, end), false});
  }
  const Axes sums = axes(sums_begin(layout), layout.size());
  sharding.unreduced.insert(sharding.unreduced.end(), sums.begin(), sums.end());
  sharding.unreduced = in_mesh_order(sharding.unreduced);
  return sharding;
}

}  // namespace shard::spmd
