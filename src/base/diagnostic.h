#pragma once
// What a user is told: one value for every message, one exception to carry the errors out.
//
// A stage collects diagnostics in a `Diagnostics` list and goes on while it makes sense; at its end
// it calls `throw_if_errors()`. Only `cli` catches `Error`, prints and picks the exit code.

#include <stdexcept>
#include <string>
#include <vector>

namespace shard {

/// A place in a text the user wrote. Lines and columns count from 1; line 0 means "no place known".
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
  int length = 1;

  bool is_known() const { return line > 0; }
  friend bool operator==(const Location&, const Location&) = default;
};

/// `rules/fsdp.yaml:14:11`, or just the file when the line is unknown.
std::string to_string(const Location& at);

enum class Severity { error, warning, note };

/// One message. `id` is kebab-case and stable; `message` says what was found and what was expected;
/// `hint` (may be empty) names the nearest valid word or the smallest edit that helps.
struct Diagnostic {
  Severity severity = Severity::error;
  std::string id;
  Location at;
  std::string message;
  std::string hint;

  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

/// `file:line:col: error: message [id]`, and `  hint: ...` on a line of its own; no source excerpt.
std::string to_string(const Diagnostic& diagnostic);

/// Carries at least one diagnostic of severity error up to `cli`.
class Error : public std::runtime_error {
 public:
  explicit Error(std::vector<Diagnostic> diagnostics);
  Error(std::string id, Location at, std::string message, std::string hint = "");

  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// The messages of a stage, in the order they were found.
class Diagnostics {
 public:
  void error(std::string id, Location at, std::string message, std::string hint = "");
  void warning(std::string id, Location at, std::string message, std::string hint = "");
  void note(std::string id, Location at, std::string message, std::string hint = "");
  void append(const std::vector<Diagnostic>& more);

  bool has_errors() const;
  const std::vector<Diagnostic>& all() const { return all_; }

  /// Throws `Error` with everything collected so far if at least one entry is an error.
  void throw_if_errors() const;

 private:
  std::vector<Diagnostic> all_;
};

}  // namespace shard
