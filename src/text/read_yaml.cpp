#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

#include "text/lines.h"
#include "text/read.h"
#include "text/tree_builder.h"
#include "text/utf8.h"
#include "text/yaml_source.h"

namespace shard {
namespace {

class YamlEvents : public YAML::EventHandler {
 public:
  YamlEvents(const YamlSource& source, Diagnostics& diagnostics, bool is_foreign)
      : source_(source),
        diagnostics_(diagnostics),
        is_foreign_(is_foreign),
        builder_(diagnostics,
                 is_foreign ? DuplicateKey::takes_the_last_value : DuplicateKey::is_an_error) {}

  const TreeBuilder& builder() const { return builder_; }
  TextNode take_root() { return builder_.take_root(); }

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    start(TextNode::Kind::sequence, mark, tag, anchor, style);
  }
  void OnSequenceEnd() override { builder_.end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    start(TextNode::Kind::map, mark, tag, anchor, style);
  }
  void OnMapEnd() override { builder_.end(); }

  /// The only place that turns yaml-cpp's lines and columns, which count from 0, into ours.
  std::size_t offset_of(const YAML::Mark& mark) const {
    return source_.lines().offset_of(mark.line + 1, mark.column + 1);
  }

 private:
  void start(TextNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
             YAML::anchor_t anchor, YAML::EmitterStyle::value style);
  void check_tag(const std::string& tag, const Location& at);
  void refuse_key(const Location& at, const std::string& found);
  [[noreturn]] void stop(std::string id, const Location& at, std::string message,
                         std::string hint = "");

  const YamlSource& source_;
  Diagnostics& diagnostics_;
  bool is_foreign_;
  TreeBuilder builder_;
  bool has_document_ = false;
};

void YamlEvents::stop(std::string id, const Location& at, std::string message, std::string hint) {
  diagnostics_.error(std::move(id), at, std::move(message), std::move(hint));
  throw Error(diagnostics_.all());
}

void YamlEvents::OnDocumentStart(const YAML::Mark& mark) {
  if (!has_document_) {
    has_document_ = true;
    return;
  }
  const std::size_t offset = offset_of(mark);
  if (source_.text().substr(offset).starts_with("---")) {
    stop("not-a-document", source_.place(offset, 3), "a second document starts here",
         "a file holds one document; put the other one in a file of its own");
  }
  // yaml-cpp takes the rest for a document of its own when a map follows a list, say.
  stop("yaml-syntax", source_.place(offset, source_.word_at(offset).size()),
       "this line does not continue what stands above it", "check its indentation");
}

void YamlEvents::check_tag(const std::string& tag, const Location& at) {
  const bool is_usual =
      is_foreign_ || tag.empty() || tag == "?" || tag == "!" || tag == "tag:yaml.org,2002:str";
  if (is_usual) return;
  diagnostics_.error("yaml-syntax", at, "the tag '" + tag + "' is not read here", "remove it");
}

void YamlEvents::refuse_key(const Location& at, const std::string& found) {
  // yaml-cpp takes a bracket that is still open at the end of the text for a key.
  if (!source_.closes_bracket(at)) {
    stop("yaml-syntax", at, "this bracket is never closed");
  }
  stop("yaml-syntax", at, "a key is " + found + ", expected a word");
}

void YamlEvents::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const std::size_t offset = source_.skip_properties(offset_of(mark));
  const std::size_t length = source_.null_word_length(offset);
  if (builder_.expects_key()) refuse_key(source_.place(offset, length), "missing");
  TextNode node;
  // A value left out stands nowhere: its key stands for it.
  const bool is_left_out = length == 0 && builder_.depth() > 0 && !builder_.is_in_sequence();
  node.at = is_left_out ? builder_.key_at() : source_.place(offset, length);
  builder_.leaf(std::move(node), anchor);
}

void YamlEvents::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const std::size_t offset = offset_of(mark);
  const Location at = source_.place(offset, source_.word_at(offset).size());
  if (builder_.expects_key()) refuse_key(at, "an alias");
  builder_.alias(anchor, at);
}

void YamlEvents::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                          const std::string& value) {
  const std::size_t offset = source_.skip_properties(offset_of(mark));
  TextNode node;
  node.kind = TextNode::Kind::scalar;
  node.quoted = tag != "?";
  const auto length = source_.scalar_length(offset, value.size());
  node.at = source_.place(offset, length.value_or(1));
  if (!length) stop("yaml-syntax", node.at, "this quote is never closed");
  check_tag(tag, node.at);
  if (builder_.is_in_flow() && !node.quoted && !is_foreign_)
    source_.check_commas(value, offset, diagnostics_);
  if (builder_.expects_key()) {
    if (value == "<<" && !node.quoted) {
      diagnostics_.error("merge-key", node.at, "'<<' is not read here",
                         "build on a file with `base: FILE` and change single values with `set:`");
    }
    builder_.key(value, node.at);
    return;
  }
  node.scalar = value;
  builder_.leaf(std::move(node), anchor);
}

void YamlEvents::start(TextNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor, YAML::EmitterStyle::value style) {
  const Location at = source_.place(source_.skip_properties(offset_of(mark)), 1);
  check_tag(tag, at);
  if (builder_.expects_key()) {
    refuse_key(at, kind == TextNode::Kind::map ? "a map" : "a list");
  }
  builder_.start(kind, at, style == YAML::EmitterStyle::Flow, anchor);
}

void report_syntax(const YAML::Exception& problem, const YamlSource& source,
                   const YamlEvents& events, Diagnostics& diagnostics) {
  const std::size_t offset =
      problem.mark.is_null() ? source.text().size() : events.offset_of(problem.mark);
  const bool is_flow = events.builder().is_in_flow();
  if (is_flow && source.report_bracket_in_flow(offset, diagnostics)) return;
  // A spec cut at its comma was reported, and what follows on its line makes no sense.
  const Location stopped = source.place(offset, source.word_at(offset).size());
  const auto on_this_line = [&](const Diagnostic& one) { return one.at.line == stopped.line; };
  if (std::any_of(diagnostics.all().begin(), diagnostics.all().end(), on_this_line)) return;
  const bool is_past_the_end =
      source.text().find_first_not_of(" \t\r\n", offset) == std::string::npos;
  const Location at = is_flow && is_past_the_end ? events.builder().open_at() : stopped;
  diagnostics.error("yaml-syntax", at, problem.msg, yaml_hint(problem.msg));
}

TextNode read_document(const std::string& file, std::string_view text, bool is_foreign,
                       Diagnostics& diagnostics) {
  const YamlSource source(file, without_byte_order_mark(text));
  source.check_bytes(diagnostics);
  source.check_tabs(diagnostics);
  diagnostics.throw_if_errors();
  YamlEvents events(source, diagnostics, is_foreign);
  std::istringstream stream{std::string(source.text())};
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(events)) {
    }
  } catch (const YAML::Exception& problem) {
    report_syntax(problem, source, events, diagnostics);
  }
  diagnostics.throw_if_errors();
  return events.take_root();
}

}  // namespace

TextNode read_yaml(const std::string& file, std::string_view text) {
  Diagnostics diagnostics;
  return read_document(file, text, false, diagnostics);
}

TextNode read_foreign_yaml(const std::string& file, std::string_view text,
                           Diagnostics& diagnostics) {
  return read_document(file, text, true, diagnostics);
}

}  // namespace shard
