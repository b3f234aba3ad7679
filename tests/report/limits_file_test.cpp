#include "report/limits_file.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/diagnostic.h"

using namespace shard;

namespace {

std::string refusal_of(const std::string& text) {
  try {
    read_limits("limits.json", text);
  } catch (const Error& error) {
    return to_string(error.diagnostics().front());
  }
  return "nothing was refused";
}

const std::string anew = "\n  hint: `shard-plan run --profile` measures and writes it anew";

}  // namespace

TEST_CASE("limits that are kept are read again") {
  const std::vector<KeptLimits> kept = {{"A \"quoted\" name", 2, {1.5e11, 2.25e10}},
                                        {"B", 64, {3e12, 1e11}}};
  const std::vector<KeptLimits> read = read_limits("limits.json", limits_text(kept));
  REQUIRE(read.size() == 2);
  CHECK(read[0].processor == "A \"quoted\" name");
  CHECK(read[0].workers == 2);
  CHECK(read[0].limits.product_flops == 1.5e11);
  CHECK(read[0].limits.copy_bytes == 2.25e10);
  CHECK(read[1].processor == "B");
}

TEST_CASE("limits belong to a processor and a number of workers") {
  const std::vector<KeptLimits> kept = {{"A", 2, {1, 1}}, {"A", 4, {2, 2}}};
  REQUIRE(limits_of(kept, "A", 4) != nullptr);
  CHECK(limits_of(kept, "A", 4)->limits.product_flops == 2);
  CHECK(limits_of(kept, "A", 3) == nullptr);
  CHECK(limits_of(kept, "B", 2) == nullptr);
}

TEST_CASE("a file of limits that is no such file is refused with the place") {
  CHECK(refusal_of("[]") ==
        "limits.json:1:1: error: expected a key `limits` of a machine's limits [bad-limits]" +
            anew);
  CHECK(refusal_of("{\"limits\": 3}") ==
        "limits.json:1:12: error: expected a list of a machine's limits [bad-limits]" + anew);
  CHECK(refusal_of("{\"limits\": [{\"processor\": \"A\"}]}") ==
        "limits.json:1:13: error: expected a key `workers` of a machine's limits [bad-limits]" +
            anew);
  CHECK(refusal_of("{\"limits\": [{\"processor\": \"A\", \"workers\": 0}]}") ==
        "limits.json:1:43: error: expected a positive number as `workers` of a machine's limits "
        "[bad-limits]" +
            anew);
}
