#include "exec/program_maker.h"

#include <doctest/doctest.h>

#include "exec/numbers.h"
#include "spmd/partition.h"
#include "spmd/places.h"

namespace shard::test {
namespace {

Attributes product_attributes() {
  using Dims = std::vector<std::int64_t>;
  return {{"lhs_batch", Dims{}},
          {"rhs_batch", Dims{}},
          {"lhs_contract", Dims{1}},
          {"rhs_contract", Dims{0}}};
}

}  // namespace

Mesh make_mesh_of(const std::vector<std::pair<std::string, std::int64_t>>& axes) {
  std::vector<MeshAxisInfo> infos;
  for (const auto& [name, size] : axes) infos.push_back({MeshAxis(name), size, {}});
  return Mesh(infos);
}

Sharding sharding_of(std::vector<std::vector<AxisRef>> dims) {
  Sharding sharding;
  for (std::vector<AxisRef>& axes : dims) sharding.dims.push_back({std::move(axes), false});
  return sharding;
}

TensorType local_type(const TensorType& global, const Sharding& sharding) {
  TensorType local = global;
  for (std::size_t dim = 0; dim < local.shape.size(); ++dim) {
    local.shape[dim] /= product(sharding.dims[dim].axes);
  }
  return local;
}

ProgramMaker::ProgramMaker(Mesh mesh) {
  program.name = "test";
  program.mesh = std::move(mesh);
  program.bodies.resize(1);
}

BufferId ProgramMaker::buffer(const TensorType& local, const std::string& name) {
  Buffer made;
  made.name = name;
  made.type = local;
  made.offset = Bytes((program.memory.peak.count() + 63) / 64 * 64);
  program.memory.peak = made.offset + bytes_of(local);
  program.buffers.push_back(made);
  return id_at<BufferId>(program.buffers.size() - 1);
}

BufferId ProgramMaker::input(const std::string& path, const TensorType& global,
                             const Sharding& sharding, int state_leaf) {
  const BufferId id = buffer(local_type(global, sharding), path);
  program.inputs.push_back({id, path, Role::input, state_leaf, global, sharding});
  return id;
}

BufferId ProgramMaker::compute(Op op, const std::vector<BufferId>& operands,
                               const Attributes& attributes, int body) {
  std::vector<TensorType> types;
  for (const BufferId id : operands) types.push_back(type(id));
  const ShapeResult shapes = def(op).shape_rule(types, attributes);
  if (const std::string* mistake = std::get_if<std::string>(&shapes)) FAIL(*mistake);
  const BufferId result = buffer(std::get<std::vector<TensorType>>(shapes).front());
  compute_into(result, op, operands, attributes, body);
  return result;
}

void ProgramMaker::compute_into(BufferId result, Op op, const std::vector<BufferId>& operands,
                                const Attributes& attributes, int body) {
  Instruction made;
  made.op = op;
  made.attributes = attributes;
  made.operands = operands;
  made.results = {result};
  program.bodies[static_cast<std::size_t>(body)].instructions.push_back(std::move(made));
}

BufferId ProgramMaker::collective(Collective collective, BufferId operand,
                                  const TensorType& result) {
  Instruction made;
  made.kind = Instruction::Kind::collective;
  made.operands = {operand};
  const bool in_place = collective.kind == CollectiveKind::all_reduce;
  made.results = {in_place ? operand : buffer(result)};
  made.collective = std::move(collective);
  program.bodies.front().instructions.push_back(made);
  return made.results.front();
}

void ProgramMaker::loop(int body, const std::vector<BufferId>& operands,
                        const std::vector<BufferId>& results, const Attributes& attributes) {
  Instruction made;
  made.kind = Instruction::Kind::loop;
  made.op = Op::repeat;
  made.body = body;
  made.operands = operands;
  made.results = results;
  made.attributes = attributes;
  program.bodies.front().instructions.push_back(std::move(made));
}

int ProgramMaker::add_body() {
  program.bodies.emplace_back();
  return static_cast<int>(program.bodies.size()) - 1;
}

void ProgramMaker::output(const std::string& path, BufferId buffer, const TensorType& global,
                          const Sharding& sharding, int state_leaf) {
  program.outputs.push_back({buffer, path, Role::output, state_leaf, -1, global, sharding});
}

Program finished(ProgramMaker maker) {
  Program program = std::move(maker.program);
  for (const ProgramInput& input : program.inputs)
    program.bodies[0].parameters.push_back(input.buffer);
  for (const ProgramOutput& output : program.outputs)
    program.bodies[0].results.push_back(output.buffer);
  spmd::share_places(program);
  plan_memory(program);
  return program;
}

Collective all_reduce(std::vector<AxisRef> axes, Reduction reduction) {
  Collective collective;
  collective.axes = std::move(axes);
  collective.reduction = reduction;
  return collective;
}

Program split_product() {
  ProgramMaker maker(make_mesh_of({{"data", 2}, {"model", 2}}));
  const AxisRef data = maker.program.mesh.full(0), model = maker.program.mesh.full(1);
  const BufferId x = maker.input("x", {DType::f32, {4, 8}}, sharding_of({{data}, {model}}));
  const BufferId w = maker.input("w", {DType::f32, {8, 6}}, sharding_of({{model}, {}}));
  const BufferId part = maker.compute(Op::dot, {x, w}, product_attributes());
  const BufferId y = maker.collective(all_reduce({model}), part, maker.type(part));
  maker.output("y", y, {DType::f32, {4, 6}}, sharding_of({{data}, {}}));
  return maker.program;
}

HostTensor whole_product(const HostTensor& x, const HostTensor& w) {
  return run_reference_op(Op::dot, {x, w}, product_attributes()).front();
}

}  // namespace shard::test
