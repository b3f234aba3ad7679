#pragma once
// Programs made by hand: a mesh, buffers placed one after the other, instructions.

#include <string>
#include <utility>
#include <vector>

#include "base/host_tensor.h"
#include "spmd/program.h"

namespace shard::test {

Mesh make_mesh_of(const std::vector<std::pair<std::string, std::int64_t>>& axes);
Sharding sharding_of(std::vector<std::vector<AxisRef>> dims);
/// Local type of a part of `global`.
TensorType local_type(const TensorType& global, const Sharding& sharding);

class ProgramMaker {
 public:
  explicit ProgramMaker(Mesh mesh);

  /// A buffer behind all others; the peak grows with it.
  BufferId buffer(const TensorType& local, const std::string& name = "");
  BufferId input(const std::string& path, const TensorType& global, const Sharding& sharding,
                 int state_leaf = -1);
  /// Adds the op to `body`; its result is a new buffer.
  BufferId compute(Op op, const std::vector<BufferId>& operands, const Attributes& attributes = {},
                   int body = 0);
  /// Adds the op with a result buffer that is there already.
  void compute_into(BufferId result, Op op, const std::vector<BufferId>& operands,
                    const Attributes& attributes = {}, int body = 0);
  /// In place for all_reduce, else into a new buffer of `result` type.
  BufferId collective(Collective collective, BufferId operand, const TensorType& result);
  void loop(int body, const std::vector<BufferId>& operands, const std::vector<BufferId>& results,
            const Attributes& attributes);
  int add_body();
  void output(const std::string& path, BufferId buffer, const TensorType& global,
              const Sharding& sharding, int state_leaf = -1);

  const TensorType& type(BufferId id) const { return program.buffer(id).type; }

  Program program;
};

/// The program with its ports as the main body's, and its memory planned.
Program finished(ProgramMaker maker);

Collective all_reduce(std::vector<AxisRef> axes, Reduction reduction = Reduction::sum);

/// y = x W on a mesh data 2 x model 2 with the contracted dim split over `model`:
/// inputs x [4,8] and w [8,6], output y [4,6].
Program split_product();
/// The same whole.
HostTensor whole_product(const HostTensor& x, const HostTensor& w);

}  // namespace shard::test
