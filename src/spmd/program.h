#pragma once
// What each device does: one SPMD instruction list over local shapes, with collectives and a buffer
// plan. The narrow waist: it can be printed, read back, verified, executed and costed.
//
// A buffer is a local array with a fixed place in the device's arena. Several buffers may share a
// place when their lives do not overlap (reuse) or when one is written over the other in place
// (`alias_of`). Instruction lists are bodies: bodies[0] is the function, the others are bodies of
// loops.

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/tensor_type.h"
#include "mesh/mesh.h"
#include "model/graph.h"
#include "ops/op.h"
#include "shard/sharding.h"

namespace shard {

enum class Category { input, parameter, optimizer, gradient, activation, collective, output };

struct Buffer {
  std::string name;
  TensorType type;  ///< local
  Category category = Category::activation;
  ValueId value = ValueId::none;  ///< the graph value it holds (a part of), none for temporaries
  BufferId alias_of = BufferId::none;  ///< written in place over that buffer
  Bytes offset;                        ///< in the arena; set by `plan_memory`
};

enum class CollectiveKind {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  collective_permute,
  all_slice
};

/// Why a collective is there.
struct CollectiveReason {
  enum class Kind { partial_sum, operand, result, constraint, carry, output };
  Kind kind = Kind::partial_sum;
  Phase phase = Phase::forward;
  NodeId node = NodeId::none;  ///< the op that needs it or made the partial sum
  std::string label;           ///< label of the factor that is summed (`hidden`)
  std::string from_spec;       ///< for reshards
  std::string to_spec;
};

struct Collective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::vector<AxisRef> axes;  ///< the axes it runs over, major first
  Reduction reduction = Reduction::none;
  int dim = -1;  ///< all_gather: gathered; reduce_scatter, all_slice: split; all_to_all: the dim
                 ///< that gets whole
  int split_dim = -1;             ///< all_to_all: the dim that gets split
  std::vector<DimSharding> from;  ///< collective_permute: dims before and after
  std::vector<DimSharding> to;
  Bytes payload;  ///< local operand bytes (all_gather: local result bytes)
  Bytes wire;     ///< bytes a device sends with the optimal (ring) algorithm
  CollectiveReason why;
};

struct Instruction {
  enum class Kind { compute, collective, loop };
  Kind kind = Kind::compute;
  Op op = Op::constant;   ///< of compute
  Attributes attributes;  ///< of compute; shape-like attributes are local
  std::vector<BufferId> operands;
  std::vector<BufferId> results;
  std::optional<Collective> collective;
  int body = -1;  ///< of loop: index into bodies; attributes times, carries, stacked, reverse
  NodeId node = NodeId::none;  ///< where it comes from
  Phase phase = Phase::forward;
  Iteration iteration;
};

/// Parameters and results as in Graph's regions. A loop copies carries in before, and at the end of
/// each iteration moves the body's carry results to its carry parameters (no copy where they share
/// a place).
struct Body {
  std::vector<BufferId> parameters;
  std::vector<Instruction> instructions;
  std::vector<BufferId> results;
};

struct ProgramInput {
  BufferId buffer = BufferId::none;
  std::string path;
  Role role = Role::input;
  int state_leaf = -1;
  TensorType global;
  Sharding sharding;
};

struct ProgramOutput {
  BufferId buffer = BufferId::none;
  std::string path;
  Role role = Role::output;
  int state_leaf = -1;
  int donates = -1;  ///< position in inputs whose place it has
  TensorType global;
  Sharding sharding;
};

struct CategoryBytes {
  Category category = Category::activation;
  Bytes bytes;  ///< at the peak
};

/// The memory of one device (all devices are alike). The peak is the highest byte of the arena ever
/// touched.
struct MemoryPlan {
  Bytes peak;
  int peak_instruction =
      -1;           ///< index in bodies[0] (a loop counts as one) where most bytes are live
  Bytes peak_live;  ///< bytes live there (peak - peak_live is lost between buffers)
  std::vector<BufferId> live_at_peak;  ///< largest first
  std::vector<CategoryBytes> by_category;
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
};

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
