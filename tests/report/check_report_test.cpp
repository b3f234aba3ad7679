#include "report/check_report.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "report/markdown.h"
#include "report/xml.h"

using namespace shard;
using Json = nlohmann::json;

namespace {

CheckOutcome outcome(const std::string& mesh, std::vector<CheckCause> causes) {
  CheckOutcome made;
  made.model = "m";
  made.rules = "r";
  made.job = "m r";
  made.mesh = mesh;
  made.at = {"ci/jobs.yaml", 2, 5};
  made.causes = std::move(causes);
  made.state = BeforeAfter<Bytes>{Bytes(100), Bytes(400)};
  made.record.emplace();
  return made;
}

CheckCause changed(const std::string& amount) {
  return {
      "changed", {"ci/l.lock", 7, 3}, {"r.yaml", 4, 5}, "params/*/k (4)", "P('x',) -> P()", amount,
      ""};
}

CheckReport report() {
  CheckReport made;
  made.asked = "ci/jobs.yaml";
  made.against = "ci/l.lock";
  made.can_update = true;
  made.outcomes = {outcome("x=2", {changed("+100 B each")}),
                   outcome("x=4", {changed("+300 B each")}), outcome("x=8", {})};
  made.outcomes.push_back(outcome("x=3", {}));
  made.outcomes.back().mistakes = {{Severity::error, "indivisible", {"r.yaml", 1, 7}, "8 / 3", ""}};
  return made;
}

}  // namespace

TEST_CASE("a cause that stands for several meshes is told once") {
  const std::string text = check_text(report(), {});
  CHECK(text ==
        "FAIL m  r  x=2   state 100 -> 400 B per device (x4.0)\n"
        "  ci/l.lock:7  changed  params/*/k (4)  P('x',) -> P()  +100 B each\n"
        "FAIL m  r  x=4   state 100 -> 400 B per device (x4.0), the same 1 cause\n"
        "ok   m  r  x=8   0 arrays, 0 B per device\n"
        "BAD  m  r  x=3   could not be planned: 8 / 3\n"
        "check failed: 3 of 4. 1 could not be planned.   wanted?  shard-plan check ci/jobs.yaml "
        "--update\n");
}

TEST_CASE("JUnit has one case per job and mesh") {
  const std::string text = check_junit(report());
  CHECK(
      text ==
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"shard-plan check\" tests=\"4\" failures=\"2\" errors=\"1\" time=\"0\">\n"
      "  <testsuite name=\"shard-plan check\" tests=\"4\" failures=\"2\" errors=\"1\" "
      "skipped=\"0\" time=\"0\">\n"
      "    <testcase classname=\"m r\" name=\"x=2\" file=\"ci/jobs.yaml\" time=\"0\">\n"
      "      <failure message=\"1 cause\" type=\"layout\">ci/l.lock:7: changed  params/*/k (4)  "
      "P(&apos;x&apos;,) -&gt; P()  +100 B each&#10;</failure>\n"
      "    </testcase>\n"
      "    <testcase classname=\"m r\" name=\"x=4\" file=\"ci/jobs.yaml\" time=\"0\">\n"
      "      <failure message=\"1 cause\" type=\"layout\">ci/l.lock:7: changed  params/*/k (4)  "
      "P(&apos;x&apos;,) -&gt; P()  +300 B each&#10;</failure>\n"
      "    </testcase>\n"
      "    <testcase classname=\"m r\" name=\"x=8\" file=\"ci/jobs.yaml\" time=\"0\"/>\n"
      "    <testcase classname=\"m r\" name=\"x=3\" file=\"ci/jobs.yaml\" time=\"0\">\n"
      "      <error message=\"8 / 3\" type=\"indivisible\">r.yaml:1:7: error: 8 / 3 "
      "[indivisible]&#10;</error>\n"
      "    </testcase>\n"
      "  </testsuite>\n"
      "</testsuites>\n");
}

TEST_CASE("text in XML keeps its meaning whatever it holds") {
  CHECK(xml_text("a<b>&\"c'") == "a&lt;b&gt;&amp;&quot;c&apos;");
  CHECK(xml_text("line\nnext\ttab\r") == "line&#10;next&#9;tab&#13;");
  CHECK(xml_text(std::string("a\0b\x1B", 4)) ==
        "a\xEF\xBF\xBD"
        "b\xEF\xBF\xBD");
  CHECK(xml_text("\xC3\xA9 \xE2\x88\x9A") == "\xC3\xA9 \xE2\x88\x9A");
  CHECK(xml_text("\xFFz\xEF\xBF\xBE") == "\xEF\xBF\xBDz\xEF\xBF\xBD");
  CHECK(xml_text("]]>") == "]]&gt;");
}

TEST_CASE("SARIF has what the standard asks for") {
  const Json log = Json::parse(check_sarif(report(), "1.2.3"));
  CHECK(log.at("version") == "2.1.0");
  CHECK(log.at("$schema").get<std::string>().find("sarif-2.1.0") != std::string::npos);
  REQUIRE(log.at("runs").size() == 1);
  const Json& run = log.at("runs")[0];
  const Json& driver = run.at("tool").at("driver");
  CHECK(driver.at("name") == "shard-plan");
  CHECK(driver.at("version") == "1.2.3");
  REQUIRE(run.at("results").size() == 3);
  for (const Json& result : run.at("results")) {
    const auto rule = result.at("ruleIndex").get<std::size_t>();
    CHECK(driver.at("rules").at(rule).at("id") == result.at("ruleId"));
    CHECK(result.at("level") == "error");
    CHECK_FALSE(result.at("message").at("text").get<std::string>().empty());
    REQUIRE(result.at("locations").size() == 1);
    const Json& physical = result.at("locations")[0].at("physicalLocation");
    CHECK_FALSE(physical.at("artifactLocation").at("uri").get<std::string>().empty());
    CHECK(physical.at("region").at("startLine").get<int>() >= 1);
    CHECK(physical.at("region").at("startColumn").get<int>() >= 1);
  }
  const Json& first = run.at("results")[0];
  CHECK(first.at("message").at("text") ==
        "m r on x=2: changed  params/*/k (4)  P('x',) -> P()  +100 B each");
  CHECK(first.at("locations")[0].at("physicalLocation").at("region").at("startLine") == 7);
  CHECK(first.at("relatedLocations")[0].at("physicalLocation").at("artifactLocation").at("uri") ==
        "r.yaml");
  CHECK(run.at("results")[2].at("ruleId") == "indivisible");
  for (const Json& rule : driver.at("rules")) {
    CHECK_FALSE(rule.at("shortDescription").at("text").get<std::string>().empty());
  }
}

TEST_CASE("a report without results is a valid SARIF log") {
  const Json log = Json::parse(check_sarif({}, "1"));
  CHECK(log.at("runs")[0].at("results") == Json::array());
  CHECK(log.at("runs")[0].at("tool").at("driver").at("rules") == Json::array());
}

TEST_CASE("file names become URIs") {
  CheckReport odd = report();
  odd.outcomes = {outcome("x=2", {changed("")})};
  odd.outcomes[0].causes[0].at = {"a b/ü#.lock", 1, 1};
  const Json log = Json::parse(check_sarif(odd, "1"));
  CHECK(log.at("runs")[0]
            .at("results")[0]
            .at("locations")[0]
            .at("physicalLocation")
            .at("artifactLocation")
            .at("uri") == "a%20b/%C3%BC%23.lock");
}

TEST_CASE("Markdown cells and code keep pipes and backticks") {
  CHECK(markdown_table({"a", "b"}, {false, true}, {{"x|y", "1\n2"}}) ==
        "| a | b |\n| --- | ---: |\n| x\\|y | 1 2 |\n");
  CHECK(code_text("a*b") == "`a*b`");
  CHECK(code_text("a`b") == "`` a`b ``");
  CHECK(code_text("").empty());
}
