#include <doctest/doctest.h>
#include <hwy/highway.h>

TEST_CASE("only the loops of the baseline are compiled here") {
  CHECK(HWY_TARGETS == HWY_STATIC_TARGET);
#if defined(__x86_64__)
  CHECK((HWY_STATIC_TARGET & (HWY_SCALAR | HWY_EMU128)) != 0);  // no vectors are asked for
#endif
}
