#include "shard/explicit_gradient.h"

#include <algorithm>
#include <map>

#include "shard/explicit_rules.h"

namespace shard {
namespace typing {
namespace {

using DerivativeCheck = void (*)(const TypingCall& call);

/// A product is differentiated by halving: the reduced dims in front as one, then slices of it.
void check_product_halves(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const Parameter* axes = find(call.parameters, "axes");
  if (axes == nullptr) axes = find(call.parameters, "axis");
  const Dims dims = dims_at(axes, value.rank());
  Shape shape = {element_count(picked(value.shape, dims))};
  Dims order = dims;
  for (std::size_t dim = 0; dim < value.rank(); ++dim) {
    if (holds(dims, dim)) continue;
    shape.push_back(value.shape[dim]);
    order.push_back(dim);
  }
  ShardedType rows =
      type_one(call.mesh, "lax.reshape", {value}, {{"new_sizes", shape}, {"dimensions", order}});
  while (rows.shape[0] > 1) {
    const std::int64_t half = rows.shape[0] / 2;
    rows = resized(call.mesh, rows, with_size(rows.shape, 0, half), "slicing");
  }
}

/// A sort takes the positions along, which are whole.
void check_sorted_positions(const TypingCall& call) {
  ShardedTypes operands = call.operands;
  operands.push_back(typed(call, call.operands[0].shape, {}));
  type_op({call.mesh, "lax.sort_multi", operands, call.parameters});
}

/// Which update won is found by a scatter of whole numbers into a whole array.
void check_scattered_marks(const TypingCall& call) {
  const ShardedType& update = call.operands.back();
  if (!update.is_split()) return;
  refuse(RefusalKind::scatter,
         "Use `.at[...].set/add/mul/...(out_sharding=)` to say how the result of the scatter is "
         "split: its derivative scatters marks into an array that is whole. Got updates=" +
             short_type_text(call.mesh, update));
}

/// Taking the padding off again goes through an array without edges but with gaps.
void check_gaps(const TypingCall& call) {
  const ShardedType padded_type = type_one(call.mesh, "lax.pad", call.operands, call.parameters);
  const ShardedType& value = call.operands[0];
  const Parameter::List& config = find(call.parameters, "padding_config")->list();
  Shape shape;
  for (std::size_t dim = 0; dim < value.rank(); ++dim) {
    const std::int64_t gaps = std::max<std::int64_t>(value.shape[dim] - 1, 0);
    shape.push_back(value.shape[dim] + gaps * config[dim].integers()[2]);
  }
  resized(call.mesh, padded_type, shape, "padding");
}

/// The derivative by a reduced operand is unreduced along its reduced axes: those have to split
/// what the backward product sums over, the dims that the other side alone has.
void check_reduced_side(const TypingCall& call, const ShardedType& reduced_side,
                        const ShardedType& other, const Dims& own_dims) {
  if (reduced_side.reduced.empty()) return;
  TypeEntry summed = axes_of(picked(other.entries, own_dims));
  std::sort(summed.begin(), summed.end());
  if (summed == reduced_side.reduced) return;
  refuse(RefusalKind::unreduced_contraction_axes,
         "out_sharding's unreduced axes should be equal to the contracting specs: the derivative "
         "by " +
             short_type_text(call.mesh, reduced_side) + " sums over " +
             short_type_text(call.mesh, other));
}

void check_dot_sides(const TypingCall& call) {
  const ShardedType& lhs = call.operands[0];
  const ShardedType& rhs = call.operands[1];
  if (lhs.rank() == 0 || rhs.rank() == 0) return;
  check_reduced_side(call, rhs, lhs, without(first_dims(lhs.rank()), {lhs.rank() - 1}));
  const std::size_t rows = rhs.rank() < 2 ? 0 : rhs.rank() - 2;
  check_reduced_side(call, lhs, rhs, without(first_dims(rhs.rank()), {rows}));
}

void check_dot_general_sides(const TypingCall& call) {
  const Parameter::List& numbers = find(call.parameters, "dimension_numbers")->list();
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const ShardedType& other = call.operands[1 - side];
    Dims shared = dims_at(&numbers[0].list()[1 - side], other.rank());
    for (const std::size_t dim : dims_at(&numbers[1].list()[1 - side], other.rank())) {
      shared.push_back(dim);
    }
    check_reduced_side(call, call.operands[side], other, without(first_dims(other.rank()), shared));
  }
}

/// What comes back of a dim that was taken away is whole: axes that split it in one are missing.
void check_squeezed_dims(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const Parameter* named = find(call.parameters, "dimensions");
  if (named == nullptr) named = find(call.parameters, "axis");
  ShardedType back = cotangent_type(value);
  for (std::size_t dim = 0; dim < value.rank(); ++dim) {
    const bool is_taken = named != nullptr && !named->is_none()
                              ? holds(dims_at(named, value.rank()), dim)
                              : value.shape[dim] == 1;
    if (is_taken) back.entries[dim].clear();
  }
  if (same_placement(back, cotangent_type(value))) return;
  refuse(RefusalKind::squeezed_cotangent, "Expected cotangent type " +
                                              type_text(call.mesh, cotangent_type(value)) +
                                              " but got " + type_text(call.mesh, back));
}

struct DerivativeRow {
  std::string_view op;
  DerivativeCheck linearized = nullptr;  ///< refused before anything flows backward
  DerivativeCheck backward = nullptr;
};

constexpr DerivativeRow derivative_rows[] = {
    {"jnp.prod", check_product_halves},
    {"lax.reduce_prod", check_product_halves},
    {"lax.sort", check_sorted_positions},
    {"at.set", check_scattered_marks},
    {"lax.pad", nullptr, check_gaps},
    {"lax.squeeze", nullptr, check_squeezed_dims},
    {"jnp.squeeze", nullptr, check_squeezed_dims},
    {"jnp.dot", nullptr, check_dot_sides},
    {"lax.dot_general", nullptr, check_dot_general_sides},
};

/// Keeps every step of the outermost level with the types it was given.
class StepRecorder : public TypingListener {
 public:
  StepRecorder(const Mesh& mesh, TypingListener* next) : mesh_(mesh), next_(next) {}

  void begins(const TypedStep& step) override {
    if (next_ != nullptr) next_->begins(step);
    if (depth_++ > 0) return;
    ShardedTypes operands;
    for (const auto& operand : step.operands) {
      const auto* number = std::get_if<ShardedType>(&operand);
      operands.push_back(number != nullptr ? *number : types.at(std::get<std::string>(operand)));
    }
    const PartitionSpec* out = step.out_sharding ? &*step.out_sharding : nullptr;
    calls.push_back({mesh_, step.op, std::move(operands), step.parameters, out});
  }
  void enters(std::size_t which) override {
    if (next_ != nullptr) next_->enters(which);
    ++depth_;
  }
  void leaves() override {
    if (next_ != nullptr) next_->leaves();
    --depth_;
  }
  void has(const std::string& name, const ShardedType& type) override {
    if (next_ != nullptr) next_->has(name, type);
    if (depth_ == 0) types[name] = type;
  }

  std::vector<TypingCall> calls;
  std::map<std::string, ShardedType> types;

 private:
  const Mesh& mesh_;
  TypingListener* next_;
  int depth_ = 0;
};

void check_derivatives(const std::vector<TypingCall>& calls,
                       DerivativeCheck DerivativeRow::*stage) {
  for (const TypingCall& call : calls) {
    for (const DerivativeRow& row : derivative_rows) {
      if (row.op == call.op && row.*stage != nullptr) (row.*stage)(call);
    }
  }
}

}  // namespace
}  // namespace typing

ShardedType cotangent_type(ShardedType type) {
  std::swap(type.unreduced, type.reduced);
  return type;
}

ShardedTypes gradient_types(const Mesh& mesh, const TypedProgram& program,
                            const ShardedTypes& arguments, const std::vector<std::string>& wanted,
                            const ShardedType* cotangent, TypingListener* listener) {
  typing::StepRecorder steps(mesh, listener);
  const ShardedType result = type_program(mesh, program, arguments, &steps).front();
  typing::check_derivatives(steps.calls, &typing::DerivativeRow::linearized);
  const ShardedType expected = cotangent_type(result);
  if (cotangent != nullptr && !same_placement(*cotangent, expected)) {
    refuse(RefusalKind::cotangent_type, "unexpected JAX type: the derivative is given " +
                                            type_text(mesh, *cotangent) +
                                            ", and its result wants " + type_text(mesh, expected));
  }
  typing::check_derivatives(steps.calls, &typing::DerivativeRow::backward);
  ShardedTypes gradients;
  for (const std::string& name : wanted) gradients.push_back(cotangent_type(steps.types.at(name)));
  return gradients;
}

}  // namespace shard
