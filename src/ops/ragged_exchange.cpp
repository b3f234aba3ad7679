#include "ops/ragged_exchange.h"

#include <algorithm>
#include <numeric>

#include "ops/composed.h"
#include "ops/dims.h"
#include "ops/rule_builder.h"
#include "ops/shape_mistakes.h"

namespace shard {
namespace {

using Types = std::span<const TensorType>;
using Dims = std::vector<std::int64_t>;

constexpr std::array<std::string_view, ragged_operands> operand_names = {
    "operand", "output", "input_offsets", "send_sizes", "output_offsets", "recv_sizes"};

Shape behind(const Shape& shape, int leads) { return {shape.begin() + leads, shape.end()}; }

std::string is_text(std::size_t operand, const TensorType& type) {
  return std::string(operand_names[operand]) + " is " + to_string(type);
}

/// What a member has of it, for messages.
TensorType of_member(const TensorType& type, int leads) {
  return {type.dtype, behind(type.shape, leads)};
}

std::string list_mistake(Types operands, int leads, std::int64_t members) {
  for (std::size_t i = ragged_lists_begin; i < operands.size(); ++i) {
    const TensorType own = of_member(operands[i], leads);
    if (own.rank() != 1 || !is_whole(own.dtype)) {
      return is_text(i, own) + ", not a list of integers";
    }
    const std::int64_t entries = own.shape[0];
    const std::int64_t first = operands[ragged_lists_begin].shape.back();
    if (entries != first) {
      return std::string(operand_names[i]) + " has " + std::to_string(entries) + " entries, " +
             std::string(operand_names[ragged_lists_begin]) + " " + std::to_string(first);
    }
    if (entries < 1 || entries % members != 0) {
      return std::to_string(entries) + " entries are not as many for each of " +
             std::to_string(members) + " members";
    }
  }
  return "";
}

std::string row_mistake(Types operands, int leads) {
  for (std::size_t i = 0; i < ragged_lists_begin; ++i) {
    if (operands[i].rank() > leads) continue;
    return is_text(i, of_member(operands[i], leads)) + ", which has no rows";
  }
  if (operands[0].dtype != operands[1].dtype) {
    return "dtypes differ: " + dtype_word(operands[0].dtype) + " and " +
           dtype_word(operands[1].dtype);
  }
  if (behind(operands[0].shape, leads + 1) == behind(operands[1].shape, leads + 1)) return "";
  return "rows differ: " + is_text(0, of_member(operands[0], leads)) + ", " +
         is_text(1, of_member(operands[1], leads));
}

/// Entry j that each member has for another becomes entry j that the other has for it.
ValueId exchanged_entries(Builder& b, ValueId list, const Dims& members) {
  const Shape shape = b.type(list).shape;
  Shape apart(shape.begin(), shape.end() - 1);
  const auto leads = static_cast<std::int64_t>(apart.size());
  Dims order(apart.size() + members.size() + 1);
  std::iota(order.begin(), order.end(), 0);
  std::int64_t each = shape.back();
  for (std::size_t k = 0; k < members.size(); ++k) {
    const auto dim = static_cast<std::size_t>(members[k]);
    apart.push_back(shape[dim]);
    each /= shape[dim];
    std::swap(order[dim], order[static_cast<std::size_t>(leads) + k]);
  }
  apart.push_back(each);
  const ValueId turned = b.emit(Op::transpose, {reshaped(b, list, std::move(apart))},
                                Attributes{{"order", std::move(order)}});
  return reshaped(b, turned, shape);
}

/// Of [lead.., rows]: whether some slice of the lists [lead.., k] has the row.
ValueId rows_within(Builder& b, ValueId offsets, ValueId sizes, std::int64_t rows) {
  Shape shape = b.type(offsets).shape;
  const auto entries = static_cast<std::int64_t>(shape.size()) - 1;
  shape.push_back(rows);
  Dims all(static_cast<std::size_t>(entries) + 1);
  std::iota(all.begin(), all.end(), 0);
  const ValueId first = as_dtype(b, offsets, DType::i32);
  const ValueId last = b.emit(Op::add, {first, as_dtype(b, sizes, DType::i32)});
  const ValueId at = iota(b, shape, entries + 1, DType::i32);
  const ValueId is_behind = b.emit(Op::ge, {at, broadcast_to(b, first, shape, all)});
  const ValueId is_before = b.emit(Op::lt, {at, broadcast_to(b, last, shape, all)});
  return reduced(b, Op::reduce_or, b.emit(Op::bitwise_and, {is_behind, is_before}), {entries});
}

}  // namespace

std::string_view ragged_operand_name(std::size_t operand) { return operand_names[operand]; }

std::string ragged_exchange_mistake(Types operands, int leads, std::int64_t members) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Shape &shape = operands[i].shape, &first = operands[0].shape;
    const auto count = static_cast<std::size_t>(leads);
    if (shape.size() < count || first.size() < count ||
        !std::equal(shape.begin(), shape.begin() + leads, first.begin())) {
      return "leading dims differ: " + is_text(0, operands[0]) + ", " + is_text(i, operands[i]);
    }
  }
  const std::string mistake = row_mistake(operands, leads);
  return mistake.empty() ? list_mistake(operands, leads, members) : mistake;
}

ShapeResult ragged_all_to_all_shape(Types operands, const Attributes& attributes) {
  const int leads = std::max(0, operands[ragged_lists_begin].rank() - 1);
  const Dims& dims = attributes.integers("dims");
  std::string mistake = position_mistake(dims, leads);
  if (!mistake.empty()) return mistake;
  std::int64_t members = 1;
  for (const std::int64_t dim : dims) {
    members *= operands[ragged_lists_begin].shape[static_cast<std::size_t>(dim)];
  }
  mistake = members < 1 ? std::string("there are no members")
                        : ragged_exchange_mistake(operands, leads, members);
  if (!mistake.empty()) return mistake;
  return one_result(operands[1]);
}

FactorRule ragged_all_to_all_rule(Types operands, Types results, const Attributes& attributes) {
  const Dims& dims = attributes.integers("dims");
  const std::int64_t leads = operands[ragged_lists_begin].rank() - 1;
  const auto size = [&](std::size_t operand, std::int64_t dim) {
    return operands[operand].shape[static_cast<std::size_t>(dim)];
  };
  RuleBuilder rule(operands, results);
  for (std::int64_t dim = 0; dim < leads; ++dim) {
    rule.add(size(0, dim), contains(dims, dim) ? FactorKind::permutation : FactorKind::pass_through)
        .everywhere(dim);
  }
  rule.add(size(0, leads), FactorKind::need_replication).block().on_operand(0, leads);
  rule.add(size(1, leads), FactorKind::need_replication)
      .block()
      .on_operand(1, leads)
      .on_result(0, leads);
  rule.add(size(ragged_lists_begin, leads), FactorKind::need_replication).block();
  for (std::size_t i = ragged_lists_begin; i < operands.size(); ++i) rule.on_operand(i, leads);
  for (std::int64_t dim = leads + 1; dim < operands[0].rank(); ++dim) {
    rule.add(size(0, dim)).on_operand(0, dim).on_operand(1, dim).on_result(0, dim);
  }
  return rule.take();
}

std::vector<ValueId> ragged_all_to_all_derivative(const DerivativeInput& input) {
  Builder& b = input.builder;
  const ValueId g = input.cotangents[0];
  const Dims& dims = input.attributes.integers("dims");
  std::vector<ValueId> out(input.operands.size(), ValueId::none);
  const ValueId send_sizes = input.operands[3], recv_sizes = input.operands[5];
  const ValueId written = exchanged_entries(b, input.operands[4], dims);
  if (input.wants(0)) {
    const ValueId zeros = filled(b, 0, b.type(input.operands[0]));
    const ValueId back = exchanged_entries(b, input.operands[2], dims);
    out[0] = b.emit(Op::ragged_all_to_all, {g, zeros, written, recv_sizes, back, send_sizes},
                    input.attributes);
  }
  if (input.wants(1)) {
    const Shape shape = b.type(g).shape;
    const auto leads = b.type(recv_sizes).shape.size() - 1;
    Dims row_dims(leads + 1);
    std::iota(row_dims.begin(), row_dims.end(), 0);
    const ValueId is_written = rows_within(b, written, recv_sizes, shape[leads]);
    out[1] = selected(b, broadcast_to(b, is_written, shape, row_dims), filled(b, 0, b.type(g)), g);
  }
  return out;
}

}  // namespace shard
