// Optimizers, learning rates that change with the step, and losses in a model file.
#include <doctest/doctest.h>

#include "files.h"
#include "support/told_by.h"

namespace shard {
namespace {

/// A model whose fourth line is its train step.
std::string train_line(const std::string& train) {
  return "sizes: {a: 4}\ninputs: {x: [a]}\nlayers: [relu]\ntrain: {" + train + "}\n";
}

/// The mistakes, without the lines that quote the file.
std::string mistakes_in(const std::string& train) {
  MemoryReader reader({{"m.yaml", train_line(train)}});
  Sources sources(reader);
  return told_by([&] { read_model(merge_model_file("m.yaml", {}, sources)); });
}

TrainConfig train_of(const std::string& train) {
  MemoryReader reader({{"m.yaml", train_line(train)}});
  Sources sources(reader);
  return read_model(merge_model_file("m.yaml", {}, sources)).train.value();
}

}  // namespace

TEST_CASE("an optimizer may be a chain with a schedule inside") {
  const TrainConfig train = train_of(
      "loss: sum, optimizer: {chain: [clip_by_global_norm: 1.0, adamw: {learning_rate: {linear: "
      "{init_value: 0, end_value: 1e-3, transition_steps: 10}}, mask: [\"*kernel\"]}]}");
  const OptimizerConfig& chain = train.optimizer;
  CHECK(chain.kind == "chain");
  REQUIRE(chain.parts.size() == 2);
  CHECK(chain.parts[0].arguments == std::vector<std::pair<std::string, double>>{{"value", 1.0}});
  CHECK(chain.parts[1].is_scheduled);
  REQUIRE(chain.parts[1].schedule.has_value());
  CHECK(chain.parts[1].schedule->kind == "linear");
  CHECK(chain.parts[1].schedule->arguments ==
        std::vector<std::pair<std::string, double>>{
            {"init_value", 0.0}, {"end_value", 1e-3}, {"transition_steps", 10.0}});
  CHECK(chain.parts[1].mask == std::vector<std::string>{"*kernel"});
}

TEST_CASE("a loss may compare the output with an input or with the next token") {
  const TrainConfig shifted = train_of("loss: {cross_entropy: shift(tokens)}, optimizer: {sgd: 1}");
  REQUIRE(shifted.targets.has_value());
  CHECK(shifted.targets->input == "tokens");
  CHECK(shifted.targets->is_shifted);
  CHECK(shifted.ignores_negative);
  const TrainConfig plain = train_of(
      "loss: {cross_entropy: {targets: labels, ignore_negative: false}}, optimizer: {sgd: 1}");
  CHECK(plain.targets->input == "labels");
  CHECK_FALSE(plain.targets->is_shifted);
  CHECK_FALSE(plain.ignores_negative);
}

TEST_CASE("what an optimizer needs to run is asked for") {
  CHECK(mistakes_in("loss: sum, optimizer: {chain: [clip_by_global_norm, adam]}") ==
        "m.yaml:4:40: error: 'clip_by_global_norm' needs the key 'value' [missing-key]\n"
        "  hint: value: the largest norm, size or factor\n"
        "m.yaml:4:61: error: optimizer 'adam' needs the key 'learning_rate' [missing-key]\n"
        "  hint: learning_rate: the step size: a number or a schedule\n");
  CHECK(mistakes_in("loss: sum, optimizer: {adam: schedule}") ==
        "m.yaml:4:32: error: a program needs the schedule itself, found the word schedule "
        "[bad-schedule]\n  hint: e.g. learning_rate: {warmup_cosine_decay: {peak_value: 3e-4, "
        "warmup_steps: 100, decay_steps: 1000}}\n");
  CHECK(mistakes_in("loss: sum, optimizer: {multi_steps: {adam: 1}}") ==
        "m.yaml:4:32: error: optimizer 'multi_steps' needs the key 'every' [missing-key]\n"
        "  hint: every: steps to an update\n");
}

TEST_CASE("schedules that cannot be are refused") {
  const auto rate = [](const std::string& schedule) {
    return mistakes_in("loss: sum, optimizer: {sgd: {learning_rate: " + schedule + "}}");
  };
  CHECK(rate("{liner: 3}") ==
        "m.yaml:4:54: error: there is no schedule 'liner' [unknown-schedule]\n"
        "  hint: did you mean 'linear'? it is one of: constant, linear, polynomial, cosine_decay, "
        "warmup_cosine_decay, exponential_decay, piecewise_constant, rsqrt, warmup_rsqrt, join\n");
  CHECK(rate("{cosine_decay: {init_value: 1, decay_steps: 0}}") ==
        "m.yaml:4:97: error: 'decay_steps' is 0, expected at least one step [bad-schedule]\n"
        "  hint: for one rate from the start, write it as a number\n");
  CHECK(rate("{warmup_cosine_decay: {peak_value: 1, warmup_steps: 9, decay_steps: 9}}") ==
        "m.yaml:4:91: error: 'warmup_steps' is not before 'decay_steps', which counts from step 0 "
        "[schedule-order]\n  hint: decay_steps is the whole length, the warmup included\n");
  CHECK(rate("{piecewise_constant: {init_value: 1, boundaries_and_scales: {9: 0.5, 3: 0.5}}}") ==
        "m.yaml:4:122: error: the steps of 'boundaries_and_scales' do not grow [schedule-order]\n"
        "  hint: write the earliest first, each once\n");
  CHECK(rate("{join: {schedules: [constant: 1], boundaries: [2]}}") ==
        "m.yaml:4:87: error: 1 schedules need 0 boundaries, found 1 [schedule-order]\n"
        "  hint: one boundary between each two\n");
  CHECK(rate("{linear: 3}") ==
        "m.yaml:4:62: error: schedule 'linear' is '3', expected a map of its keys [wrong-type]\n"
        "  hint: its keys: init_value, end_value, transition_steps, transition_begin\n");
  CHECK(rate("[1]") ==
        "m.yaml:4:53: error: 'learning_rate' is a list, expected a number, a schedule or the word "
        "schedule [wrong-type]\n");
  CHECK(rate("{linear: {}, join: {}}") ==
        "m.yaml:4:53: error: a schedule is a map, expected a map with one key [wrong-type]\n"
        "  hint: indent the arguments below the schedule's name\n");
}

TEST_CASE("targets that are no input's name are refused") {
  CHECK(mistakes_in("loss: {cross_entropy: shift(a b)}, optimizer: {sgd: 1}") ==
        "m.yaml:4:31: error: 'targets' is 'shift(a b)', expected an input's name or shift(INPUT) "
        "[bad-targets]\n  hint: shift(tokens) makes the next token the target of each position\n");
  CHECK(mistakes_in("loss: cross_entropy, optimizer: {sgd: 1}") ==
        "m.yaml:4:15: error: loss 'cross_entropy' needs the key 'targets' [missing-key]\n"
        "  hint: targets: an integer input, or shift(INPUT): the next position's\n");
}

}  // namespace shard
