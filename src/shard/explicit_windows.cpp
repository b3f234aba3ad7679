// Typing rules of windows and convolutions.

#include <algorithm>

#include "shard/explicit_rules.h"

namespace shard::typing {
namespace {

/// One dim of a window op.
struct Window {
  std::int64_t size;
  std::int64_t length;
  std::int64_t stride;
};

/// `padding` is a word, or a pair of numbers per dim.
std::int64_t window_count(const Window& window, const Parameter& padding, std::size_t dim) {
  if (padding.is_text() && padding.text() == "SAME") {
    return (window.size + window.stride - 1) / window.stride;
  }
  std::int64_t added = 0;
  if (!padding.is_text()) {
    const std::vector<std::int64_t> edges = padding.list()[dim].integers();
    added = edges[0] + edges[1];
  }
  const std::int64_t room = window.size + added - window.length;
  return room < 0 ? 0 : room / window.stride + 1;
}

}  // namespace

ShardedTypes reduced_windows(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const Shape lengths = find(call.parameters, "window_dimensions")->integers();
  const Shape strides = find(call.parameters, "window_strides")->integers();
  const Parameter& padding = *find(call.parameters, "padding");
  Shape shape;
  for (std::size_t dim = 0; dim < value.rank(); ++dim) {
    shape.push_back(window_count({value.shape[dim], lengths[dim], strides[dim]}, padding, dim));
  }
  return {resized(call.mesh, value, shape, "reduce_window")};
}

namespace {

/// Which letter each dim has: `NCHW`, `OIHW`; the default layout where none is given.
struct Layout {
  std::string lhs;
  std::string rhs;
  std::string result;
};

Layout layout_of(const TypingCall& call) {
  const Parameter* numbers = find(call.parameters, "dimension_numbers");
  if (numbers != nullptr && numbers->list()[0].is_text()) {
    const Parameter::List& words = numbers->list();
    return {words[0].text(), words[1].text(), words[2].text()};
  }
  const std::string spatial = std::string("0123456789").substr(0, call.operands[0].rank() - 2);
  return {"NC" + spatial, "OI" + spatial, "NC" + spatial};
}

std::int64_t dilated(std::int64_t size, const Parameter* dilation, std::size_t k) {
  return dilation == nullptr ? size : (size - 1) * dilation->integers()[k] + 1;
}

Shape convolved_shape(const TypingCall& call, const Layout& layout) {
  const ShardedType& value = call.operands[0];
  const ShardedType& kernel = call.operands[1];
  const Shape strides = find(call.parameters, "window_strides")->integers();
  const Parameter* written = find(call.parameters, "padding");
  const Parameter padding = written == nullptr ? Parameter("VALID") : *written;
  Shape shape(layout.result.size());
  shape[layout.result.find('N')] = value.shape[layout.lhs.find('N')];
  shape[layout.result.find('C')] = kernel.shape[layout.rhs.find('O')];
  std::size_t k = 0;
  for (std::size_t dim = 0; dim < layout.lhs.size(); ++dim) {
    const char letter = layout.lhs[dim];
    if (letter == 'N' || letter == 'C') continue;
    const Window window = {
        dilated(value.shape[dim], find(call.parameters, "lhs_dilation"), k),
        dilated(kernel.shape[layout.rhs.find(letter)], find(call.parameters, "rhs_dilation"), k),
        strides[k]};
    shape[layout.result.find(letter)] = window_count(window, padding, k);
    ++k;
  }
  return shape;
}

/// An axis of one device splits nothing.
bool splits(const Mesh& mesh, const ShardedType& type) {
  const TypeEntry axes = axes_of(type.entries);
  return std::any_of(axes.begin(), axes.end(), [&](int axis) { return mesh.size(axis) > 1; });
}

}  // namespace

ShardedTypes convolved(const TypingCall& call) {
  const ShardedType& value = call.operands[0];
  const Layout layout = layout_of(call);
  const Shape shape = convolved_shape(call, layout);
  if (call.out != nullptr) return {given_or(call, shape, {})};
  if (splits(call.mesh, call.operands[1]) || !value.entries[layout.lhs.find('C')].empty()) {
    refuse(RefusalKind::convolution,
           "Please specify the output sharding via `out_sharding` parameter of "
           "conv_general_dilated: the kernel or the features of the input are split");
  }
  return {resized(call.mesh, value, shape, "conv_general_dilated")};
}

ShardedTypes numpy_convolved(const TypingCall& call) {
  const ElementType element = inexact_element(call);
  const auto as_image = [&](ShardedType row) {
    row.element = element;
    return type_one(call.mesh, "lax.expand_dims", {row}, {{"dimensions", Dims{0, 1}}});
  };
  const std::int64_t edge = call.operands[1].shape[0] - 1;
  const std::vector<std::int64_t> edges = {edge, edge};
  const ShardedType made =
      type_one(call.mesh, "lax.conv_general_dilated",
               {as_image(call.operands[0]), as_image(call.operands[1])},
               {{"window_strides", 1}, {"padding", Parameter::List(1, Parameter(edges))}});
  return type_op({call.mesh, "lax.squeeze", {made}, {{"dimensions", Dims{0, 1}}}});
}

}  // namespace shard::typing
