#include "check/typing_choices.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "model/graph_builder.h"
#include "shard/explicit_op_rows.h"
#include "shard/sharded_graph.h"
#include "spmd/words.h"

namespace shard {
namespace {

/// Only these are answered by saying how the result is split.
bool is_answered_by_out_sharding(RefusalKind kind) {
  constexpr RefusalKind kinds[] = {RefusalKind::ambiguous_contraction,
                                   RefusalKind::contracted_differ,
                                   RefusalKind::illegal_result,
                                   RefusalKind::batch_differ,
                                   RefusalKind::reshape,
                                   RefusalKind::gather,
                                   RefusalKind::gather_partly,
                                   RefusalKind::incompatible};
  return std::find(std::begin(kinds), std::end(kinds), kind) != std::end(kinds);
}

bool shares_axis(const TypeEntry& a, const TypeEntry& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](int axis) { return std::find(b.begin(), b.end(), axis) != b.end(); });
}

/// The ways in which the result of an op may be split.
class CandidateEntries {
 public:
  CandidateEntries(const Graph& graph, const Mesh& mesh, const TypingMistake& mistake)
      : mesh_(mesh),
        operands_(mistake.operands),
        rule_(rule_of(graph, graph.node(mistake.node))),
        shape_(graph.value(graph.node(mistake.node).results.front()).type.shape) {
    const std::vector<TypeEntries> bases = {natural(false), natural(true)};
    for (const TypeEntries& base : bases) add(base);
    // What a contracted dim was split by may go to any dim of the result.
    for (const TypeEntry& contracted : contracted_entries()) {
      for (const TypeEntries& base : bases) {
        for (std::size_t dim = 0; dim < shape_.size(); ++dim) add(joined(base, dim, contracted));
      }
    }
    add(TypeEntries(shape_.size()));
  }

  const std::vector<TypeEntries>& all() const { return all_; }

 private:
  /// What the operands split along this factor.
  std::vector<TypeEntry> entries_of(int factor) const {
    std::vector<TypeEntry> entries;
    for (std::size_t k = 0; k < operands_.size(); ++k) {
      for (std::size_t dim = 0; dim < operands_[k].rank(); ++dim) {
        const std::vector<int>& factors = rule_.operands[k][dim];
        const bool is_it = !factors.empty() && factors.front() == factor;
        if (is_it && !operands_[k].entries[dim].empty())
          entries.push_back(operands_[k].entries[dim]);
      }
    }
    return entries;
  }

  /// Every dim as an operand has it; of two that want one axis the first has it, or the last.
  TypeEntries natural(bool last_wins) const {
    TypeEntries entries(shape_.size());
    for (std::size_t k = 0; k < shape_.size(); ++k) {
      const std::size_t dim = last_wins ? shape_.size() - 1 - k : k;
      const std::vector<int>& factors = rule_.results.front()[dim];
      if (factors.empty()) continue;
      for (const TypeEntry& entry : entries_of(factors.front())) {
        if (entries[dim].empty() && fits(entries, dim, entry)) entries[dim] = entry;
      }
    }
    return entries;
  }

  bool fits(const TypeEntries& entries, std::size_t dim, const TypeEntry& entry) const {
    return !shares_axis(axes_of(entries), entry) && shape_[dim] % ways(mesh_, entry) == 0;
  }

  std::vector<TypeEntry> contracted_entries() const {
    std::vector<TypeEntry> entries;
    for (std::size_t factor = 0; factor < rule_.factors.size(); ++factor) {
      if (rule_.factors[factor].kind != FactorKind::reduction) continue;
      for (const TypeEntry& entry : entries_of(static_cast<int>(factor))) entries.push_back(entry);
    }
    return entries;
  }

  TypeEntries joined(TypeEntries entries, std::size_t dim, const TypeEntry& more) const {
    if (shares_axis(axes_of(entries), more)) return entries;
    entries[dim].insert(entries[dim].end(), more.begin(), more.end());
    return entries;
  }

  void add(const TypeEntries& entries) {
    for (std::size_t dim = 0; dim < shape_.size(); ++dim) {
      if (shape_[dim] % ways(mesh_, entries[dim]) != 0) return;
    }
    if (std::find(all_.begin(), all_.end(), entries) == all_.end()) all_.push_back(entries);
  }

  const Mesh& mesh_;
  const ShardedTypes& operands_;
  FactorRule rule_;
  const Shape& shape_;
  std::vector<TypeEntries> all_;
};

/// A program of this op alone.
Program lone_program(const Graph& graph, const Mesh& mesh, const TypingMistake& mistake,
                     const ShardedType& result) {
  const Node& node = graph.node(mistake.node);
  ShardedGraph sharded;
  sharded.mesh = mesh;
  GraphBuilder builder(sharded.graph);
  std::vector<ValueId> operands;
  for (std::size_t k = 0; k < node.operands.size(); ++k) {
    const GraphValue& value = graph.value(node.operands[k]);
    operands.push_back(builder.add_value(value.type, value.name, value.labels, value.at));
    GraphInput input;
    input.value = operands.back();
    input.path = "operand " + std::to_string(k);
    input.role = Role::input;
    sharded.graph.inputs.push_back(input);
    sharded.graph.regions.front().parameters.push_back(operands.back());
    sharded.shardings.push_back(closed(sharding_of_type(mesh, mistake.operands[k])));
  }
  const std::vector<ValueId> results = builder.emit_all(node.op, operands, node.attributes);
  for (std::size_t k = 0; k < results.size(); ++k) {
    sharded.shardings.push_back(closed(sharding_of_type(mesh, result)));
  }
  GraphOutput output;
  output.value = results.front();
  output.path = "result";
  sharded.graph.outputs.push_back(output);
  sharded.graph.regions.front().results.push_back(results.front());
  sharded.output_shardings.push_back(sharded.shardings.back());
  for (const GraphValue& value : sharded.graph.values) {
    sharded.reasons.emplace_back(value.type.shape.size());
  }
  return partition(sharded);
}

std::int64_t part_size(const Mesh& mesh, const ShardedType& type) {
  return element_count(type.shape) / ways(mesh, axes_of(type.entries));
}

std::string choices_text(const Mesh& mesh, const std::vector<TypingChoice>& choices) {
  constexpr std::size_t most_listed = 6;
  std::string text = "say it with out_sharding on this layer; per device the choices cost:";
  const std::span listed = std::span(choices).first(std::min(choices.size(), most_listed));
  std::size_t width = 0;
  for (const TypingChoice& choice : listed) width = std::max(width, to_string(choice.spec).size());
  for (const TypingChoice& choice : listed) {
    const std::string spec = to_string(choice.spec);
    text += "\n    " + spec + std::string(width - spec.size() + 2, ' ') + cost_text(mesh, choice);
  }
  return text + "\n  `plan --suggest` writes the first into the line";
}

}  // namespace

std::vector<TypingChoice> typing_choices(const Graph& graph, const Mesh& mesh,
                                         const TypingMistake& mistake) {
  const Node& node = graph.node(mistake.node);
  const OpTyping* row = op_typing(def(node.op).name);
  if (row == nullptr || !row->takes_out_sharding || !is_answered_by_out_sharding(mistake.kind)) {
    return {};
  }
  struct Priced {
    TypingChoice choice;
    std::int64_t part = 0;   ///< elements of the result on a device
    std::size_t widest = 0;  ///< most axes on one dim
  };
  std::vector<Priced> found;
  const TensorType& type = graph.value(node.results.front()).type;
  const CandidateEntries candidates(graph, mesh, mistake);
  for (const TypeEntries& entries : candidates.all()) {
    const ShardedType result = make_type(mesh, {}, type.shape, entries);
    TypingChoice choice;
    choice.spec = type_spec(mesh, result);
    while (!choice.spec.entries.empty() && choice.spec.entries.back().axes.empty()) {
      choice.spec.entries.pop_back();
    }
    choice.collectives = count_collectives(lone_program(graph, mesh, mistake, result));
    for (const CollectiveCount& one : choice.collectives) choice.wire = choice.wire + one.wire;
    std::size_t widest = 0;
    for (const TypeEntry& entry : result.entries) widest = std::max(widest, entry.size());
    found.push_back({std::move(choice), part_size(mesh, result), widest});
  }
  std::stable_sort(found.begin(), found.end(), [](const Priced& a, const Priced& b) {
    return std::tuple(a.choice.wire, a.part, a.widest) <
           std::tuple(b.choice.wire, b.part, b.widest);
  });
  std::vector<TypingChoice> choices;
  for (Priced& one : found) choices.push_back(std::move(one.choice));
  return choices;
}

std::vector<Diagnostic> typing_diagnostics(const Graph& graph, const GraphTypes& types) {
  std::vector<Diagnostic> diagnostics;
  for (const TypingMistake& mistake : types.mistakes) {
    Diagnostic& diagnostic = diagnostics.emplace_back(to_diagnostic(graph, mistake));
    const ValueId operand = graph.node(mistake.node).operands.front();
    const Mesh& mesh = types.mesh(operand);
    const std::vector<TypingChoice> choices = typing_choices(graph, mesh, mistake);
    if (!choices.empty()) diagnostic.hint = choices_text(mesh, choices);
  }
  return diagnostics;
}

std::string cost_text(const Mesh& mesh, const TypingChoice& choice) {
  if (choice.collectives.empty()) return "nothing to send";
  std::string text;
  for (const CollectiveCount& one : choice.collectives) {
    std::string axes;
    for (const AxisRef& axis : one.axes) axes += (axes.empty() ? "" : ", ") + to_string(mesh, axis);
    text += (text.empty() ? "" : " and ") + std::string(name(one.kind)) + " over " + axes;
  }
  return text + ", " + with_commas(choice.wire) + " B on the wire";
}

}  // namespace shard
