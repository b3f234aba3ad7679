#pragma once
// The three parts of `verify`. Each part believes what the parts before it have checked.

#include <string>

#include "base/diagnostic.h"
#include "spmd/program.h"

namespace shard::spmd {

/// Mistakes of a program, each with the place where it is.
class Findings {
 public:
  /// `body 0, instruction 3 (dot): <what>`.
  void at(const Program& program, int body, std::size_t position, const std::string& what);
  /// `buffer %7: <what>`.
  void at(BufferId buffer, const std::string& what);
  void add(const std::string& what);

  bool is_empty() const { return list_.all().empty(); }
  void throw_if_any() const { list_.throw_if_errors(); }

 private:
  Diagnostics list_;
};

/// `%7`.
std::string text_of(BufferId id);

/// Ids in range, every buffer written once and before it is read, ports are the main body's, every
/// loop has a body of its own with the right signature.
void check_structure(const Program& program, Findings& findings);

/// Axes exist, local types follow from shape rules, collectives and shardings; payload and wire
/// bytes are those of the types.
void check_types(const Program& program, Findings& findings);

/// Places are aligned, buffers that live together do not share bytes but where an instruction may
/// write over its operand, donated outputs lie on their inputs, the memory plan's figures are the
/// true ones.
void check_places(const Program& program, Findings& findings);

}  // namespace shard::spmd
