// What `verify` refuses in texts edited by hand.

#include <doctest/doctest.h>

#include "programs.h"

using namespace shard;
using namespace shard::tests;

namespace {

std::string verdict(const std::string& text) {
  return messages_of([&] { verify(read_program("p.txt", text)); });
}

std::string bad(const std::string& what) { return "error: " + what + " [bad-program]\n"; }

}  // namespace

TEST_CASE("the programs that the edits start from are right") {
  CHECK(verdict(straight_text) == "nothing");
  CHECK(verdict(loop_text) == "nothing");
}

TEST_CASE("a buffer is written once and before it is read") {
  CHECK(verdict(edited(straight_text, "all_reduce(%2)", "all_reduce(%4)")) ==
        bad("body 0, instruction 1 (all_reduce): %4 is read before it is written"));
  CHECK(verdict(edited(straight_text, "relu(%3)", "relu(%9)")) ==
        bad("body 0, instruction 2 (relu): there is no buffer %9"));
  CHECK(verdict(edited(straight_text, "%3 = all_reduce", "%2 = all_reduce")) ==
        bad("body 0, result of instruction 1: %2 is written a second time") +
            bad("body 0, instruction 2 (relu): %3 is read before it is written") +
            bad("buffer %3: nobody writes it"));
  CHECK(verdict(edited(straight_text, "%3 = all_reduce", "%8 = all_reduce")) ==
        bad("body 0, result of instruction 1: there is no buffer %8") +
            bad("body 0, instruction 2 (relu): %3 is read before it is written") +
            bad("buffer %3: nobody writes it"));
  CHECK(verdict(edited(loop_text, "relu(%6)", "relu(%0)")) ==
        bad("body 1, instruction 1 (relu): %0 belongs to body 0"));
}

TEST_CASE("the main body has the ports of the program") {
  CHECK(verdict(edited(straight_text, "body 0 (%0, %1)", "body 0 (%1, %0)")) ==
        bad("body 0: its parameters are not the buffers of the inputs"));
  CHECK(verdict(edited(straight_text, "-> (%4, %5)", "-> (%4)")) ==
        bad("body 0: its results are not the buffers of the outputs"));
  CHECK(verdict(edited(straight_text, "donates 1", "donates 2")) ==
        bad("output 1: there is no input 2 whose place it could have"));
  CHECK(
      verdict(edited(straight_text, "[{data}, {}] output\n", "[{data}, {}] output donates 1\n")) ==
      bad("output 1: output 0 has the place of input 1 already"));
}

TEST_CASE("local types follow from the shape rules") {
  CHECK(verdict(edited(straight_text, "%4 f32[4,32]", "%4 f32[4,16]")) ==
        bad("output 0: %4 is f32[4,16], its sharding makes it f32[4,32]") +
            bad("body 0, instruction 2 (relu): %4 is f32[4,16], expected f32[4,32]"));
  CHECK(verdict(edited(straight_text, "lhs_contract=[1]", "lhs_contract=[7]")) ==
        bad("body 0, instruction 0 (dot): there is no dim 7 in rank 2"));
  CHECK(verdict(edited(straight_text, " {value=0.5}", "")) ==
        bad("body 0, instruction 3 (scale): attributes of this op are missing or of another type: "
            "''"));
  CHECK(verdict(edited(straight_text, "relu(%3)", "relu(%3, %3)")) ==
        bad("body 0, instruction 2 (relu): 2 operands, expected 1"));
  CHECK(verdict(edited(straight_text, "\"x\" f32[8,16]", "\"x\" f32[7,16]")) ==
        bad("input 0: its sharding does not divide f32[7,16]"));
  CHECK(verdict(edited(straight_text, "[{data}, {model}]", "[{data}, {data}]")) ==
        bad("input 0: its sharding has axes that the mesh has not, or one twice"));
}

TEST_CASE("a collective fits its kind and states its true bytes") {
  const auto edit = [](const std::string& from, const std::string& to) {
    return verdict(edited(straight_text, from, to));
  };
  const std::string where = "body 0, instruction 1 (all_reduce): ";
  CHECK(edit("{model} sum", "{} sum") ==
        bad(where + "it runs over axes that the mesh has not, over one twice, or over none"));
  CHECK(edit("{model} sum", "{model, model:(2)2} sum") ==
        bad(where + "it runs over axes that the mesh has not, over one twice, or over none"));
  CHECK(edit("{model} sum", "{model}") == bad(where + "it has no reduction"));
  CHECK(edit("{model} sum", "{data} sum") == bad(where + "wire 768, expected 512"));
  CHECK(edit("payload 512", "payload 511") == bad(where + "payload 511, expected 512"));
  CHECK(edit("all_reduce(%2) {model} sum", "all_slice(%2) {model} sum") ==
        bad("body 0, instruction 1 (all_slice): it has a reduction but reduces nothing"));
  CHECK(edit("all_reduce(%2) {model} sum", "all_gather(%2) {model} dim 2") ==
        bad("body 0, instruction 1 (all_gather): its dims do not fit f32[4,32] and groups of 4"));
  CHECK(edit("all_reduce(%2) {model} sum", "reduce_scatter(%2) {model} sum dim 1") ==
        bad("body 0, instruction 1 (reduce_scatter): %3 is f32[4,32], expected f32[4,8]") +
            bad("body 0, instruction 1 (reduce_scatter): wire 768, expected 384"));
  CHECK(edit("all_reduce(%2) {model} sum", "all_to_all(%2) {model} dim 1 split 1") ==
        bad("body 0, instruction 1 (all_to_all): its dims do not fit f32[4,32] and groups of 4"));
  CHECK(edit("all_reduce(%2) {model} sum",
             "collective_permute(%2) {model} from [{data}, {}] to [{}, {model}]") ==
        bad("body 0, instruction 1 (collective_permute): its dims do not fit f32[4,32] and groups "
            "of 4"));
  CHECK(edit("all_reduce(%2) {model} sum payload 512 wire 768",
             "collective_broadcast(%2) {model} source 3 payload 512 wire 512") ==
        "error: buffer %3: it is written over %2, which is still wanted [bad-program]\n");
  for (const char* const source : {"", " source 4"}) {
    CHECK(
        edit("all_reduce(%2) {model} sum payload 512 wire 768",
             "collective_broadcast(%2) {model}" + std::string(source) + " payload 512 wire 512") ==
        bad("body 0, instruction 1 (collective_broadcast): its source is none of 4 devices"));
  }
}

TEST_CASE("an exchange of rows has six operands that fit") {
  const std::string exchange = R"(program f
mesh data=2 model=4

inputs
  %0 "x" f32[4,6,8] [{model}, {}, {}] input
  %1 "into" f32[4,9,8] [{model}, {}, {}] input
  %2 "lists" i32[4,8] [{model}, {}] input

outputs
  %3 "y" f32[4,9,8] [{model}, {}, {}] output

buffers
  %0 f32[1,6,8] input at 0 value 0 "x"
  %1 f32[1,9,8] input at 192 value 1 "into"
  %2 i32[1,8] input at 512 value 2 "lists"
  %3 f32[1,9,8] output at 576 value 3 "y"

body 0 (%0, %1, %2) -> (%3)
  0: %3 = ragged_all_to_all(%0, %1, %2, %2, %2, %2) {model} payload 192 wire 192 because asked forward node 0; forward node 0

memory peak 864 instruction 0 live 800
  live (%1, %3, %0, %2)
  input 512
  output 288
)";
  const auto edit = [&](const std::string& from, const std::string& to) {
    return verdict(edited(exchange, from, to));
  };
  const std::string where = "body 0, instruction 0 (ragged_all_to_all): ";
  REQUIRE(verdict(exchange) == "nothing");
  CHECK(to_string(read_program("p.txt", exchange)) == exchange);
  CHECK(edit("(%0, %1, %2, %2, %2, %2)", "(%0, %1, %2, %2, %2)") ==
        bad(where + "it has 6 operands and one result"));
  CHECK(edit("(%0, %1, %2, %2, %2, %2)", "(%0, %1, %2, %2, %2, %0)") ==
        bad(where + "leading dims differ: operand is f32[1,6,8], output is f32[1,9,8]"));
  CHECK(edit("(%0, %1, %2, %2, %2, %2)", "(%0, %1, %2, %0, %2, %2)") ==
        bad(where + "send_sizes is f32[6,8], not a list of integers"));
  CHECK(edit("(%0, %1, %2, %2, %2, %2)", "(%1, %0, %2, %2, %2, %2)") ==
        bad(where + "%3 is f32[1,9,8], expected f32[1,6,8]") +
            bad(where + "payload 192, expected 288") + bad(where + "wire 192, expected 288"));
  CHECK(edit("wire 192", "wire 191") == bad(where + "wire 191, expected 192"));
  CHECK(edit("{model} payload", "{model} dim 0 payload") ==
        bad(where + "it has fields of another kind"));
  CHECK(edit("{model} payload", "{model} sum payload") ==
        bad(where + "it has a reduction but reduces nothing"));
  CHECK(verdict(edited(straight_text, "all_reduce(%2)", "all_reduce(%2, %0)")) ==
        bad("body 0, instruction 1 (all_reduce): a collective has one operand and one result"));
}

TEST_CASE("a loop has a body of its own with its signature") {
  const auto edit = [](const std::string& from, const std::string& to) {
    return verdict(edited(loop_text, from, to));
  };
  const std::string where = "body 0, instruction 0 (loop): ";
  CHECK(edit("body 1 {times", "body 2 {times") ==
        bad(where + "there is no body 2 for it") + bad("body 1: no loop runs it") +
            bad("buffer %4: nobody writes it") + bad("buffer %5: nobody writes it") +
            bad("buffer %6: nobody writes it") + bad("buffer %7: nobody writes it") +
            bad("buffer %8: nobody writes it"));
  CHECK(edit("carries=1", "carries=2")
            .find(where + "2 operands for 2 parameters of body 1, of "
                          "which 2 are carries and 1 slices") != std::string::npos);
  CHECK(edit("times=4, ", "").find(where + "a loop has a count 'times'") != std::string::npos);
  CHECK(edit("times=4", "times=0") == bad(where + "a loop runs at least once"));
  CHECK(edit("times=4", "times=5") ==
        bad(where + "%1 is f32[4,16,16], but %5 in body is f32[16,16]") +
            bad(where + "%3 is f32[4,4,16], but %8 in body is f32[4,16]"));
  CHECK(edit("(%7, %8)", "(%7, %7)") ==
        bad("body 1, result 1: %7 is a parameter or another result"));
  CHECK(edit("stride 1024", "stride 512") == bad(where + "%5 is not the slice of %1 in body 1"));
  CHECK(edit("slice of %3", "slice of %1") == bad(where + "%8 is not the slice of %3 in body 1"));
  CHECK(edit(" over %2 value 2", " value 2") == bad(where + "%4 is not at the place of %2"));
}

TEST_CASE("buffers that are wanted together do not share bytes") {
  CHECK(verdict(edited(straight_text, "%2 f32[4,32] activation at 576",
                       "%2 f32[4,32] activation at 64")) ==
        bad("buffer %3: it is at 576, but %2, whose place it has, at 64") +
            bad("buffer %2: it shares bytes with %1 while both are wanted"));
  CHECK(verdict(edited(straight_text, "parameter at 64 value 1", "parameter at 0 value 1")) ==
        bad("buffer %5: it is at 64, but %1, whose place it has, at 0") +
            bad("buffer %1: it shares bytes with %0 while both are wanted"));
  CHECK(verdict(edited(straight_text, "input at 0", "input at 8")) ==
        bad("buffer %0: its place 8 is no multiple of 64") +
            bad("buffer %1: it shares bytes with %0 while both are wanted"));
  CHECK(verdict(edited(loop_text, "%6 f32[4,16] activation at 5632",
                       "%6 f32[4,16] activation at 4352 over %4")) ==
        bad("buffer %6: it is written over %4, which is still wanted"));
  CHECK(verdict(edited(straight_text, "over %3", "over %5")) ==
        bad("buffer %4: it is at 576, but %5, whose place it has, at 64") +
            bad("buffer %4: it is written over %1, which is still wanted") +
            bad("buffer %5: it is written over %4, which is still wanted"));
  CHECK(verdict(edited(straight_text, "at 576 value 2", "at 576 over %4 value 2")) ==
        bad("buffer %2: its place is over itself"));
}

TEST_CASE("a donated output lies on its input") {
  CHECK(verdict(edited(straight_text, "parameter at 64 over %1 value 4",
                       "parameter at 1088 value 4")) ==
        bad("output 1: %5 is not at the place of input 1 (%1)"));
}

TEST_CASE("places refer to buffers and bodies that exist") {
  CHECK(verdict(edited(straight_text, "over %3 value 3", "over %77 value 3")) ==
        bad("buffer %4: there is no buffer %77 whose place it could have"));
  CHECK(verdict(edited(straight_text, "over %3 value 3", "over %4 value 3")) ==
        bad("buffer %4: there is no buffer %4 whose place it could have"));
  CHECK(
      verdict(edited(loop_text, "5632 value", "5632 over %7 slice of %3 body 1 stride 4 value")) ==
      bad("buffer %6: it is over another buffer and a slice at once"));
  CHECK(verdict(edited(loop_text, "body 1 stride 1024", "body 7 stride 1024")) ==
        bad("buffer %5: there is no body 7 that walks its slices"));
  CHECK(verdict(edited(straight_text, "activation at 576 value 2",
                       "activation at 0 over %0 value 2")) ==
        bad("buffer %2: it has not as many bytes as %0, whose place it has") +
            bad("buffer %3: it is at 576, but %2, whose place it has, at 0") +
            bad("buffer %2: it is written over %0, which is still wanted") +
            bad("buffer %3: it is written over %0, which is still wanted") +
            bad("buffer %4: it is written over %0, which is still wanted"));
}

TEST_CASE("only computations are computed and each loop has one body") {
  CHECK(verdict(edited(loop_text,
                       "  0: %6 = dot(%4, %5) {lhs_batch=[], rhs_batch=[], "
                       "lhs_contract=[1], rhs_contract=[0]}",
                       "  0: %6 = loop(%4, %5) body 1 {times=4, carries=1, stacked=1, reverse=0}"))
            .find("body 1, instruction 0 (loop): body 1 belongs to another loop") !=
        std::string::npos);
  CHECK(verdict(edited(loop_text, "-> (%7, %8)", "-> (%7)"))
            .find("body 0, instruction 0 (loop): 2 results for 1 results of body 1, of which 1 are "
                  "carries") != std::string::npos);
  CHECK(verdict(edited(straight_text, "all_reduce(%2)", "all_reduce(%2, %2)")) ==
        bad("body 0, instruction 1 (all_reduce): a collective has one operand and one result"));
  CHECK(verdict(edited(straight_text, "3: %5 = scale", "3: = scale")) ==
        bad("body 0, results: %5 is read before it is written") +
            bad("buffer %5: nobody writes it"));
}

TEST_CASE("the memory plan states the true figures") {
  CHECK(verdict(edited(straight_text, "peak 1088", "peak 1024")) ==
        bad("memory: peak 1024, expected 1088"));
  CHECK(verdict(edited(straight_text, "instruction 0 live", "instruction 2 live")) ==
        bad("memory: instruction 2, expected 0"));
  CHECK(verdict(edited(straight_text, "live 1088", "live 1087")) ==
        bad("memory: live 1087, expected 1088"));
  CHECK(verdict(edited(straight_text, "live (%1, %2, %0)", "live (%1, %2)")) ==
        bad("memory: the buffers live at the peak are others"));
  CHECK(verdict(edited(straight_text, "activation 512", "activation 256")) ==
        bad("memory: the bytes by category are others"));
}
