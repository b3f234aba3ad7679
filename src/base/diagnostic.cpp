#include "base/diagnostic.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace shard {
namespace {

const char* word(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "note";
  }
  return "error";
}

std::string joined(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& one : diagnostics) {
    if (!text.empty()) text += '\n';
    text += to_string(one);
  }
  return text;
}

bool any_error(const std::vector<Diagnostic>& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& one) { return one.severity == Severity::error; });
}

}  // namespace

std::string to_string(const Location& at) {
  if (!at.is_known()) return at.file;
  return at.file + ':' + std::to_string(at.line) + ':' + std::to_string(at.column);
}

std::string to_string(const Diagnostic& diagnostic) {
  std::string text = to_string(diagnostic.at);
  if (!text.empty()) text += ": ";
  text += word(diagnostic.severity);
  text += ": " + diagnostic.message + " [" + diagnostic.id + ']';
  if (!diagnostic.hint.empty()) text += "\n  hint: " + diagnostic.hint;
  return text;
}

Error::Error(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(joined(diagnostics)), diagnostics_(std::move(diagnostics)) {
  SHARD_CHECK(any_error(diagnostics_),
              "an Error carries at least one diagnostic of severity error");
}

Error::Error(std::string id, Location at, std::string message, std::string hint)
    : Error(std::vector<Diagnostic>{
          {Severity::error, std::move(id), std::move(at), std::move(message), std::move(hint)}}) {}

void Diagnostics::error(std::string id, Location at, std::string message, std::string hint) {
  all_.push_back(
      {Severity::error, std::move(id), std::move(at), std::move(message), std::move(hint)});
}

void Diagnostics::warning(std::string id, Location at, std::string message, std::string hint) {
  all_.push_back(
      {Severity::warning, std::move(id), std::move(at), std::move(message), std::move(hint)});
}

void Diagnostics::note(std::string id, Location at, std::string message, std::string hint) {
  all_.push_back(
      {Severity::note, std::move(id), std::move(at), std::move(message), std::move(hint)});
}

void Diagnostics::append(const std::vector<Diagnostic>& more) {
  all_.insert(all_.end(), more.begin(), more.end());
}

bool Diagnostics::has_errors() const { return any_error(all_); }

void Diagnostics::throw_if_errors() const {
  if (has_errors()) throw Error(all_);
}

}  // namespace shard
