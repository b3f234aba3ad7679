#include "config/read_schedule.h"

#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "config/checked_map.h"
#include "config/scalars.h"

namespace shard {
namespace {

using ScheduleReader = void (*)(const TextNode& node, const KeyRow& row, ScheduleConfig& into,
                                Diagnostics& diagnostics);

std::string quoted_name(const KeyRow& row) { return "'" + std::string(row.name) + "'"; }

void read_rate(const TextNode& node, const KeyRow& row, ScheduleConfig& into,
               Diagnostics& diagnostics) {
  const auto number = read_double(node, quoted_name(row), diagnostics);
  if (number) into.arguments.emplace_back(row.name, *number);
}

void read_steps(const TextNode& node, const KeyRow& row, ScheduleConfig& into,
                Diagnostics& diagnostics) {
  const auto steps = read_whole(node, quoted_name(row), diagnostics);
  if (!steps) return;
  into.arguments.emplace_back(row.name, static_cast<double>(*steps));
  const bool may_be_none = !row.default_value.empty();
  if (*steps > 0 || may_be_none) return;
  diagnostics.error("bad-schedule", node.at, quoted_name(row) + " is 0, expected at least one step",
                    "for one rate from the start, write it as a number");
}

void read_switch(const TextNode& node, const KeyRow& row, ScheduleConfig& into,
                 Diagnostics& diagnostics) {
  const auto flag = read_flag(node, quoted_name(row), diagnostics);
  if (flag) into.arguments.emplace_back(row.name, *flag ? 1.0 : 0.0);
}

void report_order(const TextNode& node, const KeyRow& row, Diagnostics& diagnostics) {
  diagnostics.error("schedule-order", node.at, "the steps of " + quoted_name(row) + " do not grow",
                    "write the earliest first, each once");
}

void read_step_scales(const TextNode& node, const KeyRow& row, ScheduleConfig& into,
                      Diagnostics& diagnostics) {
  for (const TextEntry& entry : node.entries) {
    TextNode key;
    key.kind = TextNode::Kind::scalar;
    key.scalar = entry.key;
    key.at = entry.key_at;
    const auto step = read_whole(key, "a step of " + quoted_name(row), diagnostics);
    const auto factor = read_double(entry.value, "a factor of " + quoted_name(row), diagnostics);
    if (!step || !factor) continue;
    if (!into.scales.empty() && into.scales.back().first >= *step) {
      report_order(key, row, diagnostics);
    }
    into.scales.emplace_back(*step, *factor);
  }
}

void read_parts(const TextNode& node, const KeyRow&, ScheduleConfig& into,
                Diagnostics& diagnostics) {
  for (const TextNode& item : node.items) {
    if (auto part = read_schedule(item, diagnostics)) into.parts.push_back(std::move(*part));
  }
}

void read_boundaries(const TextNode& node, const KeyRow& row, ScheduleConfig& into,
                     Diagnostics& diagnostics) {
  for (const TextNode& item : node.items) {
    const auto step = read_whole(item, "a step of " + quoted_name(row), diagnostics);
    if (!step) continue;
    if (!into.boundaries.empty() && into.boundaries.back() >= *step) {
      report_order(item, row, diagnostics);
    }
    into.boundaries.push_back(*step);
  }
}

struct ScheduleKindReader {
  ValueKind kind;
  ScheduleReader read;
};

constexpr std::array<ScheduleKindReader, 6> schedule_readers = {{
    {ValueKind::number, read_rate},
    {ValueKind::whole, read_steps},
    {ValueKind::flag, read_switch},
    {ValueKind::step_scales, read_step_scales},
    {ValueKind::schedules, read_parts},
    {ValueKind::wholes, read_boundaries},
}};

std::optional<double> argument_of(const ScheduleConfig& schedule, std::string_view key) {
  for (const auto& [name, value] : schedule.arguments) {
    if (name == key) return value;
  }
  return std::nullopt;
}

/// What no single key can tell.
void check_schedule(const ScheduleConfig& schedule, const CheckedMap& map,
                    Diagnostics& diagnostics) {
  const auto warmup = argument_of(schedule, "warmup_steps");
  const auto decay = argument_of(schedule, "decay_steps");
  if (warmup && decay && *warmup >= *decay) {
    diagnostics.error("schedule-order", map.key_at("warmup_steps"),
                      "'warmup_steps' is not before 'decay_steps', which counts from step 0",
                      "decay_steps is the whole length, the warmup included");
  }
  const bool is_whole = schedule.kind == "join" && map.get("schedules") != nullptr &&
                        map.get("boundaries") != nullptr;
  if (!is_whole || schedule.parts.size() == schedule.boundaries.size() + 1) return;
  diagnostics.error("schedule-order", map.key_at("boundaries"),
                    std::to_string(schedule.parts.size()) + " schedules need " +
                        std::to_string(std::max<std::size_t>(schedule.parts.size(), 1) - 1) +
                        " boundaries, found " + std::to_string(schedule.boundaries.size()),
                    "one boundary between each two");
}

TextNode arguments_as_map(const TextEntry& entry, const KeyTable& table) {
  if (entry.value.is_map()) return entry.value;
  TextNode map;
  map.kind = TextNode::Kind::map;
  map.at = entry.key_at;
  if (!entry.value.is_null()) {
    map.entries.push_back({std::string(table.main_key), entry.value.at, entry.value});
  }
  return map;
}

}  // namespace

std::optional<ScheduleConfig> read_schedule(const TextNode& node, Diagnostics& diagnostics) {
  if (!node.is_map() || node.entries.size() != 1) {
    report_type(node, "a schedule", "a map with one key", diagnostics,
                node.is_map() ? "indent the arguments below the schedule's name" : "");
    return std::nullopt;
  }
  const TextEntry& entry = node.entries.front();
  const KeyTable* table = find_table(schedule_tables(), entry.key);
  if (table == nullptr) {
    const auto known = valid_names(schedule_tables());
    diagnostics.error("unknown-schedule", entry.key_at, "there is no schedule '" + entry.key + "'",
                      did_you_mean(entry.key, known, "it is one of", known.size()));
    return std::nullopt;
  }
  ScheduleConfig schedule;
  schedule.kind = entry.key;
  schedule.at = entry.key_at;
  const bool is_bare = !entry.value.is_map() && !entry.value.is_null();
  if (is_bare && table->main_key.empty()) {
    report_type(entry.value, table->what, "a map of its keys", diagnostics,
                did_you_mean("", table->valid_keys(), "its keys"));
    return std::nullopt;
  }
  const TextNode arguments = arguments_as_map(entry, *table);
  const CheckedMap map(arguments, *table, diagnostics);
  for (const KeyRow& row : table->rows) {
    const TextNode* value = map.get(row.name);
    if (value == nullptr) continue;
    for (const ScheduleKindReader& reader : schedule_readers) {
      if (reader.kind == row.kind) reader.read(*value, row, schedule, diagnostics);
    }
  }
  check_schedule(schedule, map, diagnostics);
  return schedule;
}

}  // namespace shard
