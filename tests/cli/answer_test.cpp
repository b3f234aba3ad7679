#include "cli/answer.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

using namespace shard;

TEST_CASE("everything is written however small the pipe") {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  CHECK(write_fully(ends[1], "an answer") == 0);
  std::array<char, 16> read_back{};
  CHECK(read(ends[0], read_back.data(), read_back.size()) == 9);
  CHECK(std::string(read_back.data()) == "an answer");
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("a full device gives the reason of the system") {
  const int full = open("/dev/full", O_WRONLY);
  REQUIRE(full >= 0);
  CHECK(write_fully(full, "x") == ENOSPC);
  close(full);
}

TEST_CASE("a descriptor that is closed gives the reason of the system") {
  CHECK(write_fully(-1, "x") == EBADF);
}
