#include "exec/route.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/check.h"

namespace shard {
namespace {

RouteSteps one_after_the_other(RouteSteps first, const RouteSteps& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

RouteSteps each_a_message(RouteSteps steps) {
  for (RouteStep& step : steps) step.starts_message = true;
  return steps;
}

int as_many_as_members(const RouteGroup& group) { return group.members; }
int one_chunk(const RouteGroup&) { return 1; }

// Ring: chunk c is added up from member c + 1 on round to member c.

RouteSteps ring_reduce(const RouteGroup& group, int chunk) {
  RouteSteps steps;
  for (int i = 1; i < group.members; ++i) {
    const int from = (chunk + i) % group.members, to = (from + 1) % group.members;
    steps.push_back({to, {from, to}});
  }
  return steps;
}

RouteSteps ring_gather(const RouteGroup& group, int chunk) {
  RouteSteps steps;
  for (int i = 0; i + 1 < group.members; ++i) {
    const int from = (chunk + i) % group.members;
    steps.push_back({(from + 1) % group.members, {from}});
  }
  return steps;
}

RouteSteps ring_all_reduce(const RouteGroup& group, int chunk) {
  return one_after_the_other(ring_reduce(group, chunk), ring_gather(group, chunk));
}

// Binomial tree: member i + s hangs below i where i is a multiple of 2s, and has s members at most
// below it, itself included.

RouteSteps tree_to_root(const RouteGroup& group, int chunk) {
  RouteSteps steps;
  for (int s = 1; s < group.members; s *= 2) {
    for (int i = 0; i + s < group.members; i += 2 * s) {
      steps.push_back({i, {i, i + s}, chunk == 0});
    }
  }
  return steps;
}

RouteSteps tree_from_root(const RouteGroup& group, int chunk) {
  RouteSteps steps;
  const int top = static_cast<int>(std::bit_ceil(static_cast<unsigned>(group.members))) / 2;
  for (int s = top; s > 0; s /= 2) {
    for (int i = 0; i + s < group.members; i += 2 * s) steps.push_back({i + s, {i}, chunk == 0});
  }
  return steps;
}

/// The tree with the source as its root: members are counted round from it.
RouteSteps tree_broadcast(const RouteGroup& group, int source) {
  RouteSteps steps = tree_from_root(group, 0);
  const auto counted = [&](int member) { return (member + source) % group.members; };
  for (RouteStep& step : steps) step = {counted(step.to), {counted(step.sources.front())}};
  return steps;
}

/// The members between the root and `member` that are on the way, with who is above: nearest to
/// `member` first. A message between them carries the chunks of all that hang below the lower one.
std::vector<std::pair<int, int>> way_up(int member) {
  std::vector<std::pair<int, int>> way;
  for (int at = member; at != 0; at &= at - 1) way.push_back({at, at & (at - 1)});
  return way;
}

RouteSteps tree_reduce_scatter(const RouteGroup& group, int chunk) {
  RouteSteps steps = tree_to_root(group, chunk);
  const auto way = way_up(chunk);
  for (auto at = way.rbegin(); at != way.rend(); ++at) {
    steps.push_back({at->first, {at->second}, at->first == chunk});
  }
  return steps;
}

RouteSteps tree_gather(const RouteGroup& group, int chunk) {
  RouteSteps steps;
  for (const auto& [lower, upper] : way_up(chunk)) {
    steps.push_back({upper, {lower}, lower == chunk});
  }
  return one_after_the_other(std::move(steps), tree_from_root(group, chunk));
}

RouteSteps tree_all_reduce(const RouteGroup& group, int chunk) {
  return one_after_the_other(tree_to_root(group, chunk), tree_from_root(group, chunk));
}

// Halving and doubling among the first p members, p a power of two. Member k of them is left with
// the chunks k and, where there is one, p + k.

int core_members(const RouteGroup& group) {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(group.members)));
}

/// All members' chunk added up at member chunk % p.
RouteSteps halving(const RouteGroup& group, int chunk) {
  RouteSteps steps;
  const int p = core_members(group), k = chunk % p;
  for (int i = p; i < group.members; ++i) steps.push_back({i - p, {i - p, i}, chunk == 0});
  for (int s = p / 2; s > 0; s /= 2) {
    for (int i = 0; i < p; ++i) {
      const int apart = i ^ k;
      if (apart / (2 * s) != 0 || (apart & s) == 0) continue;
      steps.push_back({i ^ s, {std::min(i, i ^ s), std::max(i, i ^ s)}, chunk == k && k % s == 0});
    }
  }
  return steps;
}

/// From member chunk % p to all; member `chunk` has it already.
RouteSteps doubling(const RouteGroup& group, int chunk) {
  RouteSteps steps;
  const int p = core_members(group), k = chunk % p;
  for (int s = 1; s < p; s *= 2) {
    for (int i = 0; i < p; ++i) {
      if ((i ^ k) < s) steps.push_back({i ^ s, {i}, chunk == k && k % s == 0});
    }
  }
  for (int i = p; i < group.members; ++i) {
    if (i != chunk) steps.push_back({i, {i - p}, chunk == 0});
  }
  return steps;
}

RouteSteps halving_reduce_scatter(const RouteGroup& group, int chunk) {
  RouteSteps steps = halving(group, chunk);
  const int p = core_members(group);
  if (chunk >= p) steps.push_back({chunk, {chunk - p}});
  return steps;
}

RouteSteps halving_gather(const RouteGroup& group, int chunk) {
  const int p = core_members(group);
  RouteSteps steps;
  if (chunk >= p) steps.push_back({chunk - p, {chunk}});
  return one_after_the_other(std::move(steps), doubling(group, chunk));
}

RouteSteps halving_broadcast(const RouteGroup& group, int source) {
  return each_a_message(halving_gather(group, source));
}

RouteSteps halving_all_reduce(const RouteGroup& group, int chunk) {
  return one_after_the_other(halving(group, chunk), doubling(group, chunk));
}

// Hierarchical: on every host somebody is in charge of the chunk; those exchange it.

/// Where a chunk belongs: the q-th member of a host (counted round where a host has fewer), and
/// which host's one is left with the whole sum.
struct HostPlace {
  int q = 0;
  std::size_t host = 0;
  bool starts_message = true;  ///< within hosts: one message carries the chunks of all hosts
};

int in_charge(const std::vector<int>& host, int q) {
  return host[static_cast<std::size_t>(q) % host.size()];
}

std::vector<int> all_in_charge(const RouteGroup& group, int q) {
  std::vector<int> chosen;
  for (const std::vector<int>& host : group.hosts) chosen.push_back(in_charge(host, q));
  return chosen;
}

RouteSteps host_reduce(const RouteGroup& group, const HostPlace& place) {
  RouteSteps steps;
  for (const std::vector<int>& host : group.hosts) {
    if (host.size() > 1) steps.push_back({in_charge(host, place.q), host, place.starts_message});
  }
  if (group.hosts.size() > 1) {
    steps.push_back({in_charge(group.hosts[place.host], place.q), all_in_charge(group, place.q)});
  }
  return steps;
}

RouteSteps host_gather(const RouteGroup& group, const HostPlace& place) {
  RouteSteps steps;
  const int holder = in_charge(group.hosts[place.host], place.q);
  for (const int other : all_in_charge(group, place.q)) {
    if (other != holder) steps.push_back({other, {holder}});
  }
  for (const std::vector<int>& host : group.hosts) {
    const int from = in_charge(host, place.q);
    for (const int to : host) {
      if (to != from) steps.push_back({to, {from}, place.starts_message});
    }
  }
  return steps;
}

int hierarchical_chunks(const RouteGroup& group) {
  std::size_t most = 1;
  for (const std::vector<int>& host : group.hosts) most = std::max(most, host.size());
  return static_cast<int>(most * group.hosts.size());
}

HostPlace place_of_chunk(const RouteGroup& group, int chunk) {
  const int hosts = static_cast<int>(group.hosts.size());
  return {chunk / hosts, static_cast<std::size_t>(chunk % hosts), chunk % hosts == 0};
}

HostPlace place_of_member(const RouteGroup& group, int member) {
  for (std::size_t h = 0; h < group.hosts.size(); ++h) {
    const std::vector<int>& host = group.hosts[h];
    const auto found = std::find(host.begin(), host.end(), member);
    if (found == host.end()) continue;
    const std::size_t q = static_cast<std::size_t>(found - host.begin());
    const bool is_first =
        std::none_of(group.hosts.begin(), group.hosts.begin() + static_cast<std::ptrdiff_t>(h),
                     [&](const std::vector<int>& earlier) { return earlier.size() > q; });
    return {static_cast<int>(q), h, is_first};
  }
  SHARD_CHECK(false, "every member is on a host");
}

RouteSteps hierarchical_all_reduce(const RouteGroup& group, int chunk) {
  const HostPlace place = place_of_chunk(group, chunk);
  return one_after_the_other(host_reduce(group, place), host_gather(group, place));
}

RouteSteps hierarchical_reduce_scatter(const RouteGroup& group, int chunk) {
  return host_reduce(group, place_of_member(group, chunk));
}

RouteSteps hierarchical_gather(const RouteGroup& group, int chunk) {
  return host_gather(group, place_of_member(group, chunk));
}

RouteSteps hierarchical_broadcast(const RouteGroup& group, int source) {
  return each_a_message(hierarchical_gather(group, source));
}

constexpr std::array<Route, 4> routes = {{
    {CollectiveAlgorithm::ring, "ring", as_many_as_members, ring_all_reduce, ring_reduce,
     ring_gather, ring_gather},
    {CollectiveAlgorithm::tree, "tree", one_chunk, tree_all_reduce, tree_reduce_scatter,
     tree_gather, tree_broadcast},
    {CollectiveAlgorithm::halving, "halving", core_members, halving_all_reduce,
     halving_reduce_scatter, halving_gather, halving_broadcast},
    {CollectiveAlgorithm::hierarchical, "hierarchical", hierarchical_chunks,
     hierarchical_all_reduce, hierarchical_reduce_scatter, hierarchical_gather,
     hierarchical_broadcast},
}};

constexpr bool routes_in_enum_order() {
  for (std::size_t i = 0; i < routes.size(); ++i) {
    if (routes[i].algorithm != static_cast<CollectiveAlgorithm>(i + 1)) return false;
  }
  return true;
}
static_assert(routes_in_enum_order(), "one row per CollectiveAlgorithm after owner, in enum order");

}  // namespace

std::size_t host_of_chunk(const RouteGroup& group, int chunk) {
  return place_of_chunk(group, chunk).host;
}

std::size_t host_of_member(const RouteGroup& group, int member) {
  return place_of_member(group, member).host;
}

const Route* route_of(CollectiveAlgorithm algorithm) {
  if (algorithm == CollectiveAlgorithm::owner) return nullptr;
  return &routes[static_cast<std::size_t>(algorithm) - 1];
}

std::string_view to_string(CollectiveAlgorithm algorithm) {
  const Route* const route = route_of(algorithm);
  return route == nullptr ? "owner" : route->name;
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names{std::string(to_string(CollectiveAlgorithm::owner))};
  for (const Route& route : routes) names.emplace_back(route.name);
  return names;
}

}  // namespace shard
