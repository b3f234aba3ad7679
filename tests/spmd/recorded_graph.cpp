#include "spmd/recorded_graph.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "model/graph_builder.h"
#include "ops/index_dims.h"
#include "shard/misfit.h"
#include "shard/recorded_program.h"
#include "spmd/axes.h"

namespace shard::tests {
namespace {

using Dims = std::vector<std::int64_t>;

/// Ops without attributes.
const std::map<std::string, Op> same_ops = {
    {"abs", Op::abs},           {"add", Op::add},
    {"divide", Op::divide},     {"exponential", Op::exp},
    {"maximum", Op::maximum},   {"minimum", Op::minimum},
    {"multiply", Op::multiply}, {"negate", Op::negate},
    {"rsqrt", Op::rsqrt},       {"select", Op::select},
    {"sqrt", Op::sqrt},         {"subtract", Op::subtract},
    {"tanh", Op::tanh},         {"dynamic_update_slice", Op::dynamic_update_slice}};
const std::map<std::string, Op> hlo_reductions = {
    {"add", Op::reduce_sum}, {"maximum", Op::reduce_max}, {"minimum", Op::reduce_min}};
const std::map<std::string, Op> running = {
    {"add", Op::cumsum}, {"maximum", Op::cummax}, {"minimum", Op::cummin}};
const std::map<std::string, Op> in_windows = {{"add", Op::reduce_window_sum},
                                              {"maximum", Op::reduce_window_max},
                                              {"minimum", Op::reduce_window_min}};
const std::map<std::string, Op> hlo_scatters = {
    {"add", Op::scatter_add}, {"maximum", Op::scatter_max}, {"other", Op::scatter_set}};
const std::map<std::string, Op> comparisons = {{"EQ", Op::eq}, {"NE", Op::ne}, {"LT", Op::lt},
                                               {"LE", Op::le}, {"GT", Op::gt}, {"GE", Op::ge}};

/// An op that has no counterpart here.
struct Missing {
  std::string op;
};

TensorType read_type(const std::string& text) {
  static const std::map<std::string, DType> dtypes = {
      {"f32", DType::f32}, {"s32", DType::i32}, {"pred", DType::boolean}, {"u32", DType::u32}};
  const std::size_t open = text.find('[');
  TensorType type{dtypes.at(text.substr(0, open)), {}};
  for (std::size_t at = open + 1; text[at] != ']';) {
    std::size_t used = 0;
    type.shape.push_back(std::stoll(text.substr(at), &used));
    at += used;
    if (text[at] == ',') ++at;
  }
  return type;
}

class Rebuilder {
 public:
  explicit Rebuilder(const json& program) : program_(program), build_(graph_.graph) {
    graph_.mesh = mesh_of(program.at("mesh"));
  }

  ShardedGraph run() {
    for (const json& argument : program_.at("args")) {
      const ValueId value = new_value(argument);
      graph().regions.front().parameters.push_back(value);
      graph().inputs.push_back({value, "arg" + argument.at(0).dump(), Role::input, -1, {}, {}});
    }
    add_ops(program_.at("ops"));
    for (const json& result : program_.at("results")) {
      const ValueId value = values_.at(result.at(0).get<int>());
      graph().regions.front().results.push_back(value);
      graph().outputs.push_back({value, "result", Role::output, -1, -1, std::nullopt, {}});
      graph_.output_shardings.push_back(even(graph().value(value).type, result.at(1)));
    }
    graph_.reasons.resize(graph().values.size());
    return std::move(graph_);
  }

 private:
  Graph& graph() { return graph_.graph; }

  Sharding even(const TensorType& type, const json& text) const {
    Sharding sharding = closed(read_sharding(graph_.mesh, text.get<std::string>()));
    for (std::size_t dim = 0; dim < sharding.dims.size(); ++dim)
      sharding.dims[dim].axes = fitted_axes(sharding.dims[dim].axes, type.shape[dim]).kept;
    sharding.replicated.clear();
    return sharding;
  }

  ValueId new_value(const json& recorded) {
    const ValueId value =
        build_.add_value(read_type(recorded.at(1).get<std::string>()), "", {}, {});
    declare(recorded, value);
    return value;
  }

  void declare(const json& recorded, ValueId value) {
    values_[recorded.at(0).get<int>()] = value;
    graph_.shardings.resize(graph().values.size());
    graph_.shardings[index_of(value)] = even(graph().value(value).type, recorded.at(2));
  }

  void add_ops(const json& ops) {
    for (const json& op : ops) add_op(op, op.at("op").get<std::string>());
  }

  void add_op(const json& op, const std::string& name) {
    if (name == "while") return add_while(op);
    const auto row = rows().find(name);
    const auto same = same_ops.find(name);
    std::vector<ValueId> operands;
    for (const json& operand : op.at("in")) operands.push_back(values_.at(operand.get<int>()));
    if (same != same_ops.end()) return emit(op, same->second, operands, {});
    if (row == rows().end()) throw Missing{name};
    row->second(*this, op, operands);
  }

  void emit(const json& op, Op ours, const std::vector<ValueId>& operands, Attributes attributes) {
    const std::vector<ValueId> results = build_.emit_all(ours, operands, std::move(attributes));
    const json& out = op.at("out");
    if (out.size() != results.size()) throw Missing{op.at("op").get<std::string>()};
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (graph().value(results[i]).type != read_type(out[i].at(1).get<std::string>()))
        throw Missing{op.at("op").get<std::string>()};
      declare(out[i], results[i]);
    }
  }

  using Row = std::function<void(Rebuilder&, const json&, const std::vector<ValueId>&)>;

  static TensorType result_type(const json& op) {
    return read_type(op.at("out").at(0).at(1).get<std::string>());
  }
  static Dims dims(const json& op, const char* key) { return op.at("attrs").at(key).get<Dims>(); }

  /// The op that `kind` names in the table.
  static Op of_kind(const json& op, const char* key, const std::map<std::string, Op>& table) {
    const std::string kind = op.at("attrs").at(key).get<std::string>();
    const auto found = table.find(kind);
    if (found == table.end()) throw Missing{op.at("op").get<std::string>() + " by " + kind};
    return found->second;
  }

  static const std::map<std::string, Row>& rows() {
    static const std::map<std::string, Row> table = {
        {"constant", constant},
        {"iota", iota},
        {"constraint", constraint},
        {"compare",
         [](Rebuilder& self, const json& op, const std::vector<ValueId>& in) {
           self.emit(op, of_kind(op, "direction", comparisons), in, {});
         }},
        {"broadcast_in_dim",
         [](Rebuilder& self, const json& op, const std::vector<ValueId>& in) {
           self.emit(op, Op::broadcast, in,
                     {{"shape", result_type(op).shape}, {"dims", dims(op, "dims")}});
         }},
        {"reshape",
         [](Rebuilder& self, const json& op, const std::vector<ValueId>& in) {
           self.emit(op, Op::reshape, in, {{"shape", result_type(op).shape}});
         }},
        {"transpose",
         [](Rebuilder& self, const json& op, const std::vector<ValueId>& in) {
           self.emit(op, Op::transpose, in, {{"order", dims(op, "permutation")}});
         }},
        {"slice",
         [](Rebuilder& self, const json& op, const std::vector<ValueId>& in) {
           self.emit(op, Op::slice, in,
                     {{"start", dims(op, "start")},
                      {"limit", dims(op, "limit")},
                      {"stride", dims(op, "strides")}});
         }},
        {"pad",
         [](Rebuilder& self, const json& op, const std::vector<ValueId>& in) {
           self.emit(op, Op::pad, in,
                     {{"low", dims(op, "low")},
                      {"high", dims(op, "high")},
                      {"interior", dims(op, "interior")}});
         }},
        {"concatenate",
         [](Rebuilder& self, const json& op, const std::vector<ValueId>& in) {
           self.emit(op, Op::concatenate, in,
                     {{"dim", op.at("attrs").at("dim").get<std::int64_t>()}});
         }},
        {"sort",
         [](Rebuilder& self, const json& op, const std::vector<ValueId>& in) {
           self.emit(
               op, Op::sort, in,
               {{"dim", op.at("attrs").at("dim").get<std::int64_t>()}, {"keys", std::int64_t{1}}});
         }},
        {"reverse",
         [](Rebuilder& self, const json& op, const std::vector<ValueId>& in) {
           self.emit(op, Op::reverse, in, {{"dims", dims(op, "dims")}});
         }},
        {"dynamic_slice",
         [](Rebuilder& self, const json& op, const std::vector<ValueId>& in) {
           self.emit(op, Op::dynamic_slice, in, {{"sizes", dims(op, "sizes")}});
         }},
        {"dot_general",
         [](Rebuilder& self, const json& op, const std::vector<ValueId>& in) {
           self.emit(op, Op::dot, in,
                     dot_attributes(dims(op, "lhs_batch"), dims(op, "rhs_batch"),
                                    dims(op, "lhs_contract"), dims(op, "rhs_contract")));
         }},
        {"reduce", reduce},
        {"reduce_window", reduce_window},
        {"gather", gather},
        {"scatter", scatter}};
    return table;
  }

  static void constant(Rebuilder& self, const json& op, const std::vector<ValueId>& in) {
    const TensorType type = result_type(op);
    const std::string text =
        op.contains("attrs") ? op.at("attrs").value("value", std::string("0")) : std::string("0");
    if (type.shape.empty() && !text.empty() && std::isdigit(text[0]) != 0)
      self.numbers_[op.at("out").at(0).at(0).get<int>()] = std::strtoll(text.c_str(), nullptr, 10);
    self.emit(
        op, Op::constant, in,
        {{"shape", type.shape}, {"value", 0.0}, {"dtype", std::string(info(type.dtype).name)}});
  }

  static void iota(Rebuilder& self, const json& op, const std::vector<ValueId>& in) {
    const TensorType type = result_type(op);
    self.emit(op, Op::iota, in,
              {{"shape", type.shape},
               {"dim", op.at("attrs").at("dim").get<std::int64_t>()},
               {"dtype", std::string(info(type.dtype).name)}});
  }

  static void constraint(Rebuilder& self, const json& op, const std::vector<ValueId>& in) {
    self.graph().placements.emplace_back();
    const auto placement = static_cast<std::int64_t>(self.graph().placements.size()) - 1;
    self.emit(op, Op::constrain, in, {{"placement", placement}});
  }

  static void reduce(Rebuilder& self, const json& op, const std::vector<ValueId>& in) {
    if (in.size() != 2) throw Missing{"reduce of pairs"};
    self.emit(op, of_kind(op, "kind", hlo_reductions), {in.front()}, {{"dims", dims(op, "dims")}});
  }

  static void reduce_window(Rebuilder& self, const json& op, const std::vector<ValueId>& in) {
    const Dims window = dims(op, "window");
    const Shape& shape = self.graph().value(in.front()).type.shape;
    Dims low, high;
    for (const json& padding : op.at("attrs").at("padding")) {
      low.push_back(padding.at(0).get<std::int64_t>());
      high.push_back(padding.at(1).get<std::int64_t>());
    }
    if (const auto along = running_dim(window, shape, low, high)) {
      self.emit(op, of_kind(op, "kind", running), {in.front()},
                {{"dim", static_cast<std::int64_t>(*along)},
                 {"reverse", std::int64_t{low[*along] == 0 ? 1 : 0}}});
      return;
    }
    const Dims once(window.size(), 1);
    self.emit(op, of_kind(op, "kind", in_windows), {in.front()},
              {{"window", window},
               {"strides", dims(op, "strides")},
               {"low", low},
               {"high", high},
               {"dilation", once},
               {"base_dilation", once}});
  }

  /// The one dim of which a window reaches from the element to an end.
  static std::optional<std::size_t> running_dim(const Dims& window, const Shape& shape,
                                                const Dims& low, const Dims& high) {
    std::optional<std::size_t> along;
    for (std::size_t dim = 0; dim < window.size(); ++dim) {
      if (window[dim] == 1) continue;
      const bool reaches_end = window[dim] == shape[dim] &&
                               low[dim] + high[dim] == shape[dim] - 1 &&
                               (low[dim] == 0 || high[dim] == 0);
      if (along || !reaches_end) return std::nullopt;
      along = dim;
    }
    return along;
  }

  static void gather(Rebuilder& self, const json& op, const std::vector<ValueId>& in) {
    IndexDims numbers;
    numbers.window = dims(op, "offset_dims");
    numbers.collapsed = dims(op, "collapsed_slice_dims");
    numbers.batch = dims(op, "operand_batching_dims");
    numbers.index_batch = dims(op, "start_indices_batching_dims");
    numbers.start = dims(op, "start_index_map");
    numbers.vector = op.at("attrs").at("index_vector_dim").get<std::int64_t>();
    Attributes attributes = numbers.attributes();
    attributes.set("slice_sizes", dims(op, "slice_sizes"));
    attributes.set("mode", std::string("clip"));
    self.emit(op, Op::gather, in, std::move(attributes));
  }

  static void scatter(Rebuilder& self, const json& op, const std::vector<ValueId>& in) {
    IndexDims numbers;
    numbers.window = dims(op, "update_window_dims");
    numbers.collapsed = dims(op, "inserted_window_dims");
    numbers.batch = dims(op, "input_batching_dims");
    numbers.index_batch = dims(op, "scatter_indices_batching_dims");
    numbers.start = dims(op, "scattered_dims_to_operand_dims");
    numbers.vector = op.at("attrs").at("index_vector_dim").get<std::int64_t>();
    Attributes attributes = numbers.attributes();
    attributes.set("mode", std::string("clip"));
    self.emit(op, of_kind(op, "kind", hlo_scatters), in, std::move(attributes));
  }

  /// Values of outside that the ops of a body read.
  static void add_outer(const json& region, std::set<int>& outer) {
    std::set<int> inside;
    std::set<int> used;
    for (const json& argument : region.at("args")) inside.insert(argument.at(0).get<int>());
    for (const json& op : region.at("ops")) {
      for (const json& operand : op.at("in")) used.insert(operand.get<int>());
      if (op.contains("body")) add_outer(op.at("body"), used);
      for (const json& result : op.at("out")) inside.insert(result.at(0).get<int>());
    }
    for (const json& result : region.at("results")) used.insert(result.get<int>());
    for (const int id : used) {
      if (inside.count(id) == 0) outer.insert(id);
    }
  }

  /// The bound that the condition compares the counter with.
  std::int64_t trip_count(const json& cond) {
    for (const json& op : cond.at("ops")) {
      if (op.at("op") == "constant")
        numbers_[op.at("out").at(0).at(0).get<int>()] =
            std::strtoll(op.at("attrs").at("value").get<std::string>().c_str(), nullptr, 10);
    }
    for (const json& op : cond.at("ops")) {
      if (op.at("op") != "compare") continue;
      const auto bound = numbers_.find(op.at("in").at(1).get<int>());
      if (bound != numbers_.end()) return bound->second;
    }
    throw Missing{"while without a known count"};
  }

  void add_while(const json& op) {
    const json& body = op.at("body");
    std::set<int> outer;
    add_outer(body, outer);
    std::vector<ValueId> operands;
    for (const json& operand : op.at("in")) operands.push_back(values_.at(operand.get<int>()));
    for (const int id : outer) operands.push_back(values_.at(id));
    const std::int64_t times = trip_count(op.at("cond"));
    const RegionId region = build_.add_region();
    const RegionId before = build_.enter(region);
    const std::map<int, ValueId> outside = values_;
    std::vector<ValueId> parameters;
    for (const json& argument : body.at("args")) parameters.push_back(new_value(argument));
    for (const int id : outer) {
      const ValueId value = outside.at(id);
      const ValueId inside = build_.add_value(graph().value(value).type, "", {}, {});
      graph_.shardings.resize(graph().values.size());
      graph_.shardings[index_of(inside)] = graph_.shardings[index_of(value)];
      values_[id] = inside;
      parameters.push_back(inside);
    }
    add_ops(body.at("ops"));
    std::vector<ValueId> results;
    for (const json& result : body.at("results")) results.push_back(values_.at(result.get<int>()));
    graph().regions[index_of(region)].parameters = parameters;
    graph().regions[index_of(region)].results = results;
    build_.enter(before);
    values_ = outside;
    const auto carries = static_cast<std::int64_t>(op.at("in").size());
    const NodeId node = build_.add_repeat(region, operands,
                                          {{"times", times},
                                           {"carries", carries},
                                           {"stacked", std::int64_t{0}},
                                           {"reverse", std::int64_t{0}}});
    for (const json& result : op.at("out")) {
      const TensorType type = read_type(result.at(1).get<std::string>());
      declare(result, build_.add_result(node, type, {}));
    }
  }

  const json& program_;
  ShardedGraph graph_;
  GraphBuilder build_;
  std::map<int, ValueId> values_;
  std::map<int, std::int64_t> numbers_;  ///< of scalar constants
};

}  // namespace

std::variant<ShardedGraph, std::string> recorded_graph(const json& program) {
  try {
    return Rebuilder(program).run();
  } catch (const Missing& missing) {
    return missing.op;
  }
}

}  // namespace shard::tests
