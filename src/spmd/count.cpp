#include <algorithm>
#include <map>
#include <tuple>

#include "spmd/partition.h"

namespace shard {
namespace {

class Counter {
 public:
  explicit Counter(const Program& program) : program_(program) {}

  std::vector<CollectiveCount> run() {
    visit(0, 1);
    return std::move(counts_);
  }

 private:
  void visit(int body, std::int64_t times) {
    for (const Instruction& instruction :
         program_.bodies[static_cast<std::size_t>(body)].instructions) {
      const std::int64_t runs = times * instruction.iteration.count();
      if (instruction.kind == Instruction::Kind::loop)
        visit(instruction.body, runs * instruction.attributes.integer("times"));
      if (instruction.kind == Instruction::Kind::collective) add(*instruction.collective, runs);
    }
  }

  void add(const Collective& collective, std::int64_t runs) {
    if (collective.kind == CollectiveKind::all_slice) return;
    const Key key{collective.kind, collective.axes, collective.payload, collective.wire};
    const auto [entry, is_new] = positions_.try_emplace(key, counts_.size());
    if (is_new) counts_.push_back({collective.kind, collective.axes, 0, collective.payload, {}});
    CollectiveCount& count = counts_[entry->second];
    count.count += runs;
    count.wire += runs * collective.wire;
  }

  using Key = std::tuple<CollectiveKind, std::vector<AxisRef>, Bytes, Bytes>;
  const Program& program_;
  std::map<Key, std::size_t> positions_;
  std::vector<CollectiveCount> counts_;
};

Bytes wire_of_body(const Program& program, int body) {
  Bytes wire;
  for (const Instruction& instruction :
       program.bodies[static_cast<std::size_t>(body)].instructions) {
    const std::int64_t runs = instruction.iteration.count();
    if (instruction.collective) wire += runs * instruction.collective->wire;
    if (instruction.kind != Instruction::Kind::loop) continue;
    const std::int64_t times = instruction.attributes.integer("times");
    wire += runs * times * wire_of_body(program, instruction.body);
  }
  return wire;
}

}  // namespace

Bytes wire_of(const Program& program) { return wire_of_body(program, 0); }

std::vector<CollectiveCount> count_collectives(const Program& program) {
  return Counter(program).run();
}

}  // namespace shard
