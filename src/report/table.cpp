#include "report/table.h"

namespace shard {

int text_width(const std::string& text) {
  int width = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++width;
  }
  return width;
}

}  // namespace shard
