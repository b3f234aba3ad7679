#include "text/files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/nearest.h"
#include "text/utf8.h"

namespace shard {
namespace {

constexpr std::size_t largest_file = std::size_t{1} << 30U;

std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

[[noreturn]] void fail_read(const std::string& path, const std::string& why) {
  throw Error("unreadable-file", {}, "cannot read '" + path + "': " + why);
}

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// Up to `most` bytes and a block more: a pipe tells no size beforehand.
std::string read_up_to(std::FILE* file, const std::string& path, std::size_t most) {
  std::string text;
  std::string block(std::size_t{1} << 16U, '\0');
  while (text.size() <= most) {
    const std::size_t count = std::fread(block.data(), 1, block.size(), file);
    if (count == 0) break;
    text.append(block, 0, count);
  }
  if (std::ferror(file) != 0) fail_read(path, std::strerror(errno));
  return text;
}

// Nothing but blanks, comments and document marks.
bool says_nothing(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t first = line.find_first_not_of(" \t\r");
    const bool is_blank = first == line.npos || line[first] == '#' || line.starts_with("---") ||
                          line.starts_with("...");
    if (!is_blank) return false;
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return true;
}

std::unique_ptr<std::FILE, Closer> open_file(const std::string& path) {
  std::unique_ptr<std::FILE, Closer> file(std::fopen(path.c_str(), "rb"));
  if (!file) fail_read(path, std::strerror(errno));
  return file;
}

// The size of what is there (0 for a pipe), or nothing.
std::optional<std::size_t> size_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    fail_read(path, std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) fail_read(path, "it is a folder");
  return static_cast<std::size_t>(status.st_size);
}

std::string missing_hint(FileReader& reader, const std::string& path) {
  const std::filesystem::path whole(path);
  const std::string folder = folder_of(path);
  const std::vector<std::string> names = reader.list(folder.empty() ? "." : folder);
  if (names.empty()) {
    return folder.empty() ? "" : "there is no folder '" + folder + "', or nothing in it";
  }
  // The extension left out is the commonest mistake, and too far away for an edit distance.
  for (const char* extension : {".yaml", ".yml", ".json"}) {
    const std::string longer = whole.filename().string() + extension;
    if (std::find(names.begin(), names.end(), longer) != names.end()) {
      return "did you mean '" + (whole.parent_path() / longer).string() + "'?";
    }
  }
  const auto near = nearest(whole.filename().string(), names);
  return near ? "did you mean '" + (whole.parent_path() / *near).string() + "'?" : "";
}

}  // namespace

std::optional<std::string> DiskReader::read(const std::string& path) {
  const std::optional<std::size_t> size = size_of(path);
  if (!size) return std::nullopt;
  if (*size > largest_file) fail_read(path, "it is larger than 1 GiB");
  std::string text = read_up_to(open_file(path).get(), path, largest_file);
  if (text.size() > largest_file) fail_read(path, "it is larger than 1 GiB");
  return text;
}

std::optional<std::string> DiskReader::read_start(const std::string& path, std::size_t bytes) {
  if (!size_of(path)) return std::nullopt;
  std::string text = read_up_to(open_file(path).get(), path, bytes);
  text.resize(std::min(text.size(), bytes));
  return text;
}

std::vector<std::string> DiskReader::list(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> MemoryReader::read(const std::string& path) {
  const auto found = files_.find(path);
  if (found == files_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> MemoryReader::read_start(const std::string& path, std::size_t bytes) {
  std::optional<std::string> text = read(path);
  if (text) text->resize(std::min(text->size(), bytes));
  return text;
}

std::vector<std::string> MemoryReader::list(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& [path, text] : files_) {
    const std::string parent = folder_of(path);
    if ((parent.empty() ? "." : parent) == folder) {
      names.push_back(std::filesystem::path(path).filename().string());
    }
  }
  return names;
}

const std::string& Sources::load(const std::string& path, const Location& asked_at) {
  if (const auto known = texts_.find(path); known != texts_.end()) return known->second;
  add(path, asked([&] { return reader_.read(path); }, path, asked_at));
  const std::string& kept = texts_.at(path);
  if (says_nothing(kept)) {
    throw Error("empty-file", {path}, "the file holds nothing but blanks and comments");
  }
  return kept;
}

std::string Sources::start_of(const std::string& path, std::size_t bytes,
                              const Location& asked_at) {
  return asked([&] { return reader_.read_start(path, bytes); }, path, asked_at);
}

std::string Sources::asked(const std::function<std::optional<std::string>()>& read,
                           const std::string& path, const Location& asked_at) {
  std::optional<std::string> text;
  try {
    text = read();
  } catch (const Error& problem) {
    std::vector<Diagnostic> placed = problem.diagnostics();
    for (Diagnostic& one : placed) {
      if (!one.at.is_known()) one.at = asked_at;
    }
    throw Error(std::move(placed));
  }
  if (!text) {
    throw Error("missing-file", asked_at, "there is no file '" + path + "'",
                missing_hint(reader_, path));
  }
  return std::move(*text);
}

bool Sources::has(const std::string& path) const {
  if (texts_.contains(path)) return true;
  const std::string folder = folder_of(path);
  const std::vector<std::string> names = reader_.list(folder.empty() ? "." : folder);
  return std::binary_search(names.begin(), names.end(),
                            std::filesystem::path(path).filename().string());
}

void Sources::add(const std::string& path, std::string text) {
  const std::size_t mark = text.size() - without_byte_order_mark(text).size();
  text.erase(0, mark);
  texts_[path] = std::move(text);
}

std::optional<std::string_view> Sources::line(const std::string& path, int line) const {
  const auto found = texts_.find(path);
  if (found == texts_.end() || line < 1) return std::nullopt;
  const std::string_view text = found->second;
  std::size_t start = 0;
  for (int i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n', start);
    if (end == text.npos) return std::nullopt;
    start = end + 1;
  }
  std::string_view found_line = text.substr(start, text.find('\n', start) - start);
  if (found_line.ends_with('\r')) found_line.remove_suffix(1);
  return found_line;
}

std::string beside(const std::string& file, const std::string& path) {
  return (std::filesystem::path(file).parent_path() / path).lexically_normal().string();
}

}  // namespace shard
