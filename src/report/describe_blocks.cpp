#include "report/describe_blocks.h"

#include "report/table.h"

namespace shard {
namespace {

std::string labels_text(const std::vector<std::string>& labels) {
  std::string text;
  for (const std::string& label : labels) {
    text += (text.empty() ? "" : ", ") + (label.empty() ? std::string("null") : label);
  }
  return "[" + text + "]";
}

std::string default_of(const KeyRow& row) {
  if (row.is_required) return "required";
  return std::string(row.default_value);
}

std::string help_of(const KeyRow& row) {
  std::string text(row.help);
  if (row.choices.empty()) return text;
  text += ": ";
  for (std::size_t i = 0; i < row.choices.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::string(row.choices[i]);
  }
  return text;
}

std::string keys_text(const KeyTable& keys, const Layout& layout) {
  Table table({{"KEY"}, {"default"}, {"what it is"}});
  for (const KeyRow& row : keys.rows) {
    table.add({std::string(row.name), default_of(row), help_of(row)});
  }
  return table.render(layout.width, layout.color);
}

std::string values_text(const std::vector<BlockPart>& parts, const Layout& layout) {
  Table table({{"VALUE"}, {"constrain: {VALUE: SPEC}"}, {"what it is"}});
  for (const BlockPart& part : parts) {
    if (part.kind != BlockPart::Kind::value) continue;
    table.add({part.name, labels_text(part.labels), part.help});
  }
  return table.empty() ? "" : "\n" + table.render(layout.width, layout.color);
}

std::string parameters_text(const std::vector<BlockPart>& parts, const Layout& layout) {
  Table table({{"PARAMETER"}, {"params: {PARAMETER: SPEC}"}});
  for (const BlockPart& part : parts) {
    if (part.kind != BlockPart::Kind::parameter) continue;
    table.add({part.name, labels_text(part.labels)});
  }
  return table.empty() ? "" : "\n" + table.render(layout.width, layout.color);
}

std::string renames_text(const std::vector<BlockPart>& parts, const KeyTable& keys) {
  if (keys.find("names") == nullptr) return "";
  std::string text;
  for (const BlockPart& part : parts) {
    if (part.kind == BlockPart::Kind::label) text += (text.empty() ? "" : ", ") + part.name;
  }
  return "\nlabels that names: {LABEL: OTHER} renames: " + text + "\n";
}

}  // namespace

std::string block_text(const BlockExample& example, const KeyTable& keys,
                       const std::vector<BlockPart>& parts, const Layout& layout) {
  return example.word + ": " + example.help + "\n\nas in\n  inputs: {" + example.input +
         "}\n  layers: [" + example.layer + "]\n\n" + keys_text(keys, layout) +
         values_text(parts, layout) + parameters_text(parts, layout) + renames_text(parts, keys);
}

std::string block_list_text(const std::vector<BlockExample>& examples, const Layout& layout) {
  Table table({{"BLOCK"}, {"what it is"}});
  for (const BlockExample& example : examples) table.add({example.word, example.help});
  return table.render(layout.width, layout.color) +
         "\nshard-plan describe BLOCK tells what is inside.\n";
}

}  // namespace shard
