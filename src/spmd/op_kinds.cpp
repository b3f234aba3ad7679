#include "spmd/op_kinds.h"

#include <algorithm>
#include <utility>

#include "spmd/local_op.h"
#include "spmd/lowering.h"
#include "spmd/number_key.h"

namespace shard::spmd {
namespace {

OpTensors declared_tensors(const Graph& graph, const ValueKinds& values, const Node& node) {
  OpTensors tensors;
  for (const std::vector<ValueId>* side : {&node.operands, &node.results}) {
    for (const ValueId value : *side) {
      tensors.shapes.push_back(graph.value(value).type.shape);
      tensors.axes.push_back(axes_of(values.declared(value)));
    }
  }
  return tensors;
}

}  // namespace

const FactorRule& OpKind::rule_of(const OpWay& way) const {
  const auto of_way = std::find_if(forms.begin(), forms.end(),
                                   [&](const KindForm& one) { return one.form == way.form; });
  return of_way == forms.end() ? plain_rule : of_way->rule;
}

OpKindTable::OpKindTable(const Mesh& mesh) {
  scratch.mesh = mesh;
  scratch.bodies.emplace_back();
}

OpKinds::OpKinds(const Graph& graph, const ValueKinds& values, OpKindTable& table)
    : graph_(graph), values_(values), table_(table), by_node_(graph.nodes.size(), nullptr) {}

const OpKind& OpKinds::of(NodeId id) { return kind(id).facts; }

const std::vector<Way>& OpKinds::candidates(NodeId id) {
  KnownOpKind& found = kind(id);
  if (!found.candidates) found.candidates = find_candidates(graph_.node(id), found.facts);
  return *found.candidates;
}

KnownOpKind& OpKinds::kind(NodeId id) {
  KnownOpKind*& known = by_node_[index_of(id)];
  if (known != nullptr) return *known;
  const Node& node = graph_.node(id);
  NumberKey key;
  key.add(static_cast<std::int64_t>(node.op));
  for (const std::vector<ValueId>* side : {&node.operands, &node.results}) {
    key.add(static_cast<std::int64_t>(side->size()));
    for (const ValueId value : *side) key.add(static_cast<std::int64_t>(values_.kind(value)));
  }
  std::vector<std::unique_ptr<KnownOpKind>>& alike = table_.known[key.text()];
  for (const std::unique_ptr<KnownOpKind>& one : alike) {
    if (one->attributes == node.attributes) known = one.get();
  }
  if (known == nullptr) known = alike.emplace_back(make(node)).get();
  return *known;
}

std::unique_ptr<KnownOpKind> OpKinds::make(const Node& node) {
  auto made = std::make_unique<KnownOpKind>();
  made->attributes = node.attributes;
  OpKind& facts = made->facts;
  facts.rule = rule_of(graph_, node);
  facts.plain_rule = rule_of_parts(facts.rule);
  for (const PartsForm* form : parts_forms(node.op)) {
    facts.forms.push_back({form, form->rule(facts.rule, node)});
  }
  facts.tensors = declared_tensors(graph_, values_, node);
  facts.plain = plain_way(node, facts);
  if (facts.forms.empty()) return made;
  const KindForm& first = facts.forms.front();
  CommonFactors common = choose_common_factors(first.rule, facts.tensors.shapes, facts.tensors.axes,
                                               table_.scratch.mesh);
  if (common.tensors != facts.plain->common.tensors)
    facts.parts = in_parts(node, facts.rule, *first.form, std::move(common));
  return made;
}

Way OpKinds::plain_way(const Node& node, const OpKind& kind) const {
  OpWay way{choose_common_factors(kind.plain_rule, kind.tensors.shapes, kind.tensors.axes,
                                  table_.scratch.mesh)};
  if (def(node.op).local_form == nullptr) return make_way(std::move(way), graph_, node, kind.rule);
  std::vector<TensorType> types = types_of(graph_, node.operands);
  const std::vector<TensorType> results = types_of(graph_, node.results);
  types.insert(types.end(), results.begin(), results.end());
  for (std::size_t i = 0; i < types.size(); ++i)
    types[i] = local_type(types[i], with_axes(way.common.tensors[i]));
  const std::span<const TensorType> all(types);
  const std::size_t operands = node.operands.size();
  way.local = local_attributes(table_.scratch.mesh, node.op, node.attributes, all.first(operands),
                               all.subspan(operands), way.common);
  return make_way(std::move(way), graph_, node, kind.rule);
}

/// Nothing where the form does not fit these axes.
Way OpKinds::in_parts(const Node& node, const FactorRule& rule, const PartsForm& form,
                      CommonFactors common) {
  OpWay way{std::move(common)};
  const PartsSite site = parts_site(graph_, node, way.common);
  if (!fits(form, site)) return nullptr;
  way.form = &form;
  way.exchanged = exchanged_bytes(table_.scratch, 0, form, site);
  return make_way(std::move(way), graph_, node, rule);
}

std::vector<Way> OpKinds::find_candidates(const Node& node, const OpKind& kind) {
  const OpTensors& all = kind.tensors;
  std::vector<Way> ways;
  for (CommonFactors& common : candidate_factors(kind.plain_rule, all.shapes, all.axes))
    ways.push_back(make_way({std::move(common)}, graph_, node, kind.rule));
  const std::size_t plain = ways.size();
  for (const KindForm& one : kind.forms) {
    for (CommonFactors& common : candidate_factors(one.rule, all.shapes, all.axes)) {
      const bool is_plain =
          std::any_of(ways.begin(), ways.begin() + static_cast<std::ptrdiff_t>(plain),
                      [&](const Way& way) { return way->common.tensors == common.tensors; });
      if (is_plain) continue;
      Way way = in_parts(node, kind.rule, *one.form, std::move(common));
      if (way != nullptr) ways.push_back(std::move(way));
    }
  }
  return ways;
}

}  // namespace shard::spmd
