#include "exec/hosted_collective.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "exec/hosted_reduction.h"
#include "exec/moving_collective.h"
#include "exec/ragged_collective.h"

namespace shard {
namespace {

/// Bytes are packed for each host in the order of the moves, and unpacked in the same.
class HostedMoves : public HostedCollective {
 public:
  HostedMoves(const CollectiveShape& shape, HostedGroup group)
      : work_(make_moving_collective(shape)),
        group_(std::move(group)),
        host_of_(static_cast<std::size_t>(shape.members)),
        all_(group_.numbers.size()) {
    for (std::size_t host = 0; host < group_.members.size(); ++host) {
      for (const int member : group_.members[host]) {
        host_of_[static_cast<std::size_t>(member)] = host;
      }
    }
    for (std::int64_t segment = 0; segment < work_->segment_count(); ++segment) {
      begins_.push_back(all_);
      work_->for_each_move(segment, [&](const Move& move) {
        if (is_sent(move)) all_[host_of(move.to)].sent += move.count;
        if (is_received(move)) all_[host_of(move.from)].received += move.count;
      });
    }
  }

  void begin(BlockPool& pool) override {
    for (const Begin& host : all_) {
      sent_.push_back(pool.take(host.sent));
      received_.push_back(pool.take(host.received));
    }
  }

  void end(BlockPool& pool) override {
    for (std::vector<Block>* blocks : {&sent_, &received_}) {
      for (Block& block : *blocks) pool.give_back(std::move(block));
      blocks->clear();
    }
  }

  int stages() const override { return 2; }
  std::int64_t segment_count() const override { return work_->segment_count(); }

  SegmentWork run(int stage, std::int64_t segment, std::span<const MemberPlace> members) override {
    Begins at = begins_[static_cast<std::size_t>(segment)];
    SegmentWork work;
    if (stage == 0) work.elements = work_->elements(segment);
    work_->for_each_move(segment, [&](const Move& move) {
      work.copied += 2 * (stage == 0 ? pack(move, members, at) : unpack(move, members, at));
      if (stage == 0 && is_here(move.to)) add_link(move, work);
    });
    return work;
  }

  Crossing crossing(int) override {
    Crossing crossing;
    for (std::size_t host = 0; host < all_.size(); ++host) {
      add_parcel(crossing.sent, {group_.numbers[host], sent_[host].data(), all_[host].sent});
      add_parcel(crossing.received,
                 {group_.numbers[host], received_[host].data(), all_[host].received});
    }
    return crossing;
  }

 private:
  /// Where a segment's bytes begin among those of one other host.
  struct Begin {
    std::int64_t sent = 0, received = 0;
  };
  using Begins = std::vector<Begin>;

  std::size_t host_of(int member) const { return host_of_[static_cast<std::size_t>(member)]; }
  bool is_here(int member) const { return host_of(member) == group_.self; }
  bool is_sent(const Move& move) const {
    return move.from != Move::zeros && is_here(move.from) && !is_here(move.to);
  }
  bool is_received(const Move& move) const {
    return move.from != Move::zeros && !is_here(move.from) && is_here(move.to);
  }

  /// Packs what goes to other hosts and does what stays on this one.
  std::int64_t pack(const Move& move, std::span<const MemberPlace> members, Begins& at) {
    const std::size_t count = static_cast<std::size_t>(move.count);
    if (move.from == Move::zeros) {
      if (is_here(move.to)) {
        std::memset(members[static_cast<std::size_t>(move.to)].result + move.out, 0, count);
      }
      return 0;
    }
    if (!is_here(move.from)) return 0;
    const std::byte* const from = members[static_cast<std::size_t>(move.from)].operand + move.in;
    std::byte* to = nullptr;
    if (is_here(move.to)) {
      to = members[static_cast<std::size_t>(move.to)].result + move.out;
    } else {
      std::int64_t& begin = at[host_of(move.to)].sent;
      to = sent_[host_of(move.to)].data() + begin;
      begin += move.count;
    }
    std::memcpy(to, from, count);
    return move.count;
  }

  std::int64_t unpack(const Move& move, std::span<const MemberPlace> members, Begins& at) {
    if (!is_received(move)) return 0;
    std::int64_t& begin = at[host_of(move.from)].received;
    std::memcpy(members[static_cast<std::size_t>(move.to)].result + move.out,
                received_[host_of(move.from)].data() + begin, static_cast<std::size_t>(move.count));
    begin += move.count;
    return move.count;
  }

  static void add_parcel(std::vector<Parcel>& parcels, const Parcel& parcel) {
    if (parcel.count > 0) parcels.push_back(parcel);
  }

  std::unique_ptr<const MovingCollective> work_;
  HostedGroup group_;
  std::vector<std::size_t> host_of_;    ///< by member: the place of its host
  Begins all_;                          ///< of the end: all bytes
  std::vector<Begins> begins_;          ///< by segment
  std::vector<Block> sent_, received_;  ///< by place of the host
};

}  // namespace

std::shared_ptr<HostedCollective> make_hosted_collective(const CollectiveShape& shape,
                                                         HostedGroup group) {
  SHARD_CHECK(group.numbers.size() > 1, "a hosted group is on several hosts");
  if (shape.kind == CollectiveKind::ragged_all_to_all) {
    return make_hosted_ragged(shape, std::move(group));
  }
  if (auto reduction = make_hosted_reduction(shape, group)) return reduction;
  return std::make_shared<HostedMoves>(shape, std::move(group));
}

}  // namespace shard
