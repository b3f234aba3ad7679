// A header includes what has the names of the standard library that it uses, itself or through
// headers of ours. A build that parses those once for all files would not notice that they are
// missing.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

/// Where a name of the standard library is.
const std::map<std::string, std::string>& homes() {
  static const std::map<std::string, std::string> rows = {
      {"vector", "vector"},
      {"string", "string"},
      {"to_string", "string"},
      {"string_view", "string_view"},
      {"map", "map"},
      {"multimap", "map"},
      {"set", "set"},
      {"unordered_map", "unordered_map"},
      {"unordered_set", "unordered_set"},
      {"optional", "optional"},
      {"nullopt", "optional"},
      {"function", "functional"},
      {"unique_ptr", "memory"},
      {"shared_ptr", "memory"},
      {"weak_ptr", "memory"},
      {"make_unique", "memory"},
      {"make_shared", "memory"},
      {"array", "array"},
      {"span", "span"},
      {"variant", "variant"},
      {"visit", "variant"},
      {"get_if", "variant"},
      {"int8_t", "cstdint"},
      {"int16_t", "cstdint"},
      {"int32_t", "cstdint"},
      {"int64_t", "cstdint"},
      {"uint8_t", "cstdint"},
      {"uint16_t", "cstdint"},
      {"uint32_t", "cstdint"},
      {"uint64_t", "cstdint"},
      {"atomic", "atomic"},
      {"mutex", "mutex"},
      {"condition_variable", "condition_variable"},
      {"thread", "thread"},
      {"chrono", "chrono"},
      {"tuple", "tuple"},
      {"deque", "deque"},
      {"complex", "complex"},
      {"exception_ptr", "exception"},
      {"runtime_error", "stdexcept"},
      {"sort", "algorithm"},
      {"find", "algorithm"},
      {"any_of", "algorithm"},
      {"all_of", "algorithm"},
      {"copy", "algorithm"},
      {"fill", "algorithm"},
      {"accumulate", "numeric"},
      {"iota", "numeric"},
      {"numeric_limits", "limits"},
      {"mt19937_64", "random"},
      {"sqrt", "cmath"},
      {"isnan", "cmath"},
      {"isfinite", "cmath"}};
  return rows;
}

/// By name from src/, `base/units.h`: what the headers say.
using Headers = std::map<std::string, std::string>;

Headers headers_of_src() {
  Headers headers;
  const fs::path src = fs::path(SHARD_SOURCE_DIR) / "src";
  for (const auto& entry : fs::recursive_directory_iterator(src)) {
    if (entry.path().extension() != ".h") continue;
    std::ifstream file(entry.path());
    std::ostringstream text;
    text << file.rdbuf();
    headers[fs::relative(entry.path(), src).generic_string()] = text.str();
  }
  return headers;
}

/// All that `name` includes in angle brackets, itself or through `headers`.
void collect_included(const Headers& headers, const std::string& name, std::set<std::string>& seen,
                      std::set<std::string>& included) {
  const auto header = headers.find(name);
  if (header == headers.end() || !seen.insert(name).second) return;
  static const std::regex line(R"re(#\s*include\s*(<|")([^>"]+)[>"])re");
  for (std::sregex_iterator at(header->second.begin(), header->second.end(), line), end; at != end;
       ++at) {
    if ((*at)[1] == "<") {
      included.insert((*at)[2]);
    } else {
      collect_included(headers, (*at)[2], seen, included);
    }
  }
}

/// `std::span, <span>` for each name without its header.
std::set<std::string> missing_in(const Headers& headers, const std::string& name) {
  std::set<std::string> seen, included, missing;
  collect_included(headers, name, seen, included);
  static const std::regex comment("//[^\n]*"), used(R"re(\b(std|fmt)::(\w+))re");
  const std::string code = std::regex_replace(headers.at(name), comment, "");
  for (std::sregex_iterator at(code.begin(), code.end(), used), end; at != end; ++at) {
    const auto row = homes().find((*at)[2]);
    const bool is_fmt = (*at)[1] == "fmt";
    if (!is_fmt && row == homes().end()) continue;
    const std::string home = is_fmt ? "fmt/format.h" : row->second;
    if (included.count(home) == 0) missing.insert(at->str() + ", <" + home + ">");
  }
  return missing;
}

}  // namespace

TEST_CASE("headers include what has the names of the standard library they use") {
  const Headers headers = headers_of_src();
  REQUIRE(headers.size() > 100);
  for (const auto& [name, text] : headers) {
    for (const std::string& one : missing_in(headers, name)) FAIL_CHECK(name << ": " << one);
  }
}

TEST_CASE("a name without its header is seen and one that comes through another header is not") {
  const Headers headers = {{"a.h",
                            "#include <span>\n#include \"b.h\"\nstd::span<int> x; // std::map\n"
                            "std::vector<int> y; std::set<int> z;"},
                           {"b.h", "#include <vector>\n#include \"a.h\"\n"}};
  CHECK(missing_in(headers, "a.h") == std::set<std::string>{"std::set, <set>"});
  CHECK(missing_in({{"c.h", "fmt::format(1);"}}, "c.h") ==
        std::set<std::string>{"fmt::format, <fmt/format.h>"});
}
