#include "mesh/device_places.h"

namespace shard {

const std::vector<std::int64_t>& DevicePlaces::ids() const {
  std::call_once(once_, [this] { ids_ = work_(); });
  return ids_;
}

}  // namespace shard
