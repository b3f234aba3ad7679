#include "exec/first_difference.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "base/check.h"
#include "exec/element.h"
#include "exec/index_text.h"
#include "exec/packed.h"
#include "exec/places.h"
#include "exec/reference.h"
#include "exec/shard_layout.h"
#include "exec/site_builder.h"
#include "exec/tolerances.h"
#include "exec/watch_list.h"
#include "spmd/fused_form.h"
#include "spmd/lowering.h"

namespace shard {
namespace {

/// Tolerances beyond which a value differs without doubt.
constexpr double clearly_beyond = 100;

std::vector<double> numbers_of(DType dtype, const std::byte* bytes, std::int64_t count) {
  std::vector<double> numbers(number_count(dtype, count));
  to_doubles(dtype, bytes, numbers.data(), numbers.size());
  return numbers;
}

/// What one device's part of one buffer is like.
struct Found {
  std::int64_t elements = 0;
  std::int64_t index = -1;
  double found = 0;
  double expected = 0;
  /// Elements that are NaN, or infinite, as the reference's are: first index
  /// and how many.
  struct Shared {
    std::int64_t index = -1;
    std::int64_t elements = 0;
    double value = 0;
  };
  Shared not_numbers;
  Shared infinities;
  bool is_clear = false;
  bool is_non_finite = false;
};

class Comparer {
 public:
  Comparer(const Program& program, const Graph& graph, const Graph& stored,
           const std::vector<Sharding>& shardings, const std::vector<HostTensor>& inputs)
      : program_(program),
        graph_(graph),
        shardings_(shardings),
        watched_(watched_buffers(program, graph, stored, shardings)),
        expected_(watched_values(graph, inputs, watched_)),
        tolerances_(tolerances_of(graph)),
        places_(program) {
    const auto devices = static_cast<std::size_t>(program.mesh.device_count());
    next_.assign(devices, std::vector<Next>(program.bodies.size()));
    std::map<BufferId, std::size_t> layout_of;
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      Watched& one = watched_[i];
      const auto [place, is_new] = layout_of.try_emplace(one.buffer, layouts_.size());
      if (is_new) add_layout(one.made.first, stored);
      one.layout = place->second;
      limits_.push_back(limit_of(one));
      found_.emplace_back(devices);
      of_body_[{one.body, one.made.second}].push_back(i);
    }
    for (const Body& body : program.bodies) {
      for (const Instruction& instruction : body.instructions) {
        if (instruction.kind != Instruction::Kind::loop) continue;
        outer_[instruction.body] = static_cast<int>(&body - program.bodies.data());
      }
    }
  }

  /// All instructions of the body before `position` are done on the device, the
  /// last of them just now.
  void look(int number, const DeviceState& device, int body, int position) {
    Next& next = next_[static_cast<std::size_t>(number)][static_cast<std::size_t>(body)];
    std::vector<std::int64_t> iterations = iterations_of(device, body);
    if (iterations != next.iterations) next = {std::move(iterations), 0};
    const auto list = of_body_.find({body, next.iterations});
    if (list == of_body_.end()) return;
    for (; next.number < list->second.size(); ++next.number) {
      const std::size_t at = list->second[next.number];
      if (watched_[at].instruction >= position) return;
      compare(at, number, device);
    }
  }

  /// What this host's devices have, for `hear`.
  std::vector<std::byte> told(const HostDevices& here) const {
    Packer packer;
    for (const std::vector<Found>& found : found_) {
      packer.put_all(std::span(found).subspan(static_cast<std::size_t>(here.first),
                                              static_cast<std::size_t>(here.count)));
    }
    return std::move(packer).bytes();
  }

  /// What all hosts' devices have; each host has as many.
  void hear(const std::vector<std::vector<std::byte>>& by_host) {
    std::size_t device = 0, count = 0;
    for (const std::vector<std::byte>& bytes : by_host) {
      Unpacker told_by(bytes);
      for (std::vector<Found>& found : found_) {
        const std::vector<Found> part = told_by.take_all<Found>();
        count = part.size();
        std::copy(part.begin(), part.end(), found.begin() + static_cast<std::ptrdiff_t>(device));
      }
      device += count;
    }
  }

  /// The first that differs clearly, or else the first that differs.
  std::optional<FirstDifference> first() const {
    for (const bool must_be_clear : {true, false}) {
      for (std::size_t i = 0; i < watched_.size(); ++i) {
        const auto differs = [&](const Found& one) {
          return one.elements > 0 && (one.is_clear || !must_be_clear);
        };
        if (std::any_of(found_[i].begin(), found_[i].end(), differs)) return told(i);
      }
    }
    for (Found::Shared Found::*kind : {&Found::not_numbers, &Found::infinities}) {
      for (std::size_t i = 0; i < watched_.size(); ++i) {
        const auto has_some = [&](const Found& one) { return (one.*kind).elements > 0; };
        if (std::any_of(found_[i].begin(), found_[i].end(), has_some)) return shared(i, kind);
      }
    }
    return std::nullopt;
  }

 private:
  /// How far a device is in a body: the next of those that are watched in these
  /// iterations.
  struct Next {
    std::vector<std::int64_t> iterations;
    std::size_t number = 0;
  };

  void add_layout(ValueId value, const Graph& stored) {
    layouts_.emplace_back(program_.mesh, shardings_[index_of(value)],
                          stored.value(value).type.shape, graph_.value(value).type.shape);
    std::vector<std::int64_t>& pieces =
        pieces_.emplace_back(static_cast<std::size_t>(program_.mesh.device_count()));
    for (std::int64_t piece = 0; piece < layouts_.back().piece_count(); ++piece) {
      for (const int device : layouts_.back().holders(piece)) {
        pieces[static_cast<std::size_t>(device)] = piece;
      }
    }
  }

  /// Of the loops around a body, outermost first.
  std::vector<std::int64_t> iterations_of(const DeviceState& device, int body) const {
    std::vector<std::int64_t> iterations;
    for (; body != 0; body = outer_.at(body)) {
      iterations.push_back(device.iteration[static_cast<std::size_t>(body)]);
    }
    std::reverse(iterations.begin(), iterations.end());
    return iterations;
  }

  /// Where the buffer lies right now.
  std::int64_t offset_of(BufferId id, const DeviceState& device) const {
    const Place place = places_.of(id);
    std::int64_t offset = place.offset;
    for (const Place::Move& move : place.moves) {
      offset += move.stride * device.slice[static_cast<std::size_t>(move.loop)];
    }
    return offset;
  }

  double limit_of(const Watched& one) const {
    const HostTensor& whole = expected_[one.output];
    double largest = 0;
    for (const double number :
         numbers_of(whole.type.dtype, whole.bytes.data(), element_count(whole.type.shape))) {
      if (std::isfinite(number)) largest = std::max(largest, std::fabs(number));
    }
    return tolerances_[index_of(one.made.first)].allowed(largest > 0 ? largest : 1);
  }

  void compare(std::size_t at, int number, const DeviceState& device) {
    const Watched& one = watched_[at];
    const HostTensor& whole = expected_[one.output];
    const DType dtype = whole.type.dtype;
    const std::int64_t width = info(dtype).bytes, offset = offset_of(one.buffer, device);
    const ShardLayout& layout = layouts_[one.layout];
    const std::int64_t piece = pieces_[one.layout][static_cast<std::size_t>(number)];
    Found& found = found_[at][static_cast<std::size_t>(number)];
    layout.for_each_run(piece, 0, layout.piece_size(), [&](const ShardLayout::Run& run) {
      const std::byte* local = device.base + offset + run.local * width;
      const std::vector<double> a = numbers_of(dtype, local, run.count);
      const std::vector<double> e =
          numbers_of(dtype, whole.bytes.data() + run.global * width, run.count);
      const std::int64_t parts = info(dtype).is_complex ? 2 : 1;
      for (std::size_t i = 0; i < a.size(); ++i) {
        note(found, a[i], e[i], run.global + static_cast<std::int64_t>(i) / parts, limits_[at]);
      }
    });
  }

  static void note(Found& found, double a, double e, std::int64_t index, double limit) {
    if (std::isnan(a) && std::isnan(e)) return note_shared(found.not_numbers, a, index);
    if (a == e && std::isinf(a)) return note_shared(found.infinities, a, index);
    if (a == e) return;
    const bool is_non_finite = !std::isfinite(a) && std::isfinite(e);
    const double distance = std::fabs(a - e);
    if (distance <= limit) return;
    if (found.elements++ == 0) {
      found.index = index;
      found.found = a;
      found.expected = e;
    }
    found.is_clear = found.is_clear || !(distance <= clearly_beyond * limit);
    found.is_non_finite = found.is_non_finite || is_non_finite;
  }

  static void note_shared(Found::Shared& shared, double value, std::int64_t index) {
    if (shared.elements++ > 0) return;
    shared.index = index;
    shared.value = value;
  }

  FirstDifference shared(std::size_t at, Found::Shared Found::*kind) const {
    FirstDifference told = named(at);
    told.is_non_finite = told.is_shared = true;
    for (std::size_t device = 0; device < found_[at].size(); ++device) {
      const Found::Shared& found = found_[at][device].*kind;
      if (found.elements == 0) continue;
      if (told.devices.empty()) {
        told.index = found.index;
        told.found = told.expected = found.value;
      }
      told.devices.push_back(static_cast<int>(device));
      told.elements += found.elements;
    }
    return told;
  }

  /// The value, without what is found.
  FirstDifference named(std::size_t at) const {
    const Watched& one = watched_[at];
    FirstDifference told;
    told.name = program_.buffer(one.buffer).name;
    told.name = told.name.substr(0, told.name.find(":P("));
    told.iterations = one.made.second;
    told.type = graph_.value(one.made.first).type;
    told.spec = spec_text(program_.mesh, shardings_[index_of(one.made.first)]);
    told.instruction = one.instruction;
    const Instruction& made_by = program_.bodies[static_cast<std::size_t>(one.body)]
                                     .instructions[static_cast<std::size_t>(one.instruction)];
    told.label = made_by.collective ? collective_label(program_.mesh, *made_by.collective)
                 : made_by.kind == Instruction::Kind::fused ? fused_name(made_by)
                                                            : std::string(def(made_by.op).name);
    return told;
  }

  FirstDifference told(std::size_t at) const {
    FirstDifference told = named(at);
    for (std::size_t device = 0; device < found_[at].size(); ++device) {
      const Found& found = found_[at][device];
      if (found.elements == 0) continue;
      if (told.devices.empty()) {
        told.index = found.index;
        told.found = found.found;
        told.expected = found.expected;
      }
      told.devices.push_back(static_cast<int>(device));
      told.elements += found.elements;
      told.is_non_finite = told.is_non_finite || found.is_non_finite;
    }
    return told;
  }

  const Program& program_;
  const Graph& graph_;
  const std::vector<Sharding>& shardings_;
  std::vector<Watched> watched_;
  std::vector<HostTensor> expected_;
  std::vector<Tolerance> tolerances_;
  Places places_;
  std::vector<ShardLayout> layouts_;
  std::vector<std::vector<std::int64_t>> pieces_;  ///< by layout and device
  std::vector<double> limits_;                     ///< by watched
  std::vector<std::vector<Found>> found_;          ///< by watched and device
  std::vector<std::vector<Next>> next_;            ///< by device, which alone touches it, and body
  /// What is watched by body and iterations of the loops around it.
  std::map<std::pair<int, std::vector<std::int64_t>>, std::vector<std::size_t>> of_body_;
  std::map<int, int> outer_;  ///< the body whose loop runs a body
};

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

}  // namespace

std::optional<FirstDifference> first_difference(Cluster& cluster, const Graph& graph,
                                                const Graph& stored,
                                                const std::vector<Sharding>& shardings,
                                                const std::vector<HostTensor>& inputs) {
  Comparer comparer(cluster.program(), graph, stored, shardings, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) cluster.write_input(i, inputs[i]);
  cluster.run_observed([&](int number, const DeviceState& device, int body, int position) {
    comparer.look(number, device, body, position);
  });
  comparer.hear(cluster.gather(comparer.told(cluster.devices())));
  return comparer.first();
}

namespace {

/// Of each value of a region the double it is computed in and what is kept of
/// it.
std::int64_t kept_bytes(const Graph& graph, const Region& region) {
  std::int64_t bytes = 0;
  for (const NodeId id : region.nodes) {
    const Node& node = graph.node(id);
    if (node.region != RegionId::none) {
      bytes += node.attributes.integer("times") * kept_bytes(graph, graph.region(node.region));
    }
    for (const ValueId value : node.results) {
      const TensorType& type = graph.value(value).type;
      bytes +=
          bytes_of(type).count() + static_cast<std::int64_t>(number_count(type) * sizeof(double));
    }
  }
  return bytes;
}

std::string iteration_text(const std::vector<std::int64_t>& iterations) {
  std::string text;
  for (const std::int64_t one : iterations) {
    text += (text.empty() ? "" : ", ") + std::to_string(one);
  }
  return text.empty() ? "" : " in iteration " + text;
}

}  // namespace

Bytes first_difference_bytes(const Graph& graph) {
  return reference_bytes(graph) + Bytes(kept_bytes(graph, graph.body()));
}

std::string to_string(const FirstDifference& difference) {
  std::string devices;
  constexpr std::size_t most_named = 8;
  for (std::size_t i = 0; i < std::min(most_named, difference.devices.size()); ++i) {
    devices += (i == 0 ? "" : ", ") + std::to_string(difference.devices[i]);
  }
  if (difference.devices.size() > most_named) {
    devices += " and " + std::to_string(difference.devices.size() - most_named) + " more";
  }
  const bool is_one = difference.elements == 1;
  std::string found =
      index_text(difference.index, difference.type.shape) + ": " + number_text(difference.found);
  std::string what = is_one ? " element differs" : " elements differ";
  if (difference.is_shared) {
    what = is_one ? " element is not finite" : " elements are not finite";
    found += ", as in the unsharded run";
  } else {
    found += ", expected " + number_text(difference.expected);
  }
  return difference.name + iteration_text(difference.iterations) + " " +
         to_string(difference.type) + "  " + difference.spec + ", made by instruction " +
         std::to_string(difference.instruction) + " (" + difference.label +
         "): " + with_commas(difference.elements) + what + " on device" +
         (difference.devices.size() == 1 ? " " : "s ") + devices + ", first at index " + found;
}

}  // namespace shard
