#include "dialects/safetensors_header.h"

#include <array>
#include <cstdint>

#include "text/number.h"
#include "text/read.h"

namespace shard {
namespace {

constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t largest_header = 100'000'000;

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = (value << 8U) | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

std::optional<std::int64_t> byte_count(const TextNode& offsets) {
  if (!offsets.is_sequence() || offsets.items.size() != 2) return std::nullopt;
  std::array<std::int64_t, 2> ends = {};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const TextNode& item = offsets.items[i];
    const IntegerReading number =
        item.is_scalar() ? read_integer(item.scalar) : IntegerReading{0, NumberFault::not_a_number};
    if (number.fault || number.value < 0) return std::nullopt;
    ends[i] = number.value;
  }
  if (ends[1] < ends[0]) return std::nullopt;
  return ends[1] - ends[0];
}

void check_bytes(const std::string& name, const TensorType& type, const TextNode& offsets,
                 ArrayReader& reader) {
  const auto found = byte_count(offsets);
  if (!found) {
    reader.diagnostics().error("bad-safetensors", offsets.at,
                               "data_offsets of '" + name + "' are not a begin and an end");
    return;
  }
  const std::int64_t expected = bytes_of(type).count();  // below 2^63: `shape` saw to it
  if (expected == *found) return;
  reader.diagnostics().error("bad-safetensors", offsets.at,
                             "'" + name + "' has " + std::to_string(*found) +
                                 " bytes, its shape and element type need " +
                                 std::to_string(expected));
}

void read_entry(const TextEntry& entry, ArrayReader& reader) {
  const TextNode* dtype = entry.value.find("dtype");
  const TextNode* shape = entry.value.find("shape");
  const TextNode* offsets = entry.value.find("data_offsets");
  if (dtype == nullptr || shape == nullptr || offsets == nullptr) {
    reader.diagnostics().error("bad-safetensors", entry.key_at,
                               "'" + entry.key + "' lacks dtype, shape or data_offsets");
    return;
  }
  const auto type = reader.dtype(*dtype);
  const auto sizes = reader.shape(*shape);
  if (!type || !sizes) return;
  check_bytes(entry.key, {*type, *sizes}, *offsets, reader);
  reader.add({entry.key, type, sizes, {}, entry.key_at});
}

std::string header_text(const std::string& path, Sources& sources) {
  const std::string start = sources.start_of(path, length_bytes);
  if (start.size() < length_bytes) {
    throw Error("bad-safetensors", {path}, "the file ends before its header's length");
  }
  const std::uint64_t length = little_endian(start);
  if (length > largest_header) {
    throw Error("bad-safetensors", {path},
                "the header would be " + std::to_string(length) + " bytes long, at most " +
                    std::to_string(largest_header) + " are read");
  }
  const auto whole = static_cast<std::size_t>(length) + length_bytes;
  std::string text = sources.start_of(path, whole);
  if (text.size() < whole) {
    throw Error("bad-safetensors", {path},
                "the file ends inside its header: " + std::to_string(length) + " bytes expected, " +
                    std::to_string(text.size() - length_bytes) + " found");
  }
  return text.substr(length_bytes);
}

}  // namespace

void read_safetensors_header(const std::string& path, Sources& sources, ArrayReader& reader) {
  const std::string text = header_text(path, sources);
  sources.add(path, text);  // so that a message can show the place
  const TextNode header = read_json(path, text);
  if (!header.is_map()) {
    throw Error("bad-safetensors", header.at,
                "the header is " + describe(header) + ", expected a map");
  }
  for (const TextEntry& entry : header.entries) {
    if (entry.key != "__metadata__") read_entry(entry, reader);
  }
}

}  // namespace shard
