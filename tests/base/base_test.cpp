#include <doctest/doctest.h>

#include <vector>

#include "base/check.h"
#include "base/diagnostic.h"
#include "base/dtype.h"
#include "base/nearest.h"
#include "base/tensor_type.h"
#include "base/units.h"

using namespace shard;

TEST_CASE("numbers print with commas and the sign stays in front") {
  CHECK(with_commas(0) == "0");
  CHECK(with_commas(999) == "999");
  CHECK(with_commas(1000) == "1,000");
  CHECK(with_commas(25165832) == "25,165,832");
  CHECK(with_commas(-524288) == "-524,288");
}

TEST_CASE("human sizes have a binary unit and three digits") {
  CHECK(human(Bytes(12)) == "12 B");
  CHECK(human(Bytes(1536)) == "1.50 KiB");
  CHECK(human(Bytes(25165832)) == "24.0 MiB");
  CHECK(human(Bytes(std::int64_t{200} << 30)) == "200 GiB");
}

TEST_CASE("a diagnostic prints place then severity then id then hint") {
  const Diagnostic one{Severity::error,
                       "unknown-key",
                       {"a.yaml", 3, 5, 4},
                       "unknown key 'sise'",
                       "did you mean 'sizes'?"};
  CHECK(to_string(one) ==
        "a.yaml:3:5: error: unknown key 'sise' [unknown-key]\n  hint: did you mean 'sizes'?");
  const Diagnostic nowhere{Severity::note, "x", {}, "text", ""};
  CHECK(to_string(nowhere) == "note: text [x]");
}

TEST_CASE("diagnostics throw only when one of them is an error") {
  Diagnostics list;
  list.warning("w", {}, "careful");
  CHECK_NOTHROW(list.throw_if_errors());
  list.error("e", {}, "wrong");
  REQUIRE_THROWS_AS(list.throw_if_errors(), Error);
  try {
    list.throw_if_errors();
  } catch (const Error& error) {
    CHECK(error.diagnostics().size() == 2);
  }
}

TEST_CASE("an error without an error among its diagnostics is our bug") {
  CHECK_THROWS_AS(Error(std::vector<Diagnostic>{}), InternalError);
}

TEST_CASE("edit distance counts a swap of neighbours as one") {
  CHECK(edit_distance("fsdp", "fsdp") == 0);
  CHECK(edit_distance("fsdp", "fdsp") == 1);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("Batch", "batch") == 0);
}

TEST_CASE("the nearest word is offered only when it is near") {
  const std::vector<std::string> axes = {"data", "fsdp", "tensor"};
  CHECK(nearest("fsdpp", axes) == "fsdp");
  CHECK_FALSE(nearest("banana", axes).has_value());
  CHECK(did_you_mean("fsdpp", axes, "the mesh has") ==
        "did you mean 'fsdp'? the mesh has: data, fsdp, tensor");
}

TEST_CASE("types print as HLO prints them") {
  CHECK(to_string(TensorType{DType::bf16, {8, 4096}}) == "bf16[8,4096]");
  CHECK(to_string(TensorType{DType::i32, {}}) == "i32[]");
  CHECK(bytes_of({DType::bf16, {3, 5}}) == Bytes(30));
  CHECK(dtype_named("bfloat16") == DType::bf16);
  CHECK_FALSE(dtype_named("f33").has_value());
}

TEST_CASE("products that overflow are noticed") {
  const std::vector<std::int64_t> fine = {1 << 20, 1 << 20, 1 << 20};
  const std::vector<std::int64_t> over = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  CHECK(checked_product(fine) == std::int64_t{1} << 60);
  CHECK_FALSE(checked_product(over).has_value());
}
