#include "mesh/axis_types.h"

#include <algorithm>
#include <array>

#include "mesh/mesh_sizes.h"

namespace shard {
namespace {

struct TypeRow {
  AxisType type;
  std::string_view printed;
  std::string_view word;
};

constexpr std::array<TypeRow, 3> type_rows = {{
    {AxisType::automatic, "Auto", "auto"},
    {AxisType::explicit_types, "Explicit", "explicit"},
    {AxisType::manual, "Manual", "manual"},
}};

/// The bytes of each character of a UTF-8 text.
std::vector<AxisLabel> letters_of(const std::string& text) {
  std::vector<AxisLabel> letters;
  std::string letter;
  for (std::size_t i = 0; i < text.size(); ++i) {
    letter += text[i];
    const bool is_end =
        i + 1 == text.size() || (static_cast<unsigned char>(text[i + 1]) & 0xC0U) != 0x80U;
    if (!is_end) continue;
    letters.emplace_back(letter);
    letter.clear();
  }
  return letters;
}

std::vector<AxisLabel> labels_of(const MeshArguments& arguments) {
  if (const auto* list = std::get_if<std::vector<AxisLabel>>(&arguments.names)) return *list;
  const std::string& text = std::get<std::string>(arguments.names);
  return arguments.is_abstract ? letters_of(text) : std::vector<AxisLabel>{text};
}

/// A label inside quotes of the caller's.
std::string bare(const AxisLabel& label) {
  struct Bare {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(const std::string& text) const { return text; }
  };
  return std::visit(Bare{}, label);
}

/// A label as Python's repr writes it.
std::string quoted(const AxisLabel& label) {
  const std::string* text = std::get_if<std::string>(&label);
  if (text == nullptr) return bare(label);
  const bool is_double =
      text->find('\'') != std::string::npos && text->find('"') == std::string::npos;
  const char quote = is_double ? '"' : '\'';
  std::string result(1, quote);
  for (const char c : *text) {
    if (c == quote || c == '\\') result += '\\';
    result += c;
  }
  return result + quote;
}

template <class Items, class Text>
std::string tuple_of(const Items& items, const Text& text) {
  std::string joined;
  for (const auto& item : items) joined += (joined.empty() ? "" : ", ") + text(item);
  return "(" + joined + (items.size() == 1 ? ",)" : ")");
}

std::string names_text(const std::vector<AxisLabel>& names) { return tuple_of(names, quoted); }

std::string types_text(const std::vector<AxisType>& types) {
  return tuple_of(types, [](AxisType type) { return to_string(type); });
}

}  // namespace

std::string to_string(AxisType type) {
  return std::string(type_rows[static_cast<std::size_t>(type)].printed);
}

std::optional<AxisType> axis_type_named(std::string_view word) {
  for (const TypeRow& row : type_rows) {
    if (row.word == word || row.printed == word) return row.type;
  }
  return std::nullopt;
}

std::int64_t MeshHeader::size() const {
  if (is_abstract && sizes.empty()) return 0;
  return element_count(sizes);
}

std::vector<std::pair<AxisLabel, std::int64_t>> MeshHeader::shape() const {
  std::vector<std::pair<AxisLabel, std::int64_t>> pairs;
  for (std::size_t axis = 0; axis < names.size(); ++axis) {
    const auto found = std::find_if(pairs.begin(), pairs.end(),
                                    [&](const auto& pair) { return pair.first == names[axis]; });
    if (found == pairs.end()) {
      pairs.emplace_back(names[axis], sizes[axis]);
    } else {
      found->second = sizes[axis];
    }
  }
  return pairs;
}

std::string MeshHeader::str() const {
  std::vector<std::pair<AxisLabel, std::int64_t>> pairs;
  for (std::size_t axis = 0; axis < names.size(); ++axis) {
    pairs.emplace_back(names[axis], sizes[axis]);
  }
  std::string body;
  for (const auto& [name, size] : is_abstract ? pairs : shape()) {
    body += (body.empty() ? "'" : ", '") + bare(name) + "': " + std::to_string(size);
  }
  if (is_abstract && body.empty()) body = "()";
  return (is_abstract ? "AbstractMesh(" : "Mesh(") + body + ", axis_types=" + types_text(types) +
         ")";
}

std::string MeshHeader::repr() const {
  if (is_abstract) return str();
  return "Mesh(axis_sizes=" + tuple_text(sizes) + ", axis_names=" + names_text(names) +
         ", axis_types=" + types_text(types) + ")";
}

MeshHeader construct_mesh(const MeshArguments& arguments, AxisType fallback, const Location& at) {
  MeshHeader mesh{arguments.is_abstract, arguments.sizes, labels_of(arguments), {}};
  if (mesh.names.size() != mesh.sizes.size()) {
    throw Error("mesh-rank", at,
                "Mesh requires the ndim of its first argument to be the number of axis names, but "
                "the sizes are " +
                    tuple_text(mesh.sizes) + " and the names " + names_text(mesh.names),
                "write one name per size");
  }
  const auto none = std::find(mesh.names.begin(), mesh.names.end(), AxisLabel{});
  if (!mesh.is_abstract && none != mesh.names.end()) {
    throw Error("bad-mesh-axis", at,
                "Mesh axis names cannot be None: the names are " + names_text(mesh.names),
                "give each axis of the mesh a name");
  }
  mesh.types = arguments.types.value_or(std::vector<AxisType>(mesh.names.size(), fallback));
  if (mesh.types.size() != mesh.names.size()) {
    throw Error(
        "axis-types", at,
        "the number of axis names should match the number of axis_types, but the names are " +
            names_text(mesh.names) + " and the types " + types_text(mesh.types),
        "write one type per axis");
  }
  return mesh;
}

}  // namespace shard
