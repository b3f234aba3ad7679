#include "exec/reshard_run.h"

#include <algorithm>
#include <cstring>

#include "spmd/reshard_program.h"

namespace shard {
namespace {

/// Bytes that tell neighbours, rows and pieces apart: the middle bits of multiples of a large odd
/// number (Knuth's multiplicative hashing).
HostTensor known_bytes(const TensorType& type) {
  HostTensor tensor = zeros(type);
  for (std::size_t i = 0; i < tensor.bytes.size(); ++i)
    tensor.bytes[i] = static_cast<std::byte>((static_cast<std::uint32_t>(i) * 2654435761U) >> 20U);
  return tensor;
}

/// The array with other sizes: cut off, or filled up with zeros, at the end of every dim.
HostTensor resized(const HostTensor& tensor, const Shape& shape) {
  if (tensor.type.shape == shape) return tensor;
  HostTensor result = zeros({tensor.type.dtype, shape});
  const std::int64_t item = info(tensor.type.dtype).bytes;
  const std::size_t rank = shape.size();
  Shape common(rank);
  for (std::size_t dim = 0; dim < rank; ++dim)
    common[dim] = std::min(shape[dim], tensor.type.shape[dim]);
  const std::int64_t rows = element_count(common) / std::max<std::int64_t>(1, common[rank - 1]);
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t from = 0, to = 0, rest = row, from_stride = tensor.type.shape[rank - 1],
                 to_stride = shape[rank - 1];
    for (std::size_t dim = rank - 1; dim-- > 0;) {
      from += rest % common[dim] * from_stride;
      to += rest % common[dim] * to_stride;
      rest /= common[dim];
      from_stride *= tensor.type.shape[dim];
      to_stride *= shape[dim];
    }
    std::memcpy(result.bytes.data() + to * item, tensor.bytes.data() + from * item,
                static_cast<std::size_t>(common[rank - 1] * item));
  }
  return result;
}

}  // namespace

ReshardRun run_reshard(const Mesh& mesh, const TensorType& global, const Sharding& from,
                       const std::vector<ReshardStep>& steps, const ClusterOptions& options) {
  const HostTensor expected = known_bytes(global);
  HostTensor array = expected;
  ReshardRun result;
  result.devices = mesh.device_count();
  for (const ReshardStep& step : steps) result.planned_wire += step.collective.wire;
  for (const Program& program : reshard_programs(mesh, global, from, steps)) {
    Cluster cluster(program, options);
    cluster.write_input(0, resized(array, program.inputs.front().global.shape));
    cluster.run();
    array = resized(cluster.read_output(0), global.shape);
    const Counters counters = cluster.counters();
    for (const AxisCounter& axis : counters.axes) result.counted_wire += axis.wire;
    result.planned_peak = std::max(result.planned_peak, program.memory.peak);
    for (const Bytes peak : counters.peak)
      result.measured_peak = std::max(result.measured_peak, peak);
  }
  for (std::size_t i = 0; i < array.bytes.size(); ++i) {
    if (array.bytes[i] != expected.bytes[i]) ++result.wrong_bytes;
  }
  return result;
}

}  // namespace shard
