#include "spmd/reshard_program.h"

#include <algorithm>
#include <span>

#include "base/check.h"
#include "spmd/axes.h"
#include "spmd/partition.h"
#include "spmd/passes.h"
#include "spmd/places.h"

namespace shard {
namespace {

/// The size of every dim with its padding; 0 where it is whole, so that nothing says how it is
/// padded.
Shape padded_sizes(const Shape& local, const Sharding& sharding) {
  Shape sizes = local;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    const std::int64_t parts = part_count(sharding.dims[dim]);
    sizes[dim] = parts == 1 ? 0 : sizes[dim] * parts;
  }
  return sizes;
}

/// Takes over sizes that are not known yet; false when one is different.
bool join_sizes(Shape& known, const Shape& more) {
  for (std::size_t dim = 0; dim < known.size(); ++dim) {
    if (known[dim] != 0 && more[dim] != 0 && known[dim] != more[dim]) return false;
  }
  for (std::size_t dim = 0; dim < known.size(); ++dim) known[dim] = std::max(known[dim], more[dim]);
  return true;
}

class ReshardProgram {
 public:
  ReshardProgram(const Mesh& mesh, const TensorType& padded, const Sharding& from)
      : padded_(padded) {
    program_.name = "reshard";
    program_.mesh = mesh;
    program_.bodies.emplace_back();
    now_ = new_buffer(from, "array");
    program_.bodies.front().parameters = {now_};
    program_.inputs.push_back({now_, "array", Role::input, -1, padded, from});
    from_ = spec_text(mesh, from);
    at_ = from;
  }

  void add(const ReshardStep& step, const std::string& goal) {
    Instruction instruction;
    instruction.kind = Instruction::Kind::collective;
    instruction.collective = step.collective;
    instruction.collective->why = {
        CollectiveReason::Kind::constraint, Phase::forward, NodeId::none, "", from_, goal};
    instruction.operands = {now_};
    now_ = new_buffer(step.after, "array:" + spec_text(program_.mesh, step.after));
    instruction.results = {now_};
    program_.bodies.front().instructions.push_back(std::move(instruction));
    at_ = step.after;
  }

  Program finish() {
    program_.bodies.front().results = {now_};
    program_.outputs.push_back({now_, "array", Role::output, -1, -1, padded_, at_});
    spmd::share_places(program_);
    spmd::renumber(program_);
    spmd::categorize(program_);
    plan_memory(program_);
    return std::move(program_);
  }

 private:
  BufferId new_buffer(const Sharding& sharding, std::string name) {
    Buffer buffer;
    buffer.name = std::move(name);
    buffer.type = {padded_.dtype, local_shape(padded_.shape, sharding)};
    program_.buffers.push_back(std::move(buffer));
    return id_at<BufferId>(program_.buffers.size() - 1);
  }

  const TensorType padded_;
  Program program_;
  std::string from_;
  Sharding at_;
  BufferId now_ = BufferId::none;
};

}  // namespace

std::vector<Program> reshard_programs(const Mesh& mesh, const TensorType& global,
                                      const Sharding& from, const std::vector<ReshardStep>& steps) {
  std::vector<Program> programs;
  const std::string goal = spec_text(mesh, steps.empty() ? from : steps.back().after);
  Sharding start = spmd::canonical(from);
  Shape sizes = padded_sizes(local_shape(global.shape, start), start);
  for (std::size_t begin = 0; begin < steps.size() || programs.empty();) {
    std::size_t end = begin;
    while (end < steps.size() &&
           join_sizes(sizes, padded_sizes(steps[end].local, steps[end].after)))
      ++end;
    SHARD_CHECK(end > begin || steps.empty(), "a dim is whole when its padding changes");
    TensorType padded = global;
    for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
      if (sizes[dim] != 0) padded.shape[dim] = sizes[dim];
    }
    ReshardProgram program(mesh, padded, start);
    for (const ReshardStep& step : std::span(steps).subspan(begin, end - begin))
      program.add(step, goal);
    programs.push_back(program.finish());
    if (end == begin) break;
    start = steps[end - 1].after;
    sizes = padded_sizes(steps[end - 1].local, start);
    begin = end;
  }
  return programs;
}

}  // namespace shard
