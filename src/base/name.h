#pragma once
// Names with a kind, so that a logical axis can never be looked up in a mesh.

#include <compare>
#include <string>
#include <utility>

namespace shard {

/// A name that only compares with names of the same kind: a logical axis ("embed") and a mesh axis
/// ("fsdp") do not mix.
template <class Kind>
class Name {
 public:
  Name() = default;
  explicit Name(std::string text) : text_(std::move(text)) {}
  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  friend auto operator<=>(const Name&, const Name&) = default;

 private:
  std::string text_;
};

using MeshAxis = Name<struct MeshAxisKind>;
using LogicalAxis = Name<struct LogicalAxisKind>;

}  // namespace shard
