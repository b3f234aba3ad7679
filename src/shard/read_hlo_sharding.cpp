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
  std::string_view rest() const { return rest_; }

  /// Comma-separated numbers of up to 18 digits; empty when there is none.
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

std::string list_of(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) {
    text += (text.empty() ? "[" : ",") + std::to_string(number);
  }
  return text + ']';
}

/// A text part by part; the first part that is not as it should be is said in words.
class TilesReader {
 public:
  explicit TilesReader(std::string_view text) : scan_(text) {}

  bool read() {
    if (!scan_.skip("{")) return refuse("it does not begin with {");
    const bool is_good = scan_.skip("devices=[") ? read_tiles() && read_suffix() : read_word();
    if (!is_good) return false;
    if (!scan_.skip("}")) return expect("}");
    return scan_.is_done() || refuse("'" + std::string(scan_.rest()) + "' stands behind its end");
  }
  HloSharding take() { return std::move(made_); }
  const std::string& why() const { return why_; }

 private:
  bool refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  bool expect(const std::string& what) {
    const std::string found = scan_.is_done() ? "its end" : "'" + std::string(scan_.rest()) + "'";
    return refuse("found " + found + ", expected " + what);
  }

  bool read_word() {
    const std::string_view word = scan_.until('}');
    const std::optional<TileGroup> group = group_of(word);
    if (!group) return refuse("'" + std::string(word) + "' is no kind of sharding");
    made_.groups = {*group};
    return true;
  }

  bool read_tiles() {
    made_.dims = scan_.numbers();
    if (made_.dims.empty()) return expect("the number of tiles along each dim");
    if (!scan_.skip("]")) return expect("] behind numbers of up to 18 digits");
    tiles_ = checked_product(made_.dims);
    if (tiles_.value_or(0) < 1) {
      return refuse(list_of(made_.dims) + (tiles_ ? " has no tile" : " are more than 2^63 tiles"));
    }
    return scan_.skip("<=[") ? read_iota() : read_devices();
  }

  /// The devices of `<=[R]T(p)`.
  bool read_iota() {
    const std::vector<std::int64_t> sizes = scan_.numbers();
    if (sizes.empty() || !scan_.skip("]")) return expect("numbers of up to 18 digits and ]");
    const std::optional<std::int64_t> devices = checked_product(sizes);
    if (devices != tiles_) {
      return refuse(list_of(made_.dims) + " are " + std::to_string(*tiles_) + " tiles, " +
                    list_of(sizes) + " are " +
                    (devices ? std::to_string(*devices) : "more than 2^63") + " devices");
    }
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (scan_.skip("T(") && !read_order(order)) return false;
    set_iota(made_, sizes, order);
    return true;
  }

  bool read_order(std::vector<std::size_t>& order) {
    const std::vector<std::int64_t> written = scan_.numbers();
    if (!scan_.skip(")")) return expect("dims and )");
    std::vector<std::size_t> sorted(written.begin(), written.end());
    std::sort(sorted.begin(), sorted.end());
    if (sorted != order) {
      return refuse("T(...) does not name each of " + std::to_string(order.size()) + " dims once");
    }
    order.assign(written.begin(), written.end());
    return true;
  }

  bool read_devices();

  bool read_suffix() {
    if (scan_.skip(" last_tile_dim_replicate")) {
      made_.groups = {TileGroup::replicated};
    } else if (scan_.skip(" last_tile_dims={")) {
      const std::string_view list = scan_.until('}');
      for (std::size_t from = 0; from <= list.size();) {
        const std::size_t to = std::min(list.find(", ", from), list.size());
        const std::string_view word = list.substr(from, to - from);
        const std::optional<TileGroup> group = group_of(word);
        if (!group) return refuse("'" + std::string(word) + "' is no kind of tile dim");
        made_.groups.push_back(*group);
        from = to + 2;
      }
      if (!scan_.skip("}")) return expect("}");
    }
    if (made_.groups.size() <= made_.dims.size()) return true;
    return refuse("it names more kinds of tile dims than it has tile dims");
  }

  Scanner scan_;
  HloSharding made_;
  std::optional<std::int64_t> tiles_;
  std::string why_;
};

bool TilesReader::read_devices() {
  const std::vector<std::int64_t> devices = scan_.numbers();
  if (devices.empty()) return expect("<=[ or a list of devices");
  std::vector<std::int64_t> sorted = devices;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] == static_cast<std::int64_t>(i)) continue;
    return refuse("its " + std::to_string(sorted.size()) + " devices are not 0 to " +
                  std::to_string(sorted.size() - 1) + ", each once");
  }
  if (static_cast<std::int64_t>(devices.size()) != *tiles_) {
    return refuse(list_of(made_.dims) + " are " + std::to_string(*tiles_) + " tiles for " +
                  std::to_string(devices.size()) + " devices");
  }
  return recognize_iota(devices, made_) ||
         refuse("the order of its devices is no transposed grid, so no axes of a mesh make it");
}

}  // namespace

std::optional<HloSharding> read_hlo_sharding(std::string_view text, std::string* why) {
  TilesReader reader(text);
  if (reader.read()) return reader.take();
  if (why != nullptr) *why = reader.why();
  return std::nullopt;
}

}  // namespace shard
