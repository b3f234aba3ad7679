#include "config/jobs_config.h"

#include <doctest/doctest.h>

#include "config/lock_config.h"

using namespace shard;

namespace {

JobsConfig read_jobs_text(const std::string& text) {
  MemoryReader files({{"ci/jobs.yaml", text}});
  Sources sources(files);
  return read_jobs("ci/jobs.yaml", sources);
}

LockConfig read_lock_text(const std::string& text) {
  MemoryReader files({{"layouts.lock", text}});
  Sources sources(files);
  return read_lock("layouts.lock", sources);
}

}  // namespace

TEST_CASE("a job has a model and rules and what is laid over them") {
  const JobsConfig config = read_jobs_text(
      "jobs:\n"
      "  - {model: a.yaml, rules: r.yaml, meshes: [\"data=2,model=4\", data=8], sizes: {batch: "
      "256}}\n"
      "  - {model: b, rules: [r.yaml, s.yaml], sizes: tiny, set: {layers.0.repeat.scan: true}}\n"
      "  - {model: b, rules: {files: [r.yaml], merge: append}, name: third}\n"
      "lock: layouts.lock\n");
  CHECK(config.file == "ci/jobs.yaml");
  CHECK(config.lock == PlacedText{"layouts.lock", {"ci/jobs.yaml", 5, 7, 12}});
  REQUIRE(config.jobs.size() == 3);
  CHECK(config.jobs[0].model.text == "a.yaml");
  CHECK(config.jobs[0].meshes.size() == 2);
  CHECK(config.jobs[0].meshes[0].text == "data=2,model=4");
  CHECK(config.jobs[0].meshes[1].at.line == 2);
  CHECK(config.jobs[0].set == std::vector<std::string>{"sizes.batch=256"});
  CHECK(config.jobs[1].rules.size() == 2);
  CHECK(config.jobs[1].size_set == "tiny");
  CHECK(config.jobs[1].set == std::vector<std::string>{"layers.0.repeat.scan=true"});
  CHECK(config.jobs[1].merge == RuleMerge::prepend);
  CHECK(config.jobs[2].merge == RuleMerge::append);
  CHECK(config.jobs[2].name == "third");
}

TEST_CASE("a policy of a job is laid over the policy of the file key by key") {
  const JobsConfig config = read_jobs_text(
      "jobs:\n"
      "  - {model: a, rules: r}\n"
      "  - {model: b, rules: r, policy: {max_bytes_per_device: 1 GiB, findings: {uneven: off}}}\n"
      "policy:\n"
      "  max_bytes_per_device: 16 GiB\n"
      "  max_replicated_bytes: {per_array: 64 MiB, total: 1 GB, except: [\"*norm*\", step]}\n"
      "  forbid_collective: [{kind: all_gather, axis: tensor}]\n"
      "  require_spec: [{path: \"*/kernel\", spec: \"P(None, model)\"}]\n"
      "  findings: {axis-unused: error}\n"
      "  fits: v5e\n");
  const PolicyConfig& first = config.jobs[0].policy;
  CHECK(first.max_bytes_per_device == Bytes(16LL << 30));
  CHECK(first.max_bytes_at.line == 5);
  CHECK(first.max_replicated->per_array == Bytes(64LL << 20));
  CHECK(first.max_replicated->total == Bytes(1'000'000'000));
  CHECK(first.max_replicated->except == std::vector<std::string>{"*norm*", "step"});
  CHECK(first.forbidden.at(0).kind == "all_gather");
  CHECK(first.forbidden.at(0).axis == "tensor");
  CHECK(to_string(first.required.at(0).spec) == "P(None, 'model')");
  CHECK(first.required.at(0).at.line == 8);
  CHECK(first.fits->text == "v5e");
  const PolicyConfig& second = config.jobs[1].policy;
  CHECK(second.max_bytes_per_device == Bytes(1LL << 30));
  CHECK(second.required.size() == 1);
  REQUIRE(second.findings.size() == 2);
  CHECK(second.findings[1].id == "uneven");
  CHECK(second.findings[1].level == FindingLevel::off);
}

TEST_CASE("a lock file reads back as it was written") {
  LockConfig lock;
  lock.file = "layouts.lock";
  LockSection one;
  one.job = "mlp flax_guide";
  one.mesh = "data=2,model=4";
  one.state = {{"params/B_{0..3}/W2", "f32[8,4]", "P('model', None)", Bytes(32), {}},
               {"step", "i32[]", "P()", Bytes(4), {}},
               {"unknown: \"odd\"", "", "P('a',)", {}, {}}};
  one.inputs = {{"x", "f32[8]", "P(('data', 'model'),)", Bytes(4), {}}};
  one.collectives = {{{"all_reduce", "data", 8, Bytes(32), {}},
                      {"all_reduce", "data", 1, Bytes(4), {}},
                      {"all_gather", "data,model", 2, Bytes(16), {}}}};
  one.peak = Bytes(1000);
  LockSection two;
  two.job = one.job;
  two.mesh = "data=8";
  two.outputs = {{"y", "f32[8]", "P()", Bytes(32), {}}};
  lock.sections = {one, two};
  const std::string text = write_lock(lock);
  CHECK(
      text ==
      "# Layouts that were agreed to. `shard-plan check` compares with them and `--update` writes "
      "them anew.\n"
      "version: 1\n"
      "layouts:\n"
      "  mlp flax_guide:\n"
      "    data=2,model=4:\n"
      "      state:\n"
      "        params/B_{0..3}/W2: f32[8,4] P('model', None) 32 B\n"
      "        step: i32[] P() 4 B\n"
      "        \"unknown: \\\"odd\\\"\": P('a',)\n"
      "      inputs:\n"
      "        x: f32[8] P(('data', 'model'),) 4 B\n"
      "      collectives:\n"
      "        all_reduce data: 8 x 32 B + 1 x 4 B\n"
      "        all_gather data,model: 2 x 16 B\n"
      "      peak_bytes: 1000\n"
      "    data=8:\n"
      "      outputs:\n"
      "        y: f32[8] P() 32 B\n");
  LockConfig back = read_lock_text(text);
  REQUIRE(back.sections.size() == 2);
  CHECK(write_lock(back) == text);
  CHECK(back.sections[0].at.line == 5);
  CHECK(back.sections[0].state[0].at.line == 7);
  CHECK(back.sections[0].collectives->size() == 3);
  CHECK_FALSE(back.sections[1].collectives);
  CHECK_FALSE(back.sections[1].peak);
}

TEST_CASE("a section is found whatever axes of one device its mesh has") {
  LockConfig lock;
  LockSection section;
  section.job = "a";
  section.mesh = "data=1,fsdp=8";
  lock.sections = {section};
  CHECK(lock.find("a", "fsdp=8") == &lock.sections[0]);
  CHECK(lock.find("a", "fsdp=8,tensor=1") == &lock.sections[0]);
  CHECK(lock.find("a", "fsdp=4") == nullptr);
  CHECK(lock.find("b", "fsdp=8") == nullptr);
  CHECK(without_single_axes("a=1,b=11,c=1") == "b=11");
}

TEST_CASE("a lock file that is not there is empty") {
  MemoryReader files({});
  Sources sources(files);
  CHECK(read_lock("layouts.lock", sources).sections.empty());
}
