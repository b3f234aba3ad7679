#include "base/object_pool.h"

#ifdef SHARD_SANITIZED

namespace shard {
bool pool_objects() { return false; }
bool is_pooled(const void*) { return false; }
}  // namespace shard

#else

#include <sys/mman.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace shard {
namespace {

constexpr std::size_t address_space = std::size_t{4} << 30;  ///< reserved, not used
constexpr std::size_t page_bytes = 16384;                    ///< all blocks in one have one size
constexpr std::size_t system_page = std::size_t{2} << 20;

constexpr std::size_t granule = 16;  ///< sizes up to `finest` are multiples of it
constexpr std::size_t finest = 1024;
constexpr std::size_t fine_sizes = finest / granule;

/// Number of the smallest size that holds so many bytes; above `finest` there are four sizes per
/// doubling.
constexpr std::size_t size_number(std::size_t bytes) {
  if (bytes <= finest) return bytes == 0 ? 0 : (bytes - 1) / granule;
  const std::size_t last = bytes - 1;
  const auto shift = static_cast<std::size_t>(std::bit_width(last)) - 3;
  const std::size_t doublings = shift - static_cast<std::size_t>(std::bit_width(finest)) + 3;
  return fine_sizes + 4 * doublings + ((last >> shift) & 3);
}

constexpr std::size_t size_of_number(std::size_t number) {
  if (number < fine_sizes) return (number + 1) * granule;
  const std::size_t beyond = number - fine_sizes;
  return (5 + beyond % 4) << (beyond / 4 + static_cast<std::size_t>(std::bit_width(finest)) - 3);
}

constexpr std::size_t sizes = size_number(largest_pooled) + 1;
static_assert(size_of_number(size_number(finest)) == finest);
static_assert(size_of_number(size_number(finest + 1)) == finest + finest / 4);
static_assert(size_of_number(sizes - 1) == largest_pooled);

struct FreeBlock {
  FreeBlock* next;
};

/// A limit counts the address space as if it were used.
bool is_limited(decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

class ObjectPool {
 public:
  /// False when there is no address space to be had.
  bool start() {
    if (is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA)) return false;
    void* const space = mmap(nullptr, address_space + system_page, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) return false;
    const auto at = reinterpret_cast<std::uintptr_t>(space);
    begin_.store((at + system_page - 1) / system_page * system_page, std::memory_order_relaxed);
    next_page_ = begin_.load(std::memory_order_relaxed);
#ifdef MADV_HUGEPAGE
    madvise(reinterpret_cast<void*>(next_page_), address_space, MADV_HUGEPAGE);
#endif
    return true;
  }

  bool holds(const void* object) const {
    const std::uintptr_t begin = begin_.load(std::memory_order_relaxed);
    return begin != 0 && reinterpret_cast<std::uintptr_t>(object) - begin < address_space;
  }

  /// Nothing when the address space is used up. By the thread that started.
  void* take(std::size_t bytes) {
    const std::size_t number = size_number(bytes);
    FreeBlock* const block = free_[number];
    if (block == nullptr) return take_fresh(number);
    free_[number] = block->next;
    return block;
  }

  void give_back(void* object) { give_back(object, number_of_page_[page_of(object)]); }

  void give_back(void* object, std::size_t number) {
    auto* const block = ::new (object) FreeBlock{free_[number]};
    free_[number] = block;
  }

  /// By any other thread.
  void give_back_from_elsewhere(void* object) {
    auto* const block = ::new (object) FreeBlock{returned_.load(std::memory_order_relaxed)};
    while (!returned_.compare_exchange_weak(block->next, block, std::memory_order_release,
                                            std::memory_order_relaxed)) {
    }
  }

 private:
  /// The part of a page that is not in blocks yet.
  struct Rest {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };

  std::size_t page_of(const void* object) const {
    return (reinterpret_cast<std::uintptr_t>(object) - begin_.load(std::memory_order_relaxed)) /
           page_bytes;
  }

  void* take_fresh(std::size_t number) {
    take_returned();
    if (FreeBlock* const block = free_[number]) {
      free_[number] = block->next;
      return block;
    }
    const std::size_t bytes = size_of_number(number);
    Rest& rest = rests_[number];
    if (rest.end - rest.begin < bytes && !take_pages(number)) return nullptr;
    void* const block = reinterpret_cast<void*>(rest.begin);
    rest.begin += bytes;
    return block;
  }

  /// For blocks of this size, which begin in the first one.
  bool take_pages(std::size_t number) {
    const std::size_t bytes = (size_of_number(number) + page_bytes - 1) / page_bytes * page_bytes;
    const std::uintptr_t begin = begin_.load(std::memory_order_relaxed);
    if (begin + address_space - next_page_ < bytes) return false;
    rests_[number] = {next_page_, next_page_ + bytes};
    number_of_page_[(next_page_ - begin) / page_bytes] = static_cast<std::uint8_t>(number);
    next_page_ += bytes;
    return true;
  }

  void take_returned() {
    if (returned_.load(std::memory_order_relaxed) == nullptr) return;
    FreeBlock* block = returned_.exchange(nullptr, std::memory_order_acquire);
    while (block != nullptr) {
      FreeBlock* const next = block->next;
      give_back(block);
      block = next;
    }
  }

  std::array<FreeBlock*, sizes> free_{};
  std::array<Rest, sizes> rests_{};
  std::uintptr_t next_page_ = 0;
  std::atomic<std::uintptr_t> begin_ = 0;  ///< 0: not started
  std::atomic<FreeBlock*> returned_ = nullptr;
  std::array<std::uint8_t, address_space / page_bytes> number_of_page_{};
};

constinit ObjectPool object_pool;
constinit std::atomic<bool> is_started = false;
constinit thread_local bool is_owner = false;

/// As the standard asks of `new`.
void* take_from_system(std::size_t bytes) {
  for (;;) {
    if (void* const made = std::malloc(bytes == 0 ? 1 : bytes)) return made;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

bool pool_objects() {
  if (!is_started.exchange(true)) is_owner = object_pool.start();
  return is_owner;
}

bool is_pooled(const void* object) { return object_pool.holds(object); }

}  // namespace shard

void* operator new(std::size_t bytes) {
  if (shard::is_owner && bytes <= shard::largest_pooled) {
    if (void* const made = shard::object_pool.take(bytes)) return made;
  }
  return shard::take_from_system(bytes);
}

void operator delete(void* object) noexcept {
  if (!shard::object_pool.holds(object)) {
    std::free(object);
  } else if (shard::is_owner) {
    shard::object_pool.give_back(object);
  } else {
    shard::object_pool.give_back_from_elsewhere(object);
  }
}

void operator delete(void* object, std::size_t bytes) noexcept {
  if (shard::is_owner && shard::object_pool.holds(object)) {
    shard::object_pool.give_back(object, shard::size_number(bytes));
  } else {
    operator delete(object);
  }
}

#endif
