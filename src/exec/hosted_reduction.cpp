#include "exec/hosted_reduction.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "exec/chunked_array.h"
#include "exec/reduce_streams.h"
#include "exec/routed_collective.h"

namespace shard {
namespace {

/// Which host adds up a chunk, and where chunks lie in the bytes that cross: those of one holder
/// together, in elements.
struct ChunkHolders {
  std::vector<std::size_t> holder;   ///< by chunk: place of the host
  std::vector<std::int64_t> at;      ///< by chunk
  std::vector<std::int64_t> region;  ///< by host where its chunks begin, and the end of all

  ChunkHolders(const ChunkedArray& array, std::vector<std::size_t> holders, std::size_t hosts)
      : holder(std::move(holders)), at(holder.size()) {
    std::int64_t begin = 0;
    for (std::size_t host = 0; host < hosts; ++host) {
      region.push_back(begin);
      for (std::size_t chunk = 0; chunk < holder.size(); ++chunk) {
        if (holder[chunk] != host) continue;
        at[chunk] = begin;
        begin += array.size(static_cast<int>(chunk));
      }
    }
    region.push_back(begin);
  }

  std::int64_t region_size(std::size_t host) const { return region[host + 1] - region[host]; }
};

std::vector<std::size_t> holders_of(const RoutedKind& kind, const RouteGroup& group, int chunks) {
  std::vector<std::size_t> holders;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const bool is_of_member = kind.only_owner_starts || kind.only_owner_ends;
    holders.push_back(is_of_member ? host_of_member(group, chunk) : host_of_chunk(group, chunk));
  }
  return holders;
}

/// Sums cross to the chunk's holder, totals (of a gather: the chunks themselves) from it to all.
class HostedReduction : public HostedCollective {
 public:
  HostedReduction(const CollectiveShape& shape, const RoutedKind& kind, const HostedGroup& group)
      : kind_(kind),
        route_(*route_of(CollectiveAlgorithm::hierarchical)),
        group_(group),
        members_{shape.members, group.members},
        type_(shape.operand.dtype, !kind.only_owner_starts),
        array_(routed_array(shape, kind, route_, members_)),
        chunks_(array_, holders_of(kind, members_, array_.chunks()), group.numbers.size()) {
    if (sums()) reduce_ = stream_reduction(shape.reduction, type_.added());
  }

  void begin(BlockPool& pool) override {
    const std::int64_t all = chunks_.region.back(), own = chunks_.region_size(group_.self);
    if (spreads()) totals_ = pool.take(all * type_.stored_width());
    if (!sums()) return;
    sums_ = pool.take(all * type_.added_width());
    for (std::size_t host = 0; host < group_.numbers.size(); ++host) {
      others_.push_back(pool.take(host == group_.self ? 0 : own * type_.added_width()));
    }
  }

  void end(BlockPool& pool) override {
    others_.push_back(std::move(sums_));
    others_.push_back(std::move(totals_));
    for (Block& block : others_) pool.give_back(std::move(block));
    others_.clear();
  }

  int stages() const override { return 1 + (sums() ? 1 : 0) + (spreads() ? 1 : 0); }
  std::int64_t segment_count() const override { return array_.part_count(); }

  SegmentWork run(int stage, std::int64_t segment, std::span<const MemberPlace> members) override {
    const ChunkPart part = array_.part(segment);
    if (part.count == 0) return {};
    SegmentWork work;
    if (stage == 0) {
      count_all(part, work);
      sums() ? add_within(part, members, work) : take_own(part, members, work);
    } else if (sums() && stage == 1) {
      if (is_held_here(part)) add_across(part, members, work);
    } else {
      spread(part, members, work);
    }
    return work;
  }

  Crossing crossing(int stage) override {
    const bool are_sums = sums() && stage == 0;
    const std::int64_t width = are_sums ? type_.added_width() : type_.stored_width();
    Crossing crossing;
    for (std::size_t host = 0; host < group_.numbers.size(); ++host) {
      if (host == group_.self) continue;
      std::byte* const theirs = (are_sums ? sums_ : totals_).data() + chunks_.region[host] * width;
      std::byte* const own =
          are_sums ? others_[host].data() : totals_.data() + chunks_.region[group_.self] * width;
      const Parcel of_their_chunks{group_.numbers[host], theirs, chunks_.region_size(host) * width};
      const Parcel of_own_chunks{group_.numbers[host], own,
                                 chunks_.region_size(group_.self) * width};
      add_parcel(crossing.sent, are_sums ? of_their_chunks : of_own_chunks);
      add_parcel(crossing.received, are_sums ? of_own_chunks : of_their_chunks);
    }
    return crossing;
  }

 private:
  bool sums() const { return !kind_.only_owner_starts; }
  bool spreads() const { return !kind_.only_owner_ends; }
  const std::vector<int>& members_here() const { return group_.members[group_.self]; }
  std::size_t holder(const ChunkPart& part) const {
    return chunks_.holder[static_cast<std::size_t>(part.chunk)];
  }
  bool is_held_here(const ChunkPart& part) const { return holder(part) == group_.self; }
  std::int64_t at(const ChunkPart& part) const {
    return chunks_.at[static_cast<std::size_t>(part.chunk)] + part.begin;
  }

  static void add_parcel(std::vector<Parcel>& parcels, const Parcel& parcel) {
    if (parcel.count > 0) parcels.push_back(parcel);
  }

  void count_all(const ChunkPart& part, SegmentWork& work) const {
    work.elements = members_.members * part.count;
    for (const RouteStep& step : (route_.*kind_.steps)(members_, part.chunk)) {
      const std::vector<int>& here = members_here();
      if (std::find(here.begin(), here.end(), step.to) == here.end()) continue;
      add_links(step, part, type_.stored_width(), work);
    }
  }

  void add_within(const ChunkPart& part, std::span<const MemberPlace> members, SegmentWork& work) {
    const std::vector<int>& here = members_here();
    const std::int64_t bytes = part.count * type_.added_width();
    std::byte* const sum = sums_.data() + at(part) * type_.added_width();
    if (here.size() == 1) {
      load(part, members[static_cast<std::size_t>(here.front())].operand, sum);
    } else {
      std::vector<std::byte> buffers(here.size() * static_cast<std::size_t>(bytes));
      StreamPlaces places;
      for (std::size_t i = 0; i < here.size(); ++i) {
        std::byte* const buffer = buffers.data() + i * static_cast<std::size_t>(bytes);
        load(part, members[static_cast<std::size_t>(here[i])].operand, buffer);
        places.in.push_back(buffer);
      }
      places.out = {sum};
      reduce_(places, part.count);
    }
    work.copied += (2 * static_cast<std::int64_t>(here.size()) + 1) * bytes;
  }

  void take_own(const ChunkPart& part, std::span<const MemberPlace> members, SegmentWork& work) {
    if (!is_held_here(part)) return;
    const std::int64_t width = type_.stored_width();
    std::memcpy(totals_.data() + at(part) * width,
                members[static_cast<std::size_t>(part.chunk)].operand + part.begin * width,
                static_cast<std::size_t>(part.count * width));
    work.copied += 2 * part.count * width;
  }

  /// The sums of all hosts, in their order; what comes out is left where it goes on.
  void add_across(const ChunkPart& part, std::span<const MemberPlace> members, SegmentWork& work) {
    const std::int64_t width = type_.added_width();
    StreamPlaces places;
    for (std::size_t host = 0; host < others_.size(); ++host) {
      const std::int64_t begin = at(part) - (host == group_.self ? 0 : chunks_.region[group_.self]);
      places.in.push_back((host == group_.self ? sums_ : others_[host]).data() + begin * width);
    }
    std::byte* const sum = sums_.data() + at(part) * width;
    places.out = {sum};
    reduce_(places, part.count);
    std::byte* const total = spreads() ? totals_.data() + at(part) * type_.stored_width()
                                       : members[static_cast<std::size_t>(part.chunk)].result +
                                             part.begin * type_.stored_width();
    type_.narrow(sum, total, part.count);
    work.copied += (static_cast<std::int64_t>(others_.size()) + 2) * part.count * width +
                   part.count * type_.stored_width();
  }

  void spread(const ChunkPart& part, std::span<const MemberPlace> members, SegmentWork& work) {
    const std::int64_t width = type_.stored_width();
    const std::byte* const total = totals_.data() + at(part) * width;
    for (const int member : members_here()) {
      std::byte* const result = members[static_cast<std::size_t>(member)].result;
      array_.for_each_piece(part, [&](std::int64_t begin, std::int64_t done, std::int64_t count) {
        std::memcpy(result + begin * width, total + done * width,
                    static_cast<std::size_t>(count * width));
      });
      work.copied += 2 * part.count * width;
    }
  }

  void load(const ChunkPart& part, const std::byte* operand, std::byte* to) const {
    array_.for_each_piece(part, [&](std::int64_t begin, std::int64_t done, std::int64_t count) {
      type_.widen(operand + begin * type_.stored_width(), to + done * type_.added_width(), count);
    });
  }

  RoutedKind kind_;
  const Route& route_;
  HostedGroup group_;
  RouteGroup members_;
  AddingType type_;
  ChunkedArray array_;
  ChunkHolders chunks_;
  StreamReduction reduce_;
  Block sums_;                 ///< this host's, of all chunks
  std::vector<Block> others_;  ///< by host: its sums of the chunks held here
  Block totals_;               ///< of all chunks
};

}  // namespace

std::shared_ptr<HostedCollective> make_hosted_reduction(const CollectiveShape& shape,
                                                        const HostedGroup& group) {
  const RoutedKind* const kind = routed_kind(shape.kind);
  if (kind == nullptr) return nullptr;
  return std::make_shared<HostedReduction>(shape, *kind, group);
}

}  // namespace shard
