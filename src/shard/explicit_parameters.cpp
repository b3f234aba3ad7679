#include "shard/explicit_parameters.h"

#include "base/check.h"

namespace shard {
namespace {

template <class Kind>
const Kind& held(const auto& value) {
  const Kind* found = std::get_if<Kind>(&value);
  SHARD_CHECK(found != nullptr, "a parameter has the kind that its op reads");
  return *found;
}

}  // namespace

bool Parameter::flag() const { return held<bool>(value_); }
std::int64_t Parameter::integer() const { return held<std::int64_t>(value_); }
const std::string& Parameter::text() const { return held<std::string>(value_); }
const Parameter::List& Parameter::list() const { return held<List>(value_); }
const Parameter::Map& Parameter::map() const { return held<Map>(value_); }
const TypedProgram& Parameter::program() const { return *held<Program>(value_); }

std::vector<std::int64_t> Parameter::integers() const {
  if (is_integer()) return {integer()};
  std::vector<std::int64_t> all;
  for (const Parameter& one : list()) all.push_back(one.integer());
  return all;
}

std::vector<std::string> Parameter::texts() const {
  if (is_text()) return {text()};
  std::vector<std::string> all;
  for (const Parameter& one : list()) all.push_back(one.text());
  return all;
}

const Parameter* Parameter::find(std::string_view key) const { return shard::find(map(), key); }

const Parameter& Parameter::at(std::string_view key) const {
  const Parameter* found = find(key);
  SHARD_CHECK(found != nullptr, "the op's parameter is there");
  return *found;
}

const Parameter* find(const Parameters& parameters, std::string_view key) {
  const auto found = parameters.find(key);
  return found == parameters.end() || found->second.is_none() ? nullptr : &found->second;
}

bool is_set(const Parameters& parameters, std::string_view key) {
  const Parameter* found = find(parameters, key);
  return found != nullptr && found->flag();
}

std::int64_t integer_or(const Parameters& parameters, std::string_view key, std::int64_t fallback) {
  const Parameter* found = find(parameters, key);
  return found == nullptr ? fallback : found->integer();
}

}  // namespace shard
