#include "report/device_ids.h"

#include <algorithm>

namespace shard {
namespace {

std::string text_of(const IdRun& run) {
  if (run.first == run.last) return std::to_string(run.first);
  const char* const between = run.last == run.first + 1 ? "," : "-";
  return std::to_string(run.first) + between + std::to_string(run.last);
}

/// Positions of a set in ascending order.
template <class Digits>
std::vector<std::int64_t> listed_positions(std::int64_t base, const Digits& digits) {
  std::vector<std::int64_t> positions = {base};
  for (const auto& digit : digits) {
    std::vector<std::int64_t> next;
    next.reserve(positions.size() * static_cast<std::size_t>(digit.size));
    for (const std::int64_t position : positions) {
      for (std::int64_t k = 0; k < digit.size; ++k) next.push_back(position + k * digit.stride);
    }
    positions = std::move(next);
  }
  return positions;
}

std::vector<IdRun> runs_of(std::vector<std::int64_t> ids) {
  std::sort(ids.begin(), ids.end());
  std::vector<IdRun> runs;
  for (const std::int64_t id : ids) {
    if (!runs.empty() && runs.back().last + 1 == id) {
      runs.back().last = id;
    } else {
      runs.push_back({id, id});
    }
  }
  return runs;
}

/// The first two runs and the last, or the first alone, and how many devices there are.
std::string shortened(const DeviceIds& ids, std::size_t most, const Strokes& strokes) {
  const std::string first = text_of(ids.run(0)) + ",";
  const std::string last = "," + text_of(ids.run(ids.run_count() - 1));
  const std::string count = " (" + std::to_string(ids.count()) + ")";
  const std::string text = first + text_of(ids.run(1)) + "," + strokes.ellipsis + last + count;
  return text.size() <= 2 * most ? text : first + strokes.ellipsis + count;
}

}  // namespace

std::int64_t stride_of(const Mesh& mesh, const AxisRef& axis) {
  std::int64_t stride = mesh.size(axis.axis) / (axis.pre_size * axis.size);
  for (std::size_t k = static_cast<std::size_t>(axis.axis) + 1; k < mesh.axes().size(); ++k) {
    stride *= mesh.axes()[k].size;
  }
  return stride;
}

DeviceIds::DeviceIds(const Mesh& mesh, std::int64_t position, const std::vector<AxisRef>& axes)
    : base_(position) {
  for (const AxisRef& axis : axes) {
    if (axis.size > 1) digits_.push_back({stride_of(mesh, axis), axis.size});
    count_ *= axis.size;
  }
  std::sort(digits_.begin(), digits_.end(),
            [](const Digit& a, const Digit& b) { return a.stride > b.stride; });
  if (!mesh.is_in_id_order()) {
    std::vector<std::int64_t> ids = listed_positions(base_, digits_);
    for (std::int64_t& id : ids) id = mesh.device_id(id);
    listed_ = runs_of(std::move(ids));
    run_count_ = static_cast<std::int64_t>(listed_.size());
    return;
  }
  while (!digits_.empty() && digits_.back().stride == run_length_) {
    run_length_ *= digits_.back().size;
    digits_.pop_back();
  }
  run_count_ = count_ / run_length_;
}

IdRun DeviceIds::run(std::int64_t number) const {
  if (!listed_.empty()) return listed_[static_cast<std::size_t>(number)];
  std::int64_t first = base_;
  for (auto digit = digits_.rbegin(); digit != digits_.rend(); ++digit) {
    first += number % digit->size * digit->stride;
    number /= digit->size;
  }
  return {first, first + run_length_ - 1};
}

std::string to_string(const DeviceIds& ids, std::size_t most, const Strokes& strokes) {
  constexpr std::int64_t shortest_list = 4;  // below it an ellipsis stands for less than two runs
  std::string text;
  for (std::int64_t i = 0; i < ids.run_count(); ++i) {
    text += (i == 0 ? "" : ",") + text_of(ids.run(i));
    if (most == 0 || text.size() <= most || ids.run_count() < shortest_list) continue;
    return shortened(ids, most, strokes);
  }
  return text;
}

}  // namespace shard
