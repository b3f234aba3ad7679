#include "exec/processor.h"

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace shard {

#if HWY_ARCH_X86

namespace {

/// Conversion of 16-bit floats, which not every compiler's `__builtin_cpu_supports` knows.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

/// What Highway 1.0.3 compiles each form with. Each set contains the one before it; the compiler's
/// own test looks at what the operating system saves of the registers, too.
std::int64_t ask_processor() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("ssse3")) return 0;
  std::int64_t sets = HWY_SSSE3;
  if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("aes") ||
      !__builtin_cpu_supports("pclmul")) {
    return sets;
  }
  sets |= HWY_SSE4;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") || !has_f16c()) {
    return sets;
  }
  sets |= HWY_AVX2;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512bw")) {
    return sets;
  }
  return sets | HWY_AVX3;
}

}  // namespace

std::int64_t instruction_sets() {
  static const std::int64_t sets = ask_processor();
  return sets;
}

#else

std::int64_t instruction_sets() { return 0; }

#endif

}  // namespace shard
