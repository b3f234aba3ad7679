#include <algorithm>
#include <numeric>
#include <utility>

#include "shard/hlo_sharding.h"

namespace shard {
namespace {

std::optional<TileGroup> group_of(std::string_view word) {
  const auto found = std::find(tile_group_words.begin(), tile_group_words.end(), word);
  if (found == tile_group_words.end()) return std::nullopt;
  return static_cast<TileGroup>(found - tile_group_words.begin());
}

/// Reads what it expects from the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool skip(std::string_view word) {
    if (rest_.substr(0, word.size()) != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool is_done() const { return rest_.empty(); }

  /// Comma-separated numbers; empty when there is none.
  std::vector<std::int64_t> numbers() {
    std::vector<std::int64_t> all;
    do {
      std::int64_t number = 0;
      std::size_t digits = 0;
      for (; digits < rest_.size() && digits < 18; ++digits) {
        if (rest_[digits] < '0' || rest_[digits] > '9') break;
        number = number * 10 + (rest_[digits] - '0');
      }
      if (digits == 0) return {};
      rest_.remove_prefix(digits);
      all.push_back(number);
    } while (skip(","));
    return all;
  }

  std::string_view until(char end) {
    const std::string_view word = rest_.substr(0, rest_.find(end));
    rest_.remove_prefix(word.size());
    return word;
  }

 private:
  std::string_view rest_;
};

bool read_suffix(Scanner& scan, HloSharding& made) {
  if (scan.skip(" last_tile_dim_replicate")) {
    made.groups = {TileGroup::replicated};
    return true;
  }
  if (!scan.skip(" last_tile_dims={")) return true;
  const std::string_view list = scan.until('}');
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t to = std::min(list.find(", ", from), list.size());
    const std::optional<TileGroup> group = group_of(list.substr(from, to - from));
    if (!group) return false;
    made.groups.push_back(*group);
    from = to + 2;
  }
  return scan.skip("}");
}

/// The devices of `<=[R]T(p)`; false when the parts do not fit together.
bool read_iota(Scanner& scan, HloSharding& made) {
  const std::vector<std::int64_t> sizes = scan.numbers();
  if (checked_product(sizes).value_or(0) < 1 || !scan.skip("]")) return false;
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (scan.skip("T(")) {
    const std::vector<std::int64_t> written = scan.numbers();
    std::vector<std::size_t> sorted(written.begin(), written.end());
    std::sort(sorted.begin(), sorted.end());
    if (sorted != order || !scan.skip(")")) return false;
    order.assign(written.begin(), written.end());
  }
  set_iota(made, sizes, order);
  return true;
}

/// One dim of a transposed iota.
struct Digit {
  std::int64_t size = 1;
  std::int64_t stride = 1;
};

/// Takes the minor-most dim off a device list: the longest run of equal steps, which all the rest
/// of the list must repeat. Leaves the first device of each run.
std::optional<Digit> take_digit(std::vector<std::int64_t>& devices) {
  const std::int64_t stride = devices[1] - devices[0];
  std::size_t size = 1;
  while (size < devices.size() && devices[size] - devices[size - 1] == stride) ++size;
  if (stride <= 0 || devices.size() % size != 0) return std::nullopt;
  std::vector<std::int64_t> heads;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (i % size == 0) {
      heads.push_back(devices[i]);
    } else if (devices[i] - devices[i - 1] != stride) {
      return std::nullopt;
    }
  }
  devices = std::move(heads);
  return Digit{static_cast<std::int64_t>(size), stride};
}

/// A written device list as a transposed iota; false when it is none.
bool recognize_iota(std::vector<std::int64_t> devices, HloSharding& made) {
  std::int64_t expected = static_cast<std::int64_t>(devices.size());
  std::vector<Digit> digits;
  while (devices.size() > 1) {
    const std::optional<Digit> digit = take_digit(devices);
    if (!digit) return false;
    digits.insert(digits.begin(), *digit);
  }
  if (devices.empty() || devices.front() != 0) return false;
  std::vector<std::size_t> by_stride(digits.size());
  std::iota(by_stride.begin(), by_stride.end(), std::size_t{0});
  std::sort(by_stride.begin(), by_stride.end(),
            [&](std::size_t a, std::size_t b) { return digits[a].stride > digits[b].stride; });
  std::vector<std::int64_t> sizes;
  std::vector<std::size_t> order(digits.size());
  for (const std::size_t digit : by_stride) {
    expected /= digits[digit].size;
    if (digits[digit].stride != expected) return false;
    order[digit] = sizes.size();
    sizes.push_back(digits[digit].size);
  }
  set_iota(made, sizes, order);
  return true;
}

}  // namespace

std::optional<HloSharding> read_hlo_sharding(std::string_view text) {
  HloSharding made;
  Scanner scan(text);
  if (!scan.skip("{")) return std::nullopt;
  if (!scan.skip("devices=[")) {
    const std::optional<TileGroup> group = group_of(scan.until('}'));
    if (!group || !scan.skip("}") || !scan.is_done()) return std::nullopt;
    made.groups = {*group};
    return made;
  }
  made.dims = scan.numbers();
  if (made.dims.empty() || !scan.skip("]")) return std::nullopt;
  const bool is_read =
      scan.skip("<=[") ? read_iota(scan, made) : recognize_iota(scan.numbers(), made);
  if (!is_read || checked_product(made.reshape) != checked_product(made.dims)) return std::nullopt;
  if (!read_suffix(scan, made) || !scan.skip("}") || !scan.is_done()) return std::nullopt;
  return made;
}

}  // namespace shard
