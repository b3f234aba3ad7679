#pragma once
// How the parts of an array travel between the members of a group. An array is cut into chunks;
// each algorithm gives, chunk by chunk, the messages that carry it, in an order that the group
// alone decides. So a worker can carry any elements of a chunk by itself: the bits are the same.
//
// Groups of n members that are no power of two: ring and tree need none. Halving and doubling is
// done by the first p members, p the largest power of two up to n; each of the others first sends
// all it has to the member p before it, and is sent its part at the end.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shard {

enum class CollectiveAlgorithm {
  owner,         ///< shared memory: whoever takes a segment does it for all members
  ring,          ///< n-1 steps from neighbour to neighbour
  tree,          ///< binomial, to and from member 0
  halving,       ///< recursive halving, recursive doubling
  hierarchical,  ///< within each host, across hosts, within each host
};

/// `owner`, `ring`, ... in enum order.
std::vector<std::string> algorithm_names();
std::string_view to_string(CollectiveAlgorithm algorithm);

/// What the user chose: device d is on host d / (devices / hosts).
struct CollectiveChoice {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::owner;
  int hosts = 1;  ///< divides the devices
};

/// The members of a group by host: hosts ascending, members ascending.
using MembersByHost = std::vector<std::vector<int>>;

struct RouteGroup {
  int members = 1;
  MembersByHost hosts;
};

/// A member's chunk becomes the reduction of the sources' chunks, in their order; with one source
/// it becomes a copy. Each source other than `to` sends a message; one message may carry several
/// chunks, and starts with the first of them.
struct RouteStep {
  int to = 0;
  std::vector<int> sources;
  bool starts_message = true;
};
using RouteSteps = std::vector<RouteStep>;

/// One algorithm but `owner`.
struct Route {
  CollectiveAlgorithm algorithm;
  std::string_view name;
  /// Chunks that an all_reduce's array is cut into; chunks differ by one element at most and the
  /// larger come first.
  int (*chunks)(const RouteGroup& group);
  RouteSteps (*all_reduce)(const RouteGroup& group, int chunk);
  /// Chunk c is what member c is left with. There are as many chunks as members.
  RouteSteps (*reduce_scatter)(const RouteGroup& group, int chunk);
  /// Chunk c is what member c starts with.
  RouteSteps (*all_gather)(const RouteGroup& group, int chunk);
  /// From member `source`, which has all, to the others.
  RouteSteps (*broadcast)(const RouteGroup& group, int source);
};

/// Which of the group's hosts the hierarchical route leaves with a whole chunk: of an all_reduce's
/// chunks, and of those that belong to a member each.
std::size_t host_of_chunk(const RouteGroup& group, int chunk);
std::size_t host_of_member(const RouteGroup& group, int member);

/// Nothing for `owner`, which sends no messages.
const Route* route_of(CollectiveAlgorithm algorithm);

}  // namespace shard
