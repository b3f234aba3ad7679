#include "config/checked_map.h"
#include "config/in_file_order.h"
#include "config/jobs_config.h"
#include "config/read_policy.h"
#include "config/scalars.h"
#include "text/read.h"

namespace shard {
namespace {

std::vector<PlacedText> read_placed(const TextNode& node, std::string_view what,
                                    Diagnostics& diagnostics) {
  std::vector<PlacedText> texts;
  const std::vector<TextNode> one = {node};
  for (const TextNode& item : node.is_sequence() ? node.items : one) {
    if (const auto text = read_text(item, what, diagnostics)) texts.push_back({*text, item.at});
  }
  return texts;
}

void read_layers(const TextNode& node, JobConfig& job, Diagnostics& diagnostics) {
  if (!node.is_map()) {
    job.rules = read_placed(node, "an item of 'rules'", diagnostics);
    return;
  }
  const CheckedMap map(node, layered_rules_table(), diagnostics);
  if (const TextNode* files = map.get("files")) {
    job.rules = read_placed(*files, "an item of 'files'", diagnostics);
  }
  if (const TextNode* word = map.get("merge")) {
    const auto merge = read_word(*word, map.row("merge"), diagnostics);
    if (merge) job.merge = rule_merge_named(*merge).value_or(RuleMerge::prepend);
  }
}

/// `batch: 256` as the command line would have it: `sizes.batch=256`.
void add_settings(const TextNode& node, const std::string& prefix, JobConfig& job,
                  Diagnostics& diagnostics) {
  for (const TextEntry& entry : node.entries) {
    const auto value = read_text(entry.value, "'" + entry.key + "'", diagnostics);
    if (value) job.set.push_back(prefix + entry.key + '=' + *value);
  }
}

JobConfig read_job(const TextNode& node, const PolicyConfig& policy, Diagnostics& diagnostics) {
  const CheckedMap map(node, job_table(), diagnostics);
  JobConfig job;
  job.at = node.at;
  job.policy = policy;
  if (const TextNode* model = map.get("model")) {
    job.model = {read_text(*model, "'model'", diagnostics).value_or(""), model->at};
  }
  if (const TextNode* rules = map.get("rules")) read_layers(*rules, job, diagnostics);
  if (const TextNode* meshes = map.get("meshes")) {
    job.meshes = read_placed(*meshes, "an item of 'meshes'", diagnostics);
  }
  if (const TextNode* name = map.get("name")) {
    job.name = read_text(*name, "'name'", diagnostics).value_or("");
  }
  if (const TextNode* sizes = map.get("sizes")) {
    if (sizes->is_map()) add_settings(*sizes, "sizes.", job, diagnostics);
    if (sizes->is_scalar()) job.size_set = sizes->scalar;
  }
  if (const TextNode* set = map.get("set")) add_settings(*set, "", job, diagnostics);
  if (const TextNode* own = map.get("policy")) {
    job.policy = laid_over(policy, read_policy(*own, diagnostics));
  }
  return job;
}

}  // namespace

JobsConfig read_jobs(const std::string& path, Sources& sources) {
  const TextNode root = read_yaml(path, sources.load(path));
  Diagnostics diagnostics;
  const CheckedMap map(root, jobs_table(), diagnostics);
  JobsConfig config;
  config.file = path;
  PolicyConfig policy;
  if (const TextNode* node = map.get("policy")) policy = read_policy(*node, diagnostics);
  if (const TextNode* lock = map.get("lock")) {
    if (const auto text = read_text(*lock, "'lock'", diagnostics)) {
      config.lock = PlacedText{*text, lock->at};
    }
  }
  if (const TextNode* jobs = map.get("jobs")) {
    for (const TextNode& job : jobs->items) {
      config.jobs.push_back(read_job(job, policy, diagnostics));
    }
    if (jobs->items.empty()) {
      diagnostics.error("no-jobs", jobs->at, "there is no job in this file",
                        "a job is written {model: FILE, rules: FILE}");
    }
  }
  throw_in_file_order(diagnostics);
  return config;
}

bool is_job_file(const std::string& path, Sources& sources) {
  const TextNode root = read_yaml(path, sources.load(path));
  return root.find("jobs") != nullptr;
}

}  // namespace shard
