#pragma once
// Models and rules by path or by bare name.

#include <filesystem>
#include <string>
#include <vector>

#include "text/files.h"

namespace shard {

/// A kind of file we ship: `models` or `rules` under `share/shard-plan`.
struct FileKind {
  const char* folder;  ///< `models`
  const char* word;    ///< `model`
};
inline constexpr FileKind model_files{"models", "model"};
inline constexpr FileKind rules_files{"rules", "rules file"};

/// Folders that hold `models/` and `rules/`, in the order they are searched: the current folder,
/// the installed `share/shard-plan` beside the program, the source tree of a program that has not
/// been installed (relative to the current folder).
std::vector<std::filesystem::path> shipped_roots();

/// The path to read for what the user typed. A word with a `/` or a file that exists is taken as
/// it is; a bare name is looked for as NAME, NAME.yaml and FOLDER/NAME.yaml under the roots. Throws
/// `Error` `missing-file` with the nearest names that exist.
std::string find_file(const std::string& typed, const FileKind& kind,
                      const std::vector<std::filesystem::path>& roots);

}  // namespace shard
