#pragma once
// Instructions over local shapes, written one after another for one node: the words in which forms
// in parts talk (see parts_form.h).

#include <string>
#include <vector>

#include "spmd/axes.h"
#include "spmd/program.h"

namespace shard::spmd {

/// Adds to the end of one body. What it makes are temporaries named after the node.
class PartsBuilder {
 public:
  /// `node` is an instruction that says where all of them come from: node, phase and iteration.
  PartsBuilder(Program& program, int body, const Instruction& node, std::string name);

  const TensorType& type(BufferId buffer) const { return program_.buffer(buffer).type; }
  const Mesh& mesh() const { return program_.mesh; }

  /// One result, whose type the op's shape rule gives.
  BufferId emit(Op op, std::vector<BufferId> operands, Attributes attributes = {});
  std::vector<BufferId> emit_all(Op op, std::vector<BufferId> operands, Attributes attributes = {});

  BufferId all_reduce(BufferId operand, const Axes& axes, Reduction reduction);
  BufferId all_gather(BufferId operand, const Axes& axes, int dim);
  BufferId all_slice(BufferId operand, const Axes& axes, int dim);
  /// What the device with this number among those along `axes` has.
  BufferId broadcast(BufferId operand, const Axes& axes, std::int64_t source);
  /// The window of the device's part along `dim`, which is split over `axes`.
  BufferId fetch(BufferId operand, const Axes& axes, int dim, const PartWindow& window);

  /// `dim` gets whole, `split_dim` gets split.
  BufferId all_to_all(BufferId operand, const Axes& axes, int dim, int split_dim);
  /// Whole parts over `axes`, each from the part that `senders` says; see `Collective::senders`.
  BufferId send(BufferId operand, const Axes& axes, std::vector<int> senders,
                CollectiveReason::Kind why = CollectiveReason::Kind::neighbours);
  /// The op's six operands; see `CollectiveKind::ragged_all_to_all`.
  BufferId ragged_all_to_all(const std::vector<BufferId>& operands, const Axes& axes);

  /// An i32 scalar.
  BufferId number(std::int64_t value);
  /// A scalar of this dtype.
  BufferId constant(double value, DType dtype);
  /// Which of the parts over `axes` the device has: an i32 scalar.
  BufferId part_number(const Axes& axes);
  /// i32[size]: the positions of the device's window.
  BufferId positions(const Axes& axes, const PartWindow& window);
  /// `x`, of rank 1, along `dim` of `shape`.
  BufferId along(BufferId x, const Shape& shape, int dim);
  /// The part from `start` up to `limit` of `dim`, each `stride`th; `x` itself when that is all.
  BufferId slice(BufferId x, int dim, std::int64_t start, std::int64_t limit,
                 std::int64_t stride = 1);

 private:
  BufferId new_buffer(TensorType type, std::string_view what);
  BufferId collective(Collective collective, BufferId operand, TensorType result);
  /// `operands.front()` is what is sent.
  BufferId collective(Collective collective, std::vector<BufferId> operands, TensorType result);

  Program& program_;
  int body_;
  Instruction node_;
  std::string name_;
};

}  // namespace shard::spmd
