// Reads the arrow table that CMake wrote and every include of src/.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

using Sees = std::map<std::string, std::set<std::string>>;

std::string read(const fs::path& path) {
  std::ifstream file(path);
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// `set(sees_mesh "base;config")` per line.
Sees read_arrows(const std::string& text) {
  Sees sees;
  static const std::regex line(R"re(set\(sees_(\w+) "([^"]*)"\))re");
  for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) {
    std::set<std::string>& rooms = sees[(*at)[1]];
    std::istringstream list((*at)[2]);
    for (std::string room; std::getline(list, room, ';');) rooms.insert(room);
  }
  return sees;
}

struct Include {
  std::string file;  ///< the file that includes, from src/
  std::string target;
};

std::vector<Include> includes_of(const std::string& name, const std::string& text) {
  std::vector<Include> found;
  static const std::regex line(R"re((^|\n)\s*#\s*include\s*"([^"]+)")re");
  for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) {
    found.push_back({name, (*at)[2]});
  }
  return found;
}

std::string room_of(const std::string& path) { return path.substr(0, path.find('/')); }

/// What is wrong with one include, or nothing.
std::string complaint(const Include& include, const Sees& sees) {
  const std::string from = room_of(include.file);
  if (include.file.find('/') == std::string::npos) return "";  // main.cpp
  if (include.target.find('/') == std::string::npos)
    return include.file + ": write the room: \"" + include.target + "\"";
  const std::string to = room_of(include.target);
  if (to == from) return "";
  const auto row = sees.find(from);
  if (row == sees.end()) return from + " has no entry in the arrow table";
  if (row->second.count(to) > 0) return "";
  return include.file + " includes " + include.target + ", but " + from + " does not see " + to;
}

/// A chain `a.h > b.h > a.h` of headers that include each other, or nothing.
std::string cycle_from(const std::string& start,
                       const std::map<std::string, std::vector<std::string>>& graph,
                       std::vector<std::string>& path, std::set<std::string>& done) {
  if (const auto seen = std::find(path.begin(), path.end(), start); seen != path.end()) {
    std::string text;
    for (auto at = seen; at != path.end(); ++at) text += *at + " > ";
    return text + start;
  }
  if (!done.insert(start).second) return "";
  path.push_back(start);
  if (const auto edges = graph.find(start); edges != graph.end()) {
    for (const std::string& next : edges->second) {
      if (std::string chain = cycle_from(next, graph, path, done); !chain.empty()) return chain;
    }
  }
  path.pop_back();
  return "";
}

std::vector<Include> all_includes() {
  std::vector<Include> all;
  const fs::path src = fs::path(SHARD_SOURCE_DIR) / "src";
  for (const auto& entry : fs::recursive_directory_iterator(src)) {
    const std::string extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp") continue;
    const std::string name = fs::relative(entry.path(), src).generic_string();
    for (Include& one : includes_of(name, read(entry.path()))) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

TEST_CASE("every include follows the arrow table") {
  const Sees sees = read_arrows(read(SHARD_ARROWS));
  REQUIRE(sees.size() >= 13);
  const std::vector<Include> all = all_includes();
  REQUIRE(all.size() > 50);
  for (const Include& one : all) CHECK_MESSAGE(complaint(one, sees).empty(), complaint(one, sees));
}

TEST_CASE("every folder of src is a room with an entry") {
  const Sees sees = read_arrows(read(SHARD_ARROWS));
  for (const auto& entry : fs::directory_iterator(fs::path(SHARD_SOURCE_DIR) / "src")) {
    if (!entry.is_directory()) continue;
    const std::string room = entry.path().filename();
    CHECK_MESSAGE(sees.count(room) == 1, room << " has no entry in the arrow table");
  }
}

TEST_CASE("no header includes itself through others") {
  std::map<std::string, std::vector<std::string>> graph;
  for (const Include& one : all_includes()) graph[one.file].push_back(one.target);
  std::set<std::string> done;
  for (const auto& [file, targets] : graph) {
    std::vector<std::string> path;
    const std::string chain = cycle_from(file, graph, path, done);
    CHECK_MESSAGE(chain.empty(), chain);
  }
}

TEST_CASE("third-party headers stay where they belong") {
  const std::map<std::string, std::regex> homes = {
      {"yaml-cpp/", std::regex("text/.*\\.cpp")},
      {"nlohmann/", std::regex("(text|report)/.*\\.cpp|config/schema\\.cpp")},
      {"CLI/", std::regex("cli/.*\\.cpp")},
      {"spdlog/", std::regex("base/log\\.cpp")},
      {"cblas", std::regex("exec/.*\\.cpp")}};
  const fs::path src = fs::path(SHARD_SOURCE_DIR) / "src";
  static const std::regex line(R"re(#\s*include\s*<([^>]+)>)re");
  for (const auto& entry : fs::recursive_directory_iterator(src)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = fs::relative(entry.path(), src).generic_string();
    const std::string text = read(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) {
      for (const auto& [prefix, home] : homes) {
        if ((*at)[1].str().rfind(prefix, 0) != 0) continue;
        CHECK_MESSAGE(std::regex_match(name, home), name << " includes <" << (*at)[1].str() << ">");
      }
    }
  }
}

TEST_CASE("op knowledge stays in tables") {
  // A `switch` over ops or a `case Op::` outside of them would be op knowledge in a stage.
  const fs::path src = fs::path(SHARD_SOURCE_DIR) / "src";
  for (const auto& entry : fs::recursive_directory_iterator(src)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = fs::relative(entry.path(), src).generic_string();
    CHECK_MESSAGE(read(entry.path()).find("case Op::") == std::string::npos,
                  name << " has a switch over ops");
  }
}

TEST_CASE("the lint itself sees a forbidden include and a cycle") {
  const Sees sees = read_arrows("set(sees_mesh \"base;config\")\nset(sees_base \"\")\n");
  CHECK(complaint({"mesh/mesh.cpp", "spmd/program.h"}, sees) ==
        "mesh/mesh.cpp includes spmd/program.h, but mesh does not see spmd");
  CHECK(complaint({"mesh/mesh.cpp", "config/spec.h"}, sees).empty());
  CHECK(complaint({"new/x.cpp", "base/check.h"}, sees) == "new has no entry in the arrow table");
  std::vector<std::string> path;
  std::set<std::string> done;
  CHECK(cycle_from("a.h", {{"a.h", {"b.h"}}, {"b.h", {"a.h"}}}, path, done) == "a.h > b.h > a.h");
}
