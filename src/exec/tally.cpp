#include "exec/tally.h"

namespace shard {
namespace {

struct PackedLink {
  int from = 0, to = 0;
  LinkTally tally;
};

}  // namespace

void WorkerTally::put_into(Packer& packer) const {
  packer.put(waiting);
  packer.put_all<KindTally>(kinds);
  packer.put(static_cast<std::uint64_t>(sites.size()));
  for (const SiteTally& site : sites) {
    packer.put(site.collectives);
    packer.put(site.wire);
    packer.put(site.copied);
    packer.put(site.seconds);
    packer.put(site.meeting);
    std::vector<PackedLink> links;
    for (const auto& [link, tally] : site.links) links.push_back({link.first, link.second, tally});
    packer.put_all<PackedLink>(links);
  }
}

WorkerTally WorkerTally::taken_from(Unpacker& packed) {
  WorkerTally tally;
  tally.waiting = packed.take<double>();
  tally.kinds = packed.take_all<KindTally>();
  tally.sites.resize(packed.take<std::uint64_t>());
  for (SiteTally& site : tally.sites) {
    site.collectives = packed.take<std::int64_t>();
    site.wire = packed.take<std::int64_t>();
    site.copied = packed.take<std::int64_t>();
    site.seconds = packed.take<double>();
    site.meeting = packed.take<double>();
    for (const PackedLink& link : packed.take_all<PackedLink>()) {
      site.links[{link.from, link.to}] = link.tally;
    }
  }
  return tally;
}

}  // namespace shard
