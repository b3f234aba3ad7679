#include "exec/compile.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "exec/dot_kernel.h"
#include "exec/fused_kernel.h"
#include "exec/places.h"
#include "exec/reduced_steps.h"
#include "exec/site_builder.h"
#include "spmd/fused_form.h"
#include "spmd/liveness.h"

namespace shard {
namespace {

/// Copies every operand to its result, all at once in effect: through scratch memory where a result
/// lies over an operand that is still needed.
Kernel move_kernel(std::vector<std::size_t> bytes, bool needs_staging) {
  return [bytes = std::move(bytes), needs_staging](const KernelCall& call) {
    std::vector<const std::byte*> from(call.operands.begin(), call.operands.end());
    for (std::size_t i = 0; needs_staging && i < bytes.size(); ++i) {
      std::byte* staged = call.scratch.take(bytes[i]);
      std::memcpy(staged, from[i], bytes[i]);
      from[i] = staged;
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      std::memcpy(call.results[i], from[i], bytes[i]);
    }
  };
}

/// A program without fused instructions is run as it is: it may have been asked for.
bool has_fused(const Program& program) {
  return std::any_of(program.bodies.begin(), program.bodies.end(), [](const Body& body) {
    return std::any_of(body.instructions.begin(), body.instructions.end(),
                       [](const Instruction& instruction) {
                         return instruction.kind == Instruction::Kind::fused;
                       });
  });
}

class Compiler {
 public:
  Compiler(const Program& program, const TestSeam& seam, const CollectiveChoice& collectives,
           const std::optional<SitePart>& part)
      : program_(program),
        seam_(seam),
        collectives_(collectives),
        part_(part),
        places_(program),
        readers_(spmd::count_readers(program)),
        is_fused_(has_fused(program)) {
    if (part_) made_.end_tag = part_->first_tag;
  }

  CompiledProgram compile() {
    places_.check_bounds(diagnostics_);
    diagnostics_.throw_if_errors();
    made_.stream.loops = static_cast<int>(program_.bodies.size());
    made_.stream.positions = static_cast<int>(program_.main().instructions.size());
    add_body(program_.main());
    const std::size_t end = made_.stream.instructions.size();
    add_state_moves();
    if (end < made_.stream.instructions.size()) {
      made_.stream.instructions[end].position = made_.stream.positions;
    }
    diagnostics_.throw_if_errors();
    return std::move(made_);
  }

 private:
  void add_body(const Body& body) {
    for (std::size_t i = 0; i < body.instructions.size(); ++i) {
      const Instruction& instruction = body.instructions[i];
      index_ = static_cast<int>(i);
      const std::size_t start = made_.stream.instructions.size();
      const Instruction* const loop = loop_behind(body, i);
      if (i > 0 && is_done_by_reduction_) {
        is_done_by_reduction_ = false;
        add_nothing(instruction);
      } else if (auto plan = loop == nullptr ? std::nullopt : plan_reduced(instruction, *loop)) {
        add_reduced(body, i, std::move(*plan));
        is_done_by_reduction_ = true;
      } else if (auto product = product_to_reduce(body, i)) {
        add_reduced(body, i, std::move(*product));
      } else if (instruction.kind == Instruction::Kind::compute) {
        add_compute(instruction);
      } else if (instruction.kind == Instruction::Kind::collective) {
        add_collective(instruction);
      } else if (instruction.kind == Instruction::Kind::fused) {
        add_fused(instruction);
      } else {
        add_loop(instruction);
      }
      if (start < made_.stream.instructions.size()) {
        made_.stream.instructions[start].position = static_cast<int>(i);
      }
    }
  }

  StreamInstruction with_places(const Instruction& instruction) const {
    StreamInstruction made;
    for (const BufferId id : instruction.operands) made.operands.push_back(places_.of(id));
    for (const BufferId id : instruction.results) made.results.push_back(places_.of(id));
    if (!instruction.results.empty()) {
      made.element_bytes = info(program_.buffer(instruction.results.front()).type.dtype).bytes;
    }
    return made;
  }

  std::vector<TensorType> types(const std::vector<BufferId>& buffers) const {
    std::vector<TensorType> types;
    for (const BufferId id : buffers) types.push_back(program_.buffer(id).type);
    return types;
  }

  KernelMaker maker_of(Op op) const {
    const auto replaced = std::find_if(seam_.kernels.begin(), seam_.kernels.end(),
                                       [&](const auto& entry) { return entry.first == op; });
    if (replaced != seam_.kernels.end()) return replaced->second;
    return kernel_table()[static_cast<std::size_t>(op)].make;
  }

  KernelSite site_of(const Instruction& instruction) const {
    return {instruction.op, instruction.attributes, types(instruction.operands),
            types(instruction.results)};
  }

  void add_compute(const Instruction& instruction) {
    const KernelSite site = site_of(instruction);
    const KernelMaker make = maker_of(instruction.op);
    SHARD_CHECK(make != nullptr, "a compute instruction's op has a kernel");
    KernelResult result = make(site);
    if (const std::string* refusal = std::get_if<std::string>(&result)) return refuse(*refusal);
    if (instruction.op == Op::dot && needs_many_rows(site)) made_.has_many_row_product = true;
    StreamInstruction made = with_places(instruction);
    made.kernel = std::get<Kernel>(std::move(result));
    made.flops = flops_of(instruction.op, site.operands, site.results, instruction.attributes);
    add(std::move(made), std::string(def(instruction.op).name), false);
  }

  void add_fused(const Instruction& instruction) {
    const std::vector<TensorType> operands = types(instruction.operands);
    auto planned = plan_fused(instruction, operands, [this](Op op) { return maker_of(op); });
    if (const std::string* refusal = std::get_if<std::string>(&planned)) return refuse(*refusal);
    FusedPlan& plan = std::get<FusedPlan>(planned);
    made_.has_many_row_product |= plan.has_products;
    StreamInstruction made = with_places(instruction);
    made.kernel = fused_kernel(std::move(plan));
    made.flops = flops_of_steps(instruction, operands);
    add(std::move(made), fused_name(instruction), false);
  }

  /// An all_reduce of which one worker sees all members' parts.
  bool is_reduced_here(const Instruction& instruction) const {
    return instruction.kind == Instruction::Kind::collective &&
           instruction.collective->kind == CollectiveKind::all_reduce &&
           route_of(collectives_.algorithm) == nullptr && !part_;
  }

  /// The loop behind an all_reduce that alone reads its result, if the all_reduce can do its work.
  const Instruction* loop_behind(const Body& body, std::size_t position) const {
    const Instruction& reduce = body.instructions[position];
    if (!is_reduced_here(reduce) || position + 1 == body.instructions.size()) return nullptr;
    const Instruction& next = body.instructions[position + 1];
    const BufferId sum = reduce.results.front();
    const auto reads = std::count(next.operands.begin(), next.operands.end(), sum);
    const bool is_only_reader = reads == 1 && readers_[index_of(sum)] == 1;
    return next.kind == Instruction::Kind::fused && is_only_reader ? &next : nullptr;
  }

  static std::size_t place_of_sum(const Instruction& reduce, const Instruction& loop) {
    return static_cast<std::size_t>(
        std::find(loop.operands.begin(), loop.operands.end(), reduce.results.front()) -
        loop.operands.begin());
  }

  /// The loop's plan; nothing where it has to come after the all_reduce.
  std::optional<FusedPlan> plan_reduced(const Instruction& reduce, const Instruction& loop) const {
    auto planned = plan_fused(loop, types(loop.operands), [this](Op op) { return maker_of(op); });
    FusedPlan* const plan = std::get_if<FusedPlan>(&planned);
    if (plan == nullptr || !can_follow_reduction(*plan, place_of_sum(reduce, loop)))
      return std::nullopt;
    return std::move(*plan);
  }

  /// The product right before an all_reduce that alone reads it, where the all_reduce can make its
  /// parts: nothing is written over the product's operands meanwhile, by it or the loop behind.
  std::optional<ProductByRows> product_before(const Body& body, std::size_t position,
                                              const Instruction* loop) const {
    if (position == 0) return std::nullopt;
    const Instruction& made = body.instructions[position - 1];
    const Instruction& reduce = body.instructions[position];
    const bool is_product = made.kind == Instruction::Kind::compute && made.op == Op::dot &&
                            maker_of(Op::dot) == make_dot &&
                            made.results.front() == reduce.operands.front() &&
                            readers_[index_of(made.results.front())] == 1;
    if (!is_product || is_written_over(made.operands, reduce.results) ||
        (loop != nullptr && is_written_over(made.operands, loop->results)))
      return std::nullopt;
    return product_by_rows(site_of(made));
  }

  /// The product before an all_reduce without a loop behind.
  std::optional<ProductByRows> product_to_reduce(const Body& body, std::size_t position) const {
    const Instruction& reduce = body.instructions[position];
    if (!is_fused_ || !is_reduced_here(reduce)) return std::nullopt;
    auto made = product_before(body, position, nullptr);
    if (made && !can_be_reduced_by_part(*made, product(reduce.collective->axes))) made.reset();
    return made;
  }

  bool is_written_over(const std::vector<BufferId>& read,
                       const std::vector<BufferId>& written) const {
    return std::any_of(read.begin(), read.end(), [&](BufferId one) {
      return std::any_of(written.begin(), written.end(), [&](BufferId other) {
        return places_.may_overlap(places_.of(one), places_.of(other));
      });
    });
  }

  /// An all_reduce and the loop behind it at once; and the product before it, if that is possible.
  void add_reduced(const Body& body, std::size_t position, FusedPlan plan) {
    const Instruction& reduce = body.instructions[position];
    const Instruction& loop = body.instructions[position + 1];
    const std::size_t sum = place_of_sum(reduce, loop);
    std::optional<ProductByRows> product = product_before(body, position, &loop);
    if (product && !can_be_reduced_by_part(*product, plan)) product.reset();
    if (product) made_.stream.instructions.back().is_done_later = true;
    add_collective(reduce, " and " + fused_name(loop), product ? "dot, " : "");
    StreamInstruction& made = made_.stream.instructions.back();
    const StreamInstruction places = with_places(loop);
    made.operands.insert(made.operands.end(), places.operands.begin(), places.operands.end());
    made.results.insert(made.results.end(), places.results.begin(), places.results.end());
    double flops = flops_of_steps(loop, types(loop.operands));
    if (product) flops += add_product_operands();
    const CollectiveShape shape = shape_of_reduction(reduce);
    set_work(make_reduced_steps(shape, std::move(plan), sum, std::move(product)), flops);
  }

  /// An all_reduce that makes the product before it.
  void add_reduced(const Body& body, std::size_t position, ProductByRows product) {
    const Instruction& reduce = body.instructions[position];
    made_.stream.instructions.back().is_done_later = true;
    add_collective(reduce, "", "dot, ");
    const double flops = add_product_operands();
    set_work(make_reduced_product(shape_of_reduction(reduce), std::move(product)), flops);
  }

  /// The collective that was added last also reads what the product before it does; its flops.
  double add_product_operands() {
    StreamInstruction& made = made_.stream.instructions.back();
    const StreamInstruction& before =
        made_.stream.instructions[made_.stream.instructions.size() - 2];
    made.operands.insert(made.operands.end(), before.operands.begin(), before.operands.end());
    return before.flops;
  }

  CollectiveShape shape_of_reduction(const Instruction& reduce) const {
    CollectiveShape shape;
    shape.reduction = reduce.collective->reduction;
    shape.operand = shape.result = program_.buffer(reduce.operands.front()).type;
    return shape;
  }

  /// What the collective that was added last does instead, with the flops of each member.
  void set_work(const std::shared_ptr<const CollectiveWork>& work, double flops) {
    CollectiveSite& site = made_.sites.back();
    for (const std::unique_ptr<Rendezvous>& group : site.groups) {
      group->work = work;
      group->segments = work->segment_count();
    }
    site.flops = flops;
  }

  /// Stands where a loop was whose work the reduction before it does.
  void add_nothing(const Instruction& loop) {
    StreamInstruction made = with_places(loop);
    made.kernel = [](const KernelCall&) {};
    made.label = fused_name(loop);
    made.body = body_;
    made.index = index_;
    made_.stream.instructions.push_back(std::move(made));
  }

  /// `behind` and `before`: what the label says of what is done at once with the result, and to
  /// make the operand.
  void add_collective(const Instruction& instruction, const std::string& behind = "",
                      const std::string& before = "") {
    const Collective& collective = *instruction.collective;
    SHARD_CHECK(instruction.operands.size() == operand_count(collective.kind) &&
                    instruction.results.size() == 1,
                "a collective has the operands of its kind and one result");
    const std::vector<TensorType> operands = types(instruction.operands);
    const TensorType result = program_.buffer(instruction.results[0]).type;
    StreamInstruction made = with_places(instruction);
    if (collective.kind != CollectiveKind::all_reduce) {
      for (const Place& operand : made.operands) {
        SHARD_CHECK(!places_.may_overlap(operand, made.results[0]),
                    "only an all_reduce works in place");
      }
    }
    const std::string label = before + collective_label(program_.mesh, collective) + behind;
    if (collective.kind == CollectiveKind::all_slice) {
      made.kernel = slice_kernel(program_.mesh, collective, operands.front(), result);
      return add(std::move(made), label, true);
    }
    if (collectives_.algorithm == CollectiveAlgorithm::hierarchical &&
        collective.reduction != Reduction::none &&
        !hosts_cut_alike(program_.mesh, collective.axes, collectives_.hosts)) {
      return refuse_hosts(label);
    }
    made.kind = StreamInstruction::Kind::collective;
    made.site = static_cast<int>(made_.sites.size());
    if (part_) part_->first_tag = static_cast<int>(made_.end_tag);
    made_.sites.push_back(
        build_site(program_.mesh, collective, operands, result, made.site, collectives_, part_));
    made_.end_tag += tags_of_group * (program_.mesh.device_count() / product(collective.axes));
    made_.sites.back().counter = kind_of(label, true);
    made_.sites.back().body = body_;
    made_.sites.back().index = index_;
    add(std::move(made), label, true);
  }

  void add_loop(const Instruction& instruction) {
    const Body& body = program_.bodies[static_cast<std::size_t>(instruction.body)];
    const std::size_t carries = static_cast<std::size_t>(instruction.attributes.integer("carries"));
    const std::size_t slices =
        carries + static_cast<std::size_t>(instruction.attributes.integer("stacked"));
    for (std::size_t i = 0; i < body.parameters.size(); ++i) {
      if (i < carries || i >= slices) {
        add_copy(places_.of(instruction.operands[i]), places_.of(body.parameters[i]));
      }
    }
    StreamInstruction begin;
    begin.kind = StreamInstruction::Kind::loop_begin;
    begin.label = "repeat";
    begin.loop = instruction.body;
    begin.times = instruction.attributes.integer("times");
    begin.is_reverse = instruction.attributes.integer("reverse") != 0;
    if (instruction.attributes.has("guarded")) {
      begin.label = "cond";
      begin.guard = places_.of(instruction.operands[slices]);
    }
    begin.body = body_;
    StreamInstruction end = begin;
    end.kind = StreamInstruction::Kind::loop_end;
    end.body = instruction.body;
    const std::size_t start = made_.stream.instructions.size();
    const int outside = std::exchange(body_, instruction.body);
    made_.stream.instructions.push_back(std::move(begin));
    end.target = static_cast<int>(start) + 1;
    for (std::size_t i = carries; i < slices; ++i) {
      const Place place = places_.of(body.parameters[i]);
      add_copy(places_.slice(instruction.operands[i], instruction.body, place.bytes), place);
    }
    add_body(body);
    const std::size_t body_end = made_.stream.instructions.size();
    for (std::size_t i = 0; i < body.results.size(); ++i) {
      const Place place = places_.of(body.results[i]);
      add_copy(place, i < carries
                          ? places_.of(body.parameters[i])
                          : places_.slice(instruction.results[i], instruction.body, place.bytes));
    }
    made_.stream.instructions.push_back(std::move(end));
    made_.stream.instructions[body_end].position = static_cast<int>(body.instructions.size());
    body_ = outside;
    made_.stream.instructions[start].target = static_cast<int>(made_.stream.instructions.size());
    for (std::size_t i = 0; i < carries; ++i) {
      add_copy(places_.of(body.parameters[i]), places_.of(instruction.results[i]));
    }
  }

  void add_copy(const Place& from, const Place& to) {
    if (from == to) return;
    StreamInstruction made;
    made.operands = {from};
    made.results = {to};
    made.kernel = copy_kernel(static_cast<std::size_t>(to.bytes));
    index_ = -1;
    add(std::move(made), "copy", false);
  }

  /// New state goes to the place of the old, so that the next step starts from it.
  void add_state_moves() {
    StreamInstruction made;
    std::vector<std::size_t> bytes;
    for (const ProgramOutput& output : program_.outputs) {
      if (output.state_leaf < 0) continue;
      for (const ProgramInput& input : program_.inputs) {
        if (input.state_leaf != output.state_leaf) continue;
        const Place from = places_.of(output.buffer), to = places_.of(input.buffer);
        if (from == to) continue;
        made.operands.push_back(from);
        made.results.push_back(to);
        bytes.push_back(static_cast<std::size_t>(to.bytes));
      }
    }
    if (bytes.empty()) return;
    bool needs_staging = false;
    for (const Place& from : made.operands) {
      needs_staging = needs_staging ||
                      std::any_of(made.results.begin(), made.results.end(),
                                  [&](const Place& to) { return places_.may_overlap(from, to); });
    }
    made.kernel = move_kernel(std::move(bytes), needs_staging);
    index_ = -1;
    add(std::move(made), "copy", false);
  }

  int kind_of(const std::string& name, bool is_collective) {
    const auto known = std::find_if(made_.kinds.begin(), made_.kinds.end(),
                                    [&](const CountedKind& kind) { return kind.name == name; });
    if (known != made_.kinds.end()) return static_cast<int>(known - made_.kinds.begin());
    made_.kinds.push_back({name, is_collective});
    return static_cast<int>(made_.kinds.size()) - 1;
  }

  void add(StreamInstruction made, std::string label, bool is_collective) {
    made.counter = kind_of(label, is_collective);
    made.label = std::move(label);
    made.body = body_;
    made.index = index_;
    for (const Place& place : made.operands) made.bytes += static_cast<double>(place.bytes);
    for (const Place& place : made.results) made.bytes += static_cast<double>(place.bytes);
    made_.stream.instructions.push_back(std::move(made));
  }

  void refuse_hosts(const std::string& label) {
    if (!refused_labels_.insert(label).second) return;
    diagnostics_.error("hosts-cut-groups", {},
                       std::to_string(collectives_.hosts) + " hosts cut the groups of " + label +
                           " in different ways, so copies of its result would differ",
                       "choose hosts that hold whole groups or equal parts of them: a product of "
                       "the sizes of the first mesh axes, for example");
  }

  void refuse(const std::string& what) {
    diagnostics_.error("not-yet", {}, "the executor cannot compute " + what + " yet");
  }

  const Program& program_;
  const TestSeam& seam_;
  const CollectiveChoice collectives_;
  std::optional<SitePart> part_;
  Places places_;
  std::vector<int> readers_;           ///< by buffer
  bool is_fused_;                      ///< several instructions may be done at once
  bool is_done_by_reduction_ = false;  ///< the instruction that comes next
  int body_ = 0;                       ///< that is compiled right now
  int index_ = -1;                     ///< the instruction there
  Diagnostics diagnostics_;
  std::set<std::string> refused_labels_;
  CompiledProgram made_;
};

}  // namespace

CompiledProgram compile(const Program& program, const TestSeam& seam,
                        const CollectiveChoice& collectives, const std::optional<SitePart>& part) {
  return Compiler(program, seam, collectives, part).compile();
}

}  // namespace shard
