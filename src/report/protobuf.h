#pragma once
// Messages in the binary form of Protocol Buffers: a field is its number and kind, then its value.
// The reader knows the fields' meanings; nothing of them is in the bytes.

#include <cstdint>
#include <string>
#include <string_view>

namespace shard {

class ProtobufMessage {
 public:
  /// Fields of the types (u)int32, (u)int64, bool and enum.
  ProtobufMessage& number(int field, std::uint64_t value);
  /// Fields of the type fixed64.
  ProtobufMessage& fixed(int field, std::uint64_t value);
  /// Fields of the types string and bytes.
  ProtobufMessage& text(int field, std::string_view value);
  ProtobufMessage& message(int field, const ProtobufMessage& value);

  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value);
  void key(int field, int kind);

  std::string bytes_;
};

}  // namespace shard
