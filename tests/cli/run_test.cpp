#include "cli/run.h"

#include <doctest/doctest.h>

#include <new>
#include <stdexcept>

#include "base/check.h"
#include "base/diagnostic.h"
#include "exec/run_failure.h"

using namespace shard;

namespace {

template <class Exception>
Failure failure(const Exception& exception) {
  MemoryReader reader({});
  Sources sources(reader);
  return failure_of(std::make_exception_ptr(exception), sources);
}

}  // namespace

TEST_CASE("bad input is exit code 2 and all its diagnostics are printed") {
  const Failure found = failure(Error(
      {{Severity::error, "a", {"f.yaml"}, "one", ""}, {Severity::error, "b", {}, "two", "x"}}));
  CHECK(found.text == "f.yaml: error: one [a]\nerror: two [b]\n  hint: x\n");
  CHECK(found.exit_code == 2);
}

TEST_CASE("a broken invariant is exit code 70 and names its place in the sources") {
  const Failure found = failure(InternalError("dims are in order"));
  CHECK(found.text.ends_with(
      ": broken invariant: dims are in order (this is a bug in shard-plan)\n"));
  CHECK(found.text.find("run_test.cpp:") != std::string::npos);
  CHECK(found.exit_code == 70);
}

TEST_CASE("an exception that nobody expected is our bug") {
  const Failure found = failure(std::out_of_range("vector::at"));
  CHECK(found.text == "this is a bug in shard-plan: vector::at\n");
  CHECK(found.exit_code == 70);
}

TEST_CASE("memory that ran out is no bug of ours") {
  const Failure found = failure(std::bad_alloc());
  CHECK(found.text == "error: out of memory\n");
  CHECK(found.exit_code == 2);
}

TEST_CASE("a run that failed is the answer no") {
  const Failure found = failure(RunFailure("device-lost", {}, "device 3 stopped"));
  CHECK(found.text == "error: device 3 stopped [device-lost]\n");
  CHECK(found.exit_code == 1);
}
