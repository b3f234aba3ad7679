// Attention over positions, with rotary positions, grouped heads and a causal mask.
//   b batch, s positions of the queries, t of the keys, d features, h heads, k heads of the keys,
//   r = h / k queries per key, e size of a head

#include <cmath>

#include "model/block_builder.h"

namespace shard {
namespace {

/// In the place of the scores of keys that may not be seen; finite, so that no row is NaN.
constexpr double forbidden_score = -1e30;

struct AttentionDims {
  BlockDim batch, length, features, heads, kv_heads, head_dim, kv_length, groups;

  bool is_grouped() const { return kv_heads.size != heads.size; }
};

class Attention {
 public:
  Attention(Lowering& lowering, LayerCall& call) : block_(lowering, call), c_(block_.compose) {}

  ValueId run() {
    const ValueId input = block_.input(0, 3);
    if (input == ValueId::none) return input;
    if (block_.compose.type(input).rank() != 3) {
      return block_.fail("rank-mismatch", "attention works on [batch, length, features], found " +
                                              block_.lowering.described(input));
    }
    if (!read_dims(input)) return ValueId::none;
    const ValueId x = c_.converted(input, block_.compute());
    if (!project(x)) return ValueId::none;
    if (block_.has("rotary")) {
      query_ = rotated(query_);
      key_ = rotated(key_);
    }
    name_projections();
    const ValueId mixed = mix(masked(scores()));
    if (mixed == ValueId::none) return mixed;
    return block_.finish(out(mixed));
  }

 private:
  bool read_dims(ValueId x) {
    dims_.batch = block_.dim_of(x, 0, "batch");
    dims_.length = block_.dim_of(x, 1, "length");
    dims_.features = block_.dim_of(x, 2, "embed");
    const auto heads = block_.dim("heads", "heads");
    if (!heads) return false;
    dims_.heads = *heads;
    dims_.kv_heads = *heads;
    if (block_.has("kv_heads")) {
      const auto kv_heads = block_.dim("kv_heads", "kv_heads");
      if (!kv_heads) return false;
      dims_.kv_heads = *kv_heads;
    }
    if (!block_.has("head_dim")) {
      if (dims_.features.size % dims_.heads.size != 0) {
        fail_split("features", dims_.features.size, "heads", dims_.heads.size,
                   "write head_dim: SIZE");
        return false;
      }
      dims_.head_dim = {dims_.features.size / dims_.heads.size, block_.label("", "head_dim")};
    } else {
      const auto head_dim = block_.dim("head_dim", "head_dim");
      if (!head_dim) return false;
      dims_.head_dim = *head_dim;
    }
    dims_.kv_length = {dims_.length.size, block_.label("", "kv_length")};
    if (dims_.heads.size % dims_.kv_heads.size != 0) {
      fail_split("heads", dims_.heads.size, "kv_heads", dims_.kv_heads.size,
                 "each head of the keys serves as many heads of the queries");
      return false;
    }
    dims_.groups = {dims_.heads.size / dims_.kv_heads.size,
                    dims_.is_grouped() ? block_.label("", "groups") : ""};
    return can_rotate() && can_fuse();
  }

  void fail_split(const std::string& whole, std::int64_t size, const std::string& part,
                  std::int64_t parts, const std::string& hint) {
    block_.fail("indivisible",
                "attention: " + std::to_string(size) + " " + whole + " do not divide by " +
                    std::to_string(parts) + " " + part,
                hint);
  }

  bool can_rotate() {
    if (!block_.has("rotary")) return true;
    if (dims_.head_dim.size % 2 != 0) {
      block_.fail("indivisible", "attention: rotary turns pairs, and head_dim is " +
                                     std::to_string(dims_.head_dim.size));
      return false;
    }
    if (block_.number("rotary", 1) > 0) return true;
    block_.fail("bad-argument", "attention: the base of rotary must be positive");
    return false;
  }

  bool can_fuse() {
    if (!block_.flag("fused_qkv", false) || !dims_.is_grouped()) return true;
    block_.fail("conflicting-keys", "attention: fused_qkv needs as many kv_heads as heads",
                "leave one of the two out");
    return false;
  }

  /// Queries, keys and values: [b, s, h, e], [b, t, k, e].
  bool project(ValueId x) {
    if (block_.flag("fused_qkv", false)) {
      project_at_once(x);
    } else {
      query_ = projected(x, "query", dims_.heads);
      key_ = projected(x, "key", dims_.kv_heads);
      value_ = projected(x, "value", dims_.kv_heads);
    }
    return query_ != ValueId::none && key_ != ValueId::none && value_ != ValueId::none;
  }

  ValueId projected(ValueId x, const std::string& name, const BlockDim& heads) {
    const ValueId kernel =
        block_.kernel(name + "/kernel", {dims_.features, heads, dims_.head_dim}, 1);
    const ValueId product = block_.product(x, kernel, paired({{}, {}, {2}, {0}}));
    return block_.with_bias(product, name + "/bias", {heads, dims_.head_dim}, true);
  }

  void project_at_once(ValueId x) {
    const BlockDim parts{3, block_.label("", "qkv")};
    const ValueId kernel =
        block_.kernel("qkv/kernel", {dims_.features, parts, dims_.heads, dims_.head_dim}, 1);
    ValueId all = block_.product(x, kernel, paired({{}, {}, {2}, {0}}));
    all = block_.with_bias(all, "qkv/bias", {parts, dims_.heads, dims_.head_dim}, true);
    all = block_.value("qkv", all, "queries, keys and values by one kernel");
    if (all == ValueId::none) return;
    query_ = part_of(all, 0);
    key_ = part_of(all, 1);
    value_ = part_of(all, 2);
  }

  ValueId part_of(ValueId all, std::int64_t part) {
    return c_.reshaped(c_.sliced(all, 2, part, part + 1), {dims_.batch.size, dims_.length.size,
                                                           dims_.heads.size, dims_.head_dim.size});
  }

  void name_projections() {
    const auto labels = [&](const BlockDim& length, const BlockDim& heads) {
      return std::vector<std::string>{dims_.batch.label, length.label, heads.label,
                                      dims_.head_dim.label};
    };
    const bool turns = block_.has("rotary");
    query_ = block_.value("query", query_, turns ? "queries, after rotary" : "queries",
                          labels(dims_.length, dims_.heads));
    key_ = block_.value("key", key_, turns ? "keys, after rotary" : "keys",
                        labels(dims_.length, dims_.kv_heads));
    value_ = block_.value("value", value_, "values", labels(dims_.length, dims_.kv_heads));
  }

  /// Turns the pairs (i, i + e/2) of each head by position * base^(-2i/e).
  ValueId rotated(ValueId x) {
    const Shape shape = c_.type(x).shape;
    const std::int64_t half = shape[3] / 2;
    const ValueId steps =
        c_.times(c_.iota({half}, 0, DType::f32), -1.0 / static_cast<double>(half));
    const ValueId base = c_.number(block_.number("rotary", 10000), DType::f32);
    const ValueId frequencies = c_.two(Op::power, base, steps);
    const ValueId angles = c_.two(Op::multiply, {c_.iota({shape[1], half}, 0, DType::f32),
                                                 c_.placed(frequencies, {shape[1], half}, {1})});
    Shape half_shape = shape;
    half_shape[3] = half;
    const ValueId cosine = c_.placed(c_.one(Op::cos, angles), half_shape, {1, 3});
    const ValueId sine = c_.placed(c_.one(Op::sin, angles), half_shape, {1, 3});
    const ValueId wide = c_.converted(x, DType::f32);
    const ValueId a = c_.sliced(wide, 3, 0, half), b = c_.sliced(wide, 3, half, 2 * half);
    const auto times = [&](ValueId p, ValueId q) { return c_.two(Op::multiply, p, q); };
    const ValueId first = c_.two(Op::subtract, {times(a, cosine), times(b, sine)});
    const ValueId second = c_.two(Op::add, {times(b, cosine), times(a, sine)});
    return c_.converted(c_.concatenated({first, second}, 3), c_.type(x).dtype);
  }

  std::vector<std::string> score_labels() const {
    if (!dims_.is_grouped()) {
      return {dims_.batch.label, dims_.heads.label, dims_.length.label, dims_.kv_length.label};
    }
    return {dims_.batch.label, dims_.kv_heads.label, dims_.length.label, dims_.groups.label,
            dims_.kv_length.label};
  }

  /// [b, k, s, r, t], or [b, h, s, t] when each head has its own keys; in f32.
  ValueId scores() {
    const double standard = 1 / std::sqrt(static_cast<double>(dims_.head_dim.size));
    ValueId query = c_.times(query_, block_.number("scale", standard));
    if (dims_.is_grouped()) {
      query = c_.reshaped(query, {dims_.batch.size, dims_.length.size, dims_.kv_heads.size,
                                  dims_.groups.size, dims_.head_dim.size});
      c_.set_labels(query, {dims_.batch.label, dims_.length.label, dims_.kv_heads.label,
                            dims_.groups.label, dims_.head_dim.label});
    }
    const std::int64_t sum = dims_.is_grouped() ? 4 : 3;
    const ValueId product = block_.product(query, key_, paired({{0, 2}, {0, 2}, {sum}, {3}}));
    const ValueId named = block_.value(
        "scores", product, "how well each position's query meets each key", score_labels());
    return named == ValueId::none ? named : c_.converted(named, DType::f32);
  }

  ValueId masked(ValueId scores) {
    if (scores == ValueId::none || block_.word("mask", "none") != "causal") return scores;
    const Shape square{dims_.length.size, dims_.length.size};
    const ValueId sees =
        c_.two(Op::ge, {c_.iota(square, 0, DType::i32), c_.iota(square, 1, DType::i32)});
    const Shape shape = c_.type(scores).shape;
    return c_.where(c_.placed(sees, shape, {2, static_cast<std::int64_t>(shape.size()) - 1}),
                    scores, forbidden_score);
  }

  /// The values, weighted by the softmax of the scores: [b, s, h, e].
  ValueId mix(ValueId scores) {
    if (scores == ValueId::none) return scores;
    const std::int64_t last = c_.last_dim(scores);
    const ValueId probs = block_.value("probs", c_.softmax(scores, {last}),
                                       "the weight of each key for each query", score_labels());
    const ValueId sums = block_.product(probs, value_, paired({{0, 1}, {0, 2}, {last}, {1}}));
    if (sums == ValueId::none) return sums;
    // [b, k, s, r, e] and [b, h, s, e].
    ValueId mixed = dims_.is_grouped() ? c_.transposed(sums, {0, 2, 1, 3, 4})
                                       : c_.transposed(sums, {0, 2, 1, 3});
    if (dims_.is_grouped()) {
      mixed = c_.reshaped(
          mixed, {dims_.batch.size, dims_.length.size, dims_.heads.size, dims_.head_dim.size});
    }
    return block_.value(
        "mixed", mixed, "the values by those weights, per head",
        {dims_.batch.label, dims_.length.label, dims_.heads.label, dims_.head_dim.label});
  }

  ValueId out(ValueId mixed) {
    const ValueId kernel =
        block_.kernel("out/kernel", {dims_.heads, dims_.head_dim, dims_.features}, 2);
    const ValueId product = block_.product(mixed, kernel, paired({{}, {}, {2, 3}, {0, 1}}));
    return block_.with_bias(product, "out/bias", {dims_.features}, true);
  }

  BlockBuilder block_;
  Composer& c_;
  AttentionDims dims_;
  ValueId query_ = ValueId::none, key_ = ValueId::none, value_ = ValueId::none;
};

}  // namespace

ValueId lower_attention(Lowering& lowering, LayerCall& call) {
  return Attention(lowering, call).run();
}

}  // namespace shard
