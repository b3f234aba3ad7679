#include "recorded_ops.h"

#include <map>

#include "ops/index_dims.h"
#include "ops/window_dims.h"

namespace shard::tests {
namespace {

using Dims = std::vector<std::int64_t>;

/// StableHLO's name of an elementwise op and ours, where they differ.
const std::map<std::string, Op> elementwise_names = {
    {"and", Op::bitwise_and},
    {"ceil", Op::ceil},
    {"compare", Op::eq},
    {"constraint", Op::constrain},
    {"copy", Op::constrain},
    {"cosine", Op::cos},
    {"exponential", Op::exp},
    {"exponential_minus_one", Op::expm1},
    {"log_plus_one", Op::log1p},
    {"logistic", Op::sigmoid},
    {"not", Op::bitwise_not},
    {"or", Op::bitwise_or},
    {"popcnt", Op::population_count},
    {"reshard", Op::constrain},
    {"round_nearest_afz", Op::round_away},
    {"round_nearest_even", Op::round},
    {"sine", Op::sin},
    {"xor", Op::bitwise_xor},
};

const std::map<std::string, Op> reductions = {
    {"add", Op::reduce_sum},       {"maximum", Op::reduce_max}, {"minimum", Op::reduce_min},
    {"multiply", Op::reduce_prod}, {"and", Op::reduce_and},     {"or", Op::reduce_or}};

const std::map<std::string, Op> scatters = {{"add", Op::scatter_add},
                                            {"set", Op::scatter_set},
                                            {"maximum", Op::scatter_max},
                                            {"minimum", Op::scatter_min},
                                            {"multiply", Op::scatter_mul}};

Dims list(const json& attributes, const char* key) { return attributes.at(key).get<Dims>(); }

/// The rule without the tensors of the operands from `first` on, which are scalars.
FactorRule with_scalars(FactorRule rule, std::size_t operands) {
  rule.operands.resize(operands);
  return rule;
}

FactorRule of_row(Op op, const RecordedOp& recorded, const Attributes& attributes) {
  return factor_rule(op, recorded.operands, recorded.results, attributes);
}

std::optional<FactorRule> elementwise_rule(const std::string& name, const RecordedOp& recorded) {
  const auto renamed = elementwise_names.find(name);
  const std::optional<Op> op =
      renamed == elementwise_names.end() ? op_named(name) : std::optional(renamed->second);
  if (!op || !def(*op).is_elementwise) return std::nullopt;
  return of_row(*op, recorded, {});
}

/// All operands are slices of arrays, or slices of one array and that array.
bool are_slices(const RecordedOp& recorded) {
  bool all = true, any = false;
  std::vector<int> wholes;
  for (std::size_t i = 0; i < recorded.makers.size(); ++i) {
    const bool is_slice = recorded.makers[i] == "slice";
    all = all && is_slice;
    any = any || is_slice;
    wholes.push_back(is_slice ? recorded.sliced_from[i] : recorded.op.at("in")[i].get<int>());
  }
  const bool is_one = std::equal(wholes.begin() + 1, wholes.end(), wholes.begin());
  return all || (any && is_one);
}

FactorRule concatenate_by_row(const RecordedOp& recorded) {
  Attributes attributes{{"dim", recorded.op.at("attrs").at("dim").get<std::int64_t>()}};
  if (are_slices(recorded)) attributes.set("of_slices", std::int64_t{1});
  return of_row(Op::concatenate, recorded, attributes);
}

FactorRule update_by_row(const RecordedOp& recorded) {
  Attributes attributes;
  bool at_constants = true;
  for (std::size_t i = 2; i < recorded.makers.size(); ++i) {
    at_constants = at_constants && recorded.makers[i] == "constant";
  }
  if (at_constants) attributes.set("at_constants", std::int64_t{1});
  return of_row(Op::dynamic_update_slice, recorded, attributes);
}

/// A reduction of several arrays at once is that of the first, with the others beside it.
FactorRule reduce_by_row(const RecordedOp& recorded) {
  const json& attributes = recorded.op.at("attrs");
  const auto known = reductions.find(attributes.value("kind", std::string()));
  const Op op = known == reductions.end() ? Op::reduce_sum : known->second;
  const std::size_t arrays = recorded.operands.size() / 2;
  FactorRule rule = factor_rule(op, {recorded.operands.data(), 1}, {recorded.results.data(), 1},
                                {{"dims", list(attributes, "dims")}});
  rule.operands.resize(arrays, rule.operands.front());
  rule.results.resize(arrays, rule.results.front());
  return with_scalars(std::move(rule), recorded.operands.size());
}

IndexDims index_dims(const json& attributes, bool is_gather) {
  IndexDims dims;
  dims.window = list(attributes, is_gather ? "offset_dims" : "update_window_dims");
  dims.collapsed = list(attributes, is_gather ? "collapsed_slice_dims" : "inserted_window_dims");
  dims.batch = list(attributes, is_gather ? "operand_batching_dims" : "input_batching_dims");
  dims.index_batch =
      list(attributes, is_gather ? "start_indices_batching_dims" : "scatter_indices_batching_dims");
  dims.start = list(attributes, is_gather ? "start_index_map" : "scattered_dims_to_operand_dims");
  dims.vector = attributes.at("index_vector_dim").get<std::int64_t>();
  return dims;
}

FactorRule gather_by_row(const RecordedOp& recorded) {
  return of_row(Op::gather, recorded, index_dims(recorded.op.at("attrs"), true).attributes());
}

FactorRule scatter_by_row(const RecordedOp& recorded) {
  const json& attributes = recorded.op.at("attrs");
  const auto known = scatters.find(attributes.value("kind", std::string()));
  return of_row(known == scatters.end() ? Op::scatter_set : known->second, recorded,
                index_dims(attributes, false).attributes());
}

FactorRule dot_by_row(const RecordedOp& recorded) {
  const json& attributes = recorded.op.at("attrs");
  return of_row(Op::dot, recorded,
                dot_attributes(list(attributes, "lhs_batch"), list(attributes, "rhs_batch"),
                               list(attributes, "lhs_contract"), list(attributes, "rhs_contract")));
}

/// A row whose attributes are one list or number under another name, or none that the rule reads.
template <Op op>
FactorRule plain_by_row(const RecordedOp& recorded) {
  return of_row(op, recorded, {});
}

FactorRule broadcast_by_row(const RecordedOp& recorded) {
  return of_row(Op::broadcast, recorded, {{"dims", list(recorded.op.at("attrs"), "dims")}});
}
FactorRule pad_by_row(const RecordedOp& recorded) {
  const auto& attributes = recorded.op.at("attrs");
  return of_row(Op::pad, recorded,
                {{"low", list(attributes, "low")}, {"interior", list(attributes, "interior")}});
}

/// Lists that the recording leaves out say nothing: strides of 1, no padding.
FactorRule reduce_window_by_row(const RecordedOp& recorded) {
  const json& attributes = recorded.op.at("attrs");
  const std::size_t rank = recorded.operands[0].shape.size();
  Windows windows{list(attributes, "window"),
                  attributes.value("strides", Dims(rank, 1)),
                  Dims(rank, 0),
                  Dims(rank, 0),
                  Dims(rank, 1),
                  Dims(rank, 1)};
  const json padding = attributes.value("padding", json::array());
  for (std::size_t dim = 0; dim < padding.size(); ++dim) {
    windows.low[dim] = padding[dim][0].get<std::int64_t>();
    windows.high[dim] = padding[dim][1].get<std::int64_t>();
  }
  const FactorRule rule =
      factor_rule(Op::reduce_window_sum, {recorded.operands.data(), 1}, recorded.results,
                  {{"window", windows.sizes},
                   {"strides", windows.strides},
                   {"low", windows.low},
                   {"high", windows.high},
                   {"dilation", windows.dilation},
                   {"base_dilation", windows.base_dilation}});
  return with_scalars(rule, recorded.operands.size());
}

/// The dims of one side of `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`: two named ones, then the
/// numbered ones.
Dims convolution_order(const std::string& side, char first, char second) {
  Dims named(2), numbered;
  std::int64_t dim = 0;
  for (const char c : side) {
    if (c == ',' || c == ' ') continue;
    if (c == first || c == second) {
      named[c == first ? 0 : 1] = dim++;
    } else {
      numbered.push_back(dim++);
    }
  }
  named.insert(named.end(), numbered.begin(), numbered.end());
  return named;
}

FactorRule convolution_by_row(const RecordedOp& recorded) {
  const json& attributes = recorded.op.at("attrs");
  std::string numbers = attributes.at("numbers").get<std::string>();
  std::vector<std::string> sides;
  for (std::size_t at = numbers.find('['); at != std::string::npos; at = numbers.find('[', at)) {
    const std::size_t end = numbers.find(']', at);
    sides.push_back(numbers.substr(at + 1, end - at - 1));
    at = end;
  }
  const ConvolutionDims dims{convolution_order(sides[0], 'b', 'f'),
                             convolution_order(sides[1], 'o', 'i'),
                             convolution_order(sides[2], 'b', 'f'),
                             attributes.at("feature_group_count").get<std::int64_t>(),
                             attributes.at("batch_group_count").get<std::int64_t>()};
  return of_row(Op::convolution, recorded, convolution_attributes(dims, {}));
}

FactorRule transpose_by_row(const RecordedOp& recorded) {
  return of_row(Op::transpose, recorded, {{"order", list(recorded.op.at("attrs"), "permutation")}});
}
FactorRule reverse_by_row(const RecordedOp& recorded) {
  return of_row(Op::reverse, recorded, {{"dims", list(recorded.op.at("attrs"), "dims")}});
}
FactorRule sort_by_row(const RecordedOp& recorded) {
  return of_row(Op::sort, recorded,
                {{"dim", recorded.op.at("attrs").at("dim").get<std::int64_t>()}});
}

using ByRow = FactorRule (*)(const RecordedOp& recorded);
const std::map<std::string, ByRow> by_row = {
    {"all_reduce", plain_by_row<Op::constrain>},
    {"broadcast_in_dim", broadcast_by_row},
    {"collective_permute", plain_by_row<Op::constrain>},
    {"concatenate", concatenate_by_row},
    {"convolution", convolution_by_row},
    {"dot_general", dot_by_row},
    {"dynamic_slice", plain_by_row<Op::dynamic_slice>},
    {"dynamic_update_slice", update_by_row},
    {"gather", gather_by_row},
    {"pad", pad_by_row},
    {"reduce", reduce_by_row},
    {"reduce_window", reduce_window_by_row},
    {"reshape", plain_by_row<Op::reshape>},
    {"reverse", reverse_by_row},
    {"scatter", scatter_by_row},
    {"slice", plain_by_row<Op::slice>},
    {"sort", sort_by_row},
    {"topk", plain_by_row<Op::top_k>},
    {"transpose", transpose_by_row},
};

std::string factor_name(std::size_t factor) {
  const std::size_t letters = 'z' - 'i' + 1;
  if (factor < letters) return std::string(1, static_cast<char>('i' + factor));
  return "z_" + std::to_string(factor - letters + 1);
}

std::string tensors_text(const std::vector<TensorFactors>& tensors) {
  std::string text;
  for (const TensorFactors& tensor : tensors) {
    std::string dims;
    for (const std::vector<int>& dim : tensor) {
      if (!dims.empty()) dims += ", ";
      for (const int factor : dim) dims += factor_name(static_cast<std::size_t>(factor));
    }
    text += (text.empty() ? "[" : ", [") + dims + "]";
  }
  return "(" + text + ")";
}

template <class Is>
std::string marked(const FactorRule& rule, const char* word, Is is) {
  std::string names;
  for (std::size_t i = 0; i < rule.factors.size(); ++i) {
    if (is(rule.factors[i])) names += (names.empty() ? "" : ", ") + factor_name(i);
  }
  return names.empty() ? "" : std::string(" ") + word + "={" + names + "}";
}

}  // namespace

std::optional<FactorRule> rule_by_row(const RecordedOp& recorded) {
  const std::string name = recorded.op.at("op").get<std::string>();
  const auto row = by_row.find(name);
  if (row != by_row.end()) return row->second(recorded);
  return elementwise_rule(name, recorded);
}

std::string recorded_text(const FactorRule& rule) {
  std::string sizes;
  for (std::size_t i = 0; i < rule.factors.size(); ++i) {
    sizes += (i == 0 ? " {" : ", ") + factor_name(i) + "=" + std::to_string(rule.factors[i].size);
  }
  if (!sizes.empty()) sizes += "}";
  const auto is_kind = [](FactorKind kind) {
    return [kind](const Factor& factor) { return factor.kind == kind; };
  };
  return tensors_text(rule.operands) + "->" + tensors_text(rule.results) + sizes +
         marked(rule, "reduction", is_kind(FactorKind::reduction)) +
         marked(rule, "need_replication", is_kind(FactorKind::need_replication)) +
         marked(rule, "permutation", is_kind(FactorKind::permutation)) +
         marked(rule, "blocked_propagation", [](const Factor& f) { return f.is_blocked; });
}

}  // namespace shard::tests
