#pragma once
// Code with layers in explicit mode, said again as the typed ops that the layers consist of.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/read_spec.h"
#include "recorded_types.h"

namespace shard::tests {

inline PartitionSpec spec(const std::string& text) { return read_partition_text(text, {}); }

/// The text from `P(` to its closing bracket, behind `after`; nothing when there is none.
inline std::optional<PartitionSpec> spec_behind(const std::string& code, const std::string& after) {
  const std::size_t found = code.find(after + "P(");
  if (found == code.npos) return std::nullopt;
  const std::size_t start = found + after.size();
  int depth = 0;
  for (std::size_t end = start; end < code.size(); ++end) {
    if (code[end] == '(') ++depth;
    if (code[end] == ')' && --depth == 0) return spec(code.substr(start, end - start + 1));
  }
  return std::nullopt;
}

/// What a step printed: a type, a spec, a text.
using Answer = std::function<std::string(const std::string& code)>;

/// The code of one story: exact lines, and beginnings of lines that differ in a spec.
struct Story {
  std::map<std::string, Answer> lines;
  std::vector<std::pair<std::string, Answer>> beginnings;

  std::string run(const std::string& code) const {
    if (const auto found = lines.find(code); found != lines.end()) return found->second(code);
    for (const auto& [beginning, answer] : beginnings) {
      if (code.starts_with(beginning)) return answer(code);
    }
    return "not said";
  }
};

/// Values and layers on one mesh.
class Layers {
 public:
  explicit Layers(const json& axes) : mesh(typed_mesh(axes)) {}

  ShardedType array(const Shape& shape, const std::string& written,
                    const std::string& element = "float32") const {
    return written_type(mesh, "zeros", {element}, shape, spec(written));
  }

  ShardedType op(const std::string& name, ShardedTypes operands, const Parameters& parameters = {},
                 const std::optional<PartitionSpec>& out = std::nullopt) const {
    return type_one(mesh, name, std::move(operands), parameters, out ? &*out : nullptr);
  }

  ShardedType as(ShardedType value, const std::string& element) const {
    return op("lax.convert_element_type", {std::move(value)}, {{"new_dtype", element}});
  }

  /// `nnx.Linear`: the product takes the out_sharding, the bias comes after it.
  ShardedType linear(const ShardedType& x, const ShardedType& kernel,
                     const std::optional<PartitionSpec>& out = std::nullopt,
                     const ShardedType* bias = nullptr) const {
    const ShardedType product = op("jnp.dot", {x, as(kernel, x.element.name)}, {}, out);
    if (bias == nullptr) return product;
    Shape row(product.rank(), 1);
    row.back() = bias->shape.back();
    const ShardedType added = op("jnp.reshape", {*bias}, {{"shape", row}});
    return op("jnp.add", {product, added});
  }

  /// `auto_axes(f, out_sharding=out)(arguments)`.
  ShardedType in_auto(TypedProgram body, ShardedTypes arguments, const std::string& out) const {
    const Parameters parameters = {{"body", std::make_shared<const TypedProgram>(std::move(body))}};
    return op("auto_axes", std::move(arguments), parameters, spec(out));
  }

  /// A body of `jnp.dot` of its two arguments, converted first when asked.
  static TypedProgram dot_body(bool converts = false) {
    TypedProgram body;
    body.arguments = {"a", "b"};
    if (converts) {
      body.steps.push_back({{"k"},
                            false,
                            "lax.convert_element_type",
                            {"b"},
                            {{"new_dtype", "bfloat16"}},
                            std::nullopt});
    }
    body.steps.push_back(
        {{"y"}, false, "jnp.dot", {"a", std::string(converts ? "k" : "b")}, {}, std::nullopt});
    body.results = {"y"};
    return body;
  }

  /// The same with the second operand closed over: it keeps the type it has outside.
  TypedProgram closed_body(ShardedType kernel, bool converts) const {
    kernel.typed_on = std::make_shared<const Mesh>(mesh);
    TypedProgram body;
    body.arguments = {"a"};
    if (converts) {
      body.steps.push_back({{"k"},
                            false,
                            "lax.convert_element_type",
                            {kernel},
                            {{"new_dtype", "bfloat16"}},
                            std::nullopt});
    }
    TypedStep product{{"y"}, false, "jnp.dot", {"a"}, {}, std::nullopt};
    if (converts) {
      product.operands.emplace_back("k");
    } else {
      product.operands.emplace_back(kernel);
    }
    body.steps.push_back(product);
    body.results = {"y"};
    return body;
  }

  std::string text(const ShardedType& type) const { return type_text(mesh, type); }

  Mesh mesh;
};

/// The last spec in the code.
inline std::optional<PartitionSpec> out_of(const std::string& code) {
  return spec_behind(code, "out_sharding=");
}

// layer_stories_of_kernels.cpp
/// Where a kernel's type comes from: the initializer, or metadata if eager.
Story metadata_story(const Layers& on, bool is_eager);
Story embedding_story(const Layers& on);
Story stacked_story(const Layers& on);

// layer_stories_of_calls.cpp
Story linear_story(const Layers& on);
Story swiglu_story(const Layers& on, std::int64_t length);
Story other_story(const Layers& on);

}  // namespace shard::tests
