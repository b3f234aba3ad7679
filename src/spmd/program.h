#pragma once
// What each device does: one SPMD instruction list over local shapes, with collectives and a buffer
// plan. The narrow waist: it can be printed, read back, verified, executed and costed.
//
// A buffer is a local array with a fixed place in the device's arena, written by one instruction
// (or by the caller: inputs; or by a loop: parameters of its body). Several buffers may share a
// place when their lives do not overlap (reuse) or when one is written over the other in place
// (`alias_of`). Instruction lists are bodies: bodies[0] is the function, the others are bodies of
// loops, each run by exactly one loop instruction.
//
// The guide's step on a mesh data 2 x model 4, in short (numbers are buffers):
//   %9 = dot(%0, %1) {..}           f32[4,256]   kernel split over model: columns of the result
//   %10 = relu(%9)                  f32[4,256]   written over %9
//   %11 = dot(%10, %2) {..}         f32[4,1024]  a partial sum on each of the 4 devices of a row
//   %12 = all_reduce(%11) model     f32[4,1024]  written over %11

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/tensor_type.h"
#include "mesh/mesh.h"
#include "model/graph.h"
#include "ops/op.h"
#include "shard/sharding.h"
#include "spmd/part_window.h"

namespace shard {

enum class Category { input, parameter, optimizer, gradient, activation, collective, output };

/// `alias_of` is set when the buffer has the place of another one:
///   - the result of an instruction written over an operand that dies there (or over a buffer that
///     died before, for donated outputs and loop carries);
///   - a carry parameter of a loop body: the place of the loop's result for that carry;
///   - an invariant parameter of a loop body: the place of the loop's operand.
/// `stacked_of` is set for views: the slice of a stacked array that one iteration works on. The
/// view of slice s starts `s * stride` bytes after the stacked buffer; s is the iteration of the
/// loop with body `loop_body`, counted from the end when that loop runs in reverse. Slice
/// parameters view the loop's stacked operand, stacked outputs view the loop's result, so neither
/// is ever copied. `offset` of a view is that of slice 0. See `place_of`.
struct Buffer {
  std::string name;
  TensorType type;  ///< local
  Category category = Category::activation;
  ValueId value = ValueId::none;  ///< the graph value it holds (a part of), none for temporaries
  BufferId alias_of = BufferId::none;
  BufferId stacked_of = BufferId::none;
  int loop_body = -1;  ///< of views
  Bytes stride;        ///< of views
  Bytes offset;        ///< in the arena; set by `plan_memory`

  friend bool operator==(const Buffer&, const Buffer&) = default;
};

enum class CollectiveKind {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  collective_permute,
  collective_broadcast,
  ragged_all_to_all,  ///< the operands of that op (ops/ragged_exchange.h), of which the others
                      ///< have one; the data say what is sent
  all_slice
};

/// Of a collective of this kind.
std::size_t operand_count(CollectiveKind kind);

/// Why a collective is there.
struct CollectiveReason {
  /// `neighbours`: the op computes in parts that need elements of each other; `asked`: the op is
  /// that collective.
  enum class Kind { partial_sum, operand, result, constraint, carry, output, neighbours, asked };
  Kind kind = Kind::partial_sum;
  Phase phase = Phase::forward;
  NodeId node = NodeId::none;  ///< the op that needs it or made the partial sum
  std::string label;           ///< label of the factor that is summed (`hidden`)
  std::string from_spec;       ///< for reshards
  std::string to_spec;

  friend bool operator==(const CollectiveReason&, const CollectiveReason&) = default;
};

struct Collective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::vector<AxisRef> axes;  ///< the axes it runs over, major first
  Reduction reduction = Reduction::none;
  int dim = -1;  ///< all_gather: gathered; reduce_scatter, all_slice: split; all_to_all: the dim
                 ///< that gets whole; collective_permute with a window: its dim
  int split_dim = -1;             ///< all_to_all: the dim that gets split
  std::vector<DimSharding> from;  ///< collective_permute: dims before and after
  std::vector<DimSharding> to;
  std::optional<PartWindow> window;  ///< collective_permute instead: fetched along `dim`
  std::vector<int> senders;  ///< collective_permute instead: by member of a group the one whose
                             ///< operand it gets, -1: zeros; each sends at most once
  int source = -1;           ///< collective_broadcast: the member whose operand all get
  Bytes payload;  ///< local operand bytes (all_gather: local result bytes; window, senders: the
                  ///< wire's)
  Bytes wire;     ///< bytes a device sends with the optimal (ring) algorithm; window, senders:
                  ///< those of the device that sends most; ragged_all_to_all: at most
  CollectiveReason why;

  friend bool operator==(const Collective&, const Collective&) = default;
};

/// One op of a fused instruction. Its values are numbered: first the instruction's operands, then
/// the results of its steps in order.
struct FusedStep {
  Op op = Op::constant;
  Attributes attributes;      ///< shape-like attributes are local
  std::vector<int> operands;  ///< numbers of values
  NodeId node = NodeId::none;

  friend bool operator==(const FusedStep&, const FusedStep&) = default;
};

struct Instruction {
  /// `fused`: the steps, one after another for a few points at a time, so that what only they read
  /// is never an array; see spmd/fused_form.h.
  enum class Kind { compute, collective, loop, fused };
  Kind kind = Kind::compute;
  Op op = Op::constant;   ///< of compute
  Attributes attributes;  ///< of compute; shape-like attributes are local
  std::vector<BufferId> operands;
  std::vector<BufferId> results;
  std::optional<Collective> collective;
  int body = -1;  ///< of loop: index into bodies; attributes times, carries, stacked, reverse
  std::vector<FusedStep> steps;  ///< of fused
  std::vector<int> outputs;      ///< of fused: the number of the value that each result gets
  NodeId node = NodeId::none;    ///< where it comes from
  Phase phase = Phase::forward;
  Iteration iteration;

  friend bool operator==(const Instruction&, const Instruction&) = default;
};

/// Parameters [carries..., slices..., invariants...] and results [carries..., outputs...], as in
/// Graph's regions. A loop copies each carry operand to the place of its carry parameter before the
/// first iteration, and at the end of each iteration the body's carry results to the places of the
/// carry parameters, in order (no copy where they share a place). That order is always safe: a
/// carry result is its own parameter, or written in the body and no other result. The place of a
/// carry parameter is that of the loop's result, so nothing is copied at the end. Output results
/// are views into the loop's stacked results; slice parameters are views into its operands.
struct Body {
  std::vector<BufferId> parameters;
  std::vector<Instruction> instructions;
  std::vector<BufferId> results;

  friend bool operator==(const Body&, const Body&) = default;
};

struct ProgramInput {
  BufferId buffer = BufferId::none;
  std::string path;
  Role role = Role::input;
  int state_leaf = -1;
  TensorType global;  ///< as the caller has it
  Sharding sharding;
  Shape padded{};  ///< what the sharding divides, where it does not divide `global`; else empty

  const Shape& stored() const { return padded.empty() ? global.shape : padded; }

  friend bool operator==(const ProgramInput&, const ProgramInput&) = default;
};

struct ProgramOutput {
  BufferId buffer = BufferId::none;
  std::string path;
  Role role = Role::output;
  int state_leaf = -1;
  int donates = -1;  ///< position in inputs whose place it has; -1 too where local types differ
  TensorType global;
  Sharding sharding;
  Shape padded{};

  const Shape& stored() const { return padded.empty() ? global.shape : padded; }

  friend bool operator==(const ProgramOutput&, const ProgramOutput&) = default;
};

struct CategoryBytes {
  Category category = Category::activation;
  Bytes bytes;  ///< at the peak

  friend bool operator==(const CategoryBytes&, const CategoryBytes&) = default;
};

/// Some neighbours of the buffers that one buffer stands for.
struct InstanceRun {
  std::int64_t first = 0;
  std::int64_t count = 1;

  friend bool operator==(const InstanceRun&, const InstanceRun&) = default;
};

/// The memory of one device (all devices are alike). The peak is the highest byte of the arena ever
/// touched.
struct MemoryPlan {
  Bytes peak;
  int peak_instruction = -1;  ///< index in bodies[0] (a loop counts as one) where most bytes are
                              ///< live; -1: already before the first
  Bytes peak_live;            ///< bytes live there (peak - peak_live is lost between buffers)
  std::vector<BufferId> live_at_peak;      ///< largest first
  std::vector<CategoryBytes> by_category;  ///< sums to `peak_live`; categories with no byte absent
  // Of a program with iterations that stand for several (see `unfold`): which of the things that
  // one thing stands for, counted from 0.
  std::int64_t peak_instance = 0;           ///< of `peak_instruction`
  std::vector<InstanceRun> live_instances;  ///< by entry of `live_at_peak`; empty in other programs

  friend bool operator==(const MemoryPlan&, const MemoryPlan&) = default;
};

struct Program {
  std::string name;
  Mesh mesh;
  std::vector<Buffer> buffers;
  std::vector<Body> bodies;
  std::vector<ProgramInput> inputs;
  std::vector<ProgramOutput> outputs;
  MemoryPlan memory;

  const Buffer& buffer(BufferId id) const { return buffers[index_of(id)]; }
  const Body& main() const { return bodies.front(); }

  friend bool operator==(const Program&, const Program&) = default;
};

/// Where a buffer lies in the arena right now. `slice_of_body[b]` is the slice on which the current
/// iteration of the loop with body b works: the iteration, or `times - 1 - iteration` for a loop in
/// reverse. Buffers that are in no loop and view nothing are simply at their offset.
Bytes place_of(const Program& program, BufferId id, std::span<const std::int64_t> slice_of_body);

/// The program as text, and back. `read_program` throws `Error` (`program-syntax`) with the line;
/// it does not verify.
std::string to_string(const Program& program);
Program read_program(const std::string& file, const std::string& text);

/// Checks the text form's promises: every buffer is written before it is read, local types agree
/// with the op's shape rule and the collective's kind, overlapping live buffers do not share bytes,
/// groups are axes of the mesh, donated outputs lie on their inputs, the peak is the true one.
/// Throws `Error` (`bad-program`) with the instruction.
void verify(const Program& program);

}  // namespace shard
