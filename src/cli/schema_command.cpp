#include <array>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/nearest.h"
#include "cli/answer.h"
#include "cli/commands.h"
#include "config/jobs_config.h"
#include "config/load.h"
#include "report/json.h"

namespace shard {
namespace {

struct SchemaRow {
  const char* name;
  std::string (*text)();
};

constexpr std::array<SchemaRow, 4> schemas = {{
    {"model", model_schema},
    {"rules", rules_schema},
    {"jobs", jobs_schema},
    {"json", json_output_schema},
}};

}  // namespace

int schema_command(const Options& options, Sources& /*sources*/) {
  const std::string& asked = options.arguments[0];
  std::vector<std::string> names;
  for (const SchemaRow& row : schemas) {
    if (asked == row.name) {
      write_answer(options, row.text());
      return 0;
    }
    names.emplace_back(row.name);
  }
  throw Error("unknown-schema", {"command line"}, "there is no schema called '" + asked + "'",
              did_you_mean(asked, names, "schemas"));
}

}  // namespace shard
