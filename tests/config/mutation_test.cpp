// Damaged files: whatever stands in them, the answer is a value or diagnostics with places.
#include <doctest/doctest.h>

#include <random>

#include "config/load.h"
#include "text/expression.h"
#include "text/read.h"
#include "text/render.h"

namespace shard {
namespace {

const char* const model_text =
    R"TEXT(name: mlp
sizes: {batch: 8, embed: 16, hidden: heads * 4, heads: 2, layers: 4}
size_sets: {tiny: {batch: 2}}
dtype: {params: f32, compute: bf16}
inputs:
  x: f32[batch@data, embed=16@(a,b)]
  y: [batch, embed]
defaults: {kernel_init: {normal: {stddev: 0.02}}, use_bias: false}
blocks:
  A: &block
    - dense: {features: hidden, kernel: "P(None, ('model', data))"
}
- let:h = relu(x) * -2.5e-3 +
          op(x,
             axes =
                 [
                   a, 1
                 ],
             s = 't') -
     residual:[
       relu, dense:embed
     ]
            B:{inputs : [ x, m ], args : {n : embed}, layers : *block}
       layers:-
       repeat:{pattern : [ A, B ], times : layers, scan : true, axis : ~} -
            B:{n : 3} - constrain:P(data, UNCONSTRAINED)outputs:{
z:
  f32[batch @data, embed]
}
train: {loss: sum, optimizer: {adam: {learning_rate: 1e-3}}, returns: [state]}
set: {layers.0.repeat.scan: false, batch: 4}
)TEXT";

const char* const rules_text =
    R"(mesh: {data: 2, model: 4}
rules:
  - [batch, [data, model]]
  - [hidden, UNCONSTRAINED]
  - ["8", null]
rules_for: {optimizer: [[embed, data]]}
unmatched: no-constraint
devices: cpu-8
)";

// Pieces of the grammar, so that damage gets past the first reader.
const std::vector<std::string> pieces = {
    "[",  "]",   "{", "}",    ":",        ": ",    ",",    "\n",    "  ",   "-",        "- ",
    "\"", "'",   "*", "&a ",  "*block",   "#",     "~",    "null",  "None", "P(",       "(",
    ")",  "@",   "=", "\t",   "\\",       "0",     "-1",   "1e999", "x",    "<<: ",     "|",
    ">",  "!t ", "%", "\xFF", "\xC3\xA9", "---\n", "f32[", "set",   "base", ": {a: b}", "?"};

std::string damaged(std::string text, std::mt19937_64& rng) {
  const std::uint64_t count = 1 + rng() % 3;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t at = rng() % text.size();
    const std::size_t length = std::min<std::size_t>(rng() % 6, text.size() - at);
    const std::string& piece = pieces[rng() % pieces.size()];
    switch (rng() % 3) {
      case 0:
        text.insert(at, piece);
        break;
      case 1:
        text.erase(at, length);
        break;
      default:
        text.replace(at, length, piece);
    }
    if (text.empty()) text = " ";
  }
  return text;
}

// Every diagnostic has an id, a message, and a place in the text (or the file as a whole).
void check_diagnostics(const Error& error, const Sources& sources) {
  for (const Diagnostic& one : error.diagnostics()) {
    CAPTURE(to_string(one));
    CHECK(!one.id.empty());
    CHECK(!one.message.empty());
    CHECK((!one.at.is_known() || sources.line(one.at.file, one.at.line).has_value()));
    CHECK(one.at.length >= 1);
    CHECK(render(one, sources).ends_with('\n'));
  }
}

}  // namespace

TEST_CASE("a damaged model file is read or refused with places") {
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    MemoryReader reader({{"m.yaml", damaged(model_text, rng)}, {"other", ""}});
    Sources sources(reader);
    try {
      const MergedDocument document = merge_model_file("m.yaml", {}, sources);
      read_model(document);
      CHECK(same_content(read_yaml("again", write_resolved(document)), document.root));
    } catch (const Error& error) {
      check_diagnostics(error, sources);
      ++refused;
    }
  }
  CHECK(refused > 500);
}

TEST_CASE("a damaged rules file is read or refused with places") {
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    MemoryReader reader({{"r.yaml", damaged(rules_text, rng)}, {"other", ""}});
    Sources sources(reader);
    try {
      read_rules(merge_rules_file("r.yaml", {}, sources));
    } catch (const Error& error) {
      check_diagnostics(error, sources);
      ++refused;
    }
  }
  CHECK(refused > 500);
}

}  // namespace shard
