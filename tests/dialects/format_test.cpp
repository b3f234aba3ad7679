#include "dialects/format.h"

#include <doctest/doctest.h>

namespace shard {
namespace {

std::string looks(std::string_view text, std::string_view path = "file") {
  const Sniffed found = sniff(path, text);
  CHECK(found.format == FileFormat::unknown);
  return found.looks_like;
}

FileFormat format(std::string_view text, std::string_view path = "file") {
  return sniff(path, text).format;
}

std::string with_header(std::string_view header) {
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  return length + std::string(header);
}

}  // namespace

TEST_CASE("our own files are known by their keys") {
  CHECK(format("# note\nmesh: {data: 2}\nrules: []\n") == FileFormat::our_rules);
  CHECK(format("rule_sets:\n  a: {}\n") == FileFormat::our_rules);
  CHECK(format("name: m\nsizes: {a: 1}\nlayers:\n  - relu\n") == FileFormat::our_model);
  CHECK(format("arrays:\n  w: f32[4]\n") == FileFormat::our_arrays);
  CHECK(format("name: m\nfrom: dump.json\n") == FileFormat::our_arrays);
  CHECK(format("jobs:\n  - {model: a, rules: b}\n") == FileFormat::our_jobs);
}

TEST_CASE("rules of other programs are known by what stands in them") {
  CHECK(format("run: x\nmesh_axes: ['data']\n") == FileFormat::framework);
  CHECK(format("ici_fsdp_parallelism: 4\n") == FileFormat::framework);
  CHECK(format("\xEF\xBB\xBF"
               "base_config: \"base.yml\"\n") == FileFormat::framework);
  CHECK(format("base_emb_dim: 4\n") == FileFormat::framework);
  CHECK(format("(('batch', 'data'),)") == FileFormat::python);
  CHECK(format("# pasted\n[['batch', 'data']]") == FileFormat::python);
  CHECK(format("RULES = (('batch', 'data'),)") == FileFormat::python);
  CHECK(format("RULES: Rules = []") == FileFormat::python);
  CHECK(format("import jax\n") == FileFormat::python);
  CHECK(format("m.P:\n  rules = @f()\n", "a.gin") == FileFormat::python);
}

TEST_CASE("lists of arrays are known by what stands in them") {
  CHECK(format("[{\"name\": \"w\", \"shape\": [1]}]") == FileFormat::array_list);
  CHECK(format("arrays:\n  - {name: w, shape: [1]}\n") == FileFormat::array_list);
  CHECK(format("{\".step\": {\"partition_spec\": []}}") == FileFormat::sharding_dump);
  CHECK(format("{\"Activation Sharding Dump\": []}") == FileFormat::activation_dump);
  CHECK(format("{\"weight_map\": {}}") == FileFormat::safetensors_index);
  CHECK(format(with_header("{}")) == FileFormat::safetensors);
}

TEST_CASE("what is none of these is called by its name") {
  CHECK(looks("") == "an empty file");
  CHECK(looks("# only a comment\n") == "an empty file");
  CHECK(looks("  <!DOCTYPE html>\n<html>") == "an HTML page");
  CHECK(looks("<?xml version=\"1.0\"?>") == "an XML file");
  CHECK(looks("version https://git-lfs.github.com/spec/v1\n") ==
        "a Git LFS pointer (fetch the real file: git lfs pull)");
  CHECK(looks("{\"architectures\": [\"X\"], \"model_type\": \"x\"}") ==
        "a Hugging Face config.json");
  CHECK(looks("{\"a\": {\"b\": 1}, \"c\": [\"d\"], \"e\": 2}") ==
        "a JSON object with the keys a, c, e");
  CHECK(looks("{}") == "a JSON object");
  CHECK(looks("[{\"a\": 1}]") == "a list of JSON objects");
  CHECK(looks("trainer:\n  x: 1\nmodel: y\n") ==
        "a Levanter configuration (haliax axis mappings, not rules)");
  CHECK(looks("apiVersion: v1\nkind: Pod\n") == "a Kubernetes manifest");
  CHECK(looks("on: push\njobs: {}\n") == "a workflow of GitHub Actions");
  CHECK(looks("a: 1\nb: x=y\nc: 2\nd: 3\ne: 4\n") == "a YAML map with the keys a, b, c, d ...");
  CHECK(looks("- 1\n- 2\n") == "a YAML list");
  CHECK(looks("module @jit_f {\n") == "an MLIR program");
  CHECK(looks("HloModule jit_f\n") == "an HLO program");
  CHECK(looks("with these words a text begins:\n") == "plain text");
  CHECK(looks("Title\n=====\nx = 1\n", "a.md") == "a page of documentation");
}

TEST_CASE("bytes that are no text are called by their name") {
  CHECK(looks(std::string_view("PK\x03\x04zip", 7)) ==
        "a zip archive (a PyTorch checkpoint, an .npz)");
  CHECK(looks("\x80\x04pickle") == "a Python pickle");
  CHECK(looks("\x1F\x8Bgz") == "a gzip file");
  CHECK(looks("GGUF1234") == "a GGUF model");
  CHECK(looks("\x89HDF\r\n") == "an HDF5 file");
  CHECK(looks("\xFF\xFEm\0") == "UTF-16 text (save it as UTF-8)");
  CHECK(looks(std::string_view("mesh\0\x01", 6)) == "binary data");
}

TEST_CASE("a text cut in a letter by the sniffing limit is still a text") {
  std::string text = "mesh: {data: 1}\n# ";
  while (text.size() < (std::size_t{256} << 10U) - 1) text += "x";
  CHECK(format(text + "\xC3\xA9 and more\n") == FileFormat::our_rules);
}

}  // namespace shard
