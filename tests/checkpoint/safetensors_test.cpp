#include "checkpoint/safetensors.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "support/told_by.h"

using namespace shard;

namespace {

std::string file_of(const std::string& header, const std::string& data) {
  std::string file;
  for (int i = 0; i < 8; ++i) {
    file += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  }
  return file + header + data;
}

std::vector<NamedTensor> read(const std::string& bytes) {
  MemoryReader reader({{"a.safetensors", bytes}});
  return read_safetensors("a.safetensors", reader);
}

std::string refusal(const std::string& bytes) {
  return told_by([&] { read(bytes); });
}

HostTensor counting(const TensorType& type) {
  HostTensor tensor = zeros(type);
  for (std::size_t i = 0; i < tensor.bytes.size(); ++i) {
    tensor.bytes[i] = static_cast<std::byte>(i % 251);
  }
  return tensor;
}

}  // namespace

TEST_CASE("tensors of every dtype and rank read back as they were written") {
  std::vector<NamedTensor> tensors;
  for (const DTypeInfo& dtype : dtype_table()) {
    const std::string name(dtype.name);
    tensors.push_back({name + "/scalar", counting({dtype.dtype, {}})});
    tensors.push_back({name + "/cube", counting({dtype.dtype, {2, 3, 4}})});
    tensors.push_back({name + "/empty", counting({dtype.dtype, {2, 0}})});
  }
  tensors.push_back({"quote \" and \\ and \n and ü", counting({DType::f32, {1}})});
  const std::vector<NamedTensor> back = read(write_safetensors(tensors));
  REQUIRE(back.size() == tensors.size());
  for (const NamedTensor& tensor : tensors) {
    CAPTURE(tensor.name);
    const auto found = std::find_if(back.begin(), back.end(), [&](const NamedTensor& candidate) {
      return candidate.name == tensor.name;
    });
    REQUIRE(found != back.end());
    CHECK(found->tensor == tensor.tensor);
  }
}

TEST_CASE("a written file is sorted by name and its data begins at a multiple of eight") {
  const std::string file =
      write_safetensors({{"b", counting({DType::f32, {2}})}, {"a", counting({DType::i32, {1}})}});
  const std::string header =
      "{\"a\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[0,4]},"
      "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}";
  CHECK(file.substr(8, header.size()) == header);
  const std::size_t length = static_cast<unsigned char>(file[0]);
  CHECK(length % 8 == 0);
  CHECK(file.size() == 8 + length + 12);
  CHECK(file.find_first_not_of(' ', 8 + header.size()) == 8 + length);
}

TEST_CASE("a file without tensors reads back") {
  CHECK(read(write_safetensors({})).empty());
  CHECK(read(file_of("{\"__metadata__\":{\"format\":\"pt\"}}", "")).empty());
}

TEST_CASE("tensors come in the order of their offsets") {
  const std::vector<NamedTensor> tensors =
      read(file_of("{\"late\":{\"dtype\":\"U32\",\"shape\":[1],\"data_offsets\":[4,8]},"
                   "\"early\":{\"dtype\":\"U32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
                   "abcdefgh"));
  REQUIRE(tensors.size() == 2);
  CHECK(tensors[0].name == "early");
  CHECK(tensors[1].tensor.data<char>()[0] == 'e');
}

TEST_CASE("a missing file is named") {
  MemoryReader reader({});
  try {
    read_safetensors("gone.safetensors", reader);
    FAIL("nothing was refused");
  } catch (const Error& error) {
    CHECK(to_string(error.diagnostics().front()) ==
          "error: there is no file 'gone.safetensors' [missing-file]");
  }
}

TEST_CASE("files that are cut off or something else are refused") {
  CHECK(refusal("abc") ==
        "a.safetensors: error: the file has 3 bytes, expected at least 8: the length of a header "
        "[bad-safetensors]\n");
  CHECK(refusal("model:\n  name: mlp\n") ==
        "a.safetensors: error: the header says it has 2308721996212760429 bytes, more than "
        "100,000,000 [bad-safetensors]\n"
        "  hint: is this a safetensors file?\n");
  CHECK(refusal(file_of("{}", "").substr(0, 9)) ==
        "a.safetensors: error: the header says it has 2 bytes, the file has 1 after it "
        "[bad-safetensors]\n"
        "  hint: the file seems to be cut off\n");
  CHECK(refusal(
            file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", "1234")) ==
        "a.safetensors: error: the header describes 8 bytes of data, the file holds 4 "
        "[bad-safetensors]\n"
        "  hint: the file seems to be cut off\n");
  CHECK(refusal(file_of("{}", "1234")) ==
        "a.safetensors: error: the header describes 0 bytes of data, the file holds 4 "
        "[bad-safetensors]\n");
}

TEST_CASE("headers that are not maps of tensors are refused with their place") {
  CHECK(refusal(file_of("[1]", "")) ==
        "a.safetensors:1:1: error: the header is a list, expected a map [bad-safetensors]\n");
  CHECK(refusal(file_of("{\"a\":{\"shape\":[1]}}", "")) ==
        "a.safetensors:1:2: error: 'a' has no dtype [bad-safetensors]\n"
        "a.safetensors:1:2: error: 'a' has no data_offsets [bad-safetensors]\n");
  CHECK(
      refusal(
          file_of("{\"a\":{\"dtype\":\"F33\",\"shape\":[1],\"data_offsets\":[0,4]}}", "1234")) ==
      "a.safetensors:1:15: error: 'a' has dtype 'F33', which is not read [bad-safetensors]\n"
      "  hint: did you mean 'F32'? dtypes: F32, BF16, F16, F64, I32, I64, U32, BOOL, I8, I16, U8, "
      "U16, U64, F8_E4M3, F8_E5M2, C64\n");
  CHECK(refusal(
            file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", "1234")) ==
        "a.safetensors:1:29: error: the shape of 'a' is not a list of sizes [bad-safetensors]\n");
  CHECK(refusal(
            file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", "1234")) ==
        "a.safetensors:1:48: error: the data_offsets of 'a' are not a begin and an end "
        "[bad-safetensors]\n");
}

TEST_CASE("JSON mistakes and duplicate names keep their place and their words") {
  CHECK(refusal(file_of("{\"a\":", "")).starts_with("a.safetensors:1:"));
  CHECK(refusal(file_of("{\"a\":", "")).find("error: in the header: ") != std::string::npos);
  CHECK(refusal(file_of("{\"a\":{},\"a\":{}}", "")).find("[bad-safetensors]") != std::string::npos);
}

TEST_CASE("shapes that disagree with offsets or overflow are refused") {
  CHECK(refusal(file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}",
                        "12345678")) ==
        "a.safetensors:1:2: error: 'a' is f32[3], 12 bytes, but its data_offsets span 8 "
        "[bad-safetensors]\n");
  CHECK(refusal(file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],"
                        "\"data_offsets\":[0,0]}}",
                        "")) ==
        "a.safetensors:1:2: error: 'a' is f32[4294967296,4294967296], more than 2^63 bytes, but "
        "its data_offsets span 0 [bad-safetensors]\n");
}

TEST_CASE("overlapping and gapped tensors are refused") {
  const std::string a = "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},";
  CHECK(refusal(file_of(a + "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[2,6]}}",
                        "123456")) ==
        "a.safetensors:1:55: error: 'b' begins at byte 2 of the data, inside the tensor before "
        "it, which ends at 4 [bad-safetensors]\n");
  CHECK(refusal(file_of(a + "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]}}",
                        "123456789012")) ==
        "a.safetensors:1:55: error: 'b' begins at byte 8 of the data, expected 4: tensors lie "
        "side by side [bad-safetensors]\n");
}
