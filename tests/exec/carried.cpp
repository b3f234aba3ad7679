#include "exec/carried.h"

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <utility>

namespace shard::test {

void carry(std::vector<std::shared_ptr<HostedCollective>>& hosts, int stage) {
  std::map<std::pair<int, int>, Parcel> sent;
  std::vector<Crossing> crossings;
  for (const auto& host : hosts) crossings.push_back(host->crossing(stage));
  for (std::size_t from = 0; from < hosts.size(); ++from) {
    for (const Parcel& parcel : crossings[from].sent) {
      sent[{static_cast<int>(from), parcel.host}] = parcel;
    }
  }
  std::size_t received = 0;
  for (std::size_t to = 0; to < hosts.size(); ++to) {
    for (const Parcel& parcel : crossings[to].received) {
      const Parcel& from = sent.at({parcel.host, static_cast<int>(to)});
      REQUIRE(from.count == parcel.count);
      std::memcpy(parcel.bytes, from.bytes, static_cast<std::size_t>(parcel.count));
      ++received;
    }
  }
  CHECK(received == sent.size());
}

}  // namespace shard::test
