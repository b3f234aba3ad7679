#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/check_report.h"
#include "report/semantics.h"

namespace shard {
namespace {

using Json = nlohmann::ordered_json;

std::string check_document(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

Json place_json(const Location& at) {
  if (!at.is_known()) return nullptr;
  return {{"file", at.file}, {"line", at.line}, {"column", at.column}};
}

Json cause_json(const CheckCause& cause) {
  return {{"id", cause.id},
          {"subject", cause.subject},
          {"text", cause.text},
          {"amount", cause.amount},
          {"fix", cause.fix},
          {"at", place_json(cause.at)},
          {"related", place_json(cause.related)}};
}

Json mistake_json(const Diagnostic& one) {
  return {{"id", one.id}, {"message", one.message}, {"fix", one.hint}, {"at", place_json(one.at)}};
}

Json outcome_json(const CheckOutcome& outcome) {
  constexpr const char* verdicts[] = {"ok", "failed", "broken"};
  Json causes = Json::array();
  for (const CheckCause& cause : outcome.causes) causes.push_back(cause_json(cause));
  Json mistakes = Json::array();
  for (const Diagnostic& one : outcome.mistakes) mistakes.push_back(mistake_json(one));
  Json json = {{"job", outcome.job},
               {"model", outcome.model},
               {"rules", outcome.rules},
               {"mesh", outcome.mesh},
               {"verdict", verdicts[static_cast<std::size_t>(outcome.verdict())]},
               {"state_bytes_per_device", nullptr},
               {"state_bytes_per_device_before", nullptr},
               {"peak_bytes", nullptr},
               {"causes", std::move(causes)},
               {"mistakes", std::move(mistakes)}};
  if (outcome.state) json["state_bytes_per_device_before"] = outcome.state->before.count();
  if (outcome.record) {
    json["state_bytes_per_device"] = state_bytes(*outcome.record).bytes.count();
    if (outcome.record->peak) json["peak_bytes"] = outcome.record->peak->count();
  }
  return json;
}

// SARIF

struct Rule {
  std::string id;
  std::string help;
};

/// What the ids that are not findings stand for.
std::string help_of(const std::string& id) {
  constexpr std::pair<const char*, const char*> known[] = {
      {"changed", "The effective spec or the type of arrays is not what was agreed to"},
      {"new", "Arrays that were not there when the layout was agreed to"},
      {"gone", "Arrays that were there when the layout was agreed to"},
      {"collectives", "The collectives of a step are not those that were agreed to"},
      {"peak", "The memory of a device is not what was agreed to"},
      {"not-in-lock", "A job on a mesh that the lock file has not got"},
      {"not-checked", "An entry of the lock file that no job makes"},
      {"max_bytes_per_device", "A device holds more than the policy allows"},
      {"max_replicated_bytes", "Devices hold more copies than the policy allows"},
      {"forbid_collective", "A collective that the policy forbids"},
      {"require_spec", "Arrays without the spec that the policy asks for"},
      {"fits", "The layout does not fit into the memory that the policy names"},
  };
  for (const auto& [name, help] : known) {
    if (id == name) return help;
  }
  const FindingKind* const kind = finding_kind(id);
  return kind == nullptr ? "The files do not make a layout: " + id : std::string(kind->help);
}

/// Relative paths stay relative to the checkout, with `/`; blanks and the like are escaped as in
/// any URI.
std::string uri_of(const std::string& path) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string uri;
  for (const char c : path) {
    if (plain.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      uri += '%';
      uri += digits[byte >> 4U];
      uri += digits[byte & 15U];
    }
  }
  return path.starts_with('/') ? "file://" + uri : uri;
}

Json location_json(const Location& at) {
  Json physical = {{"artifactLocation", {{"uri", uri_of(at.file)}}}};
  if (at.is_known()) {
    physical["region"] = {{"startLine", at.line}, {"startColumn", std::max(1, at.column)}};
  }
  return {{"physicalLocation", physical}};
}

struct Result {
  std::string id;
  std::string message;
  Location at;
  Location related;
  std::string fingerprint;
};

std::vector<Result> results_of(const CheckReport& report) {
  std::vector<Result> results;
  for (const CheckOutcome& outcome : report.outcomes) {
    const std::string where = outcome.job + " on " + outcome.mesh;
    for (const CheckCause& cause : outcome.causes) {
      results.push_back({cause.id, where + ": " + cause_text(cause), cause.at, cause.related,
                         where + '/' + cause.id + '/' + cause.subject});
    }
    for (const Diagnostic& one : outcome.mistakes) {
      Result result;
      result.id = one.id;
      result.message = where + ": " + one.message;
      result.at = one.at;
      result.fingerprint = where + '/' + one.id;
      results.push_back(std::move(result));
    }
  }
  return results;
}

Json rules_json(const std::vector<Result>& results, std::vector<std::string>& ids) {
  Json rules = Json::array();
  for (const Result& result : results) {
    if (std::find(ids.begin(), ids.end(), result.id) != ids.end()) continue;
    ids.push_back(result.id);
    rules.push_back({{"id", result.id},
                     {"shortDescription", {{"text", help_of(result.id)}}},
                     {"defaultConfiguration", {{"level", "error"}}}});
  }
  return rules;
}

Json result_json(const Result& result, const std::vector<std::string>& ids, const Location& job) {
  const auto rule = std::find(ids.begin(), ids.end(), result.id) - ids.begin();
  const Location& at = result.at.file.empty() ? job : result.at;
  Json json = {{"ruleId", result.id},
               {"ruleIndex", rule},
               {"level", "error"},
               {"message", {{"text", result.message}}},
               {"locations", Json::array({location_json(at)})},
               {"partialFingerprints", {{"layout/v1", result.fingerprint}}}};
  if (result.related.is_known() && result.related != at) {
    Json related = location_json(result.related);
    related["id"] = 1;
    related["message"] = {{"text", "decided here now"}};
    json["relatedLocations"] = Json::array({related});
  }
  return json;
}

}  // namespace

std::string check_json(const CheckReport& report) {
  Json outcomes = Json::array();
  for (const CheckOutcome& outcome : report.outcomes) outcomes.push_back(outcome_json(outcome));
  Json document = {{"schema", json_schema_number},
                   {"command", "check"},
                   {"semantics", semantics_name},
                   {"against", report.against},
                   {"outcomes", std::move(outcomes)},
                   {"ok", report.count(CheckVerdict::ok) == report.outcomes.size()}};
  return check_document(document);
}

std::string check_sarif(const CheckReport& report, const std::string& version) {
  const std::vector<Result> results = results_of(report);
  std::vector<std::string> ids;
  const Json rules = rules_json(results, ids);
  const Location job = report.outcomes.empty() ? Location{} : report.outcomes.front().at;
  Json all = Json::array();
  for (const Result& result : results) all.push_back(result_json(result, ids, job));
  const Json driver = {{"name", "shard-plan"}, {"version", version}, {"rules", rules}};
  Json document = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                   {"version", "2.1.0"},
                   {"runs", Json::array({{{"tool", {{"driver", driver}}},
                                          {"columnKind", "unicodeCodePoints"},
                                          {"results", all}}})}};
  return check_document(document);
}

}  // namespace shard
