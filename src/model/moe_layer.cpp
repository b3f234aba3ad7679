// Mixtures of experts: a router chooses a few experts for each token.
//   ... leading dims (batch), s positions, d features, E experts, f hidden, k choices, c room

#include <algorithm>
#include <cmath>

#include "model/activation.h"
#include "model/block_builder.h"
#include "ops/composed.h"

namespace shard {
namespace {

class Moe {
 public:
  Moe(Lowering& lowering, LayerCall& call) : block_(lowering, call), c_(block_.compose) {}

  ValueId run() {
    const ValueId input = block_.input(0, 2);
    if (input == ValueId::none || !read_dims(input)) return ValueId::none;
    x_ = c_.converted(input, block_.compute());
    if (!route()) return ValueId::none;
    add_balance();
    if (dispatch() == "ragged") return block_.finish(by_groups());
    return block_.finish(has_room() ? by_room() : by_all());
  }

 private:
  bool read_dims(ValueId x) {
    const int rank = c_.type(x).rank();
    for (int dim = 0; dim + 1 < rank; ++dim) {
      leading_.push_back(block_.dim_of(x, dim, dim + 2 == rank ? "length" : "batch"));
    }
    features_ = block_.dim_of(x, -1, "embed");
    const auto experts = block_.dim("experts", "expert");
    const auto hidden = block_.dim("features", "mlp");
    if (!experts || !hidden) return false;
    experts_ = *experts;
    hidden_ = *hidden;
    choices_ = {2, block_.label("", "choice")};
    if (block_.has("top_k")) {
      const auto top = block_.dim("top_k", "choice");
      if (!top) return false;
      choices_.size = top->size;
    }
    if (choices_.size > experts_.size) {
      block_.fail("bad-argument", "moe: top_k is " + std::to_string(choices_.size) + " of " +
                                      std::to_string(experts_.size) + " experts");
      return false;
    }
    return read_room();
  }

  std::string dispatch() const { return block_.word("dispatch", "dense"); }
  bool has_room() const { return dispatch() == "capacity"; }

  /// How many tokens of a sequence an expert takes.
  bool read_room() {
    const bool is_asked = block_.has("capacity") || block_.has("capacity_factor");
    if (!has_room()) {
      if (!is_asked) return true;
      block_.fail("conflicting-keys", "moe: a capacity has no effect with dispatch: " + dispatch(),
                  "write dispatch: capacity");
      return false;
    }
    if (leading_.size() > 2) {
      block_.fail("rank-mismatch", "moe with a capacity works on [batch, length, features]");
      return false;
    }
    room_ = {1, block_.label("", "capacity")};
    if (block_.has("capacity")) {
      const auto room = block_.dim("capacity", "capacity");
      if (!room) return false;
      room_ = *room;
      return true;
    }
    const double share = static_cast<double>(leading_.back().size * choices_.size) /
                         static_cast<double>(experts_.size);
    const double factor = block_.number("capacity_factor", 1);
    room_.size = std::max<std::int64_t>(1, std::llround(std::ceil(share * factor)));
    return true;
  }

  std::vector<std::string> labels(const std::vector<BlockDim>& more) const {
    std::vector<std::string> names;
    for (const BlockDim& dim : leading_) names.push_back(dim.label);
    for (const BlockDim& dim : more) names.push_back(dim.label);
    return names;
  }

  Shape shape(const std::vector<BlockDim>& more) const {
    Shape sizes;
    for (const BlockDim& dim : leading_) sizes.push_back(dim.size);
    for (const BlockDim& dim : more) sizes.push_back(dim.size);
    return sizes;
  }

  std::int64_t rank() const { return static_cast<std::int64_t>(leading_.size()); }

  std::vector<std::int64_t> leading_dims() const {
    std::vector<std::int64_t> dims(leading_.size());
    for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = static_cast<std::int64_t>(i);
    return dims;
  }

  /// Probabilities of the experts in f32, the largest of them, and which these are.
  bool route() {
    const ValueId kernel = block_.kernel("router/kernel", {features_, experts_}, 1);
    const ValueId logits = block_.product(x_, kernel, paired({{}, {}, {rank()}, {0}}));
    if (logits == ValueId::none) return false;
    probs_ = block_.value("probs", c_.softmax(c_.converted(logits, DType::f32), {rank()}),
                          "the router's probability of each expert", labels({experts_}));
    if (probs_ == ValueId::none) return false;
    const std::vector<ValueId> best = block_.lowering.builder.emit_all(
        Op::top_k, std::vector{probs_}, Attributes{{"k", choices_.size}});
    chosen_ = best[1];
    c_.set_labels(chosen_, labels({choices_}));
    weights_ = has_room() ? weights_of_experts() : best[0];
    if (block_.flag("renormalize", true)) {
      const ValueId sum = c_.reduced(Op::reduce_sum, weights_, {rank()});
      weights_ = c_.two(Op::divide, weights_, c_.spread(sum, c_.type(weights_).shape, {rank()}));
    }
    weights_ = block_.value("weights", weights_, "of the experts chosen for a token",
                            labels({has_room() ? experts_ : choices_}));
    return weights_ != ValueId::none;
  }

  /// [..., E]: the probability of each expert that was chosen, zero of the others. Split over the
  /// experts, like the tokens sent to them, and with a gradient that scatters nothing.
  ValueId weights_of_experts() {
    const ValueId is_any = c_.reduced(Op::reduce_or, is_chosen(), {rank()});
    return c_.where(is_any, probs_, 0);
  }

  /// Where a choice is an expert: [..., k, E].
  ValueId is_chosen() {
    const Shape all = shape({choices_, experts_});
    return c_.two(Op::eq, {c_.iota(all, static_cast<int>(rank()) + 1, DType::i32),
                           c_.spread(chosen_, all, {rank() + 1})});
  }

  /// E * the sum over experts of (share of the choices) * (mean probability).
  void add_balance() {
    const double weight = block_.number("balance", 0);
    if (weight == 0) return;
    std::vector<std::int64_t> tokens = leading_dims();
    const ValueId mean = c_.mean(probs_, tokens);
    tokens.push_back(rank());
    const ValueId share = c_.mean(c_.converted(is_chosen(), DType::f32), tokens);
    const ValueId sum = c_.reduced(Op::reduce_sum, c_.two(Op::multiply, share, mean), {0});
    // The share is a mean over the choices too.
    const ValueId balance =
        block_.value("balance", c_.times(sum, static_cast<double>(experts_.size)),
                     "one when all experts are chosen equally often");
    if (balance != ValueId::none) block_.lowering.add_to_loss(c_.times(balance, weight));
  }

  /// What happens between two products with the experts' kernels.
  ValueId activated(ValueId first, ValueId second) {
    const ValueId value = c_.one(activation_named(block_.word("activation", "silu")), first);
    return second == ValueId::none ? value : c_.two(Op::multiply, value, second);
  }

  bool is_gated() const { return block_.flag("gated", true); }

  ValueId expert_kernel(std::string_view name, const BlockDim& from, const BlockDim& to) {
    return block_.kernel(name, {experts_, from, to}, 1, 1);
  }

  /// activation(x @ gate) * (x @ up) for each expert, over these dims of x and of the kernels.
  ValueId hidden_of(ValueId x, const Pairing& pairing) {
    const ValueId first = block_.product(
        x, expert_kernel(is_gated() ? "gate/kernel" : "up/kernel", features_, hidden_),
        paired(pairing));
    if (first == ValueId::none) return first;
    if (!is_gated()) return activated(first, ValueId::none);
    const ValueId up =
        block_.product(x, expert_kernel("up/kernel", features_, hidden_), paired(pairing));
    return up == ValueId::none ? up : activated(first, up);
  }

  /// Every expert sees every token; weights of zero leave out those that were not chosen.
  ValueId by_all() {
    const Shape all = shape({choices_, experts_});
    const ValueId spread = c_.spread(weights_, all, {rank() + 1});
    ValueId combine = c_.reduced(Op::reduce_sum, c_.where(is_chosen(), spread, 0), {rank()});
    combine = block_.value("combine", combine, "the weight of each expert for a token, or zero",
                           labels({experts_}));
    // [..., E, f]
    const ValueId hidden =
        block_.value("hidden", hidden_of(x_, {{}, {}, {rank()}, {1}}),
                     "the hidden values of each expert", labels({experts_, hidden_}));
    const ValueId down = expert_kernel("down/kernel", hidden_, features_);
    if (combine == ValueId::none || hidden == ValueId::none) return ValueId::none;
    const ValueId weighted = c_.two(Op::multiply, hidden,
                                    c_.spread(c_.converted(combine, c_.type(hidden).dtype),
                                              c_.type(hidden).shape, {rank() + 1}));
    return block_.product(weighted, down, paired({{}, {}, {rank(), rank() + 1}, {0, 1}}));
  }

  /// A stable order of the choices by expert, as positions in the list of all choices.
  ValueId positions_by(ValueId keys) {
    const std::array operands = {keys, c_.iota(c_.type(keys).shape, 0, DType::i32)};
    const Attributes by_first{{"dim", std::int64_t{0}}, {"keys", std::int64_t{1}}};
    return block_.lowering.builder.emit_all(Op::sort, operands, by_first)[1];
  }

  /// Tokens sorted by expert, one row per choice; each row by the matrix of its expert, and back.
  ValueId by_groups() {
    std::vector<std::int64_t> all_but_expert = leading_dims();
    all_but_expert.push_back(rank());
    const ValueId counts =
        c_.reduced(Op::reduce_sum, c_.converted(is_chosen(), DType::i32), all_but_expert);
    const std::int64_t rows = element_count(shape({choices_}));
    const ValueId order = positions_by(c_.reshaped(chosen_, {rows}));
    const ValueId tokens = c_.reshaped(x_, {rows / choices_.size, features_.size});
    const ValueId token =
        c_.two(Op::divide, order, c_.number(static_cast<double>(choices_.size), DType::i32));
    const ValueId sent =
        block_.value("dispatched", take(block_.lowering.builder, tokens, token, 0),
                     "a row per choice of a token, sorted by expert", {"", features_.label});
    const ValueId hidden = hidden_of_rows(sent, counts);
    const ValueId down = expert_kernel("down/kernel", hidden_, features_);
    if (hidden == ValueId::none || down == ValueId::none) return ValueId::none;
    const ValueId made = block_.value("expert_out", grouped(hidden, down, counts),
                                      "what the experts make of their rows", {"", features_.label});
    return weighed(take(block_.lowering.builder, made, positions_by(order), 0));
  }

  ValueId grouped(ValueId rows, ValueId matrices, ValueId counts) {
    return block_.lowering.emit(Op::ragged_dot, {rows, matrices, counts});
  }

  ValueId hidden_of_rows(ValueId rows, ValueId counts) {
    const ValueId first =
        expert_kernel(is_gated() ? "gate/kernel" : "up/kernel", features_, hidden_);
    const ValueId second =
        is_gated() ? expert_kernel("up/kernel", features_, hidden_) : ValueId::none;
    if (rows == ValueId::none || first == ValueId::none) return ValueId::none;
    const ValueId gate = grouped(rows, first, counts);
    const ValueId up = is_gated() ? grouped(rows, second, counts) : ValueId::none;
    if (gate == ValueId::none || (is_gated() && up == ValueId::none)) return ValueId::none;
    return block_.value("hidden", activated(gate, up), "the hidden values of each row's expert",
                        {"", hidden_.label});
  }

  /// [rows, d], in the order of the tokens' choices: their sum by the choices' weights.
  ValueId weighed(ValueId rows) {
    const ValueId of_choices = c_.reshaped(rows, shape({choices_, features_}));
    c_.set_labels(of_choices, labels({choices_, features_}));
    const ValueId weights = c_.spread(c_.converted(weights_, c_.type(rows).dtype),
                                      c_.type(of_choices).shape, {rank() + 1});
    return c_.reduced(Op::reduce_sum, c_.two(Op::multiply, of_choices, weights), {rank()});
  }

  /// The first choices of all tokens get their room before the second ones, in token order.
  ValueId room_of_choice(ValueId chosen, ValueId& filled) {
    const Shape per_expert = shape({experts_});
    const std::int64_t positions = rank() - 1;
    const ValueId hot = c_.converted(chosen, DType::f32);
    const ValueId counted = block_.lowering.builder.emit(
        Op::cumsum, {hot}, Attributes{{"dim", positions}, {"reverse", std::int64_t{0}}});
    ValueId place = c_.two(Op::subtract, counted, hot);
    if (filled != ValueId::none) {
      place = c_.two(Op::add, place, c_.spread(filled, per_expert, {positions}));
    }
    const ValueId all = c_.reduced(Op::reduce_sum, hot, {positions});
    filled = filled == ValueId::none ? all : c_.two(Op::add, filled, all);
    const ValueId own = c_.reduced(Op::reduce_sum, c_.two(Op::multiply, place, hot), {rank()});
    return c_.converted(own, DType::i32);
  }

  /// [..., E, c]: the weight of a token at its place in each expert's room, zero elsewhere.
  ValueId combine_by_room() {
    const Shape by_place = shape({room_});
    ValueId combine = ValueId::none, filled = ValueId::none;
    const ValueId all_chosen = is_chosen();
    for (std::int64_t i = 0; i < choices_.size; ++i) {
      const ValueId chosen =
          c_.reshaped(c_.sliced(all_chosen, static_cast<int>(rank()), i, i + 1), shape({experts_}));
      const ValueId place = room_of_choice(chosen, filled);
      const ValueId is_there =
          c_.two(Op::eq, {c_.iota(by_place, static_cast<int>(rank()), DType::i32),
                          c_.spread(place, by_place, {rank()})});
      const ValueId part = block_.lowering.builder.emit(
          Op::dot, {c_.where(chosen, weights_, 0), c_.converted(is_there, DType::f32)},
          paired({leading_dims(), leading_dims(), {}, {}}));
      combine = combine == ValueId::none ? part : c_.two(Op::add, combine, part);
    }
    return block_.value("combine", combine, "the weight of a token at its place in an expert",
                        labels({experts_, room_}));
  }

  /// Tokens are sent to their places in the experts' rooms; those that find none are left out.
  ValueId by_room() {
    const ValueId combine = combine_by_room();
    if (combine == ValueId::none) return combine;
    const ValueId sends =
        c_.converted(c_.two(Op::gt, combine, c_.number(0, DType::f32)), block_.compute());
    const bool has_batch = leading_.size() == 2;
    const std::vector<std::int64_t> batch =
        has_batch ? std::vector<std::int64_t>{0} : std::vector<std::int64_t>{};
    const std::int64_t positions = rank() - 1;
    ValueId sent = block_.product(sends, x_, paired({batch, batch, {positions}, {positions}}));
    if (sent == ValueId::none) return sent;
    // [b, E, c, d] to [E, b, c, d]
    if (has_batch) sent = c_.transposed(sent, {1, 0, 2, 3});
    sent = block_.value("dispatched", sent, "the tokens in the experts' rooms",
                        room_labels(features_));
    const std::int64_t last = has_batch ? 3 : 2;
    const ValueId hidden = block_.value("hidden", hidden_of(sent, {{0}, {0}, {last}, {1}}),
                                        "the hidden values of each expert", room_labels(hidden_));
    const ValueId down = expert_kernel("down/kernel", hidden_, features_);
    const ValueId back =
        block_.value("expert_out", block_.product(hidden, down, paired({{0}, {0}, {last}, {1}})),
                     "what the experts make of their tokens", room_labels(features_));
    // combine [b, s, E, c] with [E, b, c, d]
    if (has_batch) return block_.product(combine, back, paired({{0}, {1}, {2, 3}, {0, 2}}));
    return block_.product(combine, back, paired({{}, {}, {1, 2}, {0, 1}}));
  }

  std::vector<std::string> room_labels(const BlockDim& last) const {
    if (leading_.size() == 2) {
      return {experts_.label, leading_[0].label, room_.label, last.label};
    }
    return {experts_.label, room_.label, last.label};
  }

  BlockBuilder block_;
  Composer& c_;
  std::vector<BlockDim> leading_;
  BlockDim features_, experts_, hidden_, choices_, room_;
  ValueId x_ = ValueId::none, probs_ = ValueId::none, chosen_ = ValueId::none,
          weights_ = ValueId::none;
};

}  // namespace

ValueId lower_moe(Lowering& lowering, LayerCall& call) { return Moe(lowering, call).run(); }

}  // namespace shard
