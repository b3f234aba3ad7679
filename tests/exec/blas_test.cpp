#include "exec/blas.h"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "base/diagnostic.h"
#include "exec/numbers.h"

using namespace shard;
using namespace shard::test;

TEST_CASE("the serial flavour of OpenBLAS is refused with the package that serves") {
  const std::vector<std::string> candidates = {"/nowhere/libopenblas.so.0", FAKE_BLAS_SERIAL};
  try {
    Blas::open(candidates);
    FAIL("nothing was refused");
  } catch (const Error& error) {
    REQUIRE(error.diagnostics().size() == 1);
    CHECK(to_string(error.diagnostics()[0]) ==
          "error: '" FAKE_BLAS_SERIAL
          "' is the serial flavour of OpenBLAS, which gives wrong results when several threads "
          "call it; expected the pthread flavour [serial-blas]\n"
          "  hint: apt-get install libopenblas0-pthread");
  }
}

TEST_CASE("the OpenMP flavour and missing files are passed over") {
  const std::vector<std::string> candidates = {"/nowhere/libopenblas.so.0", FAKE_BLAS_OPENMP};
  CHECK(!Blas::open(candidates).has_value());
}

TEST_CASE("products of OpenBLAS called from several threads at once are all right") {
  const Blas* blas = system_blas();
  if (blas == nullptr) {
    MESSAGE("no OpenBLAS of the pthread flavour here: not tried");
    return;
  }
  CHECK(blas->description().starts_with("OpenBLAS "));
  CHECK(blas->description().find(" pthread, ") != std::string::npos);
  const GemmSizes sizes{96, 64, 80};
  const std::vector<float> a = random_floats(96 * 80, 1), b = random_floats(80 * 64, 2);
  const std::vector<float> expected = plain_product(sizes, {a.data(), 80, 1}, {b.data(), 64, 1});
  std::vector<double> largest(3, 0.0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < largest.size(); ++t) {
    threads.emplace_back([&, t] {
      std::vector<float> c(96 * 64);
      for (int round = 0; round < 50; ++round) {
        blas->multiply(sizes, {a.data(), 80, 1}, {b.data(), 64, 1}, c.data());
        largest[t] = std::max(largest[t], largest_difference(c, expected));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const double difference : largest) CHECK(difference < 1e-5);
}
