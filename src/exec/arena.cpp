#include "exec/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"

namespace shard {
namespace {

constexpr std::int64_t page = 4096;
constexpr std::int64_t huge_page = std::int64_t{1} << 21;
constexpr std::int64_t colour_step = 17 * 64;  // an odd number of cache lines
constexpr std::int64_t colours = 15;           // so that all of them stay below four pages

std::int64_t rounded(std::int64_t size, std::int64_t unit) {
  return (size + unit - 1) / unit * unit;
}

/// Bytes of the region without its guard.
std::int64_t region_size(std::int64_t size) {
  const std::int64_t needed = size + colour_step * colours;
  return rounded(needed, needed >= huge_page ? huge_page : page);
}

/// The number that follows `key` in a file of `key number` lines, or a file's only number.
std::optional<std::int64_t> number_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    if (!key.empty() && word != key) continue;
    if (!key.empty() && !(file >> word)) break;
    if (word.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    return std::stoll(word);
  }
  return std::nullopt;
}

std::int64_t left_in_machine() {
  const std::optional<std::int64_t> kib = number_in("/proc/meminfo", "MemAvailable:");
  return kib ? *kib * 1024 : std::numeric_limits<std::int64_t>::max();
}

/// What is left of the limit of a version 2 control group; its file cache can be dropped.
std::int64_t left_in_group() {
  const std::string group = "/sys/fs/cgroup/";
  const std::optional<std::int64_t> limit = number_in(group + "memory.max", "");
  const std::optional<std::int64_t> used = number_in(group + "memory.current", "");
  if (!limit || !used) return std::numeric_limits<std::int64_t>::max();
  const std::int64_t cache = number_in(group + "memory.stat", "inactive_file").value_or(0);
  return std::max<std::int64_t>(0, *limit - *used + cache);
}

/// What is left of a limit of this process (`ulimit -v`, `-d`), of which it has used what the line
/// `key` of its status says.
std::int64_t left_of(decltype(RLIMIT_AS) resource, const std::string& key) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<std::int64_t>::max();
  const std::int64_t used = number_in("/proc/self/status", key).value_or(0) * 1024;
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(limit.rlim_cur) - used);
}

/// Whether the system can read a byte there; a process that reads it itself would die.
bool is_readable(const std::byte* at) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return true;
  const bool is_read = write(ends[1], at, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return is_read;
}

bool is_zero(const std::byte* begin, const std::byte* end) {
  return std::all_of(begin, end, [](std::byte one) { return one == std::byte{0}; });
}

[[noreturn]] void refuse(std::size_t bytes) {
  throw Error("not-enough-memory", {},
              "the system refused " + with_commas(static_cast<std::int64_t>(bytes)) +
                  " bytes of address space for a virtual device: " + std::strerror(errno));
}

/// `usable` bytes from a huge page's start on, between guard pages.
std::shared_ptr<std::byte> map_memory(std::size_t usable) {
  // Address space for aligning costs nothing; only what is populated is memory.
  const std::size_t mapped = usable + huge_page + 2 * page;
  void* const mapping =
      mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) refuse(mapped);
  const std::uintptr_t start =
      (reinterpret_cast<std::uintptr_t>(mapping) + page + huge_page - 1) / huge_page * huge_page;
  std::byte* const aligned = reinterpret_cast<std::byte*>(start);
  std::shared_ptr<std::byte> memory(aligned,
                                    [mapping, mapped](std::byte*) { munmap(mapping, mapped); });
  if (mprotect(aligned, usable, PROT_READ | PROT_WRITE) != 0) refuse(usable);
  if (static_cast<std::int64_t>(usable) >= huge_page) madvise(aligned, usable, MADV_HUGEPAGE);
  return memory;
}

}  // namespace

Arena::Arena(std::int64_t size, int colour)
    : Arena(map_memory(static_cast<std::size_t>(region_size(size))), 0, size, colour) {}

Arena::Arena(std::shared_ptr<std::byte> memory, std::int64_t start, std::int64_t size, int colour)
    : memory_(std::move(memory)),
      usable_(static_cast<std::size_t>(region_size(size))),
      base_(memory_.get() + start + colour % colours * colour_step),
      region_(memory_.get() + start),
      size_(static_cast<std::size_t>(size)) {}

std::vector<Arena> Arena::row_of(std::int64_t size, int count, int first, bool are_guarded) {
  const std::int64_t each = region_size(size);
  std::vector<Arena> arenas;
  arenas.reserve(static_cast<std::size_t>(count));
  if (are_guarded || each >= huge_page) {
    for (int i = 0; i < count; ++i) arenas.emplace_back(size, first + i);
    return arenas;
  }
  const std::shared_ptr<std::byte> memory = map_memory(static_cast<std::size_t>(count * each));
  for (int i = 0; i < count; ++i) arenas.push_back(Arena(memory, i * each, size, first + i));
  return arenas;
}

void Arena::populate() {
  volatile std::byte* memory = region_;
  for (std::size_t i = 0; i < usable_; i += page) memory[i] = std::byte{0};
}

Bytes Arena::resident() const {
  std::vector<unsigned char> pages(usable_ / page);
  if (mincore(region_, usable_, pages.data()) != 0) return Bytes(0);
  const auto count =
      std::count_if(pages.begin(), pages.end(), [](unsigned char one) { return (one & 1U) != 0; });
  return Bytes(count * page);
}

bool Arena::is_guarded() const {
  return !is_readable(region_ - 1) && !is_readable(region_ + usable_);
}

bool Arena::is_clean_outside() const {
  return is_zero(region_, base_) && is_zero(base_ + size_, region_ + usable_);
}

Bytes Arena::footprint(std::int64_t size) { return Bytes(region_size(size)); }

Bytes available_memory() {
  return Bytes(std::min({left_in_machine(), left_in_group(), left_of(RLIMIT_AS, "VmSize:"),
                         left_of(RLIMIT_DATA, "VmData:")}));
}

void check_memory(std::int64_t devices, Bytes size, Bytes available) {
  const std::int64_t each = Arena::footprint(size.count()).count();
  const bool overflows = each > std::numeric_limits<std::int64_t>::max() / devices;
  if (!overflows && devices * each <= available.count()) return;
  const std::string needed =
      overflows ? "more than 2^63 bytes" : with_commas(devices * each) + " bytes";
  throw Error("not-enough-memory", {},
              std::to_string(devices) + " virtual devices need " + needed + " (" +
                  with_commas(each) + " each), this machine has " + with_commas(available) +
                  " bytes available",
              "run on a smaller mesh or with smaller sizes; `plan` needs no such memory");
}

}  // namespace shard
