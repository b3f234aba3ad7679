#include "dialects/maxtext_mesh.h"

#include <algorithm>
#include <optional>

#include "dialects/maxtext_keys.h"
#include "dialects/rule_list.h"
#include "mesh/mesh_sizes.h"
#include "mesh/topology.h"
#include "text/number.h"

namespace shard {
namespace {

constexpr std::int64_t to_fill = -1;

// The sizes of one group (`ici` or `dcn`), one per mesh axis.
struct Group {
  std::string name;
  Shape sizes;
  std::vector<Location> places;  // of the keys; of the axis' name for a size that is assumed
  std::vector<std::string> keys;
};

struct Hardware {
  std::string name;
  Location at;
  std::optional<std::int64_t> devices_per_slice;
  std::optional<std::int64_t> slices;
};

class MeshReader {
 public:
  MeshReader(const MaxTextConfig& config, const ImportOptions& options, Diagnostics& diagnostics)
      : config_(config), options_(options), diagnostics_(diagnostics) {}

  MaxTextMesh read();

 private:
  Hardware hardware();
  std::optional<std::int64_t> slices_of_file();
  bool has_sizes() const;
  Group group(const std::string& name, std::string_view filled_axis);
  std::optional<std::int64_t> size(const std::string& key, const TextNode& value);
  bool has_one_to_fill(const Group& group);
  void fill(Group& group, std::optional<std::int64_t> count);
  std::int64_t slices_by_sizes(const Group& dcn);
  void remark_unfilled(const MaxTextMesh& mesh);
  void remark_missing();
  void remark_sizeless(const Location& at);

  const MaxTextConfig& config_;
  const ImportOptions& options_;
  Diagnostics& diagnostics_;
  std::vector<MeshAxisConfig> axes_;
};

std::optional<std::int64_t> MeshReader::slices_of_file() {
  for (const char* key : {"compile_topology_num_slices", "num_slices"}) {
    const TextNode* node = config_.find(key);
    if (node == nullptr || !node->is_scalar()) continue;
    const IntegerReading count = read_integer(node->scalar);
    if (!count.fault && count.value > 0) return count.value;
  }
  return std::nullopt;
}

Hardware MeshReader::hardware() {
  Hardware found;
  found.devices_per_slice = options_.devices_per_slice;
  found.slices = options_.slices;
  found.name = options_.devices;
  found.at = options_.devices_at;
  const TextNode* named = config_.find("compile_topology");
  const bool is_known = !found.name.empty() || found.devices_per_slice.has_value();
  if (!is_known && named != nullptr && named->is_scalar()) {
    found.name = named->scalar;
    found.at = named->at;
  }
  if (!found.slices) found.slices = slices_of_file();
  if (found.name.empty()) return found;
  if (found.name == "a3") found.name = "8xh100";  // MaxText's word for such a node
  const Topology topology = topology_named(found.name, found.at);
  found.devices_per_slice = topology.devices_per_slice();
  if (topology.slices > 1 || !found.slices) found.slices = topology.slices;
  if (topology.slices == 1 && *found.slices > 1) {
    found.name = std::to_string(*found.slices) + "x" + found.name;
  }
  return found;
}

bool MeshReader::has_sizes() const {
  return std::any_of(config_.root.entries.begin(), config_.root.entries.end(),
                     [](const TextEntry& entry) {
                       return is_maxtext_key(entry.key) && entry.key.ends_with("_parallelism");
                     });
}

std::optional<std::int64_t> MeshReader::size(const std::string& key, const TextNode& value) {
  const IntegerReading number =
      value.is_scalar() ? read_integer(value.scalar) : IntegerReading{0, NumberFault::not_a_number};
  if (!number.fault && (number.value >= 1 || number.value == to_fill)) return number.value;
  diagnostics_.error("bad-parallelism", value.at,
                     "'" + key + "' is " + describe(value) +
                         ", expected a whole number of at least 1, or -1 to fill it in");
  return std::nullopt;
}

Group MeshReader::group(const std::string& name, std::string_view filled_axis) {
  Group group;
  group.name = name;
  for (const MeshAxisConfig& axis : axes_) {
    const std::string stem = parallelism_of(axis.name.text());
    const std::string key = stem.empty() ? "" : parallelism_key(name, stem);
    const TextNode* node = key.empty() ? nullptr : config_.find(key);
    std::int64_t value = axis.name.text() == filled_axis ? to_fill : 1;
    if (node != nullptr) value = size(key, *node).value_or(1);
    group.sizes.push_back(value);
    group.places.push_back(node != nullptr ? node->at : axis.at);
    group.keys.push_back(key);
  }
  return group;
}

bool MeshReader::has_one_to_fill(const Group& group) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < group.sizes.size(); ++i) {
    if (group.sizes[i] == to_fill) open.push_back(i);
  }
  if (open.size() > 1) {
    diagnostics_.error("bad-mesh-size", group.places[open[1]],
                       "'" + group.keys[open[0]] + "' and '" + group.keys[open[1]] +
                           "' are both -1; at most one size of a group is filled in",
                       "write the size of one of the two");
  }
  return open.size() <= 1;
}

void MeshReader::fill(Group& group, std::optional<std::int64_t> count) {
  if (!has_one_to_fill(group) || !count) return;
  MeshOrigin origin;
  int most_telling = -1;
  for (std::size_t i = 0; i < group.sizes.size(); ++i) {
    origin.axis_names.push_back(axes_[i].name.text());
    const std::int64_t size = group.sizes[i];
    const int telling = size == to_fill ? 2 : size > 1 ? 1 : 0;
    if (telling > most_telling) origin.at = group.places[i];
    most_telling = std::max(most_telling, telling);
  }
  try {
    const SizeGroup words = {group.name, group.name == "ici" ? "devices per slice" : "slices"};
    group.sizes = filled_sizes(group.sizes, *count, words, origin);
  } catch (const Error& error) {  // the other group's mistakes are told in the same run
    diagnostics_.append(error.diagnostics());
  }
}

// Without a number of slices the sizes across them speak, where they do not leave it open.
std::int64_t MeshReader::slices_by_sizes(const Group& dcn) {
  Shape written;
  std::copy_if(dcn.sizes.begin(), dcn.sizes.end(), std::back_inserter(written),
               [](std::int64_t size) { return size != to_fill; });
  const auto product = size_product(written);
  if (!product) return 1;  // `fill` reports sizes that are too large
  const auto open = std::find(dcn.sizes.begin(), dcn.sizes.end(), to_fill);
  if (*product > 1 && open != dcn.sizes.end()) {
    const auto at = static_cast<std::size_t>(open - dcn.sizes.begin());
    diagnostics_.note("one-slice-assumed", dcn.places[at],
                      "'" + dcn.keys[at] + "' is filled in for " + std::to_string(*product) +
                          " slices, the fewest that the sizes across slices allow",
                      "say how many slices there are");
  }
  return *product;
}

void MeshReader::remark_unfilled(const MaxTextMesh& mesh) {
  if (diagnostics_.has_errors()) return;  // then sizes are open because they are wrong
  for (const MeshAxisConfig& axis : mesh.axes) {
    if (axis.size != to_fill) continue;
    diagnostics_.note(
        "needs-device-count", axis.at,
        "the size of mesh axis '" + axis.name.text() +
            "' follows from the number of devices, which is not given",
        "give the hardware (--devices v5e-16) or the sizes (--mesh " + axis.name.text() + "=16)");
  }
}

void MeshReader::remark_missing() {
  const bool is_model = config_.find("base_emb_dim") != nullptr;
  diagnostics_.note("mesh-missing", {config_.files.front()}, "no file names mesh axes",
                    is_model ? "this is a model's file: give the configuration it belongs to, with "
                               "model_name set to it"
                             : "give the mesh: --mesh data=8");
}

void MeshReader::remark_sizeless(const Location& at) {
  std::string names;
  std::string example;
  for (const MeshAxisConfig& axis : axes_) {
    names += (names.empty() ? "" : ", ") + axis.name.text();
    example += (example.empty() ? "" : ",") + axis.name.text() + "=N";
  }
  diagnostics_.note("needs-device-count", at,
                    "the file names the mesh axes " + names + " and says nothing about their sizes",
                    "give them: --mesh " + example);
}

MaxTextMesh MeshReader::read() {
  MaxTextMesh mesh;
  const TextNode* names = config_.find("mesh_axes");
  if (names == nullptr) {
    remark_missing();
    return mesh;
  }
  axes_ = read_axis_names(*names, diagnostics_);
  if (diagnostics_.has_errors()) return mesh;
  const Hardware found = hardware();
  mesh.devices = found.name;
  mesh.devices_at = found.at;
  const std::string split = config_.text("allow_split_physical_axes");
  mesh.may_split = split == "true" || split == "True";
  Group ici = group("ici", "fsdp");
  Group dcn = group("dcn", "data");
  const bool is_open =
      !has_sizes() && std::none_of(axes_.begin(), axes_.end(),
                                   [](const auto& axis) { return axis.name.text() == "fsdp"; });
  if (is_open) {  // rules of a framework that sizes its mesh elsewhere
    mesh.axes = axes_;
    for (MeshAxisConfig& axis : mesh.axes) axis.size = to_fill;
    remark_sizeless(names->at);
    return mesh;
  }
  fill(ici, found.devices_per_slice);
  fill(dcn, found.slices ? *found.slices : slices_by_sizes(dcn));
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const bool is_unknown = ici.sizes[i] == to_fill || dcn.sizes[i] == to_fill;
    std::int64_t total = to_fill;
    if (!is_unknown && __builtin_mul_overflow(ici.sizes[i], dcn.sizes[i], &total)) {
      diagnostics_.error("mesh-too-large", ici.places[i],
                         "mesh axis '" + axes_[i].name.text() + "' has more than 2^63 devices");
    }
    mesh.axes.push_back({axes_[i].name, total, ici.places[i]});
    if (dcn.sizes[i] != 1) mesh.dcn.push_back({axes_[i].name, dcn.sizes[i], dcn.places[i]});
    const bool is_stage = axes_[i].name.text() == "stage";
    mesh.has_pipeline = mesh.has_pipeline || (is_stage && (ici.sizes[i] > 1 || dcn.sizes[i] > 1));
  }
  remark_unfilled(mesh);
  return mesh;
}

}  // namespace

MaxTextMesh read_maxtext_mesh(const MaxTextConfig& config, const ImportOptions& options,
                              Diagnostics& diagnostics) {
  return MeshReader(config, options, diagnostics).read();
}

void apply_pipeline(RulesConfig& rules, Diagnostics& diagnostics) {
  const auto position = [&](std::string_view name) {
    return std::find_if(rules.mesh.begin(), rules.mesh.end(),
                        [&](const MeshAxisConfig& axis) { return axis.name.text() == name; });
  };
  const auto stage = position("stage");
  const auto data = position("data");
  if (stage != rules.mesh.end() && data < stage) {
    diagnostics.note("pipeline-rules", stage->at,
                     "with pipeline parallelism 'stage' and 'data' change places in the mesh");
    std::iter_swap(stage, data);
  }
  for (RuleConfig& rule : rules.rules) {
    if (rule.logical.text() != "activation_embed_and_logits_batch") continue;
    rule.target.axes.clear();
    for (const char* axis : {"stage", "data", "fsdp", "fsdp_transpose", "expert"}) {
      rule.target.axes.emplace_back(axis);
    }
    diagnostics.note("pipeline-rules", rule.at,
                     "with pipeline parallelism the target of this rule is [stage, data, fsdp, "
                     "fsdp_transpose, expert]");
    break;
  }
}

}  // namespace shard
