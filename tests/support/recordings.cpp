#include "support/recordings.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace shard::tests {
namespace {

std::string find_folder() {
  const char* const given = std::getenv("SHARD_PLAN_GOLDENS");
  if (given != nullptr) return given;
  const std::filesystem::path beside =
      std::filesystem::path(SHARD_SOURCE_DIR) / "../shared/goldens";
  if (std::filesystem::exists(beside)) return beside.string();
  return SHARD_TESTS_DIR "/goldens";
}

/// One value per line.
json read_lines(std::istream& file) {
  json all = json::array();
  for (std::string line; std::getline(file, line);) all.push_back(json::parse(line));
  return all;
}

}  // namespace

const std::string& goldens_folder() {
  static const std::string folder = [] {
    std::string found = find_folder();
    std::cout << "recordings: " << found << "\n";
    return found;
  }();
  return folder;
}

std::optional<json> read_goldens(const std::string& name) {
  const std::string path = goldens_folder() + "/" + name;
  if (std::ifstream file(path); file) return json::parse(file);
  if (std::ifstream file(path + "l"); file) return read_lines(file);
  std::cout << "conformance " << name << ": skipped\n";
  return std::nullopt;
}

Conformance::~Conformance() {
  if (total_ == 0 && left_out_.empty()) return;
  std::cout << "conformance " << name_ << ": " << matched_ << "/" << total_;
  for (const auto& [why, count] : refused_) std::cout << "; " << count << " refused: " << why;
  for (const auto& [why, count] : left_out_) std::cout << "; " << count << " left out: " << why;
  std::cout << "\n";
  for (const std::string& miss : misses_) std::cout << miss;
}

void Conformance::expect(const std::string& id, const std::string& found,
                         const std::string& expected) {
  ++total_;
  if (found == expected) {
    ++matched_;
  } else {
    misses_.push_back("  " + id + "\n    expected " + expected + "\n    found    " + found + "\n");
  }
}

void Conformance::expect_refused(const std::string& id, const std::string& found,
                                 const std::string& why) {
  ++refused_[why];
  expect(id, found.substr(0, found.find(':')), "refused");
}

}  // namespace shard::tests
