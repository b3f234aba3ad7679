#include "exec/ragged_collective.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "exec/ragged_slices.h"

namespace shard {
namespace {

/// Bytes of a member's result that a segment covers, as elsewhere.
constexpr std::int64_t ragged_segment_bytes = std::int64_t{1} << 16;

/// What a device has of the arrays: `batches` exchanges that do not know each other, where leading
/// dims beside the members' are not split.
struct RaggedSite {
  RaggedSizes sizes;
  std::int64_t batches = 1;
  std::int64_t row_bytes = 1;

  explicit RaggedSite(const CollectiveShape& shape)
      : sizes(types_of(shape), leads_of(shape), shape.members) {
    for (int dim = 0; dim < leads_of(shape); ++dim) {
      batches *= shape.operand.shape[static_cast<std::size_t>(dim)];
    }
    row_bytes = sizes.row_elements * info(shape.operand.dtype).bytes;
    sizes.devices = shape.devices;
  }

  RaggedLists lists_at(std::span<const std::byte* const> lists, std::int64_t batch) const {
    RaggedLists at;
    for (std::size_t list = 0; list < ragged_lists; ++list) {
      at[list] = lists[list] + batch * sizes.list_bytes(list);
    }
    return at;
  }

  /// The member that sends most decides what is counted.
  std::int64_t counted_elements(const std::vector<std::int64_t>& sent) const {
    return *std::max_element(sent.begin(), sent.end()) * sizes.row_elements * sizes.members;
  }

  static std::vector<TensorType> types_of(const CollectiveShape& shape) {
    std::vector<TensorType> types{shape.operand};
    types.insert(types.end(), shape.also_read.begin(), shape.also_read.end());
    return types;
  }
  static int leads_of(const CollectiveShape& shape) { return shape.also_read.back().rank() - 1; }
};

/// The lists of a member that is here: behind the operand and the output.
std::span<const std::byte* const> lists_of(const MemberPlace& place) {
  return std::span(place.also_read).subspan(ragged_lists_begin - 1, ragged_lists);
}

const std::byte* output_of(const MemberPlace& place) { return place.also_read.front(); }

void add_sent(std::vector<std::int64_t>& sent, const std::vector<std::int64_t>& more) {
  for (std::size_t m = 0; m < sent.size(); ++m) sent[m] += more[m];
}

/// Segments are rows of the results, the same of every member.
class RaggedCollective : public CollectiveWork {
 public:
  RaggedCollective(const CollectiveShape& shape, bool counts_links)
      : site_(shape),
        counts_links_(counts_links),
        rows_(site_.batches * site_.sizes.out_rows),
        step_(std::max<std::int64_t>(
            1, ragged_segment_bytes / std::max<std::int64_t>(1, site_.row_bytes))) {}

  std::int64_t segment_count() const override {
    return std::max<std::int64_t>(1, (rows_ + step_ - 1) / step_);
  }

  SegmentWork run(std::int64_t segment, std::span<const MemberPlace> members,
                  std::span<const int>) const override {
    SegmentWork work;
    if (segment == 0) count(members, work);
    const std::int64_t end = std::min(rows_, (segment + 1) * step_);
    for (std::int64_t row = segment * step_; row < end;) {
      const std::int64_t batch = row / site_.sizes.out_rows;
      const std::int64_t last = std::min(end, (batch + 1) * site_.sizes.out_rows);
      const std::int64_t first = batch * site_.sizes.out_rows;
      fill(batch, row - first, last - first, members, work);
      row = last;
    }
    return work;
  }

 private:
  std::vector<RaggedSlice> slices(std::int64_t batch, std::span<const MemberPlace> members) const {
    std::vector<RaggedLists> lists;
    for (const MemberPlace& place : members) {
      lists.push_back(site_.lists_at(lists_of(place), batch));
    }
    return ragged_slices(site_.sizes, lists);
  }

  /// What all segments together do.
  void count(std::span<const MemberPlace> members, SegmentWork& work) const {
    std::vector<std::int64_t> sent(members.size());
    for (std::int64_t batch = 0; batch < site_.batches; ++batch) {
      const std::vector<RaggedSlice> all = slices(batch, members);
      add_sent(sent, ragged_rows_sent(site_.sizes, all));
      for (const RaggedSlice& slice : all) {
        if (!counts_links_ || slice.from == slice.to) continue;
        work.links.push_back({slice.from, slice.to, 1, slice.rows * site_.row_bytes});
      }
    }
    work.elements = site_.counted_elements(sent);
  }

  /// Rows [first, last) of every member's result of a batch.
  void fill(std::int64_t batch, std::int64_t first, std::int64_t last,
            std::span<const MemberPlace> members, SegmentWork& work) const {
    const std::int64_t bytes = site_.row_bytes;
    const std::int64_t begin = (batch * site_.sizes.out_rows + first) * bytes;
    // Checked before anything is written.
    const std::vector<RaggedSlice> all = slices(batch, members);
    for (const MemberPlace& place : members) {
      std::memcpy(place.result + begin, output_of(place) + begin,
                  static_cast<std::size_t>((last - first) * bytes));
      work.copied += 2 * (last - first) * bytes;
    }
    for (const RaggedSlice& slice : all) {
      const std::int64_t from = std::max(first, slice.out);
      const std::int64_t count = std::min(last, slice.out + slice.rows) - from;
      if (count <= 0) continue;
      const std::int64_t in = batch * site_.sizes.in_rows + slice.in + (from - slice.out);
      const std::int64_t out = batch * site_.sizes.out_rows + from;
      std::memcpy(members[static_cast<std::size_t>(slice.to)].result + out * bytes,
                  members[static_cast<std::size_t>(slice.from)].operand + in * bytes,
                  static_cast<std::size_t>(count * bytes));
      work.copied += 2 * count * bytes;
    }
  }

  RaggedSite site_;
  bool counts_links_;
  std::int64_t rows_;  ///< of a member's result, all batches
  std::int64_t step_;  ///< of them in a segment
};

/// One segment per stage: the lists, the rows, what arrived.
class HostedRagged : public HostedCollective {
 public:
  HostedRagged(const CollectiveShape& shape, HostedGroup group)
      : site_(shape),
        group_(std::move(group)),
        host_of_(static_cast<std::size_t>(shape.members)),
        rows_(group_.numbers.size()) {
    for (std::size_t host = 0; host < group_.members.size(); ++host) {
      for (const int member : group_.members[host]) {
        host_of_[static_cast<std::size_t>(member)] = host;
      }
    }
    for (std::size_t list = 0; list < ragged_lists; ++list) {
      begins_[list] = list_bytes_;
      list_bytes_ += site_.batches * site_.sizes.list_bytes(list);
    }
  }

  /// A member sends at most its whole operand.
  void begin(BlockPool& pool) override {
    const std::int64_t operand = site_.batches * site_.sizes.in_rows * site_.row_bytes;
    const auto count = [&](std::size_t host) {
      return static_cast<std::int64_t>(group_.members[host].size());
    };
    for (std::size_t host = 0; host < rows_.size(); ++host) {
      lists_.push_back(pool.take(count(host) * list_bytes_));
      const bool is_other = host != group_.self;
      sent_.push_back(pool.take(is_other ? count(group_.self) * operand : 0));
      received_.push_back(pool.take(is_other ? count(host) * operand : 0));
    }
  }

  void end(BlockPool& pool) override {
    for (std::vector<Block>* blocks : {&lists_, &sent_, &received_}) {
      for (Block& block : *blocks) pool.give_back(std::move(block));
      blocks->clear();
    }
  }

  int stages() const override { return 3; }
  std::int64_t segment_count() const override { return 1; }

  SegmentWork run(int stage, std::int64_t, std::span<const MemberPlace> members) override {
    SegmentWork work;
    if (stage == 0) {
      pack_lists(members, work);
    } else if (stage == 1) {
      read_lists(work);
      begin_results(members, work);
      for_each_slice(Way::out, members, work);
    } else {
      for_each_slice(Way::in, members, work);
    }
    return work;
  }

  Crossing crossing(int stage) override {
    Crossing crossing;
    for (std::size_t host = 0; host < rows_.size(); ++host) {
      if (host == group_.self) continue;
      const int number = group_.numbers[host];
      if (stage == 0) {
        add(crossing.sent, {number, lists_[group_.self].data(), bytes_of_lists(group_.self)});
        add(crossing.received, {number, lists_[host].data(), bytes_of_lists(host)});
      } else {
        add(crossing.sent, {number, sent_[host].data(), rows_[host].sent});
        add(crossing.received, {number, received_[host].data(), rows_[host].received});
      }
    }
    return crossing;
  }

 private:
  /// `out`: what stays here, and what goes to other hosts; `in`: what came from them.
  enum class Way { out, in };
  /// Bytes that cross between this host and another one.
  struct Rows {
    std::int64_t sent = 0, received = 0;
  };

  std::size_t host_of(int member) const { return host_of_[static_cast<std::size_t>(member)]; }
  bool is_here(int member) const { return host_of(member) == group_.self; }
  std::int64_t bytes_of_lists(std::size_t host) const {
    return static_cast<std::int64_t>(group_.members[host].size()) * list_bytes_;
  }
  static void add(std::vector<Parcel>& parcels, const Parcel& parcel) {
    if (parcel.count > 0) parcels.push_back(parcel);
  }

  void pack_lists(std::span<const MemberPlace> members, SegmentWork& work) {
    std::byte* to = lists_[group_.self].data();
    for (const int member : group_.members[group_.self]) {
      const auto lists = lists_of(members[static_cast<std::size_t>(member)]);
      for (std::size_t list = 0; list < ragged_lists; ++list) {
        std::memcpy(to + begins_[list], lists[list],
                    static_cast<std::size_t>(site_.batches * site_.sizes.list_bytes(list)));
      }
      to += list_bytes_;
    }
    work.copied += 2 * bytes_of_lists(group_.self);
  }

  /// Every host has all lists, so all of them find the same mistakes.
  void read_lists(SegmentWork& work) {
    std::vector<std::array<const std::byte*, ragged_lists>> all(host_of_.size());
    for (std::size_t host = 0; host < rows_.size(); ++host) {
      const std::byte* from = lists_[host].data();
      for (const int member : group_.members[host]) {
        for (std::size_t list = 0; list < ragged_lists; ++list) {
          all[static_cast<std::size_t>(member)][list] = from + begins_[list];
        }
        from += list_bytes_;
      }
    }
    slices_.clear();
    std::vector<std::int64_t> sent(all.size());
    for (std::int64_t batch = 0; batch < site_.batches; ++batch) {
      std::vector<RaggedLists> lists;
      for (const auto& own : all) lists.push_back(site_.lists_at(own, batch));
      slices_.push_back(ragged_slices(site_.sizes, lists));
      add_sent(sent, ragged_rows_sent(site_.sizes, slices_.back()));
    }
    work.elements = site_.counted_elements(sent);
  }

  void begin_results(std::span<const MemberPlace> members, SegmentWork& work) const {
    const std::int64_t bytes = site_.batches * site_.sizes.out_rows * site_.row_bytes;
    for (const int member : group_.members[group_.self]) {
      const MemberPlace& place = members[static_cast<std::size_t>(member)];
      std::memcpy(place.result, output_of(place), static_cast<std::size_t>(bytes));
      work.copied += 2 * bytes;
    }
  }

  void for_each_slice(Way way, std::span<const MemberPlace> members, SegmentWork& work) {
    std::vector<Rows> at(rows_.size());
    for (std::size_t batch = 0; batch < slices_.size(); ++batch) {
      for (const RaggedSlice& slice : slices_[batch]) {
        carry(way, slice, static_cast<std::int64_t>(batch), members, at, work);
      }
    }
    if (way == Way::out) rows_ = std::move(at);
  }

  void carry(Way way, const RaggedSlice& slice, std::int64_t batch,
             std::span<const MemberPlace> members, std::vector<Rows>& at, SegmentWork& work) {
    const std::int64_t bytes = slice.rows * site_.row_bytes;
    const std::size_t from_host = host_of(slice.from), to_host = host_of(slice.to);
    if (!is_here(slice.from) && !is_here(slice.to)) return;
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    if (is_here(slice.from)) {
      from = members[static_cast<std::size_t>(slice.from)].operand +
             (batch * site_.sizes.in_rows + slice.in) * site_.row_bytes;
    } else {
      from = received_[from_host].data() + at[from_host].received;
      at[from_host].received += bytes;
    }
    if (is_here(slice.to)) {
      to = members[static_cast<std::size_t>(slice.to)].result +
           (batch * site_.sizes.out_rows + slice.out) * site_.row_bytes;
    } else {
      to = sent_[to_host].data() + at[to_host].sent;
      at[to_host].sent += bytes;
    }
    const bool is_done = is_here(slice.from) == (way == Way::out);
    if (!is_done) return;
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    work.copied += 2 * bytes;
    if (!is_here(slice.to) || slice.from == slice.to) return;
    work.links.push_back({slice.from, slice.to, 1, bytes});
  }

  RaggedSite site_;
  HostedGroup group_;
  std::vector<std::size_t> host_of_;  ///< by member: the place of its host
  std::vector<Rows> rows_;            ///< by place of the host
  std::array<std::int64_t, ragged_lists> begins_{};
  std::int64_t list_bytes_ = 0;                   ///< of a member's lists
  std::vector<Block> lists_, sent_, received_;    ///< by place of the host
  std::vector<std::vector<RaggedSlice>> slices_;  ///< by batch
};

}  // namespace

std::unique_ptr<CollectiveWork> make_ragged_collective(const CollectiveShape& shape,
                                                       bool counts_links) {
  return std::make_unique<RaggedCollective>(shape, counts_links);
}

std::shared_ptr<HostedCollective> make_hosted_ragged(const CollectiveShape& shape,
                                                     HostedGroup group) {
  return std::make_shared<HostedRagged>(shape, std::move(group));
}

}  // namespace shard
