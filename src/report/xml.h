#pragma once
// Text in XML.

#include <string>
#include <string_view>

namespace shard {

/// The text as the content of an element or the value of an attribute in double quotes: the five
/// characters with a meaning, and line ends and tabs, are written as references, so that they come
/// back as they are. What XML 1.0 has no way to write, control characters and bytes that are no
/// UTF-8, becomes U+FFFD.
std::string xml_text(std::string_view text);

}  // namespace shard
