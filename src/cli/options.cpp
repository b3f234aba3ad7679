#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/diagnostic.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/option_table.h"

namespace shard {
namespace {

std::vector<const OptionRow*> rows_of(const Command& command) {
  std::vector<const OptionRow*> rows;
  for (const OptionRow& row : option_table()) {
    if ((row.commands & command.bit) != 0U) rows.push_back(&row);
  }
  return rows;
}

/// Takes one value; a bad one is kept, so that the others' mistakes are told in the same run.
void take(const OptionRow& row, Options& options, const std::string& value,
          Diagnostics& diagnostics) {
  try {
    row.set(options, value);
  } catch (const Error& error) {
    diagnostics.append(error.diagnostics());
  }
}

void add_option(CLI::App& app, const OptionRow& row, Options& options, Diagnostics& diagnostics) {
  if (*row.value == '\0') {
    app.add_flag_function(row.flags, [&](std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) take(row, options, "", diagnostics);
    });
    return;
  }
  const auto set_all = [&](const std::vector<std::string>& values) {
    for (const std::string& value : values) take(row, options, value, diagnostics);
  };
  app.add_option_function<std::vector<std::string>>(row.flags, set_all)
      ->expected(1)
      ->allow_extra_args(false)
      ->type_name(row.value)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->trigger_on_parse();
}

/// Every flag's spellings: `-o`, `--output`.
std::vector<std::string> spellings(const std::vector<const OptionRow*>& rows) {
  std::vector<std::string> words;
  for (const OptionRow* row : rows) {
    for (const std::string& word : CLI::detail::split(row->flags, ',')) words.push_back(word);
  }
  return words;
}

void refuse_unknown(const Command& command, const std::vector<std::string>& extras,
                    Diagnostics& diagnostics) {
  const std::vector<std::string> known = spellings(rows_of(command));
  for (const std::string& extra : extras) {
    const std::string word = extra.substr(0, extra.find('='));
    // One letter is near to every other.
    const std::string hint = word.size() > 2 ? did_you_mean(word, known, "valid", 0) : "";
    const std::string more =
        "`shard-plan " + std::string(command.name) + " --help` lists the options";
    diagnostics.error("unknown-option", {"command line"},
                      std::string(command.name) + " has no option '" + word + "'",
                      hint.empty() ? more : hint + " " + more);
  }
}

}  // namespace

Options read_options(const Command& command, const std::vector<std::string>& words) {
  Options options;
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  app.add_option("arguments", options.arguments);
  Diagnostics diagnostics;
  for (const OptionRow* row : rows_of(command)) add_option(app, *row, options, diagnostics);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& problem) {
    throw Error("usage", {"command line"}, problem.what(),
                "`shard-plan " + std::string(command.name) + " --help` shows how it is used");
  }
  refuse_unknown(command, app.remaining(), diagnostics);
  diagnostics.throw_if_errors();
  return options;
}

std::string options_help(const Command& command) {
  std::string text;
  for (const OptionRow* row : rows_of(command)) {
    std::string left = std::string("  ") + row->flags;
    if (*row->value != '\0') left += std::string(" ") + row->value;
    left.resize(std::max<std::size_t>(left.size() + 2, 26), ' ');
    text += left + row->help + '\n';
  }
  return text;
}

}  // namespace shard
