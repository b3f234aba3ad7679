#include "report/change_text.h"

#include <fmt/format.h>

#include <cmath>

#include "report/fold.h"
#include "report/rows.h"
#include "report/words.h"

namespace shard {
namespace {

/// Types are said only where they are part of the change.
std::string side_text(const ArrayState& side, bool with_type) {
  return with_type ? side.type + ' ' + side.spec : side.spec;
}

}  // namespace

std::string change_name(const ArrayChange& change) {
  std::string text = change.glob.empty() ? join_folded(change.names) : change.glob;
  std::vector<std::string> notes;
  if (change.names.size() > 1) notes.push_back(with_commas(std::ssize(change.names)));
  if (!change.slots.empty()) notes.push_back("and " + joined(change.slots, ", "));
  return notes.empty() ? text : text + " (" + joined(notes, ", ") + ')';
}

std::string change_specs(const ArrayChange& change) {
  if (!change.before) return "new, " + change.after->spec;
  if (!change.after) return "gone, was " + change.before->spec;
  const bool with_type = change.before->type != change.after->type;
  return side_text(*change.before, with_type) + " -> " + side_text(*change.after, with_type);
}

std::string change_bytes(const ArrayChange& change) {
  const std::optional<Bytes> each = change.each();
  if (!each) return "";
  return signed_bytes(*each) + " B" + (change.count() > 1 ? " each" : "");
}

std::string amounts_text(const std::vector<CollectiveAmount>& amounts) {
  std::string text;
  for (const CollectiveAmount& amount : amounts) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : " + ", with_commas(amount.count),
                        with_commas(amount.payload));
  }
  return text.empty() ? "none" : text;
}

std::string change_text(const CollectiveChange& change) {
  return fmt::format("{} {} {} -> {}", name_of(change.kind), change.axes,
                     amounts_text(change.before), amounts_text(change.after));
}

std::string signed_bytes(Bytes bytes) {
  return (bytes.count() > 0 ? "+" : "") + with_commas(bytes);
}

std::string ratio_text(Bytes before, Bytes after) {
  if (before.count() == 0) return "";
  const double ratio = static_cast<double>(after.count()) / static_cast<double>(before.count());
  if (ratio == 0) return "x0";
  if (ratio < 0.001) return "<x0.001";
  if (ratio >= 0.095) return fmt::format("x{:.1f}", ratio);
  return fmt::format("x{:.{}f}", ratio, 1 - static_cast<int>(std::floor(std::log10(ratio))) - 1);
}

}  // namespace shard
