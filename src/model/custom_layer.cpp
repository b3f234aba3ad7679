// Calls of code that is not ours, by the row of factors that the file declares.

#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "model/op_arguments.h"
#include "ops/custom_call.h"

namespace shard {
namespace {

/// The one way in which factors are reduced. Nothing after a diagnostic.
std::optional<std::pair<std::string, std::string>> reduction_of(const OpArguments& op) {
  std::pair<std::string, std::string> found;
  for (const char* word : {"sum", "max", "min", "prod"}) {
    const std::string factors = op.word(word, "");
    if (factors.empty()) continue;
    if (!found.first.empty()) {
      op.fail("bad-custom-call",
              "factors are reduced by " + found.first + " and by " + word + ", a call has one way");
      return std::nullopt;
    }
    found = {word, factors};
  }
  return found;
}

/// Names and sizes of the factors that only results have. Nothing after a diagnostic.
bool set_new_factors(const OpArguments& op, const Scope& scope, Attributes& attributes) {
  std::string names;
  std::vector<std::int64_t> sizes;
  for (const ShapeDim& dim : op.layer.shape) {
    const auto count = op.lowering.count(dim.size, scope);
    if (!count) return false;
    const std::string& name = dim.label.empty() ? count->label : dim.label;
    names += (names.empty() ? "" : " ") + name;
    sizes.push_back(count->value);
  }
  attributes.set("new_names", std::move(names));
  attributes.set("new_sizes", std::move(sizes));
  return true;
}

/// The results' dtypes: as written, or that of the first input for each.
std::string dtypes_of(const OpArguments& op, DType first, const std::string& row) {
  const std::string written = op.word("dtypes", "");
  if (!written.empty()) return written;
  const auto read = read_call_row(row);
  if (std::holds_alternative<std::string>(read)) return "";
  std::string all;
  for (std::size_t k = 0; k < std::get<CallRow>(read).results.size(); ++k) {
    all += (k == 0 ? "" : " ") + std::string(info(first).name);
  }
  return all;
}

/// Nothing after a diagnostic.
std::optional<Attributes> call_attributes(const OpArguments& op, const Scope& scope, DType first) {
  const std::string row = op.word("factors", ""), as = op.word("as", "");
  const std::vector<std::string> known = call_meanings();
  if (!as.empty() && std::find(known.begin(), known.end(), as) == known.end()) {
    op.fail("unknown-op", "there is no op '" + as + "' that a call can stand for",
            did_you_mean(as, known, "ops"));
    return std::nullopt;
  }
  const auto reduction = reduction_of(op);
  if (!reduction) return std::nullopt;
  Attributes attributes{{"call", op.word("call", "")},
                        {"row", row},
                        {"reduced", reduction->second},
                        {"reduction", reduction->first},
                        {"whole", op.word("whole", "")},
                        {"neighbours", op.word("neighbours", "")},
                        {"dtypes", dtypes_of(op, first, row)},
                        {"flops", op.number("flops", 1)},
                        {"as", as}};
  if (!set_new_factors(op, scope, attributes)) return std::nullopt;
  return attributes;
}

}  // namespace

ValueId lower_custom_call(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  std::vector<ValueId> inputs;
  std::vector<TensorType> types;
  for (std::size_t k = 0; k < op.input_count(); ++k) {
    inputs.push_back(op.input(k));
    types.push_back(op.type(inputs.back()));
  }
  auto attributes = call_attributes(op, call.scope, types.front().dtype);
  if (!attributes) return ValueId::none;
  const ShapeResult made = custom_call_shape(types, *attributes);
  if (const auto* mistake = std::get_if<std::string>(&made)) {
    return op.fail(
        "bad-custom-call",
        "custom_call '" + op.word("call", "") + "' by '" + op.word("factors", "") +
            "': " + *mistake,
        "a name for each dim, (h d) for one of two factors, arrays between commas, as in "
        "\"b q d, b k d -> b q k\"");
  }
  const std::size_t count = std::get<std::vector<TensorType>>(made).size();
  const std::vector<std::string>& names = op.layer.into;
  if (names.size() != (count == 1 ? 0 : count)) {
    return op.fail("bad-custom-call",
                   "custom_call '" + op.word("call", "") + "' has " + std::to_string(count) +
                       (count == 1 ? " result, which `name` names" : " results, `into` names ") +
                       (count == 1 ? "" : std::to_string(names.size())));
  }
  const std::vector<ValueId> results =
      lowering.builder.emit_all(Op::custom_call, inputs, std::move(*attributes));
  for (std::size_t k = 0; k < names.size(); ++k) op.bind(names[k], results[k]);
  return names.empty() ? op.named(results.front()) : results.front();
}

}  // namespace shard
