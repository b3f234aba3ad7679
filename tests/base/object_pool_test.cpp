#include "base/object_pool.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace shard;

namespace {

bool has_no_limit(decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

bool may_pool() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#else
  return has_no_limit(RLIMIT_AS) && has_no_limit(RLIMIT_DATA);
#endif
}

/// An array of characters, all alike.
struct Filled {
  std::unique_ptr<char[]> characters;
  std::size_t size = 0;
  char character = 0;

  Filled(std::size_t of, char with) : characters(new char[of]), size(of), character(with) {
    std::fill_n(characters.get(), size, character);
  }
  bool is_whole() const {
    return std::all_of(characters.get(), characters.get() + size,
                       [&](char one) { return one == character; });
  }
};

}  // namespace

TEST_CASE("pooled objects of all sizes keep what is in them") {
  const bool is_on = pool_objects();
  CHECK(is_on == may_pool());
  std::vector<Filled> all;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t size = 1; size <= largest_pooled; size += 1 + size / 7) {
      all.emplace_back(size, static_cast<char>(all.size() % 120));
    }
    // Every third one is dropped, so that the next round takes some again.
    std::size_t number = 0;
    std::erase_if(all, [&](const Filled&) { return number++ % 3 == 0; });
  }
  std::set<const char*> begins;
  for (const Filled& one : all) {
    CHECK(is_pooled(one.characters.get()) == is_on);
    CHECK(reinterpret_cast<std::uintptr_t>(one.characters.get()) % alignof(std::max_align_t) == 0);
    CHECK(one.is_whole());
    begins.insert(one.characters.get());
  }
  CHECK(begins.size() == all.size());
}

TEST_CASE("what is dropped is the next of its size that is taken") {
  if (!pool_objects()) return;
  for (const std::size_t size : {std::size_t{24}, std::size_t{1000}, std::size_t{40000}}) {
    void* const first = ::operator new(size);
    ::operator delete(first);
    void* const second = ::operator new(size - 1);
    CHECK(first == second);
    ::operator delete(second, size - 1);
    CHECK(::operator new(size) == first);
    ::operator delete(first, size);
  }
}

TEST_CASE("what is larger than the pool's largest object is not in it") {
  pool_objects();
  const std::unique_ptr<char[]> large(new char[largest_pooled + 1]);
  CHECK_FALSE(is_pooled(large.get()));
}

TEST_CASE("another thread's objects are not in the pool and it may drop those that are") {
  const bool is_on = pool_objects();
  constexpr std::size_t size = 720;  // a size that nothing else here asks for
  std::vector<std::unique_ptr<char[]>> made;
  std::set<const char*> before;
  for (int i = 0; i < 1000; ++i) {
    made.emplace_back(new char[size]);
    before.insert(made.back().get());
  }
  std::unique_ptr<std::string> theirs;
  std::thread([&, given = std::move(made)]() mutable {
    CHECK_FALSE(pool_objects());
    theirs = std::make_unique<std::string>(200, 'x');
    CHECK_FALSE(is_pooled(theirs->data()));
    given.clear();
  }).join();
  CHECK(*theirs == std::string(200, 'x'));
  theirs.reset();
  if (!is_on) return;
  // All of them are taken again before the pool grows by more than the rest of a page.
  std::size_t again = 0;
  for (int i = 0; i < 1100; ++i) {
    made.emplace_back(new char[size]);
    again += before.count(made.back().get());
  }
  CHECK(again == before.size());
}
