// Texts that nobody would write, made from texts that somebody did: every reader answers with a
// value or an `Error`, and what it read can be written and read again.
//
// SHARD_FUZZ_COUNT sets the number of inputs, SHARD_FUZZ_SEED where they begin.
#include <doctest/doctest.h>

#include <array>
#include <iostream>
#include <set>

#include "config/load.h"
#include "dialects/importing.h"
#include "support/mangled_texts.h"
#include "text/python_literal.h"
#include "text/read.h"

namespace shard {
namespace {

constexpr std::uint64_t default_count = 20000;

// What the inputs are made from; the first words of each decide which reader it is for.
const std::array<std::string, 12> seeds = {
    "(('batch', 'data'), ('embed', ('fsdp', \"tensor\")), ('kv', None),)",
    "# pasted\n[[batch, [data, fsdp]], [embed, null]]\n",
    "import jax\nmesh = jax.make_mesh((2, 4), ('data', 'model'))\n"
    "RULES: Rules = [('batch', 'data'), (r'h\\d', P('x', 'y'))]\nRULES += [('mlp', 'model')]\n",
    "p.PjitPartitioner:\n  num_partitions = 2\n  logical_axis_rules = "
    "@p.standard_logical_axis_rules()\n"
    "p.standard_logical_axis_rules:\n  activation_partitioning_dims = 2\n",
    "with nn.logical_axis_rules((('a', 'b'),)) as r:\n  return {'a': [1, -2.5e3, 0x1f], 'b': "
    "f'{x}'}\n",
    "base_config: base.yml\nici_fsdp_parallelism: -1\ndcn_data_parallelism: 2\n",
    "mesh_axes: ['data', 'stage', 'fsdp']\nlogical_axis_rules: [\n  ['batch', ['data', 'fsdp']],  "
    "# c\n"
    "  [\"norm\", []],\n]\nici_fsdp_parallelism: 8\nmodel_name: m\n",
    "mesh: {data: 2, model: 4}\nrules:\n  - [batch, data]\n  - [mlp, [data, model]]\n"
    "rules_for:\n  optimizer: [[embed, data]]\nunmatched: error\n",
    "[{\"name\": \"params/w\", \"shape\": [4, 8], \"logical_axes\": [\"embed\", null]}]",
    "{\".w\": {\"mesh\": {\"axis_names\": [\"data\"], \"shape\": {\"data\": 2}},\n"
    " \"partition_spec\": [[\"data\"], null], \"shape\": [4, 2]}}",
    "{\"Activation Sharding Dump\": [{\"m/x: bfloat16[96,2]\": {\"logic_axes\": \"('batch', "
    "None)\"}}]}",
    std::string("\x3F\0\0\0\0\0\0\0", 8) +
        "{\"w\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 8]}}    12345678",
};

const std::array<std::string_view, 40> pieces = {
    "(",     ")",    "[",    "]",        "{",     "}",     ",",     ":",
    "'",     "\"",   "'''",  "\\",       "\n",    "  ",    "\t",    "#",
    "None",  "null", "- ",   "&a ",      "*a",    "<<: ",  "---\n", "=",
    "+=",    "P(",   "@f()", "-1",       "0x",    "1e999", "\xFF",  "\xC3\xA9",
    "\\u12", "b'",   "f'",   "rules = ", "!tag ", "|\n",   "? ",    "9223372036854775808"};

bool can_be_written(const RulesConfig& rules) {
  const auto is_word = [](const std::string& name) {
    return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
           name.find_first_not_of(
               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
               "0123456789_") == std::string::npos;
  };
  std::set<std::string> names;
  for (const MeshAxisConfig& axis : rules.mesh) {
    const bool is_fine = axis.size > 0 && axis.size < (1 << 20) && is_word(axis.name.text());
    if (!is_fine || !names.insert(axis.name.text()).second) return false;
  }
  return !rules.mesh.empty() && rules.mesh.size() < 3;
}

// Rules of whatever form, written as ours, are the same rules.
void check_round_trip(const RulesConfig& rules) {
  if (!can_be_written(rules)) return;
  const std::string text = write_rules_yaml(rules);
  CAPTURE(text);
  MemoryReader reader(Files{{"r.yaml", text}});
  Sources sources(reader);
  const RulesConfig back = read_rules(merge_rules_file("r.yaml", {}, sources));
  CHECK(write_rules_yaml(back) == text);
}

struct Tally {
  std::uint64_t rules = 0;
  std::uint64_t arrays = 0;
  std::uint64_t values = 0;
};

void try_readers(const std::string& text, Tally& tally) {
  const Files files = {{"f.yml", text}, {"base.yml", seeds[6]}};
  MemoryReader reader(files);
  Sources sources(reader);
  const bool has_rules = reads([&] {
    ImportOptions options;
    options.devices_per_slice = 8;
    check_round_trip(import_rules("f.yml", options, sources).rules);
  });
  const bool has_arrays = reads([&] { import_arrays("f.yml", sources); });
  const bool has_value = reads([&] { read_python_literal("f.yml", text); });
  reads([&] { read_python_statements("f.yml", text); });
  reads([&] { read_yaml("f.yml", text); });
  reads([&] {
    Diagnostics diagnostics;
    read_foreign_yaml("f.yml", text, diagnostics);
  });
  reads([&] { read_json("f.yml", text); });
  tally.rules += has_rules ? 1 : 0;
  tally.arrays += has_arrays ? 1 : 0;
  tally.values += has_value ? 1 : 0;
}

}  // namespace

TEST_CASE("every reader answers mangled texts with a value or an error") {
  Tally tally;
  const MangledTexts mangled(seeds, pieces);
  const std::uint64_t count = for_each_input(default_count, [&](std::uint64_t number) {
    const std::string text = mangled.text(number);
    CAPTURE(number);
    CAPTURE(text);
    try_readers(text, tally);
  });
  std::cout << "fuzz: " << count << " inputs, " << tally.rules << " rules, " << tally.arrays
            << " arrays, " << tally.values << " literals\n";
  // Texts that are all refused would test nothing but refusal.
  CHECK(tally.rules * 20 > count);
  CHECK(tally.arrays * 100 > count);
}

TEST_CASE("every seed of the mangled texts is read as it stands") {
  for (const std::string& text : seeds) {
    CAPTURE(text);
    Tally tally;
    try_readers(text, tally);
    CHECK(tally.rules + tally.arrays == 1);
  }
}

}  // namespace shard
