#include "exec/arena.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "base/diagnostic.h"
#include "exec/scratch.h"

using namespace shard;

TEST_CASE("an arena is zero and aligned and can be written to its last byte") {
  for (const std::int64_t size : {std::int64_t{1}, std::int64_t{5000}, std::int64_t{3} << 20}) {
    for (const int colour : {0, 1, 14, 511}) {
      Arena arena(size, colour);
      arena.populate();
      CHECK(reinterpret_cast<std::uintptr_t>(arena.base()) % 64 == 0);
      CHECK(std::all_of(arena.base(), arena.base() + size,
                        [](std::byte b) { return b == std::byte{0}; }));
      arena.base()[size - 1] = std::byte{1};
      Arena moved = std::move(arena);
      CHECK(moved.base()[size - 1] == std::byte{1});
    }
  }
}

TEST_CASE("an arena lies between pages that cannot be read and is resident when filled") {
  for (const std::int64_t size : {std::int64_t{1}, std::int64_t{5000}, std::int64_t{3} << 20}) {
    Arena arena(size, 3);
    CHECK(arena.is_guarded());
    arena.populate();
    CHECK(arena.resident() == arena.footprint());
    CHECK(arena.footprint() == Arena::footprint(size));
    Arena moved = std::move(arena);
    CHECK(moved.is_guarded());
    CHECK(moved.resident() == moved.footprint());
  }
}

TEST_CASE("small arenas of a row lie side by side unless they are guarded") {
  const std::int64_t size = 5000;
  for (const bool are_guarded : {false, true}) {
    std::vector<Arena> row = Arena::row_of(size, 20, 7, are_guarded);
    REQUIRE(row.size() == 20);
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i].populate();
      std::fill_n(row[i].base(), size, std::byte{1});
      CHECK(row[i].resident() == Arena::footprint(size));
      CHECK(row[i].is_guarded() == are_guarded);
    }
    // Colours differ: each begins a little later in its pages than the one before.
    const std::int64_t apart = Arena::footprint(size).count() + std::int64_t{17} * 64;
    CHECK((row[1].base() - row[0].base() == apart) != are_guarded);
    const Arena last = std::move(row.back());
    row.clear();  // what they share stays while one of them does
    CHECK(last.is_clean_outside());
    CHECK(std::count(last.base(), last.base() + size, std::byte{1}) == size);
  }
}

TEST_CASE("large arenas of a row are guarded in any case") {
  for (const Arena& arena : Arena::row_of(std::int64_t{3} << 20, 3, 0, false)) {
    CHECK(arena.is_guarded());
  }
}

TEST_CASE("an arena that is not filled is not resident") {
  const Arena arena(std::int64_t{3} << 20, 0);
  CHECK(arena.resident() == Bytes(0));
}

TEST_CASE("a byte beside an arena is noticed") {
  for (const std::int64_t place : {-1, 5000}) {
    Arena arena(5000, 3);
    arena.populate();
    arena.base()[0] = arena.base()[4999] = std::byte{1};
    CHECK(arena.is_clean_outside());
    arena.base()[place] = std::byte{1};
    CHECK_FALSE(arena.is_clean_outside());
  }
}

TEST_CASE("large arenas take whole huge pages and small ones do not") {
  CHECK(Arena::footprint(std::int64_t{3} << 20) == Bytes(std::int64_t{4} << 20));
  CHECK(Arena::footprint(1000) <= Bytes(20480));
}

TEST_CASE("too many devices for the memory are refused with the figures") {
  CHECK_NOTHROW(check_memory(8, Bytes(1 << 20), Bytes(std::int64_t{1} << 30)));
  try {
    check_memory(10'000, Bytes(25'165'832), Bytes(8'000'000'000));
    FAIL("nothing was refused");
  } catch (const Error& error) {
    CHECK(to_string(error.diagnostics().front()) ==
          "error: 10000 virtual devices need 272,629,760,000 bytes (27,262,976 each), this machine "
          "has 8,000,000,000 bytes available [not-enough-memory]\n"
          "  hint: run on a smaller mesh or with smaller sizes; `plan` needs no such memory");
  }
}

TEST_CASE("a size beyond 63 bits is refused and does not wrap") {
  try {
    check_memory(std::int64_t{1} << 40, Bytes(std::int64_t{1} << 40), Bytes(1000));
    FAIL("nothing was refused");
  } catch (const Error& error) {
    CHECK(error.diagnostics().front().message ==
          "1099511627776 virtual devices need more than 2^63 bytes (1,099,513,724,928 each), this "
          "machine has 1,000 bytes available");
  }
}

TEST_CASE("address space that the system does not have is refused with its words") {
  try {
    const Arena arena(std::int64_t{1} << 50, 0);
    FAIL("nothing was refused");
  } catch (const Error& error) {
    CHECK(to_string(error.diagnostics().front()) ==
          "error: the system refused 1,125,899,911,045,120 bytes of address space for a virtual "
          "device: Cannot allocate memory [not-enough-memory]");
  }
}

TEST_CASE("the machine has some memory available") { CHECK(available_memory() > Bytes(1 << 20)); }

TEST_CASE("scratch memory is aligned and keeps its pieces apart until it is released") {
  Scratch scratch;
  for (int round = 0; round < 3; ++round) {
    std::byte* a = scratch.take(100);
    std::byte* b = scratch.take(1 << 20);
    std::byte* c = scratch.take(1);
    CHECK(reinterpret_cast<std::uintptr_t>(a) % 64 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(c) % 64 == 0);
    std::fill(a, a + 100, std::byte{1});
    std::fill(b, b + (1 << 20), std::byte{2});
    *c = std::byte{3};
    CHECK(a[99] == std::byte{1});
    CHECK(b[0] == std::byte{2});
    scratch.release();
  }
  CHECK(scratch.peak() == Bytes(128 + (1 << 20) + 64));
}
