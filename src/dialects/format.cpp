#include "dialects/format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "text/utf8.h"

namespace shard {
namespace {

constexpr std::size_t most_bytes = std::size_t{256} << 10U;

struct Signature {
  std::string_view start;
  std::string_view words;
};

// Bytes that other formats begin with.
constexpr std::array<Signature, 19> binary_signatures = {{
    {"PK\x03\x04", "a zip archive (a PyTorch checkpoint, an .npz)"},
    {"\x89HDF", "an HDF5 file"},
    {"\x1F\x8B", "a gzip file"},
    {"\x28\xB5\x2F\xFD", "a zstd file"},
    {"BZh", "a bzip2 file"},
    {"\xFD"
     "7zXZ",
     "an xz file"},
    {"\x7F"
     "ELF",
     "a program"},
    {"\x89PNG", "a picture (PNG)"},
    {"\xFF\xD8\xFF", "a picture (JPEG)"},
    {"%PDF", "a PDF document"},
    {"\x93NUMPY", "a NumPy array (.npy)"},
    {"GGUF", "a GGUF model"},
    {"ML\xEFR", "MLIR bytecode"},
    {"\x80\x02", "a Python pickle"},
    {"\x80\x03", "a Python pickle"},
    {"\x80\x04", "a Python pickle"},
    {"\x80\x05", "a Python pickle"},
    {"\xFF\xFE", "UTF-16 text (save it as UTF-8)"},
    {"\xFE\xFF", "UTF-16 text (save it as UTF-8)"},
}};

constexpr std::array<Signature, 8> text_signatures = {{
    {"<!doctype html", "an HTML page"},
    {"<html", "an HTML page"},
    {"<?xml", "an XML file"},
    {"<svg", "an SVG picture"},
    {"version https://git-lfs", "a Git LFS pointer (fetch the real file: git lfs pull)"},
    {"#!/bin/", "a shell script"},
    {"#!/usr/bin/env bash", "a shell script"},
    {"hlomodule", "an HLO program"},
}};

struct Word {
  std::string_view key;
  FileFormat format;
  std::string_view words;
};

// Keys at the top of a YAML map, the telling ones first.
constexpr std::array<Word, 35> yaml_keys = {{
    {"logical_axis_rules", FileFormat::framework, "a configuration in MaxText's form"},
    {"mesh_axes", FileFormat::framework, "a configuration in MaxText's form"},
    {"base_config", FileFormat::framework, "a configuration in MaxText's form"},
    {"custom_mesh_and_rule", FileFormat::framework, "a configuration in MaxText's form"},
    {"jobs", FileFormat::our_jobs, "a jobs file of shard-plan"},
    {"rules", FileFormat::our_rules, "a rules file of shard-plan"},
    {"rule_sets", FileFormat::our_rules, "a rules file of shard-plan"},
    {"mesh", FileFormat::our_rules, "a rules file of shard-plan"},
    {"paths", FileFormat::our_rules, "a rules file of shard-plan"},
    {"rules_for", FileFormat::our_rules, "a rules file of shard-plan"},
    {"unmatched", FileFormat::our_rules, "a rules file of shard-plan"},
    {"misfit", FileFormat::our_rules, "a rules file of shard-plan"},
    {"resolver", FileFormat::our_rules, "a rules file of shard-plan"},
    {"dcn", FileFormat::our_rules, "a rules file of shard-plan"},
    {"device_order", FileFormat::our_rules, "a rules file of shard-plan"},
    {"axis_types", FileFormat::our_rules, "a rules file of shard-plan"},
    {"layers", FileFormat::our_model, "a model file of shard-plan"},
    {"blocks", FileFormat::our_model, "a model file of shard-plan"},
    {"inputs", FileFormat::our_model, "a model file of shard-plan"},
    {"sizes", FileFormat::our_model, "a model file of shard-plan"},
    {"arrays", FileFormat::our_arrays, "a list of arrays of shard-plan"},
    {"from", FileFormat::our_arrays, "a list of arrays of shard-plan"},
    {"devices", FileFormat::our_rules, "a rules file of shard-plan"},
    {"base", FileFormat::our_rules, "a file of shard-plan"},
    {"set", FileFormat::our_rules, "a file of shard-plan"},
    {"base_emb_dim", FileFormat::framework, "a model configuration of MaxText"},
    {"decoder_block", FileFormat::framework, "a model configuration of MaxText"},
    {"trainer", FileFormat::unknown, "a Levanter configuration (haliax axis mappings, not rules)"},
    {"axis_resources", FileFormat::unknown,
     "a Levanter configuration (haliax axis mappings, not rules)"},
    {"apiVersion", FileFormat::unknown, "a Kubernetes manifest"},
    {"services", FileFormat::unknown, "a Compose file"},
    {"distributed_type", FileFormat::unknown, "an Accelerate configuration"},
    {"parallelism_config", FileFormat::unknown, "an Accelerate configuration"},
    {"tensor_model_parallel_size", FileFormat::unknown, "a Megatron configuration"},
    {"steps", FileFormat::unknown, "a pipeline of steps"},
}};

// Keys that a JSON object has near its beginning, the telling ones first.
constexpr std::array<Word, 7> json_keys = {{
    {"\"partition_spec\"", FileFormat::sharding_dump, "a dump of shardings"},
    {"\"Activation Sharding Dump\"", FileFormat::activation_dump, "a dump of activation shardings"},
    {"\"weight_map\"", FileFormat::safetensors_index, "the index of a safetensors checkpoint"},
    {"\"architectures\"", FileFormat::unknown, "a Hugging Face config.json"},
    {"\"model_type\"", FileFormat::unknown, "a Hugging Face config.json"},
    {"\"added_tokens\"", FileFormat::unknown, "a tokenizer"},
    {"\"zero_optimization\"", FileFormat::unknown, "a DeepSpeed configuration"},
}};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }

bool is_safetensors(std::string_view text) {
  if (text.size() < 10 || text[8] != '{') return false;
  // A header length of less than 4 GiB: its upper four bytes are zero.
  return text.substr(4, 4) == std::string_view("\0\0\0\0", 4);
}

// The lines that hold something, without their indentation's loss: comments and blanks are gone.
std::vector<std::string_view> telling_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == line.npos || line[first] == '#' || line.starts_with("---")) continue;
    lines.push_back(line);
  }
  return lines;
}

// `NAME` of a line `NAME: ...` that is not indented; empty otherwise.
std::string_view yaml_key(std::string_view line) {
  if (line.starts_with('"') || line.starts_with('\'')) {
    const std::size_t end = line.find(line[0], 1);
    if (end == line.npos || end + 1 >= line.size() || line[end + 1] != ':') return {};
    return line.substr(1, end - 1);
  }
  const std::size_t colon = line.find(':');
  if (colon == line.npos || colon == 0) return {};
  const bool is_key = colon + 1 == line.size() || line[colon + 1] == ' ' ||
                      line[colon + 1] == '\t' || line[colon + 1] == '\r';
  const std::string_view key = line.substr(0, colon);
  if (!is_key || line[0] == ' ' || line[0] == '-') return {};
  return key.find_first_of(" ()[]{}=,'\"") == key.npos ? key : std::string_view();
}

bool is_target_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '/' ||
         c == '%';
}

// `name = value`, `name: Type = value`, `scope/name.parameter = value`, `name += value`.
bool is_assignment(std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == line.npos || equals + 1 >= line.size() || line[equals + 1] == '=') return false;
  std::string_view target = line.substr(0, equals);
  const std::size_t colon = target.find(':');
  if (colon != target.npos && !target.ends_with(' ')) return false;  // `key: a=b` is YAML
  target = target.substr(0, colon);
  const std::size_t end = target.find_last_not_of(" \t+");
  if (end == target.npos) return false;
  target = target.substr(0, end + 1);
  target.remove_prefix(target.find_first_not_of(" \t"));
  return (starts_word(target[0]) || target[0] == '%') &&
         std::all_of(target.begin(), target.end(), is_target_character);
}

// A statement's first words and how its line ends or goes on; prose may share the first word only.
bool is_python_line(std::string_view line) {
  std::string_view bare = line.substr(line.find_first_not_of(" \t"));
  bare = bare.substr(0, bare.find_last_not_of(" \t\r") + 1);
  for (const std::string_view block : {"def ", "class ", "with "}) {
    const bool has_call = bare.find('(') != bare.npos || block == "class ";
    if (bare.starts_with(block) && bare.ends_with(':') && has_call) return true;
  }
  if (bare.starts_with("from ")) return bare.find(" import ") != bare.npos;
  if (bare.starts_with("import ")) return bare.find(' ', 7) == bare.npos || bare.find(" as ") < 99;
  for (const std::string_view start : {"return (", "return [", "include '", "\"\"\""}) {
    if (bare.starts_with(start)) return true;
  }
  return is_assignment(line);
}

std::string with_keys(std::string words, const std::vector<std::string_view>& keys) {
  words += " with the keys ";
  constexpr std::size_t most = 4;
  for (std::size_t i = 0; i < std::min(keys.size(), most); ++i) {
    words += (i == 0 ? "" : ", ") + std::string(keys[i]);
  }
  return keys.size() > most ? words + " ..." : words;
}

Sniffed sniff_yaml(const std::vector<std::string_view>& keys, bool has_list_of_arrays) {
  const auto has = [&](std::string_view key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  if (has("on") && has("jobs")) return {FileFormat::unknown, "a workflow of GitHub Actions"};
  for (const Word& row : yaml_keys) {
    if (!has(row.key)) continue;
    if (row.key == "arrays" && has_list_of_arrays)
      return {FileFormat::array_list, "a list of arrays"};
    return {row.format, std::string(row.words)};
  }
  for (const std::string_view key : keys) {
    const bool is_size = key.starts_with("ici_") || key.starts_with("dcn_");
    if (is_size) return {FileFormat::framework, "a configuration in MaxText's form"};
  }
  return {FileFormat::unknown, with_keys("a YAML map", keys)};
}

// Keys of the outermost object of a JSON text that may be cut short.
std::vector<std::string_view> top_keys(std::string_view text) {
  std::vector<std::string_view> keys;
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c != '"') continue;
    const std::size_t start = ++at;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    if (at >= text.size()) break;
    const std::size_t next = text.find_first_not_of(" \t\r\n", at + 1);
    const bool is_key = next != text.npos && text[next] == ':';
    if (depth == 1 && is_key) keys.push_back(text.substr(start, at - start));
  }
  return keys;
}

Sniffed sniff_object(std::string_view text) {
  for (const Word& row : json_keys) {
    if (text.find(row.key) == text.npos) continue;
    return {row.format, std::string(row.words)};
  }
  const std::vector<std::string_view> keys = top_keys(text);
  if (keys.empty()) return {FileFormat::unknown, "a JSON object"};
  return {FileFormat::unknown, with_keys("a JSON object", keys)};
}

// Text that opens with a bracket: array lists are JSON, lists of pairs are read as Python.
Sniffed sniff_brackets(std::string_view text) {
  const std::size_t next = text.find_first_not_of(" \t\r\n", 1);
  const char second = next == text.npos ? '\0' : text[next];
  if (text[0] == '{') return sniff_object(text);
  if (text[0] == '[' && second == '{') {
    const bool has_arrays = text.find("\"name\"") != text.npos;
    if (has_arrays) return {FileFormat::array_list, "a list of arrays"};
    return {FileFormat::unknown, "a list of JSON objects"};
  }
  return {FileFormat::python, "a list of pairs"};
}

Sniffed sniff_lines(std::string_view path, std::string_view text) {
  const std::vector<std::string_view> lines = telling_lines(text);
  if (lines.empty()) return {FileFormat::unknown, "an empty file"};
  const std::size_t first = lines[0].find_first_not_of(" \t");
  if (lines[0].starts_with("module ") || lines[0].starts_with("module@") ||
      lines[0].starts_with("func.func")) {
    return {FileFormat::unknown, "an MLIR program"};
  }
  if (std::string_view("([{").find(lines[0][first]) != std::string_view::npos) {
    const auto start = static_cast<std::size_t>(lines[0].data() - text.data()) + first;
    return sniff_brackets(text.substr(start));
  }
  std::vector<std::string_view> keys;
  bool has_python = false;
  bool has_list_of_arrays = false;
  for (const std::string_view line : lines) {
    const std::string_view key = yaml_key(line);
    if (!key.empty()) keys.push_back(key);
    has_python = has_python || is_python_line(line);
    const std::string_view bare = line.substr(line.find_first_not_of(" \t"));
    const bool is_item = !keys.empty() && keys.back() == "arrays" && bare.starts_with('-');
    has_list_of_arrays = has_list_of_arrays || is_item;
  }
  if (!keys.empty()) {
    const Sniffed found = sniff_yaml(keys, has_list_of_arrays);
    if (found.format != FileFormat::unknown || !has_python) return found;
  }
  if (path.ends_with(".md") || path.ends_with(".rst")) {
    return {FileFormat::unknown, "a page of documentation"};
  }
  if (has_python)
    return {FileFormat::python, path.ends_with(".gin") ? "a gin file" : "Python source"};
  if (lines[0].starts_with("- ")) return {FileFormat::unknown, "a YAML list"};
  return {FileFormat::unknown, "plain text"};
}

}  // namespace

Sniffed sniff(std::string_view path, std::string_view text) {
  text = without_byte_order_mark(text.substr(0, most_bytes));
  if (is_safetensors(text)) return {FileFormat::safetensors, "a safetensors file"};
  for (const Signature& row : binary_signatures) {
    if (text.starts_with(row.start)) return {FileFormat::unknown, std::string(row.words)};
  }
  const std::size_t start = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const std::string head = lower(text.substr(start, 64));
  for (const Signature& row : text_signatures) {
    if (head.starts_with(row.start)) return {FileFormat::unknown, std::string(row.words)};
  }
  const auto odd = first_non_text_byte(text);
  if (odd && *odd + 4 < most_bytes) return {FileFormat::unknown, "binary data"};
  return sniff_lines(path, text);
}

}  // namespace shard
