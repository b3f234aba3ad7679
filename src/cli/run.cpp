#include "cli/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <new>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/diagnostic.h"
#include "base/log.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "exec/run_failure.h"
#include "text/files.h"

namespace shard {
namespace {

constexpr int yes = 0;
constexpr int no = 1;
constexpr int bad_input = 2;
constexpr int our_bug = 70;

std::string rendered(const Error& error, const Sources& sources) {
  std::string text;
  for (const Diagnostic& one : error.diagnostics()) text += render(one, sources);
  return text;
}

void print_error(const std::string& text) { write_fully(STDERR_FILENO, text); }

bool is_any_of(const std::string& word, std::initializer_list<const char*> words) {
  for (const char* one : words) {
    if (word == one) return true;
  }
  return false;
}

void set_verbosity(const Options& options) {
  if (options.quiet) {
    set_log_level(LogLevel::quiet);
  } else if (options.verbosity > 0) {
    set_log_level(options.verbosity == 1 ? LogLevel::info : LogLevel::debug);
  }
}

int answer_help(const std::string& text) {
  write_answer(Options{}, text);
  return yes;
}

int obey(const Command& command, const std::vector<std::string>& words, Sources& sources) {
  const Options options = read_options(command, words);
  if (options.help) return answer_help(command_help(command));
  set_verbosity(options);
  check_arguments(command, options);
  return command.run(options, sources);
}

int run_words(const std::vector<std::string>& words, Sources& sources) {
  if (words.empty()) {
    print_error(program_help());
    return bad_input;
  }
  if (is_any_of(words[0], {"-h", "--help"})) return answer_help(program_help());
  if (is_any_of(words[0], {"-V", "--version"})) return answer_help(version_text());
  if (words[0] == "help") {
    return answer_help(words.size() > 1 ? command_help(command_named(words[1])) : program_help());
  }
  return obey(command_named(words[0]), {words.begin() + 1, words.end()}, sources);
}

}  // namespace

Failure failure_of(const std::exception_ptr& exception, Sources& sources) {
  try {
    std::rethrow_exception(exception);
  } catch (const RunFailure& failure) {
    return {rendered(failure, sources), no};
  } catch (const Error& error) {
    return {rendered(error, sources), bad_input};
  } catch (const InternalError& error) {
    return {fmt::format("{}\n", error.what()), our_bug};
  } catch (const std::bad_alloc&) {
    return {"error: out of memory\n", bad_input};
  } catch (const std::exception& error) {
    return {fmt::format("this is a bug in shard-plan: {}\n", error.what()), our_bug};
  }
}

int run_command_line(int argc, char** argv) {
  prepare_process();
  DiskReader reader;
  Sources sources(reader);
  try {
    return run_words(std::vector<std::string>(argv + 1, argv + argc), sources);
  } catch (...) {
    const Failure failure = failure_of(std::current_exception(), sources);
    print_error(failure.text);
    return failure.exit_code;
  }
}

}  // namespace shard
