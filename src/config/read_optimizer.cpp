#include "config/read_optimizer.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/nearest.h"
#include "config/checked_map.h"
#include "config/read_schedule.h"
#include "config/scalars.h"

namespace shard {
namespace {

using Reader = void (*)(const TextNode& node, const KeyRow& row, OptimizerConfig& into,
                        Diagnostics& diagnostics);

std::string quoted(const KeyRow& row) { return "'" + std::string(row.name) + "'"; }

void read_number_argument(const TextNode& node, const KeyRow& row, OptimizerConfig& into,
                          Diagnostics& diagnostics) {
  const auto number = read_double(node, quoted(row), diagnostics);
  if (number) into.arguments.emplace_back(row.name, *number);
}

void read_whole_argument(const TextNode& node, const KeyRow& row, OptimizerConfig& into,
                         Diagnostics& diagnostics) {
  const auto number = read_whole(node, quoted(row), diagnostics);
  if (number) into.arguments.emplace_back(row.name, static_cast<double>(*number));
}

void read_flag_argument(const TextNode& node, const KeyRow& row, OptimizerConfig& into,
                        Diagnostics& diagnostics) {
  const auto flag = read_flag(node, quoted(row), diagnostics);
  if (flag) into.arguments.emplace_back(row.name, *flag ? 1.0 : 0.0);
}

void read_dtype_argument(const TextNode& node, const KeyRow& row, OptimizerConfig& into,
                         Diagnostics& diagnostics) {
  const auto dtype = read_dtype(node, diagnostics);
  if (dtype) into.dtypes.emplace_back(row.name, *dtype);
}

void read_step_size(const TextNode& node, const KeyRow& row, OptimizerConfig& into,
                    Diagnostics& diagnostics) {
  if (node.is_map()) into.schedule = read_schedule(node, diagnostics);
  const bool is_word = node.scalar == "schedule" && !node.quoted;
  into.is_scheduled = into.schedule || is_word;
  if (node.is_map() || is_word) {
    into.arguments.emplace_back(row.name, 0.0);
  } else {
    read_number_argument(node, row, into, diagnostics);
  }
}

void read_part(const TextNode& node, const KeyRow&, OptimizerConfig& into,
               Diagnostics& diagnostics) {
  if (auto part = read_optimizer(node, diagnostics)) into.parts.push_back(std::move(*part));
}

void read_parts(const TextNode& node, const KeyRow& row, OptimizerConfig& into,
                Diagnostics& diagnostics) {
  for (const TextNode& item : node.items) read_part(item, row, into, diagnostics);
}

void read_globs(const TextNode& node, const KeyRow& row, OptimizerConfig& into,
                Diagnostics& diagnostics) {
  into.mask = read_names(node, quoted(row), diagnostics);
}

struct KindReader {
  ValueKind kind;
  Reader read;
};

constexpr std::array<KindReader, 8> readers = {{
    {ValueKind::number, read_number_argument},
    {ValueKind::whole, read_whole_argument},
    {ValueKind::flag, read_flag_argument},
    {ValueKind::dtype, read_dtype_argument},
    {ValueKind::step_size, read_step_size},
    {ValueKind::names, read_globs},
    {ValueKind::optimizer, read_part},
    {ValueKind::optimizers, read_parts},
}};

bool takes_a_number(ValueKind kind) {
  return kind == ValueKind::number || kind == ValueKind::whole || kind == ValueKind::step_size;
}

void read_arguments(const TextNode& value, const KeyTable& table, OptimizerConfig& into,
                    Diagnostics& diagnostics) {
  const CheckedMap map(value, table, diagnostics);
  for (const KeyRow& row : table.rows) {
    const std::size_t known = into.arguments.size();
    const TextNode* node = map.get(row.name);
    for (const KindReader& reader : readers) {
      if (node != nullptr && reader.kind == row.kind) reader.read(*node, row, into, diagnostics);
    }
    // One mistake, one message: what was written and refused is not missing.
    const bool is_refused = value.find(row.name) != nullptr && into.arguments.size() == known;
    if (is_refused && takes_a_number(row.kind)) into.arguments.emplace_back(row.name, 0.0);
  }
}

/// Arguments without which a transformation cannot be computed, where they have no default.
constexpr std::array<std::string_view, 4> needed_to_run = {"learning_rate", "value", "decay",
                                                           "every"};

bool has_argument(const OptimizerConfig& optimizer, std::string_view key) {
  return std::any_of(optimizer.arguments.begin(), optimizer.arguments.end(),
                     [&](const auto& argument) { return argument.first == key; });
}

/// The arguments as a map; those of a bare word are none.
TextNode arguments_of(const TextNode& node, const KeyTable& table) {
  TextNode map;
  map.kind = TextNode::Kind::map;
  map.at = node.at;
  if (node.is_scalar()) return map;
  const TextNode& value = node.entries.front().value;
  const bool is_part = table.find(table.main_key) != nullptr &&
                       table.find(table.main_key)->kind == ValueKind::optimizer;
  // `multi_steps: {adam: ...}` has a map that is no list of arguments.
  const bool names_part = is_part && value.is_map() && value.entries.size() == 1 &&
                          table.find(value.entries.front().key) == nullptr;
  if (value.is_map() && !names_part) return value;
  if (value.is_null()) return map;
  map.at = value.at;
  map.entries.push_back({std::string(table.main_key), value.at, value});
  return map;
}

}  // namespace

std::optional<OptimizerConfig> read_optimizer(const TextNode& node, Diagnostics& diagnostics) {
  const bool is_call = node.is_map() && node.entries.size() == 1;
  if (!node.is_scalar() && !is_call) {
    report_type(node, "'optimizer'", "a word or a map with one key", diagnostics,
                node.is_map() ? "indent the arguments below the optimizer's name" : "");
    return std::nullopt;
  }
  const std::string& word = is_call ? node.entries.front().key : node.scalar;
  const Location& at = is_call ? node.entries.front().key_at : node.at;
  const KeyTable* table = find_table(optimizer_tables(), word);
  if (table == nullptr) {
    const auto known = valid_names(optimizer_tables());
    diagnostics.error("unknown-optimizer", at, "there is no optimizer '" + word + "'",
                      did_you_mean(word, known, "it is one of", known.size()));
    return std::nullopt;
  }
  OptimizerConfig optimizer;
  optimizer.kind = word;
  optimizer.at = at;
  const TextNode arguments = arguments_of(node, *table);
  const bool is_bare = !arguments.entries.empty() && arguments.entries.front().key.empty();
  if (is_bare) {
    diagnostics.error("wrong-type", arguments.at, std::string(table->what) + " takes no argument",
                      "write it as a word: " + word);
    return std::nullopt;
  }
  read_arguments(arguments, *table, optimizer, diagnostics);
  return optimizer;
}

void check_can_run(const OptimizerConfig& optimizer, Diagnostics& diagnostics) {
  const KeyTable* table = find_table(optimizer_tables(), optimizer.kind);
  SHARD_CHECK(table != nullptr, "an optimizer was read by its table");
  for (const std::string_view key : needed_to_run) {
    const KeyRow* row = table->find(key);
    if (row == nullptr || !row->default_value.empty() || has_argument(optimizer, key)) continue;
    diagnostics.error("missing-key", optimizer.at,
                      std::string(table->what) + " needs the key '" + std::string(key) + "'",
                      std::string(key) + ": " + std::string(row->help));
  }
  if (optimizer.is_scheduled && !optimizer.schedule) {
    diagnostics.error("bad-schedule", optimizer.at,
                      "a program needs the schedule itself, found the word schedule",
                      "e.g. learning_rate: {warmup_cosine_decay: {peak_value: 3e-4, warmup_steps: "
                      "100, decay_steps: 1000}}");
  }
  for (const OptimizerConfig& part : optimizer.parts) check_can_run(part, diagnostics);
}

}  // namespace shard
