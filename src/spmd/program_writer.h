#pragma once
// Appends buffers and instructions to a program.

#include <string>
#include <vector>

#include "shard/sharded_graph.h"
#include "spmd/common_factors.h"
#include "spmd/early_places.h"
#include "spmd/program.h"

namespace shard::spmd {

class ProgramWriter {
 public:
  explicit ProgramWriter(const ShardedGraph& source);

  Program program;

  /// Makes room in the current body for the instructions of so many nodes.
  void reserve(std::size_t nodes);

  int current_body() const { return body_; }
  Body& body() { return program.bodies[static_cast<std::size_t>(body_)]; }
  /// Appends to that body from now on; returns the one appended to so far.
  int enter(int body);
  /// Makes a body and appends to it from now on; returns the one appended to so far.
  int enter_new_body();
  /// Moves what may come early, at the end of the current body.
  void finish_body() { early_.place(body()); }

  BufferId new_buffer(ValueId value, const Sharding& sharding, std::string name);
  /// The instruction of a node, its attributes still those of whole arrays, or these.
  Instruction instruction_of(NodeId id) const;
  Instruction instruction_of(NodeId id, const Attributes& attributes) const;
  /// Brings the attributes to the form that they have on a device's parts.
  void localize(Instruction& instruction, const CommonFactors& common) const;
  void emit(Instruction instruction) { body().instructions.push_back(std::move(instruction)); }
  /// `early`: right behind what makes the operand, wherever that is in this body.
  void emit_collective(Collective collective, BufferId operand, BufferId result, NodeId node,
                       bool early);

 private:
  std::vector<TensorType> types(const std::vector<BufferId>& buffers) const;

  const Graph& graph_;
  EarlyPlaces early_;
  int body_ = 0;
};

}  // namespace shard::spmd
