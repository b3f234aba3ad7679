#pragma once
// Plays a manual region's graph again on whole arrays: see manual_body.h.

#include <unordered_map>
#include <utility>
#include <vector>

#include "model/lowering.h"
#include "model/manual_body.h"

namespace shard {

/// Per dim of a value the region's axes that split it, major first.
using ManualEntries = std::vector<std::vector<int>>;

class ManualReplay {
 public:
  ManualReplay(Lowering& lowering, const ManualBody& body) : lowering_(lowering), body_(body) {}

  /// The whole value `outer` becomes `inner` of the region, a part per device.
  void enter(ValueId outer, ValueId inner, const ManualEntries& entries, const Location& at);
  /// Everything between. False after a mistake: `not-yet` for an op that has no such form.
  bool run() { return play(id_at<RegionId>(0)); }
  const StackedValue& stacked(ValueId inner) const { return values_.at(inner); }
  /// The whole value that the parts of `inner` make.
  ValueId leave(ValueId inner, const ManualEntries& entries, const Location& at);

 private:
  using Axes = std::vector<int>;

  /// The nodes and collectives of a region of the body's graph.
  bool play(RegionId region);
  bool play(const Node& node);
  bool play_loop(const Node& node);
  enum class LoopPlay { done, needs_more, refused };
  LoopPlay write_loop(const Node& node, std::vector<StackedValue>& carries);
  std::pair<ValueId, StackedValue> into_loop(const Node& node, std::size_t position,
                                             const std::vector<StackedValue>& carries);
  void out_of_loop(const Node& node, std::size_t position, NodeId loop, StackedValue made,
                   bool is_stack);
  void play(const ManualCollective& collective);
  bool place_again(const Node& node);
  bool refuse(const Node& node, const std::string& hint);
  StackedValue in_place(const ManualCollective& collective);
  StackedValue reduced(const ManualCollective& collective, Op op);
  StackedValue summed(const ManualCollective& collective);
  StackedValue mean(const ManualCollective& collective);
  StackedValue largest(const ManualCollective& collective);
  StackedValue smallest(const ManualCollective& collective);
  StackedValue gathered(const ManualCollective& collective);
  StackedValue scattered(const ManualCollective& collective);
  StackedValue exchanged(const ManualCollective& collective);
  StackedValue exchanged_rows(const ManualCollective& collective);
  StackedValue permuted(const ManualCollective& collective);
  StackedValue broadcast(const ManualCollective& collective);
  StackedValue index(const ManualCollective& collective);

  /// The value with a leading dim for each of these axes, which hold those it has.
  StackedValue widened(const StackedValue& value, const Axes& axes);
  /// Its local shape (without the leading dims) made the last dims of `shape`.
  ValueId spread(const StackedValue& value, const Axes& axes, const Shape& shape);
  /// Split over its leading dims; the local dims are whole, those of `entries` split.
  ValueId placed(ValueId value, const Axes& axes, const ManualEntries& entries = {},
                 bool is_closed = false);
  ValueId turned(ValueId value, std::vector<std::int64_t> order);
  ValueId shaped(ValueId value, Shape shape);
  Shape sizes(const Axes& axes) const;
  const TensorType& local(ValueId inner) const { return body_.graph.value(inner).type; }
  void keep(ValueId inner, StackedValue value);
  void label(ValueId value, const Axes& axes, ValueId inner);

  Lowering& lowering_;
  const ManualBody& body_;
  std::unordered_map<ValueId, StackedValue> values_;
};

}  // namespace shard
