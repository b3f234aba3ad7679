#pragma once
// What an op is told beside its operands, as a small tree of named values: numbers, texts, lists,
// maps, and the programs of regions.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace shard {

struct TypedProgram;

/// One value. Asking for another kind than it has is a bug (`InternalError`).
class Parameter {
 public:
  using List = std::vector<Parameter>;
  using Map = std::map<std::string, Parameter, std::less<>>;
  using Program = std::shared_ptr<const TypedProgram>;

  Parameter() = default;
  Parameter(bool flag) : value_(flag) {}
  Parameter(std::int64_t number) : value_(number) {}
  Parameter(int number) : value_(std::int64_t{number}) {}
  Parameter(std::size_t number) : value_(static_cast<std::int64_t>(number)) {}
  Parameter(double number) : value_(number) {}
  Parameter(std::string text) : value_(std::move(text)) {}
  Parameter(const char* text) : value_(std::string(text)) {}
  Parameter(List list) : value_(std::move(list)) {}
  Parameter(Map map) : value_(std::move(map)) {}
  Parameter(Program program) : value_(std::move(program)) {}
  Parameter(const std::vector<std::int64_t>& numbers)
      : value_(List(numbers.begin(), numbers.end())) {}
  Parameter(const std::vector<std::size_t>& numbers)
      : value_(List(numbers.begin(), numbers.end())) {}

  bool is_none() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_text() const { return std::holds_alternative<std::string>(value_); }
  bool is_list() const { return std::holds_alternative<List>(value_); }
  bool is_map() const { return std::holds_alternative<Map>(value_); }

  bool flag() const;
  std::int64_t integer() const;
  const std::string& text() const;
  const List& list() const;
  const Map& map() const;
  const TypedProgram& program() const;
  /// A list of integers; one integer is a list of one.
  std::vector<std::int64_t> integers() const;
  /// A list of texts; one text is a list of one.
  std::vector<std::string> texts() const;

  /// The entry of a map; nullptr where it is absent or none.
  const Parameter* find(std::string_view key) const;
  /// The entry of a map that must be there.
  const Parameter& at(std::string_view key) const;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Map, Program> value_;
};

/// Parameters of an op by name.
using Parameters = Parameter::Map;

/// The entry, or nullptr where it is absent or none.
const Parameter* find(const Parameters& parameters, std::string_view key);
/// Whether the entry is there and says so.
bool is_set(const Parameters& parameters, std::string_view key);
/// The entry, or `fallback` where it is absent or none.
std::int64_t integer_or(const Parameters& parameters, std::string_view key, std::int64_t fallback);

}  // namespace shard
