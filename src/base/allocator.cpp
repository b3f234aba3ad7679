#include "base/allocator.h"

#ifdef SHARD_MIMALLOC
#include <mimalloc.h>
#endif

namespace shard {

void allocate_in_large_pages() {
#ifdef SHARD_MIMALLOC
  mi_option_enable(mi_option_large_os_pages);
#endif
}

}  // namespace shard
