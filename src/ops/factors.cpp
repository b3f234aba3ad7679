#include "ops/factors.h"

namespace shard {
namespace {

std::string letter(int factor) {
  // i, j, ..., z, then z_1, z_2, ...
  const int letters = 'z' - 'i' + 1;
  if (factor < letters) return std::string(1, static_cast<char>('i' + factor));
  return "z_" + std::to_string(factor - letters + 1);
}

std::string tensor_text(const TensorFactors& tensor) {
  std::string text = "[";
  for (std::size_t dim = 0; dim < tensor.size(); ++dim) {
    if (dim > 0) text += ", ";
    for (const int factor : tensor[dim]) text += letter(factor);
  }
  return text + "]";
}

std::string tensors_text(const std::vector<TensorFactors>& tensors) {
  std::string text = "(";
  for (std::size_t i = 0; i < tensors.size(); ++i)
    text += (i == 0 ? "" : ",") + tensor_text(tensors[i]);
  return text + ")";
}

std::string kind_text(const FactorRule& rule, FactorKind kind, const char* word) {
  std::string text;
  for (std::size_t i = 0; i < rule.factors.size(); ++i) {
    if (rule.factors[i].kind != kind) continue;
    text += (text.empty() ? std::string(" ") + word + "={" : ",") + letter(static_cast<int>(i));
  }
  return text.empty() ? text : text + "}";
}

}  // namespace

std::string to_string(const FactorRule& rule) {
  return tensors_text(rule.operands) + " -> " + tensors_text(rule.results) +
         kind_text(rule, FactorKind::reduction, "red") +
         kind_text(rule, FactorKind::need_replication, "rep") +
         kind_text(rule, FactorKind::permutation, "perm");
}

std::int64_t factor_points(const FactorRule& rule) {
  const std::int64_t most = std::int64_t{1} << 62;
  std::int64_t points = 1;
  for (const Factor& factor : rule.factors) {
    if (__builtin_mul_overflow(points, factor.size, &points) || points > most) return most;
  }
  return points;
}

}  // namespace shard
