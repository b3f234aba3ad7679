#include "spmd/op_writer.h"

#include <algorithm>
#include <utility>

#include "spmd/node_names.h"

namespace shard::spmd {

std::vector<BufferId> OpWriter::run(const OpWay& way, const std::vector<BufferId>& operands) {
  return way.form == nullptr ? plainly(way, operands) : in_parts(way, operands);
}

std::vector<BufferId> OpWriter::plainly(const OpWay& way, const std::vector<BufferId>& operands) {
  Instruction instruction = write_.instruction_of(id_, way.local ? *way.local : node_.attributes);
  instruction.operands = operands;
  instruction.results.reserve(node_.results.size());
  for (std::size_t i = 0; i < node_.results.size(); ++i) {
    instruction.results.push_back(
        write_.new_buffer(node_.results[i], way.result(operands.size() + i), result_name(way, i)));
  }
  std::vector<BufferId> results = instruction.results;
  if (!way.local) write_.localize(instruction, way.common);
  write_.emit(std::move(instruction));
  return results;
}

std::vector<BufferId> OpWriter::in_parts(const OpWay& way, const std::vector<BufferId>& operands) {
  PartsBuilder builder(write_.program, write_.current_body(), write_.instruction_of(id_),
                       value_name(graph_, node_.results.front(), id_));
  std::vector<BufferId> results =
      way.form->emit(builder, parts_site(graph_, node_, way.common), operands);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (std::find(operands.begin(), operands.end(), results[i]) != operands.end()) continue;
    Buffer& buffer = write_.program.buffers[index_of(results[i])];
    buffer.name = result_name(way, i);
    buffer.value = node_.results[i];
  }
  return results;
}

std::string OpWriter::result_name(const OpWay& way, std::size_t position) const {
  const bool is_whole = way.result(node_.operands.size() + position).unreduced.empty();
  return value_name(graph_, node_.results[position], id_) + (is_whole ? "" : ":partial");
}

}  // namespace shard::spmd
