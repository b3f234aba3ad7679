#include "cli/options.h"

#include <doctest/doctest.h>

#include "base/diagnostic.h"
#include "cli/commands.h"

using namespace shard;

namespace {

Options read(const std::string& command, const std::vector<std::string>& words) {
  return read_options(command_named(command), words);
}

std::string refusal(const std::string& command, const std::vector<std::string>& words) {
  try {
    const Command& asked = command_named(command);
    check_arguments(asked, read_options(asked, words));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("words without a dash are arguments in their order") {
  const Options options = read("show", {"mlp", "--bare", "dp", "x", "--style", "jax", "params/*"});
  CHECK(options.arguments == std::vector<std::string>{"mlp", "dp", "x", "params/*"});
  CHECK(options.bare);
  CHECK(options.jax_style);
}

TEST_CASE("options may be written with an equals sign or a blank") {
  CHECK(read("plan", {"--mesh=data=4,model=2"}).overrides.mesh == "data=4,model=2");
  CHECK(read("plan", {"--mesh", "data=4,model=2"}).overrides.mesh == "data=4,model=2");
  CHECK(read("plan", {"-o", "f"}).output == "f");
  CHECK(read("plan", {"-o", "-"}).output.empty());
}

TEST_CASE("a repeatable option keeps the order and a flag may be counted") {
  const Options options = read("plan", {"--set", "a=1", "x", "--set", "b=[1, 2]", "-vv"});
  CHECK(options.overrides.set == std::vector<std::string>{"a=1", "b=[1, 2]"});
  CHECK(options.verbosity == 2);
}

TEST_CASE("the last of two values wins") {
  CHECK(read("run", {"--runs", "3", "--runs", "4"}).runs == 4);
}

TEST_CASE("a chip gives its memory as the capacity") {
  const Options options = read("plan", {"--device", "v5e"});
  REQUIRE(options.capacity);
  CHECK(*options.capacity == Bytes(16'000'000'000));
  CHECK(options.device == "v5e");
}

TEST_CASE("all unknown options are refused in one run with the nearest") {
  CHECK(refusal("plan", {"a", "b", "--meshs", "data=8", "-Z"}) ==
        "command line: error: plan has no option '--meshs' [unknown-option]\n"
        "  hint: did you mean '--mesh'? `shard-plan plan --help` lists the options\n"
        "command line: error: plan has no option '-Z' [unknown-option]\n"
        "  hint: `shard-plan plan --help` lists the options");
}

TEST_CASE("every bad value is told in the same run as the unknown options") {
  CHECK(refusal("run", {"a", "b", "--runs", "-1", "--steps", "x", "--style", "jax"}) ==
        "--runs: error: expected a whole number from 0 to 1000000, found '-1' [bad-value]\n"
        "--steps: error: expected a whole number from 1 to 1000000, found 'x' [bad-value]\n"
        "command line: error: run has no option '--style' [unknown-option]\n"
        "  hint: `shard-plan run --help` lists the options");
}

TEST_CASE("an option of another command is unknown") {
  CHECK(refusal("show", {"a", "b", "--workers", "2"}) ==
        "command line: error: show has no option '--workers' [unknown-option]\n"
        "  hint: `shard-plan show --help` lists the options");
}

TEST_CASE("missing and superfluous files are refused") {
  CHECK(refusal("plan", {"mlp"}) ==
        "command line: error: plan needs MODEL RULES, found 1 of 2 [usage]\n"
        "  hint: usage: shard-plan plan MODEL RULES");
  CHECK(refusal("plan", {"mlp", "dp", "tp"}) ==
        "command line: error: plan takes no more than MODEL RULES, found also 'tp' [usage]\n"
        "  hint: usage: shard-plan plan MODEL RULES");
  CHECK(refusal("plan", {"mlp", "dp"}) == "accepted");
}

TEST_CASE("options that exclude each other are refused") {
  CHECK(refusal("plan", {"a", "b", "--resolved", "--json"}) ==
        "command line: error: --resolved cannot go with --format json [usage]");
  CHECK(refusal("run", {"a", "b", "--dump", "d", "--check-steps", "0"}) ==
        "command line: error: --dump cannot go with --check-steps 0 [usage]");
}

TEST_CASE("a misspelt command gets the nearest") {
  CHECK(refusal("pln", {}) ==
        "command line: error: there is no command 'pln' [unknown-command]\n"
        "  hint: did you mean 'plan'?");
}

TEST_CASE("every option of every command has a line of help") {
  for (const Command& command : command_table()) {
    const std::string help = command_help(command);
    CHECK(help.find(std::string("usage: shard-plan ") + std::string(command.name)) !=
          std::string::npos);
    CHECK(help.find("--help") != std::string::npos);
    CHECK(program_help().find(command.summary) != std::string::npos);
  }
}
