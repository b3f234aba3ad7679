#include "cli/fault_option.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/diagnostic.h"
#include "base/nearest.h"
#include "cli/values.h"

namespace shard {
namespace {

constexpr const char* inject_option = "--inject";
constexpr std::int64_t most_faulty = std::numeric_limits<std::int32_t>::max();

constexpr unsigned bit_of(FaultKind kind) { return 1U << static_cast<unsigned>(kind); }
constexpr unsigned any_kind = 0xF;

/// A word before `=`, and which kinds know it.
struct FaultSetting {
  const char* word;
  unsigned kinds;
  void (*set)(Fault& fault, const std::string& value);
};

constexpr FaultSetting fault_settings[] = {
    {"device", any_kind,
     [](Fault& fault, const std::string& value) {
       fault.device = static_cast<int>(read_count(inject_option, value, 0, most_faulty));
     }},
    {"at", any_kind,
     [](Fault& fault, const std::string& value) {
       fault.at = read_count(inject_option, value, 0, most_faulty);
     }},
    {"seconds", bit_of(FaultKind::late_device),
     [](Fault& fault, const std::string& value) {
       fault.delay = read_seconds(inject_option, value);
     }},
    {"element", bit_of(FaultKind::bit_flip),
     [](Fault& fault, const std::string& value) {
       fault.element = read_count(inject_option, value, 0, most_faulty);
     }},
    {"bit", bit_of(FaultKind::bit_flip),
     [](Fault& fault, const std::string& value) {
       fault.bit = static_cast<int>(read_count(inject_option, value, 0, 63));
     }},
};

FaultKind fault_kind_of(const std::string& word) {
  const std::vector<std::string>& words = fault_words();
  const auto place = std::find(words.begin(), words.end(), word);
  if (place == words.end()) {
    throw Error("bad-value", {inject_option}, "there is no fault called '" + word + "'",
                did_you_mean(word, words, "faults", words.size()));
  }
  return static_cast<FaultKind>(place - words.begin());
}

void set_one(Fault& fault, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  const std::string word = setting.substr(0, equals);
  std::vector<std::string> known;
  for (const FaultSetting& row : fault_settings) {
    if ((row.kinds & bit_of(fault.kind)) == 0U) continue;
    known.emplace_back(row.word);
    if (word != row.word || equals == std::string::npos) continue;
    return row.set(fault, setting.substr(equals + 1));
  }
  const std::string& kind = fault_words()[static_cast<std::size_t>(fault.kind)];
  throw Error("bad-value", {inject_option},
              "expected settings of " + kind + " such as device=3, found '" + setting + "'",
              did_you_mean(word, known, "settings", known.size()));
}

}  // namespace

Fault read_fault(const std::string& text) {
  const std::size_t colon = text.find(':');
  Fault fault;
  fault.kind = fault_kind_of(text.substr(0, colon));
  if (colon == std::string::npos) return fault;
  Diagnostics diagnostics;
  for (std::size_t begin = colon + 1; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    try {
      set_one(fault, text.substr(begin, end - begin));
    } catch (const Error& error) {  // so that all mistakes are told at once
      diagnostics.append(error.diagnostics());
    }
    begin = end + 1;
  }
  diagnostics.throw_if_errors();
  return fault;
}

void check_fault(const Fault& fault, std::int64_t device_count) {
  if (fault.device < device_count) return;
  throw Error("bad-value", {inject_option},
              "there is no device " + std::to_string(fault.device) + ": the mesh has " +
                  std::to_string(device_count) + ", counted from 0");
}

}  // namespace shard
