#include "spmd/score_region.h"

#include <algorithm>
#include <utility>

#include "spmd/loop_product.h"

namespace shard::spmd {

namespace {

constexpr std::size_t no_maker = static_cast<std::size_t>(-1);

}  // namespace

BodyUses::BodyUses(const Body& body, std::size_t buffers)
    : makers_(buffers, no_maker), first_(buffers + 1, 0), is_result_(buffers, 0) {
  for (const BufferId id : body.results) is_result_[index_of(id)] = 1;
  for (const Instruction& one : body.instructions) {
    for (const BufferId id : one.operands) ++first_[index_of(id) + 1];
  }
  for (std::size_t i = 0; i < buffers; ++i) first_[i + 1] += first_[i];
  readers_.resize(first_[buffers]);
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t i = 0; i < body.instructions.size(); ++i) {
    for (const BufferId id : body.instructions[i].operands) readers_[next[index_of(id)]++] = i;
    for (const BufferId id : body.instructions[i].results) makers_[index_of(id)] = i;
  }
}

std::optional<std::size_t> BodyUses::maker(BufferId id) const {
  const bool is_made = index_of(id) < makers_.size() && makers_[index_of(id)] != no_maker;
  return is_made ? std::optional(makers_[index_of(id)]) : std::nullopt;
}

std::span<const std::size_t> BodyUses::readers(BufferId id) const {
  if (index_of(id) >= makers_.size()) return {};
  return std::span(readers_).subspan(first_[index_of(id)],
                                     first_[index_of(id) + 1] - first_[index_of(id)]);
}

bool BodyUses::is_result(BufferId id) const {
  return index_of(id) < is_result_.size() && is_result_[index_of(id)] != 0;
}

ScoreRegion::ScoreRegion(const Program& program, const Body& body, const BodyUses& uses,
                         FusedSpace space, const Instruction& first, std::set<BufferId> given)
    : program_(program),
      body_(body),
      uses_(uses),
      space_(std::move(space)),
      first_(first),
      given_(std::move(given)) {}

void ScoreRegion::grow(std::vector<std::size_t> positions) {
  pending_ = std::move(positions);
  // What cannot join may still join when more of what it reads is in the region.
  std::set<std::size_t> refused;
  for (std::size_t before = members_.size() + 1; before != members_.size();) {
    before = members_.size();
    pending_.insert(pending_.end(), refused.begin(), refused.end());
    refused.clear();
    while (!pending_.empty()) {
      const std::size_t position = pending_.back();
      pending_.pop_back();
      if (!add(position)) refused.insert(position);
    }
  }
}

std::vector<BufferId> ScoreRegion::escaped() const {
  std::vector<BufferId> escaped;
  const auto look_at = [&](BufferId id) {
    const std::span<const std::size_t> readers = uses_.readers(id);
    const bool is_read = std::any_of(readers.begin(), readers.end(),
                                     [&](std::size_t reader) { return !contains(reader); });
    if (is_read || uses_.is_result(id)) escaped.push_back(id);
  };
  for (const BufferId id : given_) look_at(id);
  for (const BufferId id : made_) look_at(id);
  return escaped;
}

bool ScoreRegion::has_points(BufferId id) const {
  return program_.buffer(id).type.shape == space_.shape;
}

bool ScoreRegion::makes(BufferId id) const { return made_.contains(id) || given_.contains(id); }

bool ScoreRegion::is_beside(const Instruction& instruction) const {
  return instruction.kind == Instruction::Kind::compute && instruction.phase == first_.phase &&
         instruction.iteration == first_.iteration && !instruction.results.empty() &&
         fusion_role(instruction.op) != FusionRole::none;
}

/// Points that an instruction reads are made in the region too, where that is possible.
void ScoreRegion::add_makers(const Instruction& instruction) {
  for (const BufferId id : instruction.operands) {
    if (!has_points(id) || makes(id)) continue;
    if (const auto maker = uses_.maker(id)) add(*maker);
  }
}

bool ScoreRegion::add(std::size_t position) {
  if (members_.contains(position)) return true;
  const Instruction& instruction = body_.instructions[position];
  if (!is_beside(instruction)) return false;
  add_makers(instruction);
  std::vector<TensorType> operands;
  std::vector<char> inside;
  for (const BufferId id : instruction.operands) {
    operands.push_back(program_.buffer(id).type);
    inside.push_back(makes(id) ? 1 : 0);
  }
  const TensorType& result = program_.buffer(instruction.results.front()).type;
  const auto asked = space_of(instruction.op, instruction.attributes, operands, result, inside);
  if (!asked || joined(*asked, space_) != space_) return false;
  members_.insert(position);
  if (fusion_role(instruction.op) == FusionRole::product &&
      product_in_loop(instruction.attributes, operands, result, inside)->kind !=
          LoopProductKind::points)
    return true;
  for (const BufferId id : instruction.results) {
    made_.insert(id);
    const std::span<const std::size_t> readers = uses_.readers(id);
    pending_.insert(pending_.end(), readers.begin(), readers.end());
  }
  return true;
}

}  // namespace shard::spmd
