#include "exec/transport_library.h"

#include <dlfcn.h>

#include <string>
#include <system_error>

#include "base/diagnostic.h"

namespace shard {
namespace {

Error no_transport(const std::string& why, const std::string& hint) {
  return Error("no-mpi", {"--backend"}, why, hint);
}

std::string dl_problem() {
  const char* const text = dlerror();
  return text == nullptr ? "no reason is known" : text;
}

}  // namespace

std::unique_ptr<Transport> open_transport(const std::vector<std::filesystem::path>& libraries) {
  for (const std::filesystem::path& path : libraries) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) continue;
    // MPI opens parts of itself, which look for its symbols among those of everybody.
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
      throw no_transport("the MPI backend cannot be opened: " + dl_problem(),
                         "on Debian: apt-get install openmpi-bin");
    }
    using Opener = Transport* (*)();
    const auto opener = reinterpret_cast<Opener>(dlsym(library, "shard_open_transport"));
    if (opener == nullptr) {
      throw no_transport("'" + path.string() + "' is no backend of this program: " + dl_problem(),
                         "install it together with the program");
    }
    return std::unique_ptr<Transport>(opener());
  }
  throw no_transport("this shard-plan was built without MPI",
                     "on Debian: apt-get install libopenmpi-dev openmpi-bin, then configure and "
                     "build again");
}

}  // namespace shard
