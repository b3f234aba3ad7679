#include "spmd/parts_form.h"

#include <array>

namespace shard::spmd {

namespace {

TensorType part_type(TensorType type, const AxesPerDim& axes) {
  for (std::size_t dim = 0; dim < type.shape.size(); ++dim) type.shape[dim] /= product(axes[dim]);
  return type;
}

}  // namespace

TensorType PartsSite::local_result(std::size_t result) const {
  return part_type(results[result], common.tensors[operands.size() + result]);
}

std::vector<const PartsForm*> parts_forms(Op op) {
  std::vector<const PartsForm*> forms;
  for (const std::span<const PartsForm> table :
       {move_forms(), window_forms(), line_forms(), sort_forms()}) {
    for (const PartsForm& form : table) {
      if (form.op == op) forms.push_back(&form);
    }
  }
  return forms;
}

bool fits(const PartsForm& form, const PartsSite& site) {
  std::vector<TensorType> types = site.operands;
  types.insert(types.end(), site.results.begin(), site.results.end());
  for (std::size_t i = 0; i < types.size(); ++i) {
    for (std::size_t dim = 0; dim < types[i].shape.size(); ++dim) {
      if (types[i].shape[dim] % product(site.common.tensors[i][dim]) != 0) return false;
    }
  }
  return form.fits == nullptr || form.fits(site);
}

Bytes exchanged_bytes(Program& program, int body, const PartsForm& form, const PartsSite& site) {
  const std::size_t buffers = program.buffers.size();
  const std::size_t before = program.bodies[static_cast<std::size_t>(body)].instructions.size();
  std::vector<BufferId> operands;
  for (std::size_t i = 0; i < site.operands.size(); ++i) {
    operands.push_back(id_at<BufferId>(program.buffers.size()));
    program.buffers.emplace_back().type = part_type(site.operands[i], site.common.tensors[i]);
  }
  PartsBuilder builder(program, body, Instruction{}, "");
  form.emit(builder, site, operands);
  Bytes sent;
  std::vector<Instruction>& list = program.bodies[static_cast<std::size_t>(body)].instructions;
  for (std::size_t i = before; i < list.size(); ++i) {
    if (list[i].collective) sent += list[i].collective->wire;
  }
  list.resize(before);
  program.buffers.resize(buffers);
  return sent;
}

}  // namespace shard::spmd
