#include "model/manual_replay.h"

#include <algorithm>

#include "base/check.h"
#include "ops/batched.h"

namespace shard {
namespace {

using Axes = std::vector<int>;
using Order = std::vector<std::int64_t>;

Axes axes_together(const Axes& a, const Axes& b) {
  Axes both = a;
  both.insert(both.end(), b.begin(), b.end());
  std::sort(both.begin(), both.end());
  both.erase(std::unique(both.begin(), both.end()), both.end());
  return both;
}

std::int64_t place_of_axis(const Axes& axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) - axes.begin();
}

Axes all_axes(const ManualEntries& entries) {
  Axes axes;
  for (const Axes& entry : entries) axes.insert(axes.end(), entry.begin(), entry.end());
  std::sort(axes.begin(), axes.end());
  return axes;
}

}  // namespace

int ManualBody::position_of(std::string_view axis) const {
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (axes[k].name == axis) return static_cast<int>(k);
  }
  return -1;
}

std::int64_t ManualBody::product(const std::vector<int>& positions) const {
  std::int64_t count = 1;
  for (const int position : positions) count *= axes[static_cast<std::size_t>(position)].size;
  return count;
}

Shape ManualReplay::sizes(const Axes& axes) const {
  Shape shape;
  for (const int axis : axes) shape.push_back(body_.axes[static_cast<std::size_t>(axis)].size);
  return shape;
}

ValueId ManualReplay::turned(ValueId value, Order order) {
  if (std::is_sorted(order.begin(), order.end())) return value;
  return lowering_.emit(Op::transpose, {value}, Attributes{{"order", std::move(order)}});
}

ValueId ManualReplay::shaped(ValueId value, Shape shape) {
  if (lowering_.type(value).shape == shape) return value;
  return lowering_.emit(Op::reshape, {value}, Attributes{{"shape", std::move(shape)}});
}

ValueId ManualReplay::placed(ValueId value, const Axes& axes, const ManualEntries& entries,
                             bool is_closed) {
  PartitionSpec spec;
  const auto name = [&](int axis) {
    return MeshAxis(body_.axes[static_cast<std::size_t>(axis)].name);
  };
  for (const int axis : axes) spec.entries.push_back({{name(axis)}, false});
  const std::size_t rank = lowering_.type(value).shape.size();
  for (std::size_t dim = spec.entries.size(); dim < rank; ++dim) {
    PartitionEntry& entry = spec.entries.emplace_back();
    const std::size_t inner = dim - axes.size();
    if (inner < entries.size()) {
      for (const int axis : entries[inner]) entry.axes.push_back(name(axis));
    }
    // Where some axes of the mesh are left, they are free to split what the region does not.
    entry.is_unconstrained = entry.axes.empty() && !body_.is_full && !is_closed;
  }
  return lowering_.constrained(value, SpecConfig{std::move(spec), lowering_.builder.origin.at},
                               PlacementAsk::manual);
}

void ManualReplay::label(ValueId value, const Axes& axes, ValueId inner) {
  std::vector<std::string> labels;
  for (const int axis : axes) labels.push_back(body_.axes[static_cast<std::size_t>(axis)].name);
  const std::vector<std::string>& own = body_.graph.value(inner).labels;
  labels.insert(labels.end(), own.begin(), own.end());
  GraphValue& made = lowering_.builder.graph().values[index_of(value)];
  if (labels.size() == made.type.shape.size()) made.labels = std::move(labels);
}

void ManualReplay::keep(ValueId inner, StackedValue value) {
  if (value.value != ValueId::none) {
    label(value.value, value.axes, inner);
    lowering_.name_value(value.value, body_.graph.value(inner).name);
  }
  values_[inner] = std::move(value);
}

void ManualReplay::enter(ValueId outer, ValueId inner, const ManualEntries& entries,
                         const Location& at) {
  lowering_.builder.origin.at = at;
  const Axes axes = all_axes(entries);
  const Shape shape = lowering_.type(outer).shape;
  Shape apart;
  Order first(axes.size()), behind;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    std::int64_t rest = shape[dim];
    for (const int axis : entries[dim]) {
      first[static_cast<std::size_t>(place_of_axis(axes, axis))] =
          static_cast<std::int64_t>(apart.size());
      apart.push_back(body_.axes[static_cast<std::size_t>(axis)].size);
      rest /= apart.back();
    }
    behind.push_back(static_cast<std::int64_t>(apart.size()));
    apart.push_back(rest);
  }
  first.insert(first.end(), behind.begin(), behind.end());
  const ValueId stacked = turned(shaped(outer, std::move(apart)), std::move(first));
  keep(inner, {axes.empty() ? stacked : placed(stacked, axes), axes, axes});
}

ValueId ManualReplay::spread(const StackedValue& value, const Axes& axes, const Shape& shape) {
  Shape whole = sizes(axes);
  const auto leading = static_cast<std::int64_t>(axes.size());
  whole.insert(whole.end(), shape.begin(), shape.end());
  if (lowering_.type(value.value).shape == whole) return value.value;
  Order dims;
  for (const int axis : value.axes) dims.push_back(place_of_axis(axes, axis));
  const std::size_t own = lowering_.type(value.value).shape.size() - value.axes.size();
  for (std::size_t k = 0; k < own; ++k) {
    dims.push_back(leading + static_cast<std::int64_t>(shape.size() - own + k));
  }
  const ValueId wide = lowering_.emit(Op::broadcast, {value.value},
                                      Attributes{{"shape", std::move(whole)}, {"dims", dims}});
  // Dims that have no label of their own are the region's axes.
  const std::vector<std::string> own_labels = lowering_.builder.graph().value(value.value).labels;
  std::vector<std::string> labels(lowering_.type(wide).shape.size());
  for (std::size_t k = 0; k < axes.size(); ++k) {
    labels[k] = body_.axes[static_cast<std::size_t>(axes[k])].name;
  }
  for (std::size_t k = value.axes.size(); k < dims.size(); ++k) {
    labels[static_cast<std::size_t>(dims[k])] = own_labels[k];
  }
  lowering_.builder.graph().values[index_of(wide)].labels = std::move(labels);
  return placed(wide, axes);
}

StackedValue ManualReplay::widened(const StackedValue& value, const Axes& axes) {
  if (value.axes == axes) return value;
  const Shape& whole = lowering_.type(value.value).shape;
  const Shape own(whole.begin() + static_cast<std::ptrdiff_t>(value.axes.size()), whole.end());
  return {spread(value, axes, own), axes, axes_together(value.varying, axes)};
}

bool ManualReplay::play(RegionId region) {
  const std::vector<NodeId>& nodes = body_.graph.region(region).nodes;
  auto next = body_.collectives.begin();
  for (std::size_t k = 0; k <= nodes.size(); ++k) {
    for (; next != body_.collectives.end(); ++next) {
      if (next->region != region) continue;
      if (next->position > k) break;
      play(*next);
    }
    if (k < nodes.size() && !play(body_.graph.node(nodes[k]))) return false;
  }
  return true;
}

bool ManualReplay::play(const Node& node) {
  NodeOrigin& origin = lowering_.builder.origin;
  origin.name = node.name;
  origin.at = node.at;
  if (node.op == Op::constrain) return place_again(node);
  if (node.op == Op::repeat) return play_loop(node);
  Axes axes, varying;
  std::vector<TensorType> types;
  for (const ValueId operand : node.operands) {
    axes = axes_together(axes, stacked(operand).axes);
    varying = axes_together(varying, stacked(operand).varying);
    types.push_back(local(operand));
  }
  const bool is_plain = axes.empty() && node.region == RegionId::none;
  const std::optional<Attributes> attributes =
      is_plain                        ? std::optional(node.attributes)
      : node.region != RegionId::none ? std::nullopt
                                      : batched_attributes(node.op, node.attributes, sizes(axes));
  // A number beside an array stays a number; the value of a pad must be one.
  const bool takes_numbers = def(node.op).is_elementwise || node.op == Op::pad;
  std::vector<ValueId> operands;
  for (std::size_t k = 0; attributes && k < node.operands.size(); ++k) {
    const StackedValue& value = stacked(node.operands[k]);
    const bool is_scalar = types[k].rank() == 0;
    if (is_scalar && takes_numbers && value.axes.empty()) {
      operands.push_back(value.value);
    } else {
      const bool grows = is_scalar && def(node.op).is_elementwise;
      operands.push_back(
          spread(value, axes, grows ? local(node.results.front()).shape : types[k].shape));
    }
  }
  const bool has_form =
      attributes && !(node.op == Op::pad && !stacked(node.operands[1]).axes.empty());
  if (!has_form) return refuse(node, "do it before or behind the region");
  const std::vector<ValueId> results = lowering_.builder.emit_all(node.op, operands, *attributes);
  for (std::size_t k = 0; k < results.size(); ++k) {
    keep(node.results[k], {results[k], axes, varying});
  }
  return true;
}

bool ManualReplay::refuse(const Node& node, const std::string& hint) {
  lowering_.diagnostics.error(
      "not-yet", node.at,
      "'" + std::string(def(node.op).name) + "' cannot stand in a manual region yet", hint);
  return false;
}

/// A constraint inside: its axes are those that the region leaves alone.
bool ManualReplay::place_again(const Node& node) {
  const StackedValue value = stacked(node.operands.front());
  const SpecConfig& written =
      body_.graph.placements[static_cast<std::size_t>(node.attributes.integer("placement"))];
  const PartitionSpec* own = written.mesh();
  const auto is_manual = [&](const PartitionEntry& entry) {
    return std::any_of(entry.axes.begin(), entry.axes.end(),
                       [&](const MeshAxis& axis) { return body_.position_of(axis.text()) >= 0; });
  };
  if (own == nullptr || std::any_of(own->entries.begin(), own->entries.end(), is_manual)) {
    lowering_.diagnostics.error(
        "manual-axis", written.at,
        "a constraint inside a manual region can only name mesh axes that the region leaves "
        "alone: " +
            to_string(written),
        "the parts of the axes of the region are set by in_specs and out_specs");
    return false;
  }
  PartitionSpec spec;
  for (const int axis : value.axes) {
    spec.entries.push_back({{MeshAxis(body_.axes[static_cast<std::size_t>(axis)].name)}, false});
  }
  spec.entries.insert(spec.entries.end(), own->entries.begin(), own->entries.end());
  const ValueId result = lowering_.constrained(value.value, SpecConfig{std::move(spec), written.at},
                                               PlacementAsk::manual);
  keep(node.results.front(), {result, value.axes, value.varying});
  return true;
}

ValueId ManualReplay::leave(ValueId inner, const ManualEntries& entries, const Location& at) {
  lowering_.builder.origin.at = at;
  const Axes axes = all_axes(entries);
  const StackedValue value = widened(stacked(inner), axes_together(stacked(inner).axes, axes));
  SHARD_CHECK(value.axes == axes, "what varies along an axis is split over it outside");
  Order order;
  Shape shape = local(inner).shape;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    for (const int axis : entries[dim]) order.push_back(place_of_axis(axes, axis));
    order.push_back(static_cast<std::int64_t>(axes.size() + dim));
    shape[dim] *= body_.product(entries[dim]);
  }
  const ValueId whole = shaped(turned(value.value, std::move(order)), std::move(shape));
  const ValueId result = placed(whole, {}, entries);
  label(result, {}, inner);
  return result;
}

}  // namespace shard
