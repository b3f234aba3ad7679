#include "exec/first_difference.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
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
#include "spmd/fused_form.h"
#include "spmd/lowering.h"

namespace shard {
namespace {

/// Tolerances beyond which a value differs without doubt.
constexpr double clearly_beyond = 100;

/// A buffer of the main body that holds a value of the reference as it is declared.
struct Watched {
  BufferId buffer = BufferId::none;
  int instruction = 0;
  ValueId value = ValueId::none;
  std::size_t output = 0;  ///< of the reference with all values kept
};

/// The specs that collectives say of the buffers they read and write; buffers of partial sums.
struct SaidOfBuffers {
  std::map<BufferId, std::string> specs;
  std::set<BufferId> partial;

  explicit SaidOfBuffers(const Program& program) {
    for (const Instruction& instruction : program.main().instructions) {
      if (!instruction.collective) continue;
      const Collective& collective = *instruction.collective;
      const BufferId from = instruction.operands[0], to = instruction.results[0];
      if (collective.reduction != Reduction::none) partial.insert(from);
      if (!collective.why.from_spec.empty()) specs[from] = collective.why.from_spec;
      if (!collective.why.to_spec.empty()) specs[to] = collective.why.to_spec;
    }
  }

  bool allow(const Program& program, BufferId id, const Sharding& declared) const {
    const std::string& name = program.buffer(id).name;
    if (partial.contains(id) || name.ends_with(":partial")) return false;
    const auto said = specs.find(id);
    return said == specs.end() || said->second == spec_text(program.mesh, declared);
  }
};

std::vector<Watched> watched_buffers(const Program& program, const Graph& graph,
                                     const Graph& stored, const std::vector<Sharding>& shardings) {
  const SaidOfBuffers said(program);
  std::vector<Watched> watched;
  const std::vector<Instruction>& code = program.main().instructions;
  for (std::size_t position = 0; position < code.size(); ++position) {
    for (const BufferId id : code[position].results) {
      const bool is_exact = !info(program.buffer(id).type.dtype).is_float;
      if (code[position].phase == Phase::update && !is_exact) continue;
      const ValueId value = program.buffer(id).value;
      if (value == ValueId::none || index_of(value) >= graph.values.size()) continue;
      const Sharding& declared = shardings[index_of(value)];
      if (program.buffer(id).type != spmd::local_type(stored.value(value).type, declared)) continue;
      if (!declared.unreduced.empty() || !said.allow(program, id, declared)) continue;
      watched.push_back({id, static_cast<int>(position), value, 0});
    }
  }
  return watched;
}

/// The reference's values of what is watched; sets their `output`.
std::vector<HostTensor> watched_values(Graph graph, const std::vector<HostTensor>& inputs,
                                       std::vector<Watched>& watched) {
  const std::set<ValueId> made = [&] {
    std::set<ValueId> values(graph.body().parameters.begin(), graph.body().parameters.end());
    for (const NodeId id : graph.body().nodes) {
      values.insert(graph.node(id).results.begin(), graph.node(id).results.end());
    }
    return values;
  }();
  std::erase_if(watched, [&](const Watched& one) { return !made.contains(one.value); });
  std::map<ValueId, std::size_t> output_of;
  graph.outputs.clear();
  graph.regions.front().results.clear();
  for (Watched& one : watched) {
    const auto [place, is_new] = output_of.try_emplace(one.value, graph.outputs.size());
    one.output = place->second;
    if (!is_new) continue;
    GraphOutput output;
    output.value = one.value;
    graph.outputs.push_back(output);
    graph.regions.front().results.push_back(one.value);
  }
  return run_reference(graph, inputs);
}

std::vector<double> numbers_of(DType dtype, const std::byte* bytes, std::int64_t count) {
  std::vector<double> numbers(static_cast<std::size_t>(count));
  to_doubles(dtype, bytes, numbers.data(), numbers.size());
  return numbers;
}

/// What one device's part of one buffer is like.
struct Found {
  std::int64_t elements = 0;
  std::int64_t index = -1;
  double found = 0;
  double expected = 0;
  /// Elements that are NaN, or infinite, as the reference's are: first index and how many.
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
    const std::int64_t devices = program.mesh.device_count();
    next_.resize(static_cast<std::size_t>(devices));
    for (const Watched& one : watched_) {
      layouts_.emplace_back(program.mesh, shardings[index_of(one.value)],
                            stored.value(one.value).type.shape, graph.value(one.value).type.shape);
      pieces_.emplace_back(static_cast<std::size_t>(devices));
      for (std::int64_t piece = 0; piece < layouts_.back().piece_count(); ++piece) {
        for (const int device : layouts_.back().holders(piece)) {
          pieces_.back()[static_cast<std::size_t>(device)] = piece;
        }
      }
      limits_.push_back(limit_of(one));
      found_.emplace_back(static_cast<std::size_t>(devices));
    }
  }

  /// All instructions before `position` are done on the device, the last of them just now.
  void look(int device, int position, const std::byte* base) {
    std::size_t& next = next_[static_cast<std::size_t>(device)];
    for (; next < watched_.size() && watched_[next].instruction < position; ++next) {
      compare(next, device, base);
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
  double limit_of(const Watched& one) const {
    const HostTensor& whole = expected_[one.output];
    double largest = 0;
    for (const double number :
         numbers_of(whole.type.dtype, whole.bytes.data(), element_count(whole.type.shape))) {
      if (std::isfinite(number)) largest = std::max(largest, std::fabs(number));
    }
    return tolerances_[index_of(one.value)] * (largest > 0 ? largest : 1);
  }

  void compare(std::size_t at, int device, const std::byte* base) {
    const Watched& one = watched_[at];
    const HostTensor& whole = expected_[one.output];
    const DType dtype = whole.type.dtype;
    const std::int64_t width = info(dtype).bytes, offset = places_.of(one.buffer).offset;
    const ShardLayout& layout = layouts_[at];
    const std::int64_t piece = pieces_[at][static_cast<std::size_t>(device)];
    Found& found = found_[at][static_cast<std::size_t>(device)];
    layout.for_each_run(piece, 0, layout.piece_size(), [&](const ShardLayout::Run& run) {
      const std::byte* local = base + offset + run.local * width;
      const std::vector<double> a = numbers_of(dtype, local, run.count);
      const std::vector<double> e =
          numbers_of(dtype, whole.bytes.data() + run.global * width, run.count);
      for (std::size_t i = 0; i < a.size(); ++i) {
        note(found, a[i], e[i], run.global + static_cast<std::int64_t>(i), limits_[at]);
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
    told.type = graph_.value(one.value).type;
    told.spec = spec_text(program_.mesh, shardings_[index_of(one.value)]);
    told.instruction = one.instruction;
    const Instruction& made_by =
        program_.main().instructions[static_cast<std::size_t>(one.instruction)];
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
  std::vector<double> tolerances_;
  Places places_;
  std::vector<ShardLayout> layouts_;               ///< by watched
  std::vector<std::vector<std::int64_t>> pieces_;  ///< by watched and device
  std::vector<double> limits_;                     ///< by watched
  std::vector<std::vector<Found>> found_;          ///< by watched and device
  std::vector<std::size_t> next_;                  ///< by device, which alone touches it
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
  cluster.run_observed([&](int device, int position, const std::byte* base) {
    comparer.look(device, position, base);
  });
  comparer.hear(cluster.gather(comparer.told(cluster.devices())));
  return comparer.first();
}

Bytes first_difference_bytes(const Graph& graph) {
  // Of each value the double it is computed in and what is kept of it.
  Bytes bytes = reference_bytes(graph);
  for (const NodeId id : graph.body().nodes) {
    for (const ValueId value : graph.node(id).results) {
      const TensorType& type = graph.value(value).type;
      bytes += bytes_of(type) +
               Bytes(element_count(type.shape) * static_cast<std::int64_t>(sizeof(double)));
    }
  }
  return bytes;
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
  return difference.name + " " + to_string(difference.type) + "  " + difference.spec +
         ", made by instruction " + std::to_string(difference.instruction) + " (" +
         difference.label + "): " + with_commas(difference.elements) + what + " on device" +
         (difference.devices.size() == 1 ? " " : "s ") + devices + ", first at index " + found;
}

}  // namespace shard
