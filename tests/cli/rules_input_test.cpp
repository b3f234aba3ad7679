#include "cli/rules_input.h"

#include <doctest/doctest.h>

using namespace shard;

TEST_CASE("a word names files from the lowest to the one laid over all") {
  CHECK(rules_files_of("flax_guide") == std::vector<RulesFile>{{"flax_guide", ""}});
  CHECK(rules_files_of("a.yaml,b.yaml") == std::vector<RulesFile>{{"a.yaml", ""}, {"b.yaml", ""}});
  CHECK(rules_files_of("a.yaml#train,b.py#12") ==
        std::vector<RulesFile>{{"a.yaml", "train"}, {"b.py", "12"}});
  CHECK(rules_files_of("") == std::vector<RulesFile>{{"", ""}});
  CHECK(rules_files_of("a,") == std::vector<RulesFile>{{"a", ""}, {"", ""}});
}
