#include "report/protobuf.h"

namespace shard {
namespace {

// How a value is stored; the others of the format are not written.
constexpr int varint_kind = 0;
constexpr int fixed64_kind = 1;
constexpr int sized_kind = 2;

}  // namespace

ProtobufMessage& ProtobufMessage::number(int field, std::uint64_t value) {
  key(field, varint_kind);
  varint(value);
  return *this;
}

ProtobufMessage& ProtobufMessage::fixed(int field, std::uint64_t value) {
  key(field, fixed64_kind);
  for (int byte = 0; byte < 8; ++byte) {
    bytes_ += static_cast<char>((value >> (8 * byte)) & 0xFF);
  }
  return *this;
}

ProtobufMessage& ProtobufMessage::text(int field, std::string_view value) {
  key(field, sized_kind);
  varint(value.size());
  bytes_ += value;
  return *this;
}

ProtobufMessage& ProtobufMessage::message(int field, const ProtobufMessage& value) {
  return text(field, value.bytes());
}

/// Seven bits to a byte, the lowest first; the highest bit says that more come.
void ProtobufMessage::varint(std::uint64_t value) {
  while (value >= 0x80) {
    bytes_ += static_cast<char>(0x80 | (value & 0x7F));
    value >>= 7;
  }
  bytes_ += static_cast<char>(value);
}

void ProtobufMessage::key(int field, int kind) {
  varint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(kind));
}

}  // namespace shard
