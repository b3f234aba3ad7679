#include "checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/diagnostic.h"
#include "base/nearest.h"
#include "text/number.h"
#include "text/read.h"

namespace shard {
namespace {

constexpr std::uint64_t most_header = 100'000'000;
constexpr std::size_t length_bytes = 8;
constexpr std::string_view metadata = "__metadata__";

/// What the header says about one tensor.
struct Entry {
  std::string name;
  Location at;
  TensorType type;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

std::optional<DType> dtype_of(std::string_view name) {
  for (const DTypeInfo& row : dtype_table()) {
    if (row.safetensors == name) return row.dtype;
  }
  return std::nullopt;
}

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (const DTypeInfo& row : dtype_table()) names.emplace_back(row.safetensors);
  return names;
}

/// Reads the header's tree; mistakes are collected, each with its place in the header.
class HeaderReader {
 public:
  explicit HeaderReader(std::string file) : file_(std::move(file)) {}

  std::vector<Entry> read(const TextNode& root, std::int64_t data_bytes) {
    if (!root.is_map()) fail(root.at, "the header is " + describe(root) + ", expected a map");
    std::vector<Entry> entries;
    for (const TextEntry& entry : root.entries) {
      if (entry.key == metadata) continue;
      if (std::optional<Entry> read = read_entry(entry)) entries.push_back(std::move(*read));
    }
    diagnostics_.throw_if_errors();
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    check_cover(entries, data_bytes);
    diagnostics_.throw_if_errors();
    return entries;
  }

 private:
  void fail(const Location& at, std::string message, std::string hint = "") {
    diagnostics_.error("bad-safetensors", at, std::move(message), std::move(hint));
  }

  std::optional<Entry> read_entry(const TextEntry& entry) {
    const TextNode* dtype = part(entry, "dtype");
    const TextNode* shape = part(entry, "shape");
    const TextNode* offsets = part(entry, "data_offsets");
    if (dtype == nullptr || shape == nullptr || offsets == nullptr) return std::nullopt;
    Entry made{entry.key, entry.key_at, {}, 0, 0};
    const std::optional<DType> known = dtype_of(dtype->scalar);
    if (!known) {
      fail(dtype->at, "'" + entry.key + "' has dtype '" + dtype->scalar + "', which is not read",
           did_you_mean(dtype->scalar, dtype_names(), "dtypes", dtype_table().size()));
      return std::nullopt;
    }
    made.type.dtype = *known;
    const auto sizes = whole_numbers(*shape);
    const auto places = whole_numbers(*offsets);
    if (!sizes) {
      fail(shape->at, "the shape of '" + entry.key + "' is not a list of sizes");
      return std::nullopt;
    }
    if (!places || places->size() != 2 || (*places)[0] > (*places)[1]) {
      fail(offsets->at, "the data_offsets of '" + entry.key + "' are not a begin and an end");
      return std::nullopt;
    }
    made.type.shape = *sizes;
    made.begin = (*places)[0];
    made.end = (*places)[1];
    if (!has_size(made)) return std::nullopt;
    return made;
  }

  const TextNode* part(const TextEntry& entry, const char* key) {
    const TextNode* node = entry.value.find(key);
    if (node == nullptr) fail(entry.key_at, "'" + entry.key + "' has no " + key);
    return node;
  }

  static std::optional<std::vector<std::int64_t>> whole_numbers(const TextNode& node) {
    if (!node.is_sequence()) return std::nullopt;
    std::vector<std::int64_t> numbers;
    for (const TextNode& item : node.items) {
      const IntegerReading number = read_integer(item.scalar);
      if (!item.is_scalar() || item.quoted || number.fault || number.value < 0) {
        return std::nullopt;
      }
      numbers.push_back(number.value);
    }
    return numbers;
  }

  bool has_size(const Entry& entry) {
    std::vector<std::int64_t> factors = entry.type.shape;
    factors.push_back(info(entry.type.dtype).bytes);
    const std::optional<std::int64_t> needed = checked_product(factors);
    if (needed && *needed == entry.end - entry.begin) return true;
    fail(entry.at, "'" + entry.name + "' is " + to_string(entry.type) + ", " +
                       (needed ? with_commas(*needed) : "more than 2^63") +
                       " bytes, but its data_offsets span " + with_commas(entry.end - entry.begin));
    return false;
  }

  /// The tensors lie side by side from the first byte of the data to the last.
  void check_cover(const std::vector<Entry>& entries, std::int64_t data_bytes) {
    std::int64_t reached = 0;
    for (const Entry& entry : entries) {
      if (entry.begin < reached) {
        fail(entry.at, "'" + entry.name + "' begins at byte " + with_commas(entry.begin) +
                           " of the data, inside the tensor before it, which ends at " +
                           with_commas(reached));
      } else if (entry.begin > reached) {
        fail(entry.at, "'" + entry.name + "' begins at byte " + with_commas(entry.begin) +
                           " of the data, expected " + with_commas(reached) +
                           ": tensors lie side by side");
      }
      reached = std::max(reached, entry.end);
    }
    if (reached == data_bytes) return;
    fail({file_},
         "the header describes " + with_commas(reached) + " bytes of data, the file holds " +
             with_commas(data_bytes),
         reached > data_bytes ? "the file seems to be cut off" : "");
  }

  std::string file_;
  Diagnostics diagnostics_;
};

[[noreturn]] void refuse(const std::string& file, std::string message, std::string hint = "") {
  throw Error("bad-safetensors", {file}, std::move(message), std::move(hint));
}

/// The JSON of the header, checked to lie inside the file.
std::string_view header_of(const std::string& file, std::string_view bytes) {
  if (bytes.size() < length_bytes) {
    refuse(file, "the file has " + std::to_string(bytes.size()) +
                     " bytes, expected at least 8: the length of a header");
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  if (length > most_header) {
    refuse(file,
           "the header says it has " + std::to_string(length) + " bytes, more than 100,000,000",
           "is this a safetensors file?");
  }
  if (length > bytes.size() - length_bytes) {
    refuse(file,
           "the header says it has " + with_commas(static_cast<std::int64_t>(length)) +
               " bytes, the file has " +
               with_commas(static_cast<std::int64_t>(bytes.size() - length_bytes)) + " after it",
           "the file seems to be cut off");
  }
  return bytes.substr(length_bytes, static_cast<std::size_t>(length));
}

/// The header's tree. JSON mistakes keep their place and words.
TextNode read_header(const std::string& file, std::string_view header) {
  try {
    return read_json(file, header);
  } catch (const Error& error) {
    std::vector<Diagnostic> diagnostics = error.diagnostics();
    for (Diagnostic& diagnostic : diagnostics) {
      diagnostic.id = "bad-safetensors";
      diagnostic.message = "in the header: " + diagnostic.message;
    }
    throw Error(std::move(diagnostics));
  }
}

std::string quoted(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const unsigned char code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20) {
      out += "\\u00";
      out += digits[code >> 4];
      out += digits[code & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string entry_text(const NamedTensor& tensor, std::size_t begin) {
  std::string shape;
  for (const std::int64_t size : tensor.tensor.type.shape) {
    shape += (shape.empty() ? "" : ",") + std::to_string(size);
  }
  return quoted(tensor.name) + ":{\"dtype\":\"" +
         std::string(info(tensor.tensor.type.dtype).safetensors) + "\",\"shape\":[" + shape +
         "],\"data_offsets\":[" + std::to_string(begin) + "," +
         std::to_string(begin + tensor.tensor.bytes.size()) + "]}";
}

}  // namespace

std::vector<NamedTensor> read_safetensors(const std::string& path, FileReader& reader) {
  const std::optional<std::string> bytes = reader.read(path);
  if (!bytes) throw Error("missing-file", {}, "there is no file '" + path + "'");
  const std::string_view header = header_of(path, *bytes);
  const std::string_view data = std::string_view(*bytes).substr(length_bytes + header.size());
  const TextNode root = read_header(path, header);
  std::vector<NamedTensor> tensors;
  for (Entry& entry : HeaderReader(path).read(root, static_cast<std::int64_t>(data.size()))) {
    const std::byte* from = reinterpret_cast<const std::byte*>(data.data()) + entry.begin;
    HostTensor tensor{std::move(entry.type),
                      std::vector<std::byte>(from, from + (entry.end - entry.begin))};
    tensors.push_back({std::move(entry.name), std::move(tensor)});
  }
  return tensors;
}

std::string write_safetensors(const std::vector<NamedTensor>& tensors) {
  std::map<std::string_view, const NamedTensor*> by_name;
  for (const NamedTensor& tensor : tensors) {
    SHARD_CHECK(tensor.name != metadata, "a tensor is not called __metadata__");
    const bool is_new = by_name.emplace(tensor.name, &tensor).second;
    SHARD_CHECK(is_new, "tensors of a file have different names");
  }
  std::string header = "{";
  std::size_t begin = 0;
  for (const auto& [name, tensor] : by_name) {
    header += (begin == 0 && header.size() == 1 ? "" : ",") + entry_text(*tensor, begin);
    begin += tensor->tensor.bytes.size();
  }
  header += "}";
  header.append((length_bytes - header.size() % length_bytes) % length_bytes, ' ');
  std::string file;
  file.reserve(length_bytes + header.size() + begin);
  for (std::size_t i = 0; i < length_bytes; ++i) {
    file += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  }
  file += header;
  for (const auto& [name, tensor] : by_name) {
    const std::vector<std::byte>& bytes = tensor->tensor.bytes;
    file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return file;
}

}  // namespace shard
