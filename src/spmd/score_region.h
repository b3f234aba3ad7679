#pragma once
// The instructions of a body between which attention scores pass: what makes them, what makes
// weights of them, and the products that sum them up.

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "spmd/fused_form.h"
#include "spmd/program.h"

namespace shard::spmd {

/// Who makes and reads what in a body of a program with so many buffers.
class BodyUses {
 public:
  BodyUses(const Body& body, std::size_t buffers);

  /// Position of the instruction that makes it; nothing for parameters.
  std::optional<std::size_t> maker(BufferId id) const;
  /// Positions of the instructions that read it, rising; as often as they name it.
  std::span<const std::size_t> readers(BufferId id) const;
  /// The body hands it out.
  bool is_result(BufferId id) const;

 private:
  std::vector<std::size_t> makers_;   ///< by buffer
  std::vector<std::size_t> first_;    ///< by buffer: of its readers in the list of all
  std::vector<std::size_t> readers_;  ///< by buffer, then by position
  std::vector<char> is_result_;
};

/// Grows by one instruction after the other: those that read points or numbers of rows, and those
/// that make the points that these read.
class ScoreRegion {
 public:
  /// Over the points of `space`. All instructions are of the phase and iteration of `first`.
  /// `given` has what is made elsewhere but counts as made in the region.
  ScoreRegion(const Program& program, const Body& body, const BodyUses& uses, FusedSpace space,
              const Instruction& first, std::set<BufferId> given = {});

  /// From these positions as far as it goes.
  void grow(std::vector<std::size_t> positions);

  /// Positions, rising.
  const std::set<std::size_t>& members() const { return members_; }
  /// Points and numbers of rows made in the region, or given to it, that somebody else reads or the
  /// body hands out.
  std::vector<BufferId> escaped() const;
  bool has_points(BufferId id) const;
  /// It is made in the region, or given.
  bool makes(BufferId id) const;
  bool contains(std::size_t position) const { return members_.contains(position); }

 private:
  bool add(std::size_t position);
  bool is_beside(const Instruction& instruction) const;
  void add_makers(const Instruction& instruction);

  const Program& program_;
  const Body& body_;
  const BodyUses& uses_;
  const FusedSpace space_;
  const Instruction& first_;
  std::set<BufferId> given_;
  std::set<std::size_t> members_;
  std::set<BufferId> made_;  ///< by members: points and numbers of rows
  std::vector<std::size_t> pending_;
};

}  // namespace shard::spmd
