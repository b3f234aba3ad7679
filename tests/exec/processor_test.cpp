#include "exec/processor.h"

#include <doctest/doctest.h>

#include <string_view>

using namespace shard;

TEST_CASE("the best form is the lowest bit that is offered and compiled") {
  constexpr std::array<const char*, 6> forms{nullptr, "best", nullptr, "middle", "low", "baseline"};
  const auto chosen = [&](std::int64_t sets) { return std::string_view(best_form(forms, sets)); };
  CHECK(chosen(0b11010) == "best");
  CHECK(chosen(0b11000) == "middle");
  CHECK(chosen(0b10001) == "low");  // offered but not compiled: passed over
  CHECK(chosen(0b00101) == "baseline");
  CHECK(chosen(0b100000) == "baseline");
  CHECK(chosen(0) == "baseline");
}

TEST_CASE("each instruction set comes with the ones below it") {
  const std::int64_t sets = instruction_sets();
#if HWY_ARCH_X86
  if ((sets & HWY_AVX3) != 0) CHECK((sets & HWY_AVX2) != 0);
  if ((sets & HWY_AVX2) != 0) CHECK((sets & HWY_SSE4) != 0);
  if ((sets & HWY_SSE4) != 0) CHECK((sets & HWY_SSSE3) != 0);
  CHECK((sets & (HWY_SCALAR | HWY_EMU128)) == 0);
#else
  CHECK(sets == 0);
#endif
}
