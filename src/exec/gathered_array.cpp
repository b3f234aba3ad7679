#include "exec/gathered_array.h"

#include <algorithm>
#include <span>
#include <utility>

#include "exec/index_text.h"
#include "exec/packed.h"
#include "exec/run_failure.h"

namespace shard {

GatheredArray::GatheredArray(const TensorType& type, const ShardLayout& layout,
                             const HostDevices& here,
                             const std::function<const std::byte*(int device)>& local)
    : type_(type), layout_(layout), here_(here), local_(local), width_(info(type.dtype).bytes) {}

std::vector<int> GatheredArray::tellers(std::int64_t piece) const {
  std::vector<int> tellers;
  for (const int device : layout_.holders(piece)) {
    if (tellers.empty() || host_of(tellers.back()) != host_of(device)) tellers.push_back(device);
  }
  return tellers;
}

GatheredArray::Mismatch GatheredArray::mismatch_here() const {
  Mismatch found;
  for (std::int64_t piece = 0; piece < layout_.piece_count(); ++piece) {
    int first = -1;
    for (const int device : layout_.holders(piece)) {
      if (!here_.has(device)) continue;
      if (first < 0) first = device;
      if (first == device) continue;
      layout_.for_each_run(piece, 0, layout_.piece_size(), [&](const ShardLayout::Run& run) {
        const std::byte* const begin = local_(first) + run.local * width_;
        const std::byte* const end = begin + run.count * width_;
        const std::byte* const at =
            std::mismatch(begin, end, local_(device) + run.local * width_).first;
        if (at == end || found.first >= 0) return;
        found = {first, device, run.global + (at - begin) / width_};
      });
      if (found.first >= 0) return found;
    }
  }
  return found;
}

std::vector<std::byte> GatheredArray::told() const {
  Packer packer;
  packer.put(mismatch_here());
  for (std::int64_t piece = 0; piece < layout_.piece_count(); ++piece) {
    for (const int device : tellers(piece)) {
      if (!here_.has(device)) continue;
      layout_.for_each_run(piece, 0, layout_.piece_size(), [&](const ShardLayout::Run& run) {
        packer.put_bytes(
            {local_(device) + run.local * width_, static_cast<std::size_t>(run.count * width_)});
      });
    }
  }
  return std::move(packer).bytes();
}

HostTensor GatheredArray::whole(const std::vector<std::vector<std::byte>>& by_host,
                                const std::string& name) const {
  std::vector<Unpacker> told(by_host.begin(), by_host.end());
  for (Unpacker& host : told) refuse(host.take<Mismatch>(), name);
  HostTensor whole = zeros(type_);
  for (std::int64_t piece = 0; piece < layout_.piece_count(); ++piece) {
    const std::vector<int> devices = tellers(piece);
    for (const int device : devices) {
      Unpacker& host = told[static_cast<std::size_t>(host_of(device))];
      layout_.for_each_run(piece, 0, layout_.piece_size(), [&](const ShardLayout::Run& run) {
        const std::span<const std::byte> bytes =
            host.take_bytes(static_cast<std::size_t>(run.count * width_));
        std::byte* const to = whole.bytes.data() + run.global * width_;
        if (device == devices.front()) {
          std::copy(bytes.begin(), bytes.end(), to);
          return;
        }
        const auto at = std::mismatch(bytes.begin(), bytes.end(), to).first;
        if (at == bytes.end()) return;
        refuse({devices.front(), device, run.global + (at - bytes.begin()) / width_}, name);
      });
    }
  }
  return whole;
}

void GatheredArray::refuse(const Mismatch& mismatch, const std::string& name) const {
  if (mismatch.first < 0) return;
  throw RunFailure("replicas-differ", {},
                   "devices " + std::to_string(mismatch.first) + " and " +
                       std::to_string(mismatch.second) + " hold different values of '" + name +
                       "', first at index " + index_text(mismatch.index, type_.shape) +
                       "; copies of the same piece must be equal to the bit");
}

}  // namespace shard
