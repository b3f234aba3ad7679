#include "ops/batched.h"

#include <algorithm>
#include <array>

#include "ops/index_dims.h"

namespace shard {
namespace {

using Dims = std::vector<std::int64_t>;
using BatchedForm = void (*)(Attributes& attributes, const Shape& lead);

Dims first_positions(const Shape& lead) {
  Dims dims;
  for (std::size_t k = 0; k < lead.size(); ++k) dims.push_back(static_cast<std::int64_t>(k));
  return dims;
}

Dims joined(Dims before, const Dims& behind) {
  before.insert(before.end(), behind.begin(), behind.end());
  return before;
}

Dims moved_on(Dims dims, const Shape& lead) {
  for (std::int64_t& dim : dims) dim += static_cast<std::int64_t>(lead.size());
  return dims;
}

void move_on(Attributes& attributes, std::string_view key, const Shape& lead) {
  attributes.set(std::string(key), moved_on(attributes.integers(key), lead));
}

/// Dims that count from the first one, with the leading dims in front.
void put_in_front(Attributes& attributes, std::string_view key, const Shape& lead) {
  attributes.set(std::string(key),
                 joined(first_positions(lead), moved_on(attributes.integers(key), lead)));
}

/// A number per dim: `number` for each leading one.
void fill_front(Attributes& attributes, std::string_view key, const Shape& lead,
                std::int64_t number) {
  attributes.set(std::string(key), joined(Dims(lead.size(), number), attributes.integers(key)));
}

void batched_dot(Attributes& attributes, const Shape& lead) {
  for (const std::string_view key : {"lhs_batch", "rhs_batch"}) put_in_front(attributes, key, lead);
  for (const std::string_view key : {"lhs_contract", "rhs_contract"})
    move_on(attributes, key, lead);
}

void batched_dims(Attributes& attributes, const Shape& lead) { move_on(attributes, "dims", lead); }

void batched_dim(Attributes& attributes, const Shape& lead) {
  attributes.set("dim", attributes.integer("dim") + static_cast<std::int64_t>(lead.size()));
}

void batched_order(Attributes& attributes, const Shape& lead) {
  put_in_front(attributes, "order", lead);
}

void batched_shape(Attributes& attributes, const Shape& lead) {
  attributes.set("shape", joined(lead, attributes.integers("shape")));
}

void batched_broadcast(Attributes& attributes, const Shape& lead) {
  batched_shape(attributes, lead);
  put_in_front(attributes, "dims", lead);
}

void batched_slice(Attributes& attributes, const Shape& lead) {
  fill_front(attributes, "start", lead, 0);
  attributes.set("limit", joined(lead, attributes.integers("limit")));
  fill_front(attributes, "stride", lead, 1);
}

void batched_pad(Attributes& attributes, const Shape& lead) {
  for (const std::string_view key : {"low", "high", "interior"}) {
    fill_front(attributes, key, lead, 0);
  }
}

void batched_window(Attributes& attributes, const Shape& lead) {
  for (const std::string_view key : {"window", "strides", "dilation", "base_dilation"}) {
    fill_front(attributes, key, lead, 1);
  }
  for (const std::string_view key : {"low", "high"}) fill_front(attributes, key, lead, 0);
}

void batched_scatter(Attributes& attributes, const Shape& lead) {
  for (const std::string_view key : {"window_dims", "collapsed_dims", "start_dims"}) {
    move_on(attributes, key, lead);
  }
  for (const std::string_view key : {"batch_dims", "index_batch_dims"}) {
    put_in_front(attributes, key, lead);
  }
  attributes.set("index_vector_dim",
                 attributes.integer("index_vector_dim") + static_cast<std::int64_t>(lead.size()));
}

void batched_gather(Attributes& attributes, const Shape& lead) {
  batched_scatter(attributes, lead);
  fill_front(attributes, "slice_sizes", lead, 1);
}

void unchanged(Attributes& /*attributes*/, const Shape& /*lead*/) {}

struct BatchedRow {
  Op op;
  BatchedForm form;
};

/// Each position draws for itself.
void batched_counts(Attributes& attributes, const Shape& lead) {
  attributes.set("counts", joined(lead, attributes.integers("counts")));
}

/// Other elementwise ops stay as they are and have no row.
constexpr std::array<BatchedRow, 37> batched_rows = {{
    {Op::dot, batched_dot},
    {Op::dropout, batched_counts},
    {Op::reduce_sum, batched_dims},
    {Op::reduce_max, batched_dims},
    {Op::reduce_min, batched_dims},
    {Op::reduce_prod, batched_dims},
    {Op::reduce_and, batched_dims},
    {Op::reduce_or, batched_dims},
    {Op::reverse, batched_dims},
    {Op::argmax, batched_dim},
    {Op::argmin, batched_dim},
    {Op::cumsum, batched_dim},
    {Op::cumprod, batched_dim},
    {Op::cummax, batched_dim},
    {Op::cummin, batched_dim},
    {Op::cumlogsumexp, batched_dim},
    {Op::linear_recurrence, batched_dim},
    {Op::sort, batched_dim},
    {Op::concatenate, batched_dim},
    {Op::ppermute, batched_dim},
    {Op::ragged_all_to_all, batched_dims},
    {Op::top_k, unchanged},
    {Op::transpose, batched_order},
    {Op::broadcast, batched_broadcast},
    {Op::reshape, batched_shape},
    {Op::slice, batched_slice},
    {Op::pad, batched_pad},
    {Op::reduce_window_sum, batched_window},
    {Op::reduce_window_max, batched_window},
    {Op::reduce_window_min, batched_window},
    {Op::select_and_scatter_add, batched_window},
    {Op::gather, batched_gather},
    {Op::scatter_add, batched_scatter},
    {Op::scatter_set, batched_scatter},
    {Op::scatter_max, batched_scatter},
    {Op::scatter_min, batched_scatter},
    {Op::scatter_mul, batched_scatter},
}};

}  // namespace

std::optional<Attributes> batched_attributes(Op op, const Attributes& attributes,
                                             const Shape& lead) {
  const auto row = std::find_if(batched_rows.begin(), batched_rows.end(),
                                [&](const BatchedRow& one) { return one.op == op; });
  if (row == batched_rows.end()) {
    return def(op).is_elementwise ? std::optional(attributes) : std::nullopt;
  }
  Attributes batched = attributes;
  row->form(batched, lead);
  return batched;
}

}  // namespace shard
