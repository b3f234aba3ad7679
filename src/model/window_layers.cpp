// Layers over windows of the dims between the first (the batch) and the last (the features).

#include <algorithm>
#include <array>

#include "base/check.h"
#include "model/op_arguments.h"
#include "ops/window_dims.h"

namespace shard {
namespace {

using Positions = std::vector<std::int64_t>;

/// What both kinds of layer say about their windows, an entry per dim between; or nothing after a
/// mistake.
std::optional<Windows> windows_of(const OpArguments& op, ValueId x) {
  const Positions* sizes = op.list("window");
  const int rank = op.type(x).rank();
  if (sizes == nullptr || rank != static_cast<int>(sizes->size()) + 2) {
    op.fail("rank-mismatch", op.layer.kind + " with a window of " +
                                 std::to_string(sizes == nullptr ? 0 : sizes->size()) +
                                 " dims needs a batch before and features behind, found " +
                                 op.lowering.described(x));
    return std::nullopt;
  }
  const std::size_t count = sizes->size();
  auto strides = op.wholes("strides", count, 1);
  auto dilation = op.wholes("dilation", count, 1);
  if (!strides || !dilation) return std::nullopt;
  Windows windows{*sizes,
                  std::move(*strides),
                  Positions(count, 0),
                  Positions(count, 0),
                  std::move(*dilation),
                  Positions(count, 1)};
  for (const Positions* list : {&windows.sizes, &windows.strides, &windows.dilation}) {
    if (std::all_of(list->begin(), list->end(), [](std::int64_t n) { return n > 0; })) continue;
    op.fail("bad-size", "window, strides and dilation of " + op.layer.kind + " must be positive");
    return std::nullopt;
  }
  return windows;
}

/// As many windows as elements, over the stride: the padding goes to both ends, the odd one behind.
void pad_same(Windows& windows, const Shape& shape) {
  for (std::size_t k = 0; k < windows.sizes.size(); ++k) {
    const std::int64_t size = shape[k + 1], stride = windows.strides[k];
    const std::int64_t count = (size + stride - 1) / stride;
    const std::int64_t extent = (windows.sizes[k] - 1) * windows.dilation[k] + 1;
    const std::int64_t total = std::max<std::int64_t>(0, (count - 1) * stride + extent - size);
    windows.low[k] = total / 2;
    windows.high[k] = total - total / 2;
  }
}

bool pad_windows(const OpArguments& op, Windows& windows, const Shape& shape,
                 std::string_view standard) {
  const Positions* pairs = op.list("padding");
  if (pairs == nullptr) {
    if (op.word("padding", standard) == "same") pad_same(windows, shape);
    return true;
  }
  if (pairs->size() != windows.sizes.size() * 2) {
    op.fail("wrong-argument-count", "'padding' of " + op.layer.kind + " has " +
                                        std::to_string(pairs->size() / 2) + " pairs, expected " +
                                        std::to_string(windows.sizes.size()));
    return false;
  }
  for (std::size_t k = 0; k < windows.sizes.size(); ++k) {
    windows.low[k] = (*pairs)[2 * k];
    windows.high[k] = (*pairs)[2 * k + 1];
  }
  return true;
}

/// The dims of an array with the batch first and the features last: batch, feature, spatial.
Positions features_last(std::size_t spatial) {
  Positions dims{0, static_cast<std::int64_t>(spatial) + 1};
  for (std::size_t k = 0; k < spatial; ++k) dims.push_back(static_cast<std::int64_t>(k) + 1);
  return dims;
}

/// Those of a kernel [window..., inputs, outputs]: outputs, inputs, spatial.
Positions kernel_dims(std::size_t spatial) {
  const auto behind = static_cast<std::int64_t>(spatial);
  Positions dims{behind + 1, behind};
  for (std::int64_t k = 0; k < behind; ++k) dims.push_back(k);
  return dims;
}

std::optional<SpecConfig> placement_of_parameter(const LayerConfig& layer, const std::string& name,
                                                 const std::optional<SpecConfig>& own) {
  if (own) return own;
  for (const auto& [key, spec] : layer.params) {
    if (key == name) return spec;
  }
  return std::nullopt;
}

struct PoolKind {
  std::string_view word;
  Op op;
};
constexpr std::array<PoolKind, 4> pool_ops = {{
    {"max", Op::reduce_window_max},
    {"min", Op::reduce_window_min},
    {"sum", Op::reduce_window_sum},
    {"mean", Op::reduce_window_sum},
}};

/// 1 for the dims that no window runs along, on both sides.
Attributes pool_attributes(const Windows& windows) {
  const auto wide = [](const Positions& inner, std::int64_t outer) {
    Positions all{outer};
    all.insert(all.end(), inner.begin(), inner.end());
    all.push_back(outer);
    return all;
  };
  return Attributes{
      {"window", wide(windows.sizes, 1)},      {"strides", wide(windows.strides, 1)},
      {"low", wide(windows.low, 0)},           {"high", wide(windows.high, 0)},
      {"dilation", wide(windows.dilation, 1)}, {"base_dilation", wide(windows.base_dilation, 1)}};
}

}  // namespace

ValueId lower_pool(Lowering& lowering, LayerCall& call) {
  const OpArguments op(lowering, call);
  if (op.is_spoiled()) return ValueId::none;
  const ValueId x = op.input();
  auto windows = windows_of(op, x);
  if (!windows || !pad_windows(op, *windows, op.type(x).shape, "valid")) return ValueId::none;
  const std::string word = op.word("kind", "max");
  const auto* kind = std::find_if(pool_ops.begin(), pool_ops.end(),
                                  [&](const PoolKind& row) { return row.word == word; });
  SHARD_CHECK(kind != pool_ops.end(), "the reader lets through the kinds of pools that there are");
  ValueId value = lowering.emit(kind->op, {x}, pool_attributes(*windows));
  if (word == "mean") {
    double elements = 1;
    for (const std::int64_t size : windows->sizes) elements *= static_cast<double>(size);
    value = lowering.emit(Op::scale, {value}, Attributes{{"value", 1.0 / elements}});
  }
  return op.named(value);
}

namespace {

/// A convolution at work.
class ConvLayer {
 public:
  ConvLayer(Lowering& lowering, LayerCall& call)
      : lowering_(lowering), call_(call), op_(lowering, call) {}

  ValueId run() {
    const auto features = lowering_.count(*op_.layer.features, call_.scope);
    if (op_.is_spoiled() || !features) return ValueId::none;
    const DType dtype = op_.layer.dtype.value_or(lowering_.config.dtypes.compute);
    const ValueId x = lowering_.converted(op_.untouched(0), dtype);
    auto windows = windows_of(op_, x);
    if (!windows || !pad_windows(op_, *windows, op_.type(x).shape, "valid")) return ValueId::none;
    const auto groups = op_.count("groups");
    const std::int64_t group_count = groups ? groups->value : 1;
    const std::int64_t inputs = op_.type(x).shape.back();
    if (inputs % group_count != 0 || features->value % group_count != 0) {
      return op_.fail("bad-size",
                      "conv from " + std::to_string(inputs) + " to " +
                          std::to_string(features->value) + " features has no " +
                          std::to_string(group_count) + " groups",
                      "the groups divide the features on both sides");
    }
    const std::string input_label = op_.labels(x).back();
    const ValueId weights =
        lowering_.converted(kernel(*windows, inputs / group_count, *features, input_label), dtype);
    ConvolutionDims dims{features_last(windows->sizes.size()), kernel_dims(windows->sizes.size()),
                         features_last(windows->sizes.size()), group_count, 1};
    lowering_.builder.origin.name = call_.path;
    const ValueId product =
        lowering_.emit(Op::convolution, {x, weights}, convolution_attributes(dims, *windows));
    set_label(product, features->label);
    return op_.named(with_bias(product, *features, dtype));
  }

 private:
  ValueId kernel(const Windows& windows, std::int64_t inputs, const CountConfig& features,
                 const std::string& input_label) {
    ParameterRequest request = parameter("kernel", op_.layer.kernel);
    request.type.shape = windows.sizes;
    request.type.shape.insert(request.type.shape.end(), {inputs, features.value});
    request.labels.assign(windows.sizes.size(), "");
    request.labels.insert(request.labels.end(), {input_label, features.label});
    request.init = op_.layer.kernel_init.value_or(InitConfig{"lecun_normal", {}, op_.layer.at});
    return lowering_.parameter(std::move(request));
  }

  ValueId with_bias(ValueId product, const CountConfig& features, DType dtype) {
    if (!op_.layer.use_bias.value_or(true)) return product;
    ParameterRequest request = parameter("bias", op_.layer.bias);
    request.type.shape = {features.value};
    request.labels = {features.label};
    request.init = op_.layer.bias_init.value_or(InitConfig{"zeros", {}, op_.layer.at});
    const ValueId bias = lowering_.parameter(std::move(request));
    return lowering_.emit_binary(Op::add, product, lowering_.converted(bias, dtype));
  }

  ParameterRequest parameter(const std::string& name, const std::optional<SpecConfig>& own) const {
    ParameterRequest request;
    request.path = call_.path + "/" + name;
    request.type.dtype = lowering_.config.dtypes.params;
    request.placement = placement_of_parameter(op_.layer, name, own);
    request.at = request.placement ? request.placement->at : op_.layer.at;
    return request;
  }

  void set_label(ValueId product, const std::string& label) const {
    if (product == ValueId::none) return;
    std::vector<std::string> labels = op_.labels(product);
    labels.back() = label;
    op_.set_labels(product, std::move(labels));
  }

  Lowering& lowering_;
  LayerCall& call_;
  OpArguments op_;
};

}  // namespace

ValueId lower_conv(Lowering& lowering, LayerCall& call) { return ConvLayer(lowering, call).run(); }

}  // namespace shard
