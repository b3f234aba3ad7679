#pragma once
// What one collective can make of a layout, and what it costs.

#include <cstdint>
#include <functional>
#include <optional>

#include "spmd/program.h"
#include "spmd/reshard_space.h"

namespace shard::spmd {

struct LayoutMove {
  CollectiveKind kind = CollectiveKind::all_slice;
  int dim = -1;           ///< sliced, gathered, scattered; all_to_all: the one that gets whole
  int to = -1;            ///< all_to_all: the one that gets split
  std::size_t count = 0;  ///< of pieces
};

/// The edges of the search. Costs are 256 times the bytes that a device sends, plus a little per
/// step, so that of two ways with the same bytes the one with fewer collectives is shorter.
class LayoutMoves {
 public:
  /// `memory`: most bytes of operand and result together; 0: any.
  LayoutMoves(const ReshardSpace& space, std::int64_t memory) : space_(space), memory_(memory) {
    const Layout start = space.kinds_of(space.start());
    start_sums_ = start.substr(space.sums_begin(start));
  }

  static constexpr std::int64_t per_byte = 256;

  using Visit = std::function<void(const Layout&, std::int64_t cost, const LayoutMove&)>;

  /// Every layout that one collective but a permute makes of this one.
  void from(const Layout& layout, const Visit& visit) const;
  /// Every layout over kinds of which one collective but a permute makes this one.
  void into(const Layout& kinds, const Visit& visit) const;
  /// Nothing where memory does not allow it.
  std::optional<std::int64_t> permute_cost(const Layout& layout) const;

  /// The move made with pieces: the layout it makes that looks like `kinds_after`. Free pieces are
  /// taken from the goal's where it has some in that dim.
  Layout forward(const Layout& layout, const LayoutMove& move, const Layout& kinds_after) const;
  /// The layout that looks like `kinds_before` and of which the move makes this one. Free pieces
  /// are taken from the same dim of `wished` where it has some.
  Layout backward(const Layout& layout, const LayoutMove& move, const Layout& kinds_before,
                  const Layout& wished) const;
  /// Some layout that looks like this, with the pieces of `wished` where possible.
  Layout with_pieces(const Layout& kinds, const Layout& wished) const;

 private:
  std::optional<std::int64_t> cost(CollectiveKind kind, std::int64_t before, std::int64_t after,
                                   std::int64_t parts) const;
  void slices_from(const Layout& layout, const Visit& visit) const;
  void reductions_from(const Layout& layout, const Visit& visit) const;
  void gathers_into(const Layout& kinds, int dim, const Visit& visit) const;
  void exchanges_into(const Layout& rest, const std::string& moved, int to,
                      const Visit& visit) const;
  void reductions_into(const Layout& kinds, const Visit& visit) const;
  bool may_be_sums(const Layout& kinds) const;
  Layout extended(const Layout& layout, const LayoutMove& move, const Layout& wanted,
                  const std::string& wished) const;
  Layout exchanged(const Layout& layout, int from, int to, std::size_t count,
                   const Layout& wanted) const;
  Layout reduced(const Layout& layout, const LayoutMove& move, const Layout& wanted) const;

  const ReshardSpace& space_;
  std::int64_t memory_;
  std::string start_sums_;  ///< kinds over which the start is a sum
};

}  // namespace shard::spmd
