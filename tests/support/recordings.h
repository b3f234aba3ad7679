#pragma once
// Recordings of the field's own answers. They are read from the environment's SHARD_PLAN_GOLDENS,
// else from `../shared/goldens` beside the checkout, else from the compact extract in
// `tests/goldens`, which every clone has.

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace shard::tests {

using nlohmann::json;

/// The folder that is read; the first call prints it.
const std::string& goldens_folder();

/// A recording of that folder (`semantics/meshes.json`; the extract may have it as JSON lines).
/// Nothing, and a line that says so, when it is not there.
std::optional<json> read_goldens(const std::string& name);

/// Counts what agrees and prints `conformance NAME: matched/total` with each miss at the end.
class Conformance {
 public:
  explicit Conformance(std::string name) : name_(std::move(name)) {}
  ~Conformance();
  Conformance(const Conformance&) = delete;
  Conformance& operator=(const Conformance&) = delete;

  /// Compares one answer. `id` says which case it is.
  void expect(const std::string& id, const std::string& found, const std::string& expected);
  /// The library takes the input and we must not: `why` says what is wrong with it. Any refusal of
  /// ours matches.
  void expect_refused(const std::string& id, const std::string& found, const std::string& why);
  /// A case that is not asked of us, and why; not part of the total.
  void leave_out(const std::string& why = "not expressible here") { ++left_out_[why]; }
  int matched() const { return matched_; }
  int total() const { return total_; }

 private:
  std::string name_;
  int matched_ = 0;
  int total_ = 0;
  std::map<std::string, int> refused_;
  std::map<std::string, int> left_out_;
  std::vector<std::string> misses_;
};

}  // namespace shard::tests
