#include "exec/kernel.h"
#include "ops/custom_call.h"

namespace shard {

KernelResult make_custom_call(const KernelSite& site) {
  const std::optional<CallMeaning> meaning = meaning_of_call(site.attributes, site.results);
  if (!meaning) return describe(site);
  const KernelMaker make = kernel_table()[static_cast<std::size_t>(meaning->op)].make;
  return make({meaning->op, meaning->attributes, site.operands, site.results});
}

}  // namespace shard
