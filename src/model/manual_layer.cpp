// The layer `manual` and the collectives that may stand in it.

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/nearest.h"
#include "model/manual_replay.h"
#include "model/op_arguments.h"
#include "ops/ragged_exchange.h"

namespace shard {
namespace {

std::vector<std::string> names_of_axes(const std::vector<ManualAxis>& axes) {
  std::vector<std::string> names;
  for (const ManualAxis& axis : axes) names.push_back(axis.name);
  return names;
}

class ManualLayer {
 public:
  ManualLayer(Lowering& lowering, LayerCall& call) : lowering_(lowering), call_(call) {}

  ValueId run() {
    if (!find_axes() || !read_specs()) return fail();
    for (std::size_t k = 0; k < call_.inputs.size(); ++k) {
      if (call_.inputs[k] == ValueId::none || !add_input(k)) return fail();
    }
    Lowering inner(lowering_.config, options_, body_.graph, lowering_.diagnostics);
    const bool was_good = !lowering_.diagnostics.has_errors();
    build(inner);
    const bool is_spoiled = was_good && lowering_.diagnostics.has_errors();
    if (is_spoiled || results_.empty()) return fail();
    ManualReplay replay(lowering_, body_);
    for (std::size_t k = 0; k < call_.inputs.size(); ++k) enter(replay, k);
    if (!replay.run()) return fail();
    return leave(replay);
  }

 private:
  const LayerConfig& layer() const { return call_.layer; }

  ValueId fail() {
    for (const std::string& name : layer().into) call_.scope.bind(name, ValueId::none);
    return ValueId::none;
  }

  bool refuse(const char* id, const Location& at, const std::string& message,
              const std::string& hint = "") {
    lowering_.diagnostics.error(id, at, message, hint);
    return false;
  }

  bool find_axes() {
    if (lowering_.manual != nullptr) {
      return refuse("not-yet", layer().at, "a manual region cannot stand in another one yet",
                    "make all its axes manual in one region");
    }
    std::vector<ManualAxis> mesh;
    for (const auto& [name, size] : lowering_.options.mesh_axes) mesh.push_back({name, size});
    if (mesh.empty()) {
      return refuse("no-mesh", layer().at,
                    "the parts of a manual region depend on the mesh, and there is none");
    }
    for (const std::string& name : layer().mesh_axes) {
      const auto is_it = [&](const ManualAxis& axis) { return axis.name == name; };
      if (std::any_of(mesh.begin(), mesh.end(), is_it)) continue;
      return refuse("unknown-mesh-axis", layer().at,
                    "axis '" + name + "' of the manual region is not in the mesh",
                    did_you_mean(name, names_of_axes(mesh), "the mesh has"));
    }
    for (const ManualAxis& axis : mesh) {
      const std::vector<std::string>& named = layer().mesh_axes;
      const bool is_manual =
          named.empty() || std::find(named.begin(), named.end(), axis.name) != named.end();
      if (is_manual) body_.axes.push_back(axis);
    }
    body_.is_full = body_.axes.size() == mesh.size();
    return true;
  }

  bool read_specs() {
    const std::size_t results = std::max<std::size_t>(1, layer().into.size());
    return read_specs(layer().in_specs, call_.inputs.size(), "in_specs", "inputs", in_) &&
           read_specs(layer().out_specs, results, "out_specs", "results", out_);
  }

  /// One spec per value; one alone is for all of them.
  bool read_specs(const std::vector<SpecConfig>& written, std::size_t count, const char* key,
                  const char* what, std::vector<SpecConfig>& specs) {
    if (written.size() != 1 && written.size() != count) {
      return refuse("wrong-argument-count", layer().at,
                    "manual has " + std::to_string(written.size()) + " " + key + " for " +
                        std::to_string(count) + " " + what,
                    "one spec for all of them, or one for each");
    }
    for (std::size_t k = 0; k < count; ++k) {
      specs.push_back(written[written.size() == 1 ? 0 : k]);
      if (!is_of_region(specs.back(), key)) return false;
    }
    return true;
  }

  bool is_of_region(const SpecConfig& spec, const char* key) {
    if (spec.is_unannotated()) return true;
    const PartitionSpec* mesh = spec.mesh();
    if (mesh == nullptr) {
      return refuse("bad-spec", spec.at,
                    std::string(key) + " of manual are mesh axes, found " + to_string(spec),
                    "write P(data, None)");
    }
    for (const PartitionEntry& entry : mesh->entries) {
      for (const MeshAxis& axis : entry.axes) {
        if (body_.position_of(axis.text()) >= 0) continue;
        return refuse("manual-axis", spec.at,
                      "'" + axis.text() + "' in " + key +
                          " is no axis of the manual region: " + to_string(spec),
                      did_you_mean(axis.text(), names_of_axes(body_.axes), "its axes"));
      }
    }
    return true;
  }

  ManualEntries entries_of(const SpecConfig& spec, std::size_t rank) const {
    ManualEntries entries(rank);
    const PartitionSpec* mesh = spec.mesh();
    if (mesh == nullptr) return entries;
    for (std::size_t dim = 0; dim < std::min(rank, mesh->entries.size()); ++dim) {
      for (const MeshAxis& axis : mesh->entries[dim].axes) {
        entries[dim].push_back(body_.position_of(axis.text()));
      }
    }
    return entries;
  }

  bool has_rank(const SpecConfig& spec, std::size_t rank, const std::string& value) {
    const PartitionSpec* mesh = spec.mesh();
    if (mesh == nullptr || mesh->entries.size() <= rank) return true;
    return refuse("rank-mismatch", spec.at,
                  to_string(spec) + " has " + std::to_string(mesh->entries.size()) + " entries, " +
                      value + " has " + std::to_string(rank) + " dims");
  }

  /// The part that a device has of the k-th input.
  bool add_input(std::size_t k) {
    const GraphValue whole = lowering_.builder.graph().value(call_.inputs[k]);
    const std::string described = lowering_.described(call_.inputs[k]);
    TensorType part = whole.type;
    if (!has_rank(in_[k], part.shape.size(), described)) return false;
    const ManualEntries entries = entries_of(in_[k], part.shape.size());
    for (std::size_t dim = 0; dim < part.shape.size(); ++dim) {
      const std::int64_t parts = body_.product(entries[dim]);
      if (part.shape[dim] % parts != 0) {
        return refuse("indivisible", in_[k].at,
                      "dim " + std::to_string(dim) + " of " + described + " is not cut into " +
                          std::to_string(parts) + " equal parts by " + to_string(in_[k]),
                      "a manual region needs equal parts on all devices");
      }
      part.shape[dim] /= parts;
    }
    GraphBuilder builder(body_.graph);
    inside_.push_back(builder.add_value(part, whole.name, whole.labels, layer().at));
    body_.graph.regions.front().parameters.push_back(inside_.back());
    return true;
  }

  void build(Lowering& inner) {
    inner.manual = &body_;
    inner.builder.origin = lowering_.builder.origin;
    Scope scope(call_.path + "/", layer().layers);
    for (std::size_t k = 0; k < inside_.size(); ++k) {
      scope.bind(layer().of.empty() ? "x" : layer().of[k], inside_[k]);
    }
    scope.running = inside_.front();
    lower_layers(inner, scope, layer().layers);
    if (!inner.leaves.empty()) {
      refuse("manual-parameter", inner.leaves.front().at,
             "a parameter cannot be made inside a manual region: " + inner.leaves.front().path,
             "make it before with `param`, and name it in `of`");
      return;
    }
    if (layer().into.empty()) {
      if (scope.running != ValueId::none) results_.push_back(scope.running);
      return;
    }
    for (const std::string& name : layer().into) {
      const ValueId value = scope.find(name, layer().at, lowering_.diagnostics);
      if (value == ValueId::none) return results_.clear();
      results_.push_back(value);
    }
  }

  void enter(ManualReplay& replay, std::size_t k) {
    const Shape shape = lowering_.type(call_.inputs[k]).shape;
    const ManualEntries entries = entries_of(in_[k], shape.size());
    lowering_.builder.origin.name = lowering_.builder.graph().value(call_.inputs[k]).name;
    lowering_.builder.origin.at = in_[k].at;
    PartitionSpec spec;
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
      PartitionEntry& entry = spec.entries.emplace_back();
      for (const int axis : entries[dim]) {
        entry.axes.emplace_back(body_.axes[static_cast<std::size_t>(axis)].name);
      }
      entry.is_unconstrained = entry.axes.empty() && !body_.is_full;
    }
    const ValueId given =
        lowering_.entered(call_.inputs[k], names_of_axes(body_.axes), PlacementAsk::enter_manual,
                          SpecConfig{std::move(spec), in_[k].at});
    replay.enter(given, inside_[k], entries, in_[k].at);
  }

  ValueId leave(ManualReplay& replay) {
    ValueId first = ValueId::none;
    for (std::size_t k = 0; k < results_.size(); ++k) {
      const std::size_t rank = body_.graph.value(results_[k]).type.shape.size();
      if (!has_rank(out_[k], rank, "the region's result")) return fail();
      const ManualEntries entries = entries_of(out_[k], rank);
      if (!is_whole_otherwise(replay.stacked(results_[k]), entries, out_[k])) return fail();
      lowering_.builder.origin.name = call_.path;
      const ValueId whole = replay.leave(results_[k], entries, out_[k].at);
      if (!layer().into.empty()) {
        call_.scope.bind(layer().into[k], whole);
        lowering_.name_value(whole, call_.scope.path(layer().into[k]));
      }
      if (k == 0) first = whole;
    }
    lowering_.name_value(first, call_.path);
    return first;
  }

  /// What the spec leaves out must be the same on all devices.
  bool is_whole_otherwise(const StackedValue& value, const ManualEntries& entries,
                          const SpecConfig& spec) {
    std::string differing;
    for (const int axis : value.varying) {
      const auto has_axis = [&](const std::vector<int>& entry) {
        return std::find(entry.begin(), entry.end(), axis) != entry.end();
      };
      if (std::any_of(entries.begin(), entries.end(), has_axis)) continue;
      differing +=
          (differing.empty() ? "" : ", ") + body_.axes[static_cast<std::size_t>(axis)].name;
    }
    if (differing.empty()) return true;
    return refuse("out-specs", spec.at,
                  "the result of the manual region may differ between the devices along " +
                      differing + ", and " + to_string(spec) + " does not name " +
                      (differing.find(',') == differing.npos ? "it" : "them"),
                  "name it in out_specs, or make the result the same, e.g. by psum: " + differing);
  }

  Lowering& lowering_;
  LayerCall& call_;
  BuildOptions options_{};
  ManualBody body_;
  std::vector<SpecConfig> in_, out_;  ///< one per input and per result
  std::vector<ValueId> inside_;
  std::vector<ValueId> results_;
};

/// The word of a collective and how many axes it may run over.
struct CollectiveWord {
  std::string_view word;
  ManualKind kind;
  bool takes_several;
};
constexpr std::array<CollectiveWord, 11> collective_words = {{
    {"psum", ManualKind::psum, true},
    {"pmean", ManualKind::pmean, true},
    {"pmax", ManualKind::pmax, true},
    {"pmin", ManualKind::pmin, true},
    {"all_gather", ManualKind::all_gather, true},
    {"psum_scatter", ManualKind::psum_scatter, true},
    {"all_to_all", ManualKind::all_to_all, false},
    {"ragged_all_to_all", ManualKind::ragged_all_to_all, true},
    {"ppermute", ManualKind::ppermute, false},
    {"pbroadcast", ManualKind::pbroadcast, true},
    {"axis_index", ManualKind::axis_index, false},
}};

const CollectiveWord& word_of(const LayerConfig& layer) {
  const auto* row = std::find_if(collective_words.begin(), collective_words.end(),
                                 [&](const CollectiveWord& one) { return one.word == layer.kind; });
  SHARD_CHECK(row != collective_words.end(), "a layer of this function is a collective");
  return *row;
}

/// A collective that is being read.
class CollectiveLayer {
 public:
  CollectiveLayer(Lowering& lowering, LayerCall& call)
      : lowering_(lowering), op_(lowering, call), word_(word_of(call.layer)) {}

  ValueId run() {
    if (lowering_.manual == nullptr) {
      return op_.fail(
          "outside-manual", op_.layer.kind + " stands outside of a manual region",
          "elsewhere the partitioner finds the collectives: use reduce_sum and the like, "
          "or manual: {in_specs: .., out_specs: .., layers: [..]}");
    }
    if (op_.is_spoiled() || !find_axes()) return ValueId::none;
    TensorType type{DType::i32, {}};
    std::vector<std::string> labels;
    if (op_.input_count() > 0) {
      collective_.operand = op_.input();
      if (!find_others()) return ValueId::none;
      // What has the result's type, or is made into it.
      const ValueId like =
          collective_.others.empty() ? collective_.operand : collective_.others.front();
      type = op_.type(like);
      labels = op_.labels(like);
      if (!shape(type)) return ValueId::none;
    }
    collective_.kind = word_.kind;
    collective_.origin = lowering_.builder.origin;
    ManualBody& body = *lowering_.manual;
    collective_.region = lowering_.builder.region();
    collective_.position = body.graph.region(collective_.region).nodes.size();
    collective_.result = lowering_.builder.add_value(type, "", std::move(labels), op_.layer.at);
    body.collectives.push_back(collective_);
    return op_.named(collective_.result);
  }

 private:
  bool refuse(const char* id, const std::string& message, const std::string& hint = "") {
    op_.fail(id, message, hint);
    return false;
  }

  bool find_axes() {
    const ManualBody& body = *lowering_.manual;
    for (const std::string& name : op_.layer.mesh_axes) {
      const int position = body.position_of(name);
      if (position < 0) {
        return refuse("manual-axis",
                      "'" + name + "' of " + op_.layer.kind + " is no axis of the manual region",
                      did_you_mean(name, names_of_axes(body.axes), "its axes"));
      }
      collective_.axes.push_back(position);
    }
    if (collective_.axes.size() == 1 || word_.takes_several) return true;
    return refuse("wrong-argument-count", op_.layer.kind + " runs over one axis, found " +
                                              std::to_string(collective_.axes.size()));
  }

  /// The output and the lists of a ragged_all_to_all.
  bool find_others() {
    if (op_.input_count() == 1) return true;
    std::vector<TensorType> types{op_.type(collective_.operand)};
    for (std::size_t k = 1; k < op_.input_count(); ++k) {
      collective_.others.push_back(k < ragged_lists_begin ? op_.input(k) : op_.untouched(k));
      types.push_back(op_.type(collective_.others.back()));
    }
    const std::string mistake = ragged_exchange_mistake(types, 0, parts());
    if (mistake.empty()) return true;
    return refuse("bad-exchange", op_.layer.kind + ": " + mistake,
                  "its inputs are operand[n, ..], output[m, ..], input_offsets, send_sizes, "
                  "output_offsets and recv_sizes");
  }

  std::int64_t parts() const { return lowering_.manual->product(collective_.axes); }

  std::optional<std::int64_t> position(const std::string& written) {
    if (op_.type(collective_.operand).rank() == 0) {
      refuse("rank-mismatch", op_.layer.kind + " needs at least one dim, found " +
                                  lowering_.described(collective_.operand));
      return std::nullopt;
    }
    const auto found = lowering_.dim_positions(collective_.operand, {written}, op_.layer.at);
    return found ? std::optional(found->front()) : std::nullopt;
  }

  bool divides(std::int64_t size) {
    if (size % parts() == 0) return true;
    return refuse("indivisible", op_.layer.kind + " over " + std::to_string(parts()) +
                                     " devices does not cut a dim of " + std::to_string(size) +
                                     ": " + lowering_.described(collective_.operand));
  }

  /// The dims it works on, and the result's shape.
  bool shape(TensorType& type) {
    if (word_.kind == ManualKind::ppermute) return read_pairs();
    if (word_.kind == ManualKind::pbroadcast) return read_source();
    const bool is_gather = word_.kind == ManualKind::all_gather;
    const bool is_scatter = word_.kind == ManualKind::psum_scatter;
    if (is_gather || is_scatter) {
      const auto dim = op_.dim(collective_.operand, 0);
      if (!dim) return false;
      collective_.dim = *dim;
      std::int64_t& size = type.shape[static_cast<std::size_t>(*dim)];
      if (is_scatter && !divides(size)) return false;
      size = is_gather ? size * parts() : size / parts();
    } else if (word_.kind == ManualKind::all_to_all) {
      const auto split = position(op_.word("split", "")), joined = position(op_.word("concat", ""));
      if (!split || !joined) return false;
      collective_.dim = *split;
      collective_.other = *joined;
      if (!divides(type.shape[static_cast<std::size_t>(*split)])) return false;
      type.shape[static_cast<std::size_t>(*split)] /= parts();
      type.shape[static_cast<std::size_t>(*joined)] *= parts();
    }
    return true;
  }

  bool read_source() {
    collective_.other = op_.whole("source", 0);
    if (collective_.other >= 0 && collective_.other < parts()) return true;
    return refuse("bad-source",
                  "pbroadcast has no device " + std::to_string(collective_.other) + " among " +
                      std::to_string(parts()),
                  "they are counted from 0 along its axes, the first axis major");
  }

  bool read_pairs() {
    const std::int64_t count = parts();
    const bool has_shift = op_.has_list("shift"), has_pairs = op_.has_list("pairs");
    if (has_shift == has_pairs) {
      return refuse("missing-key", "ppermute needs either shift or pairs",
                    "shift: 1 sends to the next one, pairs: [[0, 1]] from 0 to 1");
    }
    if (has_shift) {
      const std::int64_t shift = ((op_.whole("shift", 0) % count) + count) % count;
      for (std::int64_t k = 0; k < count; ++k) {
        collective_.pairs.emplace_back(k, (k + shift) % count);
      }
      return true;
    }
    const std::vector<std::int64_t>& numbers = *op_.list("pairs");
    for (std::size_t k = 0; k + 1 < numbers.size(); k += 2) {
      if (!add_pair(numbers[k], numbers[k + 1])) return false;
    }
    return true;
  }

  bool add_pair(std::int64_t from, std::int64_t to) {
    const auto exists = [&](std::int64_t device) { return device >= 0 && device < parts(); };
    if (!exists(from) || !exists(to)) {
      return refuse(
          "bad-pairs",
          "ppermute has no pair " + pair_text(from, to) + " among " + std::to_string(parts()) +
              " devices",
          "along " + op_.layer.mesh_axes.front() + " they are 0 to " + std::to_string(parts() - 1));
    }
    for (const auto& [source, target] : collective_.pairs) {
      if (source != from && target != to) continue;
      return refuse(
          "bad-pairs",
          "ppermute sources and destinations must be unique: " +
              (source == from ? std::to_string(from) + " sends" : std::to_string(to) + " gets") +
              " twice, " + pair_text(source, target) + " and " + pair_text(from, to),
          "each device sends at most once and gets at most once");
    }
    collective_.pairs.emplace_back(from, to);
    return true;
  }

  static std::string pair_text(std::int64_t from, std::int64_t to) {
    return "[" + std::to_string(from) + ", " + std::to_string(to) + "]";
  }

  Lowering& lowering_;
  OpArguments op_;
  const CollectiveWord& word_;
  ManualCollective collective_;
};

}  // namespace

ValueId lower_manual(Lowering& lowering, LayerCall& call) {
  return ManualLayer(lowering, call).run();
}

ValueId lower_collective(Lowering& lowering, LayerCall& call) {
  return CollectiveLayer(lowering, call).run();
}

}  // namespace shard
