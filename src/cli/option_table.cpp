// The rows and nothing else, behind what reads their values.

#include "cli/option_table.h"

#include <limits>

#include "base/diagnostic.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/fault_option.h"
#include "cli/trace_file.h"
#include "cli/values.h"
#include "mesh/chips.h"

namespace shard {
namespace {

constexpr unsigned planning = plan_bit | show_bit | run_bit | explain_bit | findings_bit;
constexpr unsigned gating = compare_bit | check_bit;
/// Commands that carry rules from one program to another.
constexpr unsigned carrying = import_bit | export_bit;
/// Commands that read RULES.
constexpr unsigned reading_rules = planning | gating | carrying;
/// Commands whose answer may be text or JSON.
constexpr unsigned answering = planning | reshard_bit;
constexpr unsigned every = planning | schema_bit | describe_bit | gating | carrying | reshard_bit;
constexpr int most_int = std::numeric_limits<int>::max();

int int_of(const char* option, const std::string& text, int least, int most = most_int) {
  return static_cast<int>(read_count(option, text, least, most));
}

void set_device(Options& options, const std::string& name) {
  const Chip* const chip = chip_named(name);
  if (chip == nullptr) {
    std::vector<std::string> known;
    for (const Chip& row : chip_table()) known.emplace_back(row.name);
    throw Error("unknown-device", {"--device"}, "there is no chip called '" + name + "'",
                did_you_mean(name, known, "known chips", known.size()));
  }
  options.capacity = chip->hbm;
  options.device = chip->name;
}

/// One of a few words; the position is the answer.
std::size_t word_of(const char* option, const std::string& word,
                    const std::vector<std::string>& valid) {
  for (std::size_t position = 0; position < valid.size(); ++position) {
    if (valid[position] == word) return position;
  }
  throw Error("bad-value", {option}, "'" + word + "' is not one of its values",
              did_you_mean(word, valid));
}

constexpr OptionRow all_rows[] = {
    {"--mesh", "AXES",
     "mesh axes and sizes, major first, e.g. data=4,model=2 (default: the rules file's)",
     planning | carrying | reshard_bit,
     [](Options& o, const std::string& v) { o.overrides.mesh = v; }},
    {"--set", "PATH=VALUE",
     "change a value of the model file, e.g. batch=64 or layers.0.repeat.scan=true; repeatable",
     planning | gating | export_bit,
     [](Options& o, const std::string& v) { o.overrides.set.push_back(v); }},
    {"--sizes", "NAME", "use a size set of the model file", planning | gating | export_bit,
     [](Options& o, const std::string& v) { o.overrides.size_set = v; }},
    {"--devices", "NAME",
     "hardware the mesh lies on, e.g. v5e-256, 4xv5e-16, 4x8xh100, cpu-8 (default: the rules "
     "file's, else virtual cpus)",
     reading_rules | reshard_bit, [](Options& o, const std::string& v) { o.overrides.devices = v; }},
    {"--dcn", "AXES", "how much of an axis crosses slices, e.g. data=4 (default: the rules file's)",
     reading_rules, [](Options& o, const std::string& v) { o.overrides.dcn = v; }},
    {"--add-rule", "RULE", "one more rule behind those of the file, e.g. \"[embed, data]\"; repeatable",
     reading_rules, [](Options& o, const std::string& v) { o.overrides.add_rules.push_back(v); }},
    {"--drop-rule", "N", "leave out rule N, as reports number them; repeatable", reading_rules,
     [](Options& o, const std::string& v) { o.overrides.drop_rules.push_back(v); }},
    {"--reshard-memory", "BYTES",
     "most bytes of operand and result of one step of a reshard together, e.g. 64MiB; takes a way "
     "that sends more where it must (default: the rules file's)",
     reading_rules,
     [](Options& o, const std::string& v) {
       o.overrides.reshard_memory = read_bytes("--reshard-memory", v);
     }},
    {"--resolver", "linen|nnx", "whose reading of the rules (default: the file's, else linen)",
     reading_rules, [](Options& o, const std::string& v) { o.overrides.resolver = v; }},
    {"--merge", "prepend|replace|append",
     "RULES as A,B: are the rules of B asked first (default), put in the place of A's rules of the "
     "same names, or asked last",
     reading_rules,
     [](Options& o, const std::string& v) {
       o.rule_merge = static_cast<RuleMerge>(word_of("--merge", v, rule_merge_words()));
     }},
    {"--config-folder", "DIR",
     "where MaxText files find what they build on, beside their own folders; repeatable",
     reading_rules, [](Options& o, const std::string& v) { o.config_folders.push_back(v); }},
    {"--rules-set", "KEY=VALUE",
     "change a key of a MaxText file, e.g. ici_fsdp_parallelism=4; repeatable", reading_rules,
     [](Options& o, const std::string& v) { o.rules_settings.push_back(v); }},
    {"--to", "python|flax|maxtext",
     "what is written: JAX code, code whose rules Flax resolves, or keys of a MaxText file",
     export_bit, [](Options& o, const std::string& v) { o.export_form = v; }},
    {"--paths", "flax|jax",
     "how the state's leaves are called: flax: params/Dense_0/kernel; jax: "
     ".params/['params']/['Dense_0']/['kernel'] (default: as the model has them)",
     planning | gating | export_bit,
     [](Options& o, const std::string& v) {
       o.paths = word_of("--paths", v, {"flax", "jax"}) == 1 ? PathStyle::jax : PathStyle::flax;
     }},
    {"--hbm", "BYTES",
     "memory of one device, e.g. 16GiB: says whether the plan fits, exit code 1 when not", plan_bit | gating,
     [](Options& o, const std::string& v) { o.capacity = read_bytes("--hbm", v); }},
    {"--device", "CHIP", "the same with the memory of a chip, e.g. v5e", plan_bit | gating, set_device},
    {"--finding", "ID=LEVEL",
     "how loud a finding is: off, note, warn or error, e.g. axis-unused=error; repeatable, comes "
     "after the rules file's `findings`",
     plan_bit | explain_bit | findings_bit | gating,
     [](Options& o, const std::string& v) {
       o.finding_levels.push_back(read_finding_level("--finding", v));
     }},
    {"--list", "", "every kind of finding with its usual level, what it is and what to do",
     findings_bit, [](Options& o, const std::string&) { o.list = true; }},
    {"--delta", "",
     "also what is different from the files as they are, without --mesh, --set, --sizes and rule "
     "edits (--add-rule and --drop-rule alone do this, too)",
     plan_bit | explain_bit, [](Options& o, const std::string&) { o.delta = true; }},
    {"--all", "", "one line per array, nothing folded", plan_bit | show_bit | compare_bit,
     [](Options& o, const std::string&) { o.all = true; }},
    {"--no-fold", "", "plan every iteration of a repeat by itself, also where they are equal",
     plan_bit | show_bit, [](Options& o, const std::string&) { o.fold = false; }},
    {"--fuse", "on|off",
     "chains of elementwise ops as one loop each, which stores nothing between them (default on); "
     "off plans and runs op by op",
     plan_bit | run_bit,
     [](Options& o, const std::string& v) {
       o.fusion = word_of("--fuse", v, {"off", "on"}) == 1 ? Fusion::on : Fusion::off;
     }},
    {"--resolved", "",
     "print the merged model and rules files, each line with its origin, and stop", plan_bit,
     [](Options& o, const std::string&) { o.resolved = true; }},
    {"--types", "", "every value's type, e.g. bfloat16[8@fsdp,4096,256@model], instead of the plan",
     plan_bit, [](Options& o, const std::string&) { o.types = true; }},
    {"--strict", "",
     "no reshard that nothing asks for: each is an error with the annotation that removes it; short "
     "for --finding implicit-reshard=error",
     plan_bit,
     [](Options& o, const std::string&) {
       o.finding_levels.push_back({"implicit-reshard", FindingLevel::error, {"--strict"}});
     }},
    {"--by-rule", "",
     "collectives and bytes after each rule, the rules added one after the other, instead of the "
     "plan",
     plan_bit, [](Options& o, const std::string&) { o.by_rule = true; }},
    {"--suggest", "",
     "where a type is ambiguous, the cheapest out_sharding as a patch of the model file, and stop",
     plan_bit, [](Options& o, const std::string&) { o.suggest = true; }},
    {"--dump-stages", "DIR",
     "write every stage as text into a folder: 01-model.txt, 02-trace.txt (rule by rule, op by op), "
     "02-sharded.txt, 03-program.txt",
     planning, [](Options& o, const std::string& v) { o.dump_stages = v; }},
    {"--style", "jax|plain",
     "jax: pictures byte for byte as jax.debug.visualize_array_sharding draws them; "
     "plain: ours, any rank (default)",
     show_bit,
     [](Options& o, const std::string& v) {
       o.jax_style = word_of("--style", v, {"plain", "jax"}) == 1;
     }},
    {"--bare", "", "the pictures alone, without captions", show_bit,
     [](Options& o, const std::string&) { o.bare = true; }},
    {"--spec", "SPEC",
     "draw this spec instead of a model's arrays: \"P('data', None)\", \"[batch, embed]\" (through "
     "RULES), \"{devices=[2,4]<=[8]}\" or '<@mesh, [{\"data\"}, {}]>'; needs --shape",
     show_bit, [](Options& o, const std::string& v) { o.spec = v; }},
    {"--shape", "SIZES", "shape of the array that --spec splits, e.g. 8,1024; scalar for none",
     show_bit, [](Options& o, const std::string& v) { o.shape = v; }},
    {"--shape", "SIZES", "shape of the array, e.g. 8,1024; scalar for none", reshard_bit,
     [](Options& o, const std::string& v) { o.shape = v; }},
    {"--dtype", "NAME", "element type of the array, e.g. bf16 (default f32)", reshard_bit,
     [](Options& o, const std::string& v) { o.dtype = v; }},
    {"--to-mesh", "AXES",
     "TO is on another mesh over the same devices in the same order, e.g. x=4,y=2", reshard_bit,
     [](Options& o, const std::string& v) { o.to_mesh = v; }},
    {"--memory", "LIMIT",
     "most bytes of operand and result of one step together, e.g. 16MiB; takes a way that sends "
     "more where it must",
     reshard_bit, [](Options& o, const std::string& v) { o.memory = read_bytes("--memory", v); }},
    {"--pad", "", "pad the last pieces of dims that do not divide, as a constraint does",
     reshard_bit, [](Options& o, const std::string&) { o.pad = true; }},
    {"--run", "", "do it on virtual devices and verify every byte of every device", reshard_bit,
     [](Options& o, const std::string&) { o.run = true; }},
    {"--uneven", "flat|nested",
     "how --spec cuts a dim that does not divide; flat: once, by all its axes, as JAX does "
     "(default); nested: by one axis after the other, as PyTorch's DTensor does",
     show_bit,
     [](Options& o, const std::string& v) {
       o.is_nested = word_of("--uneven", v, {"flat", "nested"}) == 1;
     }},
    {"--indices", "", "also which indices every device holds, and which copy it is", show_bit,
     [](Options& o, const std::string&) { o.indices = true; }},
    {"--strings", "", "also the sharding as XLA and Shardy write it", show_bit,
     [](Options& o, const std::string&) { o.strings = true; }},
    {"--svg", "FILE", "write the pictures into an SVG file as well", show_bit,
     [](Options& o, const std::string& v) { o.svg = v; }},
    {"--ascii", "", "pictures without box-drawing characters (default: if the locale has none)",
     show_bit, [](Options& o, const std::string&) { o.ascii = true; }},
    {"--workers", "N", "worker threads (default: one per core this process may use)",
     run_bit | compare_bit | reshard_bit,
     [](Options& o, const std::string& v) { o.workers = int_of("--workers", v, 1, 4096); }},
    {"--threads-per-device", "",
     "one thread for each device, for debugging: slower, and every result must be the same", run_bit,
     [](Options& o, const std::string&) { o.has_thread_per_device = true; }},
    {"--backend", "threads|mpi",
     "what the devices run on: threads of this process (default), or those of all the processes that "
     "mpirun or srun started, one on each host",
     run_bit,
     [](Options& o, const std::string& v) {
       o.backend = word_of("--backend", v, {"threads", "mpi"}) == 1 ? Backend::mpi : Backend::threads;
     }},
    {"--collectives", "owner|ring|tree|halving|hierarchical",
     "how reductions and gathers are done: in shared memory by whoever owns a segment (default), or "
     "by messages as links carry them, which are counted",
     run_bit | compare_bit | reshard_bit,
     [](Options& o, const std::string& v) {
       o.collectives.algorithm =
           static_cast<CollectiveAlgorithm>(word_of("--collectives", v, algorithm_names()));
       o.has_algorithm = true;
     }},
    {"--hosts", "N",
     "hosts that the devices are divided over, in order, for --collectives hierarchical (default 1)",
     run_bit | compare_bit | reshard_bit,
     [](Options& o, const std::string& v) { o.collectives.hosts = int_of("--hosts", v, 1); }},
    {"--seed", "N", "seed of parameters and example inputs (default: the model's)", run_bit | compare_bit,
     [](Options& o, const std::string& v) {
       o.seed = read_count("--seed", v, 0, std::numeric_limits<std::int64_t>::max());
     }},
    {"--runs", "N", "timed runs (default 7; 0: no timing)", run_bit | compare_bit,
     [](Options& o, const std::string& v) { o.runs = int_of("--runs", v, 0, 1'000'000); }},
    {"--steps", "N", "steps in each timed run (default 10)", run_bit | compare_bit,
     [](Options& o, const std::string& v) { o.steps = int_of("--steps", v, 1, 1'000'000); }},
    {"--check-steps", "N",
     "train steps that are compared with the unsharded run (default 1; 0: no comparison)", run_bit,
     [](Options& o, const std::string& v) {
       o.check_steps = int_of("--check-steps", v, 0, 1'000'000);
     }},
    {"--params", "FILE", "take the train state's values from a safetensors file", run_bit,
     [](Options& o, const std::string& v) { o.params = v; }},
    {"--inputs", "FILE", "take the inputs from a safetensors file", run_bit,
     [](Options& o, const std::string& v) { o.inputs = v; }},
    {"--dump", "DIR", "write state and outputs after the compared steps as safetensors files",
     run_bit, [](Options& o, const std::string& v) { o.dump = v; }},
    {"--verify-memory", "",
     "also check the pages of every device's memory and what lies around them, and say what is held "
     "where most is, and from instruction to instruction",
     run_bit, [](Options& o, const std::string&) { o.verify_memory = true; }},
    {"--memory-svg", "FILE", "draw what a device holds from instruction to instruction", run_bit,
     [](Options& o, const std::string& v) { o.memory_svg = v; }},
    {"--profile", "",
     "first measure what this machine can do (some seconds) and keep it in the user's cache folder: "
     "this and later runs then say what share of it they reach",
     run_bit, [](Options& o, const std::string&) { o.profile = true; }},
    {"--trace", "FILE",
     "write what every device does in a step, and when, for ui.perfetto.dev: FILE.json, or "
     "FILE.pftrace, which is a third of the size",
     run_bit,
     [](Options& o, const std::string& v) {
       check_trace_name("--trace", v);
       o.trace = v;
     }},
    {"--inject", "FAULT",
     "put a fault into every step, to see that it is noticed: drop-collective, late-device, "
     "kill-device or bit-flip; where: e.g. bit-flip:device=3,at=7 (settings: device, at, the "
     "position in its step; of late-device seconds; of bit-flip element, bit)",
     run_bit, [](Options& o, const std::string& v) { o.fault = read_fault(v); }},
    {"--timeout", "SECONDS",
     "name a device that is at one instruction for longer, and end with exit code 1 (default 300; "
     "0: no limit)",
     run_bit, [](Options& o, const std::string& v) { o.timeout = read_seconds("--timeout", v); }},
    {"--format", "text|json", "how the answer is written (default text)", answering,
     [](Options& o, const std::string& v) {
       o.format = word_of("--format", v, {"text", "json"}) == 1 ? Format::json : Format::text;
     }},
    {"--mesh", "AXES", "mesh axes and sizes, major first; repeatable (default: the rules file's)",
     gating, [](Options& o, const std::string& v) { o.meshes.push_back(v); }},
    {"--sort", "FIGURE",
     "order of the sets behind the base, smallest first: given, state, replicated, wire, peak, time",
     compare_bit,
     [](Options& o, const std::string& v) {
       o.order = static_cast<CompareOrder>(
           word_of("--sort", v, {"given", "state", "replicated", "wire", "peak", "time"}));
     }},
    {"--fail-on-change", "", "exit code 1 when a spec or a collective differs from the base's",
     compare_bit, [](Options& o, const std::string&) { o.fail_on_change = true; }},
    {"--fail-on-worse", "PERCENT",
     "exit code 1 when state, wire or peak bytes grow by more than this against the base",
     compare_bit,
     [](Options& o, const std::string& v) { o.allowed_percent = read_percent("--fail-on-worse", v); }},
    {"--run", "", "really run every set, in turns, and say how long a step takes", compare_bit,
     [](Options& o, const std::string&) { o.run = true; }},
    {"--update", "", "write what is found into the lock file instead of comparing with it",
     check_bit, [](Options& o, const std::string&) { o.update = true; }},
    {"--lock", "FILE", "the lock file (default: the job file's; layouts.lock for MODEL RULES)",
     check_bit, [](Options& o, const std::string& v) { o.lock = v; }},
    {"--against", "GIT_REF", "compare with the files of that revision instead of a lock file",
     check_bit, [](Options& o, const std::string& v) { o.against = v; }},
    {"--format", "text|json|md", "how the answer is written (default text)", compare_bit,
     [](Options& o, const std::string& v) {
       constexpr Format formats[] = {Format::text, Format::json, Format::markdown};
       o.format = formats[word_of("--format", v, {"text", "json", "md"})];
     }},
    {"--format", "text|json|md|junit|sarif", "how the answer is written (default text)", check_bit,
     [](Options& o, const std::string& v) {
       constexpr Format formats[] = {Format::text, Format::json, Format::markdown, Format::junit,
                                     Format::sarif};
       o.format = formats[word_of("--format", v, {"text", "json", "md", "junit", "sarif"})];
     }},
    {"--json", "", "short for --format json", answering | gating,
     [](Options& o, const std::string&) { o.format = Format::json; }},
    {"-o,--output", "FILE", "write the answer to a file, whole or not at all (default -: stdout)",
     every, [](Options& o, const std::string& v) { o.output = v == "-" ? "" : v; }},
    {"--force", "", "overwrite files that exist", every,
     [](Options& o, const std::string&) { o.force = true; }},
    {"--human", "", "bytes as MiB or GiB, three digits", answering | gating,
     [](Options& o, const std::string&) { o.human = true; }},
    {"--width", "COLUMNS",
     "widest line of tables and pictures, 0: no limit (default: the terminal's; 80 for pictures)",
     answering | gating,
     [](Options& o, const std::string& v) { o.width = int_of("--width", v, 0, 100'000); }},
    {"--color", "auto|always|never", "colour (default auto: on a terminal, unless NO_COLOR is set)",
     every,
     [](Options& o, const std::string& v) {
       o.color = static_cast<ColorChoice>(word_of("--color", v, {"auto", "always", "never"}));
     }},
    {"-q,--quiet", "", "no answer and no notes, only errors and the exit code", every,
     [](Options& o, const std::string&) { o.quiet = true; }},
    {"-v,--verbose", "", "say on stderr what is being done; -vv: every stage, with times", every,
     [](Options& o, const std::string&) { ++o.verbosity; }},
    {"-h,--help", "", "this screen", every, [](Options& o, const std::string&) { o.help = true; }},
};

}  // namespace

std::span<const OptionRow> option_table() { return all_rows; }

}  // namespace shard
