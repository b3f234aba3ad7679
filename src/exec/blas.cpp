#include "exec/blas.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>

#include "base/check.h"
#include "base/diagnostic.h"
#include "exec/processor.h"

namespace shard {
namespace {

constexpr int row_major = 101;
constexpr int no_transpose = 111;
constexpr int transpose = 112;

template <class Function>
Function function_named(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

/// OpenBLAS reads these when it is opened. It does not know processors newer than itself (it then
/// runs code of 2004), so it is told what was found; a user's own setting stays.
void set_environment() {
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  const std::int64_t found = instruction_sets();
  if ((found & HWY_AVX3) != 0) {
    setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  } else if ((found & HWY_AVX2) != 0) {
    setenv("OPENBLAS_CORETYPE", "Haswell", 0);
  }
}

Error serial_flavour(const std::string& path) {
  return Error("serial-blas", {},
               "'" + path +
                   "' is the serial flavour of OpenBLAS, which gives wrong results when several "
                   "threads call it; expected the pthread flavour",
               "apt-get install libopenblas0-pthread");
}

/// The first two words of `OpenBLAS 0.3.21 NO_LAPACKE ...`.
std::string name_and_version(const std::string& config) {
  const std::size_t space = config.find(' ');
  return config.substr(0, space == std::string::npos ? space : config.find(' ', space + 1));
}

}  // namespace

std::optional<Blas> Blas::open(std::span<const std::string> candidates) {
  set_environment();
  for (const std::string& path : candidates) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    const auto parallel = function_named<int (*)()>(library, "openblas_get_parallel");
    const auto config = function_named<char* (*)()>(library, "openblas_get_config");
    const auto core = function_named<char* (*)()>(library, "openblas_get_corename");
    const auto set_threads = function_named<void (*)(int)>(library, "openblas_set_num_threads");
    Blas blas;
    blas.sgemm_ = function_named<Sgemm>(library, "cblas_sgemm");
    if (parallel != nullptr && parallel() == 0) {
      dlclose(library);
      throw serial_flavour(path);
    }
    if (parallel == nullptr || parallel() != 1 || blas.sgemm_ == nullptr || config == nullptr ||
        core == nullptr || set_threads == nullptr) {
      dlclose(library);
      continue;
    }
    set_threads(1);
    blas.description_ = name_and_version(config()) + " pthread, " + core() + " kernels";
    return blas;  // the library stays open as long as the process lives
  }
  return std::nullopt;
}

void Blas::multiply(const GemmSizes& sizes, MatrixView a, MatrixView b, float* c) const {
  const auto leading = [](const MatrixView& view) {
    return static_cast<int>(view.column_stride == 1 ? view.row_stride : view.column_stride);
  };
  const auto form = [](const MatrixView& view) {
    return view.column_stride == 1 ? no_transpose : transpose;
  };
  const int m = static_cast<int>(sizes.m), n = static_cast<int>(sizes.n);
  sgemm_(row_major, form(a), form(b), m, n, static_cast<int>(sizes.k), 1.0F, a.data, leading(a),
         b.data, leading(b), 0.0F, c, n);
}

const Blas* system_blas() {
  static const std::array<std::string, 3> candidates = {
      "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0",
      "/usr/lib/aarch64-linux-gnu/openblas-pthread/libopenblas.so.0", "libopenblas.so.0"};
  static const std::optional<Blas> blas = Blas::open(candidates);
  return blas ? &*blas : nullptr;
}

const Blas* preferred_blas() {
  const bool has_avx2 = (instruction_sets() & HWY_AVX2) != 0;
  return has_avx2 ? nullptr : system_blas();
}

}  // namespace shard
