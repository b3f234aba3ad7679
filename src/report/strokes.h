#pragma once
// The characters pictures are made of: box drawing, or plain ASCII for terminals without it.

namespace shard {

/// One row of a frame: its left end, where a bar meets it, and its right end.
struct RuleStrokes {
  const char* left;
  const char* joint;
  const char* right;
};

struct Strokes {
  const char* horizontal;
  const char* vertical;
  RuleStrokes top;
  RuleStrokes middle;
  RuleStrokes bottom;
  const char* ellipsis;  ///< stands for what is left out, also in lists of ids
  const char* dots;      ///< rows that are left out
};

inline constexpr Strokes box_strokes = {"─", "│", {"┌", "┬", "┐"}, {"├", "┼", "┤"}, {"└", "┴", "┘"},
                                        "…", "⋮"};
inline constexpr Strokes ascii_strokes = {
    "-", "|", {"+", "+", "+"}, {"+", "+", "+"}, {"+", "+", "+"}, "...", ":"};

}  // namespace shard
