#pragma once
// What the search for a cheap reshard works on: the mesh cut into pieces that are moved whole, and
// shardings written as short texts over those pieces.

#include <string>
#include <utility>
#include <vector>

#include "base/tensor_type.h"
#include "shard/sharding.h"
#include "spmd/axes.h"

namespace shard::spmd {

/// One sharding: per dim the pieces that split it, major first, each dim closed by '\0', and then
/// the pieces over which the value is still a sum. A piece is a letter of `ReshardSpace`. A dim
/// that may be padded in two ways begins with the letter of its padding while it is split.
using Layout = std::string;

/// The layouts an array can have between two shardings.
///
/// A *kind* stands for all pieces of one size. A layout over kinds says how an array is cut but not
/// along which axes, which is all that bytes depend on.
class ReshardSpace {
 public:
  /// Both canonical; `pieces` cover the mesh and are not cut by either.
  ReshardSpace(const TensorType& global, const Sharding& from, const Sharding& to, Axes pieces);

  const Layout& start() const { return start_; }
  const Layout& goal() const { return goal_; }
  int rank() const { return rank_; }
  /// Dims that do not divide: bytes a device must receive are not told by the axes alone.
  bool is_even() const { return is_even_; }

  /// Begin and end of the pieces of a dim within the text, its padding left out.
  std::pair<std::size_t, std::size_t> dim_range(const Layout& layout, int dim) const;
  /// Begin of the pieces that are summed over.
  std::size_t sums_begin(const Layout& layout) const;

  std::int64_t size(char piece) const { return sizes_[static_cast<unsigned char>(piece)]; }
  std::int64_t product_of(const Layout& layout, std::size_t begin, std::size_t end) const;
  Shape local_shape(const Layout& layout) const;
  std::int64_t local_bytes(const Layout& layout) const;
  bool divides(const Layout& layout) const;

  /// All ways to append pieces at the minor end of a dim: one, or one per padding.
  std::vector<Layout> appended(const Layout& layout, int dim, const std::string& pieces) const;
  /// The layout without the last `count` pieces of a dim.
  Layout without(const Layout& layout, int dim, std::size_t count) const;
  Layout with_sums(const Layout& layout, const std::string& pieces) const;
  Layout without_sum(const Layout& layout, char piece) const;

  /// Pieces (of a layout over kinds: kinds) that a dim could be sliced by. Of those that are alike
  /// to the goal only the first.
  std::string free_pieces(const Layout& layout) const;
  std::string free_kinds(const Layout& layout) const;
  /// A free piece of that kind, the first of `wished` that there is.
  char free_piece(const Layout& layout, char kind, const std::string& wished) const;
  Layout kinds_of(const Layout& layout) const;
  char kind_of(char piece) const { return kinds_[static_cast<unsigned char>(piece)]; }
  std::int64_t count_of(char kind) const { return kind_counts_[static_cast<unsigned char>(kind)]; }
  /// Other layouts over kinds with as many parts in every dim, that one included.
  std::vector<Layout> rearranged(const Layout& kinds) const;

  /// Bytes that some device must receive at least on the way from there to the goal.
  std::int64_t bytes_to_receive(const Layout& layout) const;

  /// Back to axes; the unreduced axes of the goal stay.
  Sharding sharding_of(const Layout& layout) const;
  const Sharding& kept() const { return kept_; }

 private:
  static constexpr char first_piece = 8;

  Layout layout_of(const Sharding& sharding, char padding) const;
  bool has_two_paddings(int dim) const;
  std::int64_t bytes_to_reduce(const Layout& layout, std::int64_t parts) const;
  void choose_paddings(const Sharding& from, const Sharding& to);
  void number_kinds();

  TensorType global_;
  Axes pieces_;
  int rank_ = 0;
  std::vector<std::int64_t> sizes_;  ///< by letter, pieces and kinds
  std::string kinds_;                ///< by letter of a piece
  std::string all_kinds_;
  std::vector<std::int64_t> kind_counts_;                      ///< by letter
  std::vector<std::pair<std::int64_t, std::int64_t>> padded_;  ///< by dim
  Sharding kept_;       ///< its unreduced axes are in no layout
  std::string unused_;  ///< pieces that may not be used: those of `kept_`
  bool is_even_ = true;
  Layout start_, goal_;
};

}  // namespace shard::spmd
