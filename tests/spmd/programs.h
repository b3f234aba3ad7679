#pragma once
// Two small programs as text, and edits of them.

#include <doctest/doctest.h>

#include <string>

#include "spmd/program.h"

namespace shard::tests {

/// y = relu(x @ w), w over its embed rows: a partial sum. The new w is written over the old.
inline const std::string straight_text = R"(program f
mesh data=2 model=4

inputs
  %0 "x" f32[8,16] [{data}, {model}] input
  %1 "w" f32[16,32] [{model}, {}] parameter

outputs
  %4 "y" f32[8,32] [{data}, {}] output
  %5 "w" f32[16,32] [{model}, {}] parameter donates 1

buffers
  %0 f32[4,4] input at 0 value 0 "x"
  %1 f32[4,32] parameter at 64 value 1 "w"
  %2 f32[4,32] activation at 576 value 2 "dot:partial"
  %3 f32[4,32] activation at 576 over %2 value 2 "dot"
  %4 f32[4,32] output at 576 over %3 value 3 "relu"
  %5 f32[4,32] parameter at 64 over %1 value 4 "scale"

body 0 (%0, %1) -> (%4, %5)
  0: %2 = dot(%0, %1) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]}; forward node 0
  1: %3 = all_reduce(%2) {model} sum payload 512 wire 768 because partial_sum forward node 0 over "embed"; forward node 0
  2: %4 = relu(%3); forward node 1
  3: %5 = scale(%1) {value=0.5}; forward node 2

memory peak 1088 instruction 0 live 1088
  live (%1, %2, %0)
  input 64
  parameter 512
  activation 512
)";

/// x = relu(x @ w[i]) four times; every x is kept too.
inline const std::string loop_text = R"(program g
mesh data=2 model=4

inputs
  %0 "x" f32[8,16] [{data}, {}] input
  %1 "w" f32[4,16,16] [{}, {}, {}] parameter

outputs
  %2 "last" f32[8,16] [{data}, {}] output
  %3 "all" f32[4,8,16] [{}, {data}, {}] output

buffers
  %0 f32[4,16] input at 0 value 0 "x"
  %1 f32[4,16,16] parameter at 256 value 1 "w"
  %2 f32[4,16] output at 4352 value 6 "repeat"
  %3 f32[4,4,16] output at 4608 value 7 "repeat"
  %4 f32[4,16] output at 4352 over %2 value 2 "x:inside"
  %5 f32[16,16] parameter at 256 slice of %1 body 1 stride 1024 value 3 "w:slice"
  %6 f32[4,16] activation at 5632 value 4 "dot"
  %7 f32[4,16] activation at 4352 over %4 value 5 "relu"
  %8 f32[4,16] activation at 4608 slice of %3 body 1 stride 256 value 5 "relu:copy"

body 0 (%0, %1) -> (%2, %3)
  0: %2, %3 = loop(%0, %1) body 1 {times=4, carries=1, stacked=1, reverse=0}; forward node 2

body 1 (%4, %5) -> (%7, %8)
  0: %6 = dot(%4, %5) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]}; forward node 0
  1: %7 = relu(%6); forward node 1
  2: %8 = convert(%7) {dtype="f32"}; forward

memory peak 5888 instruction 0 live 5888
  live (%1, %3, %0, %2, %6)
  input 256
  parameter 4096
  activation 256
  output 1280
)";

/// The text with the first `from` replaced.
inline std::string edited(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

/// All messages of what `action` throws, one per line; `nothing` if it does not.
template <class Action>
std::string messages_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    std::string text;
    for (const Diagnostic& diagnostic : error.diagnostics()) text += to_string(diagnostic) + "\n";
    return text;
  }
  return "nothing";
}

}  // namespace shard::tests
