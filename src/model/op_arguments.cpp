#include "model/op_arguments.h"

#include <algorithm>

namespace shard {
namespace {

template <class Entries>
auto written_under(const Entries& entries, std::string_view key) {
  return std::find_if(entries.begin(), entries.end(),
                      [&](const auto& entry) { return entry.first == key; });
}

}  // namespace

OpArguments::OpArguments(Lowering& the_lowering, LayerCall& call)
    : lowering(the_lowering), layer(call.layer), call_(call) {}

bool OpArguments::is_spoiled() const {
  return std::find(call_.inputs.begin(), call_.inputs.end(), ValueId::none) != call_.inputs.end();
}

ValueId OpArguments::input(std::size_t position) const {
  const ValueId value = call_.inputs[position];
  return layer.dtype ? lowering.converted(value, *layer.dtype) : value;
}

std::optional<std::int64_t> OpArguments::dim(ValueId value, std::int64_t standard) const {
  const int rank = type(value).rank();
  if (rank == 0) {
    fail("rank-mismatch",
         layer.kind + " needs at least one dim, found " + lowering.described(value));
    return std::nullopt;
  }
  if (layer.dims.empty()) return standard < 0 ? standard + rank : standard;
  const auto positions = lowering.dim_positions(value, layer.dims, layer.at);
  if (!positions) return std::nullopt;
  if (positions->size() == 1) return positions->front();
  fail("wrong-dim-count",
       layer.kind + " takes one dim, found " + std::to_string(positions->size()));
  return std::nullopt;
}

const std::vector<std::int64_t>* OpArguments::list(std::string_view key) const {
  const auto found = written_under(layer.lists, key);
  return found == layer.lists.end() ? nullptr : &found->second;
}

bool OpArguments::has_list(std::string_view key) const { return list(key) != nullptr; }

std::int64_t OpArguments::whole(std::string_view key, std::int64_t standard) const {
  const std::vector<std::int64_t>* found = list(key);
  return found == nullptr || found->empty() ? standard : found->front();
}

std::optional<std::vector<std::int64_t>> OpArguments::wholes(std::string_view key,
                                                             std::size_t length,
                                                             std::int64_t standard) const {
  const std::vector<std::int64_t>* found = list(key);
  if (found == nullptr) return std::vector<std::int64_t>(length, standard);
  if (found->size() == length) return *found;
  if (found->size() == 1) return std::vector<std::int64_t>(length, found->front());
  fail("wrong-argument-count", "'" + std::string(key) + "' of " + layer.kind + " has " +
                                   std::to_string(found->size()) + " numbers, expected " +
                                   std::to_string(length));
  return std::nullopt;
}

bool OpArguments::flag(std::string_view key) const {
  const auto found = written_under(layer.flags, key);
  return found != layer.flags.end() && found->second;
}

double OpArguments::number(std::string_view key, double standard) const {
  const auto found = written_under(layer.numbers, key);
  return found == layer.numbers.end() ? standard : found->second;
}

std::string OpArguments::word(std::string_view key, std::string_view standard) const {
  const auto found = written_under(layer.words, key);
  return found == layer.words.end() ? std::string(standard) : found->second;
}

std::optional<CountConfig> OpArguments::count(std::string_view key) const {
  const auto found = written_under(layer.counts, key);
  if (found == layer.counts.end()) return std::nullopt;
  return lowering.count(found->second, call_.scope);
}

std::vector<std::string> OpArguments::labels(ValueId value) const {
  return lowering.builder.graph().value(value).labels;
}

void OpArguments::set_labels(ValueId value, std::vector<std::string> labels) const {
  if (value == ValueId::none) return;
  lowering.builder.graph().values[index_of(value)].labels = std::move(labels);
}

ValueId OpArguments::named(ValueId value) const {
  lowering.name_value(value, call_.path);
  return value;
}

void OpArguments::bind(const std::string& name, ValueId value) const {
  call_.scope.bind(name, value);
  lowering.name_value(value, call_.scope.path(name));
}

ValueId OpArguments::fail(const char* id, const std::string& message,
                          const std::string& hint) const {
  lowering.diagnostics.error(id, layer.at, message, hint);
  return ValueId::none;
}

}  // namespace shard
