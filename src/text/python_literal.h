#pragma once
// Python's literals as located values: what people paste from a JAX program, a T5X source or a gin
// file. Nothing is evaluated; text that is code is kept as code, with its place.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace shard {

struct PythonEntry;

/// One value. Parentheses around one value without a comma mean the value itself.
struct PythonValue {
  enum class Kind {
    none,
    boolean,  ///< `text` is `True` or `False`
    number,   ///< `text` as written, sign included
    string,   ///< `text` decoded; neighbours (`'a' 'b'`) joined
    bytes,    ///< `text` as written: `b'batch'`
    name,     ///< `text` with its dots: `PartitionSpec.UNCONSTRAINED`
    tuple,
    list,
    set,
    dict,  ///< `entries`; a key is a value
    call,  ///< `text(items..., entries...)`; the key of an entry is a name
    code,  ///< `text` as written: operators, comprehensions, f-strings, gin references
  };
  Kind kind = Kind::none;
  std::string text;
  std::vector<PythonValue> items;
  std::vector<PythonEntry> entries;
  Location at;

  bool is_sequence() const { return kind == Kind::tuple || kind == Kind::list; }
};

struct PythonEntry {
  PythonValue key;
  PythonValue value;
};

/// `a tuple`, `text 'foo'`, `the code 'a + b'`: for "found ..." in messages.
std::string describe(const PythonValue& value);

/// One statement that has a value. Its target is empty for a bare value, `return`, `with`; gin's
/// block headers are put before their lines' targets with a dot.
struct PythonStatement {
  std::string target;
  bool is_added = false;  ///< `+=`
  PythonValue value;
  /// Why the value could not be read, instead of `value`.
  std::vector<Diagnostic> problems;
  Location at;  ///< of the target, or of the value
};

/// The text holds one literal and nothing else but blanks and comments. Throws `Error`:
/// `python-syntax` (what was found, what was expected), `not-a-literal` (each piece of code in it),
/// `too-deep` (nesting over 100). A text that stands inside another file starts at `start`.
PythonValue read_python_literal(const std::string& file, std::string_view text,
                                const Location& start = {});

/// The values in a source or gin file, in file order. Statements without one (`import`, `def`, `if`
/// ...) are passed over; a value that cannot be read becomes the statement's `problems`. Throws
/// `Error` `python-syntax` only when the text is not UTF-8.
std::vector<PythonStatement> read_python_statements(const std::string& file, std::string_view text);

/// One `not-a-literal` for each piece of code in `value`, in file order.
std::vector<Diagnostic> code_in(const PythonValue& value);

}  // namespace shard
