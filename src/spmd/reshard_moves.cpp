#include "spmd/reshard_moves.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "spmd/reshard.h"

namespace shard::spmd {

std::optional<std::int64_t> LayoutMoves::cost(CollectiveKind kind, std::int64_t before,
                                              std::int64_t after, std::int64_t parts) const {
  if (memory_ > 0 && before + after > memory_) return std::nullopt;
  const std::int64_t per_step = kind == CollectiveKind::all_slice ? 1 : 8;
  return wire_bytes(kind, Bytes(before), parts).count() * per_byte + per_step;
}

std::optional<std::int64_t> LayoutMoves::permute_cost(const Layout& layout) const {
  const std::int64_t bytes = space_.local_bytes(layout);
  return cost(CollectiveKind::collective_permute, bytes, bytes, 1);
}

void LayoutMoves::from(const Layout& layout, const Visit& visit) const {
  const std::int64_t bytes = space_.local_bytes(layout);
  slices_from(layout, visit);
  for (int dim = 0; dim < space_.rank(); ++dim) {
    const auto [begin, end] = space_.dim_range(layout, dim);
    for (std::size_t count = 1; begin + count <= end; ++count) {
      const std::string pieces = layout.substr(end - count, count);
      const std::int64_t parts = space_.product_of(layout, end - count, end);
      const Layout rest = space_.without(layout, dim, count);
      if (const auto more = cost(CollectiveKind::all_gather, bytes, bytes * parts, parts))
        visit(rest, *more, {CollectiveKind::all_gather, dim, -1, count});
      const auto more = cost(CollectiveKind::all_to_all, bytes, bytes, parts);
      for (int to = 0; more && to < space_.rank(); ++to) {
        if (to == dim) continue;
        for (const Layout& next : space_.appended(rest, to, pieces))
          visit(next, *more, {CollectiveKind::all_to_all, dim, to, count});
      }
    }
  }
  reductions_from(layout, visit);
}

/// One piece at a time; several together where memory counts, as one slice needs less than two.
void LayoutMoves::slices_from(const Layout& layout, const Visit& visit) const {
  const std::int64_t bytes = space_.local_bytes(layout);
  for (int dim = 0; dim < space_.rank(); ++dim) {
    std::vector<std::pair<Layout, std::size_t>> work{{layout, 0}};
    while (!work.empty()) {
      const auto [at, count] = std::move(work.back());
      work.pop_back();
      for (const char piece : space_.free_pieces(at)) {
        for (const Layout& next : space_.appended(at, dim, {piece})) {
          if (const auto more = cost(CollectiveKind::all_slice, bytes, space_.local_bytes(next), 1))
            visit(next, *more, {CollectiveKind::all_slice, dim, -1, count + 1});
          if (memory_ > 0) work.emplace_back(next, count + 1);
        }
      }
    }
  }
}

/// A sum is scattered one piece at a time, and reduced whole by one piece or by all.
void LayoutMoves::reductions_from(const Layout& layout, const Visit& visit) const {
  const std::size_t begin = space_.sums_begin(layout);
  const std::int64_t bytes = space_.local_bytes(layout);
  for (std::size_t i = begin; i < layout.size(); ++i) {
    const char piece = layout[i];
    const Layout rest = space_.without_sum(layout, piece);
    const std::int64_t parts = space_.size(piece);
    if (const auto more = cost(CollectiveKind::reduce_scatter, bytes, bytes / parts, parts)) {
      for (int dim = 0; dim < space_.rank(); ++dim) {
        for (const Layout& next : space_.appended(rest, dim, {piece}))
          visit(next, *more, {CollectiveKind::reduce_scatter, dim, -1, 1});
      }
    }
    if (const auto more = cost(CollectiveKind::all_reduce, bytes, bytes, parts))
      visit(rest, *more, {CollectiveKind::all_reduce, -1, -1, 1});
  }
  if (layout.size() < begin + 2) return;
  const std::int64_t parts = space_.product_of(layout, begin, layout.size());
  if (const auto more = cost(CollectiveKind::all_reduce, bytes, bytes, parts))
    visit(layout.substr(0, begin), *more,
          {CollectiveKind::all_reduce, -1, -1, layout.size() - begin});
}

void LayoutMoves::into(const Layout& kinds, const Visit& visit) const {
  const std::int64_t bytes = space_.local_bytes(kinds);
  for (int dim = 0; dim < space_.rank(); ++dim) {
    const auto [begin, end] = space_.dim_range(kinds, dim);
    for (std::size_t count = 1; begin + count <= end; ++count) {
      const Layout rest = space_.without(kinds, dim, count);
      if (count == 1 || memory_ > 0) {
        if (const auto more = cost(CollectiveKind::all_slice, space_.local_bytes(rest), bytes, 1))
          visit(rest, *more, {CollectiveKind::all_slice, dim, -1, count});
      }
      exchanges_into(rest, kinds.substr(end - count, count), dim, visit);
    }
    gathers_into(kinds, dim, visit);
  }
  reductions_into(kinds, visit);
}

void LayoutMoves::gathers_into(const Layout& kinds, int dim, const Visit& visit) const {
  std::vector<std::pair<Layout, std::size_t>> work{{kinds, 0}};
  while (!work.empty()) {
    const auto [at, count] = std::move(work.back());
    work.pop_back();
    for (const char kind : space_.free_kinds(at)) {
      for (const Layout& before : space_.appended(at, dim, {kind})) {
        const auto [begin, end] = space_.dim_range(before, dim);
        const std::int64_t parts = space_.product_of(before, end - count - 1, end);
        const std::int64_t bytes = space_.local_bytes(before);
        if (const auto more = cost(CollectiveKind::all_gather, bytes, bytes * parts, parts))
          visit(before, *more, {CollectiveKind::all_gather, dim, -1, count + 1});
        if (memory_ > 0) work.emplace_back(before, count + 1);
      }
    }
  }
}

void LayoutMoves::exchanges_into(const Layout& rest, const std::string& moved, int to,
                                 const Visit& visit) const {
  const std::int64_t parts = space_.product_of(moved, 0, moved.size());
  for (int dim = 0; dim < space_.rank(); ++dim) {
    if (dim == to) continue;
    for (const Layout& before : space_.appended(rest, dim, moved)) {
      const std::int64_t bytes = space_.local_bytes(before);
      if (const auto more = cost(CollectiveKind::all_to_all, bytes, bytes, parts))
        visit(before, *more, {CollectiveKind::all_to_all, dim, to, moved.size()});
    }
  }
}

void LayoutMoves::reductions_into(const Layout& kinds, const Visit& visit) const {
  const auto visit_sum = [&](const Layout& before, CollectiveKind kind, int dim,
                             const std::string& pieces) {
    if (!may_be_sums(before)) return;
    const std::int64_t parts = space_.product_of(pieces, 0, pieces.size());
    const std::int64_t bytes = space_.local_bytes(before);
    if (const auto more = cost(kind, bytes, space_.local_bytes(kinds), parts))
      visit(before, *more, {kind, dim, -1, pieces.size()});
  };
  for (int dim = 0; dim < space_.rank() && !start_sums_.empty(); ++dim) {
    const auto [begin, end] = space_.dim_range(kinds, dim);
    if (begin == end) continue;
    const std::string piece = kinds.substr(end - 1, 1);
    visit_sum(space_.with_sums(space_.without(kinds, dim, 1), piece),
              CollectiveKind::reduce_scatter, dim, piece);
  }
  for (std::size_t i = 0; i < start_sums_.size(); ++i) {
    if (i > 0 && start_sums_[i] == start_sums_[i - 1]) continue;
    const std::string piece = start_sums_.substr(i, 1);
    visit_sum(space_.with_sums(kinds, piece), CollectiveKind::all_reduce, -1, piece);
  }
  if (start_sums_.size() > 1 && space_.sums_begin(kinds) == kinds.size())
    visit_sum(kinds + start_sums_, CollectiveKind::all_reduce, -1, start_sums_);
}

/// No more of a kind are summed over than at the start, nor more in use than there are.
bool LayoutMoves::may_be_sums(const Layout& kinds) const {
  const std::size_t begin = space_.sums_begin(kinds);
  for (std::size_t i = begin; i < kinds.size(); ++i) {
    const auto count = [&](const Layout& layout, std::size_t from) {
      return std::count(layout.begin() + static_cast<std::ptrdiff_t>(from), layout.end(), kinds[i]);
    };
    if (count(kinds, begin) > count(start_sums_, 0)) return false;
    if (count(kinds, 0) > space_.count_of(kinds[i])) return false;
  }
  return true;
}

namespace {

/// The one that looks like this; there is one, because the move was found over kinds.
Layout alike(const ReshardSpace& space, const std::vector<Layout>& layouts, const Layout& kinds) {
  for (const Layout& layout : layouts) {
    if (space.kinds_of(layout) == kinds) return layout;
  }
  SHARD_CHECK(false, "a move over kinds can be made with pieces");
}

std::string pieces_of(const ReshardSpace& space, const Layout& layout, int dim) {
  const auto [begin, end] = space.dim_range(layout, dim);
  return layout.substr(begin, end - begin);
}

}  // namespace

Layout LayoutMoves::forward(const Layout& layout, const LayoutMove& move,
                            const Layout& kinds_after) const {
  switch (move.kind) {
    case CollectiveKind::all_slice:
      return extended(layout, move, kinds_after, pieces_of(space_, space_.goal(), move.dim));
    case CollectiveKind::all_gather:
      return space_.without(layout, move.dim, move.count);
    case CollectiveKind::all_to_all:
      return exchanged(layout, move.dim, move.to, move.count, kinds_after);
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_reduce:
      return reduced(layout, move, kinds_after);
    case CollectiveKind::collective_permute:
      return with_pieces(kinds_after, layout);
    case CollectiveKind::collective_broadcast:
    case CollectiveKind::ragged_all_to_all:
      break;
  }
  SHARD_CHECK(false, "every move can be made");
}

Layout LayoutMoves::backward(const Layout& layout, const LayoutMove& move,
                             const Layout& kinds_before, const Layout& wished) const {
  switch (move.kind) {
    case CollectiveKind::all_slice:
      return space_.without(layout, move.dim, move.count);
    case CollectiveKind::all_gather:
      return extended(layout, move, kinds_before, pieces_of(space_, wished, move.dim));
    case CollectiveKind::all_to_all:
      return exchanged(layout, move.to, move.dim, move.count, kinds_before);
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_reduce:
    case CollectiveKind::collective_permute:
    case CollectiveKind::collective_broadcast:
    case CollectiveKind::ragged_all_to_all:
      break;
  }
  SHARD_CHECK(false, "sums are reduced before the last permute");
}

/// Free pieces at the end of a dim, of the kinds that the wanted layout ends with there.
Layout LayoutMoves::extended(const Layout& layout, const LayoutMove& move, const Layout& wanted,
                             const std::string& wished) const {
  const std::string kinds = pieces_of(space_, wanted, move.dim);
  Layout taken = layout;
  std::string pieces;
  for (const char kind : kinds.substr(kinds.size() - move.count)) {
    pieces += space_.free_piece(taken, kind, wished);
    taken += pieces.back();
  }
  return alike(space_, space_.appended(layout, move.dim, pieces), wanted);
}

Layout LayoutMoves::exchanged(const Layout& layout, int from, int to, std::size_t count,
                              const Layout& wanted) const {
  const std::string pieces = pieces_of(space_, layout, from);
  return alike(space_,
               space_.appended(space_.without(layout, from, count), to,
                               pieces.substr(pieces.size() - count)),
               wanted);
}

/// The goal's pieces first, where a sum is scattered.
Layout LayoutMoves::reduced(const Layout& layout, const LayoutMove& move,
                            const Layout& wanted) const {
  Layout at = layout;
  std::string pieces;
  const std::string wished =
      move.dim < 0 ? std::string() : pieces_of(space_, space_.goal(), move.dim);
  const std::size_t begin = space_.sums_begin(layout);
  for (const char piece : wished + layout.substr(begin)) {
    if (pieces.size() == move.count) break;
    if (at.find(piece, space_.sums_begin(at)) == Layout::npos) continue;
    const Layout rest = space_.without_sum(at, piece);
    const Layout kinds = space_.kinds_of(rest);
    const std::string left = kinds.substr(space_.sums_begin(kinds));
    const std::string wanted_left = wanted.substr(space_.sums_begin(wanted));
    if (!std::includes(left.begin(), left.end(), wanted_left.begin(), wanted_left.end())) continue;
    at = rest;
    pieces += piece;
  }
  if (move.dim < 0) return at;
  return alike(space_, space_.appended(at, move.dim, pieces), wanted);
}

Layout LayoutMoves::with_pieces(const Layout& kinds, const Layout& wished) const {
  Layout result = kinds;
  Layout taken;
  for (int dim = 0; dim < space_.rank(); ++dim) {
    const auto [begin, end] = space_.dim_range(kinds, dim);
    for (std::size_t i = begin; i < end; ++i) {
      result[i] = space_.free_piece(taken, kinds[i], pieces_of(space_, wished, dim) + wished);
      taken += result[i];
    }
  }
  return result;
}

}  // namespace shard::spmd
