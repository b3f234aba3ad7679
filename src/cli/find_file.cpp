#include "cli/find_file.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <system_error>

#include "base/diagnostic.h"
#include "base/nearest.h"

namespace shard {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_directory(path, ignored);
}

/// A program that was built and not installed has this file beside it, with the source tree's path.
constexpr const char* source_tree_marker = "shard-plan.source-tree";

void add_source_tree(const fs::path& program_folder, std::vector<fs::path>& roots) {
  std::ifstream marker(program_folder / source_tree_marker);
  std::string tree;
  if (!marker || !std::getline(marker, tree)) return;
  std::error_code problem;
  const fs::path near = fs::relative(tree, problem);
  if (!problem) roots.push_back(near);
}

/// Names, without `.yaml`, of the files of one kind.
std::vector<std::string> known_names(const FileKind& kind, const std::vector<fs::path>& roots) {
  std::set<std::string> names;
  for (const fs::path& root : roots) {
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator(root / kind.folder, problem)) {
      if (entry.path().extension() == ".yaml") names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

std::vector<fs::path> candidates(const std::string& typed, const FileKind& kind,
                                 const std::vector<fs::path>& roots) {
  std::vector<fs::path> paths = {typed, typed + ".yaml"};
  if (typed.find('/') != std::string::npos) return paths;
  for (const fs::path& root : roots) {
    paths.push_back(root / kind.folder / typed);
    paths.push_back(root / kind.folder / (typed + ".yaml"));
  }
  return paths;
}

}  // namespace

std::vector<fs::path> shipped_roots() {
  std::vector<fs::path> roots = {""};
  std::error_code problem;
  const fs::path program = fs::read_symlink("/proc/self/exe", problem);
  if (problem) return roots;
  const fs::path folder = program.parent_path();
  roots.push_back((folder / "../share/shard-plan").lexically_normal());
  add_source_tree(folder, roots);
  return roots;
}

std::string find_file(const std::string& typed, const FileKind& kind,
                      const std::vector<fs::path>& roots) {
  for (const fs::path& path : candidates(typed, kind, roots)) {
    if (!typed.empty() && is_file(path)) return path.string();
  }
  // A path gets its message from the reader, which can list the folder.
  if (typed.find('/') != std::string::npos) return typed;
  const std::vector<std::string> known = known_names(kind, roots);
  throw Error(
      "missing-file", {"command line"},
      std::string("there is no ") + kind.word + " '" + typed + "' here or among those shipped",
      did_you_mean(typed, known, "known", 12));
}

}  // namespace shard
