#include "check/uneven_pieces.h"

#include <algorithm>

namespace shard {

UnevenPieces uneven_pieces(std::int64_t size, std::int64_t parts) {
  UnevenPieces pieces;
  pieces.parts = parts;
  pieces.block = (size + parts - 1) / parts;
  pieces.full = pieces.block == 0 ? parts : size / pieces.block;
  pieces.rest = pieces.block == 0 ? 0 : size % pieces.block;
  pieces.empty = std::max<std::int64_t>(0, parts - pieces.full - (pieces.rest > 0 ? 1 : 0));
  pieces.padding = parts * pieces.block - size;
  return pieces;
}

std::string pieces_text(const UnevenPieces& pieces) {
  const std::int64_t padded = pieces.parts * pieces.block;
  const std::int64_t size = padded - pieces.padding;
  std::string text = std::to_string(padded) + " (" + std::to_string(pieces.padding) + " padding, " +
                     std::to_string(size == 0 ? 0 : (100 * pieces.padding + size / 2) / size) +
                     "% over), pieces " + std::to_string(pieces.full) + " x " +
                     std::to_string(pieces.block);
  if (pieces.rest > 0) text += ", " + std::to_string(pieces.rest);
  if (pieces.empty == 0) return text;
  return text + ", " + std::to_string(pieces.empty) + " x 0: " + std::to_string(pieces.empty) +
         (pieces.empty == 1 ? " device holds nothing" : " devices hold nothing");
}

}  // namespace shard
