#include "config/sdy_spec.h"

#include <charconv>

#include "base/nearest.h"
#include "config/text_cursor.h"

namespace shard {
namespace {

class SdyParser {
 public:
  SdyParser(std::string_view text, const Location& at) : cursor_(text, at) {}

  SdySpec spec() {
    cursor_.skip_blanks();
    if (cursor_.peek() == '#') cursor_.take_until("<");
    expect('<');
    mesh_reference();
    expect(',');
    dims();
    while (cursor_.take(',')) keyword();
    expect('>');
    if (!cursor_.is_at_end()) fail(cursor_.found() + " behind the closing '>'");
    return std::move(spec_);
  }

 private:
  [[noreturn]] void fail(std::string message) const {
    throw Error("spec-syntax", cursor_.here(), std::move(message),
                "Shardy writes <@mesh, [{\"data\"}, {}]>");
  }

  void expect(char c) {
    if (!cursor_.take(c)) fail(cursor_.found() + ", expected '" + std::string(1, c) + "'");
  }

  /// `@mesh`, or the mesh written out: the mesh in force stands for both.
  void mesh_reference() {
    if (cursor_.take('@')) {
      if (cursor_.take_word().empty()) fail(cursor_.found() + ", expected the name of a mesh");
      return;
    }
    cursor_.take_word();  // mesh
    expect('<');
    cursor_.take_until(">");
    expect('>');
  }

  void dims() {
    expect('[');
    while (cursor_.peek() != ']') {
      dim();
      if (!cursor_.take(',')) break;
    }
    expect(']');
  }

  void dim() {
    SdyDim& dim = spec_.dims.emplace_back();
    expect('{');
    while (cursor_.peek() != '}') {
      if (cursor_.take('?')) {
        dim.is_open = true;
        break;
      }
      dim.axes.push_back(axis());
      if (!cursor_.take(',')) break;
    }
    expect('}');
    if (cursor_.peek() == 'p') cursor_.take_word();  // a priority of propagation
    cursor_.skip_blanks();
  }

  /// `replicated={"x"}`, `unreduced={"y"}`.
  void keyword() {
    const std::size_t start = cursor_.offset();
    const std::string word(cursor_.take_word());
    if (word != "replicated" && word != "unreduced") {
      const std::vector<std::string> known = {"replicated", "unreduced"};
      throw Error("spec-syntax", cursor_.place(start, word.size()),
                  "'" + word + "' is not part of a sharding", did_you_mean(word, known));
    }
    std::vector<SdyAxis>& axes = word == "replicated" ? spec_.replicated : spec_.unreduced;
    expect('=');
    expect('{');
    while (cursor_.peek() != '}') {
      axes.push_back(axis());
      if (!cursor_.take(',')) break;
    }
    expect('}');
  }

  SdyAxis axis() {
    expect('"');
    const std::size_t start = cursor_.offset();
    SdyAxis axis;
    axis.name = cursor_.take_until("\"");
    if (axis.name.empty()) fail("an axis has an empty name, expected the name of a mesh axis");
    axis.at = cursor_.place(start, axis.name.size());
    expect('"');
    if (!cursor_.take(':')) return axis;
    expect('(');
    axis.pre_size = number();
    expect(')');
    axis.size = number();
    cursor_.skip_blanks();
    return axis;
  }

  std::int64_t number() {
    const std::size_t start = cursor_.offset();
    const std::string_view word = cursor_.take_word();
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (word.empty() || failure != std::errc() || end != word.data() + word.size() || number < 1) {
      throw Error("spec-syntax", cursor_.place(start, word.size()),
                  "'" + std::string(word) + "' is not a size of 1 or more");
    }
    return number;
  }

  TextCursor cursor_;
  SdySpec spec_;
};

void refuse_parts(const std::vector<SdyAxis>& axes) {
  for (const SdyAxis& axis : axes) {
    if (axis.size == 0) continue;
    throw Error("spec-syntax", axis.at, "a part of axis '" + axis.name + "' has no PartitionSpec",
                "make the part an axis of the mesh");
  }
}

}  // namespace

bool is_sdy_text(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\n");
  if (start == std::string_view::npos) return false;
  const std::string_view body = text.substr(start);
  return body.starts_with("<") || body.starts_with("#sdy.sharding");
}

SdySpec read_sdy_spec(std::string_view text, const Location& at) {
  return SdyParser(text, at).spec();
}

PartitionSpec partition_spec(const SdySpec& spec, const Location& at) {
  if (!spec.replicated.empty()) {
    throw Error("spec-syntax", spec.replicated.front().at,
                "axes that are held back have no PartitionSpec", "leave 'replicated=' out");
  }
  PartitionSpec made;
  for (const SdyDim& dim : spec.dims) {
    if (dim.is_open && !dim.axes.empty()) {
      throw Error("spec-syntax", dim.axes.front().at.is_known() ? dim.axes.front().at : at,
                  "an open dim with axes has no PartitionSpec", "leave the '?' out");
    }
    refuse_parts(dim.axes);
    PartitionEntry& entry = made.entries.emplace_back();
    entry.is_unconstrained = dim.is_open;
    for (const SdyAxis& axis : dim.axes) entry.axes.emplace_back(axis.name);
  }
  refuse_parts(spec.unreduced);
  for (const SdyAxis& axis : spec.unreduced) made.unreduced.insert(MeshAxis(axis.name));
  return made;
}

}  // namespace shard
