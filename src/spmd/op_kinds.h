#pragma once
// Ops that are alike, and what is worked out of each kind once: its rule, and the ways to compute
// it that depend on nothing else.

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "spmd/op_way.h"
#include "spmd/value_kinds.h"

namespace shard::spmd {

struct OpTensors {
  std::vector<Shape> shapes;  ///< operands, then results
  std::vector<AxesPerDim> axes;
};

/// A form in parts, and the rule of the ways that are in it.
struct KindForm {
  const PartsForm* form = nullptr;
  FactorRule rule;
};

struct OpKind {
  FactorRule rule;        ///< the op's own
  FactorRule plain_rule;  ///< of ways without a form: what must be whole has no axes
  std::vector<KindForm> forms;
  OpTensors tensors;  ///< as they are declared
  Way plain;          ///< on the axes on which Shardy settles
  Way parts;          ///< the same in the first form; nullptr: impossible, or no other

  const FactorRule& rule_of(const OpWay& way) const;
};

/// One kind, and what is found out when somebody asks.
struct KnownOpKind {
  Attributes attributes;
  OpKind facts;
  std::optional<std::vector<Way>> candidates;
};

/// The kinds of ops on one mesh, of any number of graphs.
struct OpKindTable {
  explicit OpKindTable(const Mesh& mesh);

  Program scratch;  ///< where forms are tried out
  /// By op and the kinds of operands and results.
  std::unordered_map<std::string, std::vector<std::unique_ptr<KnownOpKind>>> known;
};

/// Those of one graph. Nodes are of one kind when op, attributes and the kinds of operands and
/// results are equal.
class OpKinds {
 public:
  /// All must outlive this.
  OpKinds(const Graph& graph, const ValueKinds& values, OpKindTable& table);

  /// Of a node with a rule and without a region. Valid as long as the table lives.
  const OpKind& of(NodeId id);
  /// All ways that leave some tensor as it is, plainly and in parts.
  const std::vector<Way>& candidates(NodeId id);

 private:
  KnownOpKind& kind(NodeId id);
  std::unique_ptr<KnownOpKind> make(const Node& node);
  Way plain_way(const Node& node, const OpKind& kind) const;
  Way in_parts(const Node& node, const FactorRule& rule, const PartsForm& form,
               CommonFactors common);
  std::vector<Way> find_candidates(const Node& node, const OpKind& kind);

  const Graph& graph_;
  const ValueKinds& values_;
  OpKindTable& table_;
  std::vector<KnownOpKind*> by_node_;
};

}  // namespace shard::spmd
