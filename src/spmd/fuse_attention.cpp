#include "spmd/fuse_attention.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "spmd/fused_form.h"
#include "spmd/fused_writer.h"
#include "spmd/kept_values.h"
#include "spmd/loop_product.h"
#include "spmd/score_region.h"

namespace shard::spmd {
namespace {

/// Fewer scores than these on a device pass through the cache, and short rows are no work for
/// products of blocks.
constexpr std::int64_t fewest_points = 65536;
constexpr std::int64_t fewest_rows = 32;
constexpr std::int64_t fewest_columns = 32;
/// A gradient that makes the scores once more takes up to a third longer than one that reads them
/// (measured at 256 to 2048 keys): that is paid where sequences are long, for the memory.
constexpr std::int64_t fewest_columns_made_again = 1024;
/// Some rows have to fit in scratch memory.
constexpr std::int64_t most_columns = 65536;

/// The loop over the scores that this `dot` makes; nothing where it makes none worth it.
std::optional<FusedSpace> score_space(const Program& program, const Instruction& instruction) {
  std::vector<TensorType> operands;
  for (const BufferId id : instruction.operands) operands.push_back(program.buffer(id).type);
  const std::vector<char> inside(operands.size(), 0);
  const TensorType& result = program.buffer(instruction.results.front()).type;
  const auto product = product_in_loop(instruction.attributes, operands, result, inside);
  const bool is_float =
      result.dtype == DType::f32 || result.dtype == DType::bf16 || result.dtype == DType::f16;
  if (!product || product->group_dims < 1 || !is_float) return std::nullopt;
  const FusedForm form{product->shape, product->row_dims, product->group_dims, {}, {}, {}};
  const std::int64_t columns = form.columns(), rows = form.rows();
  const bool is_worth_it = rows * columns >= fewest_points && columns >= fewest_columns &&
                           columns <= most_columns && rows >= fewest_rows * form.groups();
  if (!is_worth_it) return std::nullopt;
  return FusedSpace{product->shape, product->row_dims, product->group_dims};
}

/// What becomes of a body: its instructions without some, and with others between.
class Rewriting {
 public:
  void drop(const std::set<std::size_t>& positions) {
    dropped_.insert(positions.begin(), positions.end());
  }
  void insert(std::size_t before, Instruction instruction) {
    inserted_[before].push_back(std::move(instruction));
  }

  void move(std::size_t from, std::size_t before, const Instruction& instruction) {
    if (!dropped_.insert(from).second) return;
    moved_[from] = before;
    insert(before, instruction);
  }

  bool is_empty() const { return dropped_.empty(); }
  bool drops(std::size_t position) const { return dropped_.contains(position); }
  /// Before what it was moved; nothing where it is where it was, or nowhere.
  std::optional<std::size_t> moved_to(std::size_t position) const {
    const auto found = moved_.find(position);
    return found == moved_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Another one of the same body, that drops nothing that this one drops.
  void join(Rewriting more) {
    dropped_.merge(more.dropped_);
    moved_.merge(more.moved_);
    for (auto& [before, list] : more.inserted_) {
      std::vector<Instruction>& own = inserted_[before];
      std::move(list.begin(), list.end(), std::back_inserter(own));
    }
  }

  void apply(Body& body) {
    std::vector<Instruction> list;
    list.reserve(body.instructions.size() + inserted_.size());
    for (std::size_t i = 0; i <= body.instructions.size(); ++i) {
      if (const auto here = inserted_.find(i); here != inserted_.end())
        std::move(here->second.begin(), here->second.end(), std::back_inserter(list));
      if (i < body.instructions.size() && !dropped_.contains(i))
        list.push_back(std::move(body.instructions[i]));
    }
    body.instructions = std::move(list);
  }

 private:
  std::set<std::size_t> dropped_;
  std::map<std::size_t, std::size_t> moved_;
  std::map<std::size_t, std::vector<Instruction>> inserted_;
};

class AttentionFuser {
 public:
  explicit AttentionFuser(Program& program) : program_(program) {}

  bool run() {
    bool has_fused = false;
    for (std::size_t body = 0; body < program_.bodies.size(); ++body) {
      while (fuse_some(body)) has_fused = true;
    }
    return has_fused;
  }

 private:
  const Body& body(std::size_t number) const { return program_.bodies[number]; }

  /// Fuses attentions of the body, with their gradients, up to one that has to see what became of
  /// those before it: the body is indexed and written once for many. False when there is none left.
  bool fuse_some(std::size_t number) {
    at_hand_ = number;
    made_ = Rewriting();
    must_see_ = false;
    std::optional<BodyUses> uses;
    const std::vector<Instruction>& list = body(number).instructions;
    for (std::size_t i = 0; i < list.size() && !must_see_; ++i) {
      if (list[i].kind != Instruction::Kind::compute || list[i].op != Op::dot) continue;
      if (!tried_.insert(list[i].results.front()).second) continue;
      const auto space = score_space(program_, list[i]);
      if (!space) continue;
      if (!uses) uses.emplace(body(number), program_.buffers.size());
      ScoreRegion region(program_, body(number), *uses, *space, list[i]);
      region.grow({i});
      if (!has_softmax(number, region)) continue;
      const bool is_fused = is_apart(number, *uses, region) && fuse(number, *uses, *space, region);
      if (!is_fused && must_see_) tried_.erase(list[i].results.front());
    }
    if (made_.is_empty()) return false;
    made_.apply(program_.bodies[number]);
    return true;
  }

  /// Nothing of the region, nor of what it reads or who reads it, is different by now.
  bool is_apart(std::size_t number, const BodyUses& uses, const ScoreRegion& region) {
    const auto is_gone = [&](std::size_t position) { return made_.drops(position); };
    const auto is_made_by_gone = [&](BufferId id) { return is_maker_gone(uses, id); };
    const auto is_read_by_gone = [&](BufferId id) {
      const std::span<const std::size_t> readers = uses.readers(id);
      return std::any_of(readers.begin(), readers.end(), is_gone);
    };
    for (const std::size_t position : region.members()) {
      const Instruction& one = body(number).instructions[position];
      must_see_ |= is_gone(position) ||
                   std::any_of(one.operands.begin(), one.operands.end(), is_made_by_gone) ||
                   std::any_of(one.results.begin(), one.results.end(), is_read_by_gone);
    }
    return !must_see_;
  }

  bool is_maker_gone(const BodyUses& uses, BufferId id) const {
    const auto maker = uses.maker(id);
    return maker && made_.drops(*maker) && !made_.moved_to(*maker);
  }

  bool has_softmax(std::size_t number, const ScoreRegion& region) const {
    bool has_powers = false, has_rows = false;
    for (const std::size_t position : region.members()) {
      const Op op = body(number).instructions[position].op;
      has_powers |= op == Op::exp;
      has_rows |= fusion_role(op) == FusionRole::by_row;
    }
    return has_powers && has_rows;
  }

  bool fuse(std::size_t number, const BodyUses& uses, const FusedSpace& space,
            const ScoreRegion& region) {
    std::vector<BufferId> wanted;
    for (const BufferId id : region.escaped()) {
      if (region.has_points(id)) wanted.push_back(id);
    }
    Rewriting here;
    if (wanted.empty()) {
      if (!replace(number, uses, region, {}, here)) return false;
      made_.join(std::move(here));
      return true;
    }
    const FusedForm form{space.shape, space.row_dims, space.group_dims, {}, {}, {}};
    if (form.columns() < fewest_columns_made_again) return false;
    const auto kept = kept_values(program_, number, uses, wanted);
    const std::size_t buffers = program_.buffers.size();
    if (kept && fuse_both(number, uses, space, region, *kept)) return true;
    program_.buffers.resize(buffers);
    return false;
  }

  /// The attention and the gradient that reads its scores or weights.
  bool fuse_both(std::size_t number, const BodyUses& uses, const FusedSpace& space,
                 const ScoreRegion& region, const KeptValues& kept) {
    const Body& later = body(kept.body);
    const bool is_same = kept.body == number;
    std::optional<BodyUses> own;
    if (!is_same) own.emplace(later, program_.buffers.size());
    const BodyUses& later_uses = is_same ? uses : *own;
    // What was made in the forward pass counts as made in the gradient.
    std::set<BufferId> given;
    std::vector<std::size_t> readers;
    for (const std::size_t position : region.members()) {
      for (const BufferId id : body(number).instructions[position].results) {
        if (!region.makes(id)) continue;
        const BufferId there = kept.named_there(id);
        if (there == BufferId::none) continue;
        given.insert(there);
        for (const std::size_t reader : later_uses.readers(there)) {
          if (!is_same || !region.contains(reader)) readers.push_back(reader);
        }
      }
    }
    if (readers.empty()) return false;
    const std::size_t first = *std::min_element(readers.begin(), readers.end());
    ScoreRegion gradient(program_, later, later_uses, space, later.instructions[first], given);
    gradient.grow(readers);
    if (is_same && (overlaps(region, gradient) || !is_apart(number, uses, gradient))) return false;
    for (const BufferId id : gradient.escaped()) {
      if (!gradient.has_points(id)) continue;
      const auto all = later_uses.readers(id);
      const bool is_read_elsewhere = std::any_of(all.begin(), all.end(), [&](std::size_t reader) {
        return !gradient.contains(reader) && !(is_same && region.contains(reader));
      });
      if (is_read_elsewhere || later_uses.is_result(id)) return false;
    }
    return write_both(number, uses, region, kept, later_uses, gradient);
  }

  static bool overlaps(const ScoreRegion& a, const ScoreRegion& b) {
    return std::any_of(a.members().begin(), a.members().end(),
                       [&](std::size_t position) { return b.contains(position); });
  }

  bool write_both(std::size_t number, const BodyUses& uses, const ScoreRegion& region,
                  const KeptValues& kept, const BodyUses& later_uses, const ScoreRegion& gradient) {
    const Body& later = body(kept.body);
    const Instruction& like = later.instructions[*gradient.members().begin()];
    Remaker remaker(program_, number, uses, kept, later_uses, like);
    std::vector<Instruction> steps = made_again(number, region, gradient, kept);
    for (Instruction& step : steps) {
      for (BufferId& id : step.operands) {
        if (region.makes(id)) continue;
        const auto there = remaker.there(id);
        if (!there) return false;
        id = *there;
      }
    }
    for (const BufferId id : remaker.copied()) must_see_ |= is_maker_gone(uses, id);
    if (must_see_) return false;
    for (const std::size_t position : gradient.members()) {
      steps.push_back(later.instructions[position]);
      for (BufferId& id : steps.back().operands) id = kept.named_here(id);
    }
    Rewriting here, there;
    Rewriting& behind = kept.body == number ? here : there;
    if (!replace_by(kept.body, later_uses, gradient, steps, remaker.instructions(), behind) ||
        !replace(number, uses, region, {&gradient, kept.body == number}, here))
      return false;
    made_.join(std::move(here));
    if (kept.body == number) return true;
    there.apply(program_.bodies[kept.body]);
    drop_kept(program_, kept);
    must_see_ = true;
    return true;
  }

  /// Copies of those of the region's instructions whose results the gradient needs.
  std::vector<Instruction> made_again(std::size_t number, const ScoreRegion& region,
                                      const ScoreRegion& gradient, const KeptValues& kept) const {
    std::set<BufferId> needed;
    for (const std::size_t position : gradient.members()) {
      for (const BufferId id : body(kept.body).instructions[position].operands) {
        const BufferId made = kept.named_here(id);
        if (region.makes(made)) needed.insert(made);
      }
    }
    std::vector<Instruction> again;
    for (auto position = region.members().rbegin(); position != region.members().rend();
         ++position) {
      const Instruction& one = body(number).instructions[*position];
      const bool is_needed = std::any_of(one.results.begin(), one.results.end(),
                                         [&](BufferId id) { return needed.contains(id); });
      if (!is_needed) continue;
      needed.insert(one.operands.begin(), one.operands.end());
      again.push_back(one);
    }
    std::reverse(again.begin(), again.end());
    return again;
  }

  /// Readers that are no readers any more: the gradient's, where it is in the same body.
  struct Others {
    const ScoreRegion* gradient = nullptr;
    bool is_same_body = false;

    bool contains(std::size_t position) const {
      return gradient != nullptr && is_same_body && gradient->contains(position);
    }
  };

  /// The region becomes one instruction, or nothing where nobody reads it any more.
  bool replace(std::size_t number, const BodyUses& uses, const ScoreRegion& region,
               const Others& others, Rewriting& rewriting) {
    std::vector<const Instruction*> steps;
    for (const std::size_t position : region.members())
      steps.push_back(&body(number).instructions[position]);
    return put(number, uses, region, others, steps, {}, rewriting);
  }

  /// `list` becomes one instruction in the place of the gradient, with those in `before` before it.
  bool replace_by(std::size_t number, const BodyUses& uses, const ScoreRegion& gradient,
                  const std::vector<Instruction>& list, const std::vector<Instruction>& before,
                  Rewriting& rewriting) {
    std::vector<const Instruction*> steps;
    for (const Instruction& one : list) steps.push_back(&one);
    return put(number, uses, gradient, {}, steps, before, rewriting);
  }

  /// Before the first who reads a result of it.
  bool put(std::size_t number, const BodyUses& uses, const ScoreRegion& region,
           const Others& others, const std::vector<const Instruction*>& steps,
           const std::vector<Instruction>& before, Rewriting& rewriting) {
    std::size_t place = *region.members().rbegin() + 1;
    const auto is_wanted = [&](BufferId id, int) {
      const auto maker = uses.maker(id);
      if (!maker || !region.contains(*maker)) return false;
      bool is_read = uses.is_result(id) && !is_dropped(region, others, id);
      for (const std::size_t reader : uses.readers(id)) {
        if (region.contains(reader) || others.contains(reader)) continue;
        is_read = true;
        place = std::min(place, reader);
      }
      return is_read;
    };
    writer_.know(program_.buffers.size());
    const Instruction made = writer_.write(steps, is_wanted);
    rewriting.drop(region.members());
    if (made.results.empty()) return others.gradient != nullptr;
    if (!is_sound(made) || !make_ready(number, uses, made, place, rewriting)) return false;
    for (const Instruction& one : before) {
      if (!make_ready(number, uses, one, place, rewriting)) return false;
      rewriting.insert(place, one);
    }
    rewriting.insert(place, made);
    return true;
  }

  /// What it reads is there by then.
  bool make_ready(std::size_t number, const BodyUses& uses, const Instruction& made,
                  std::size_t place, Rewriting& rewriting) {
    return std::all_of(made.operands.begin(), made.operands.end(),
                       [&](BufferId id) { return is_ready(number, uses, id, place, rewriting); });
  }

  /// What is made later is made before, where that does not wait for the region: constants, and
  /// what a gradient gathers of its own operands.
  bool is_ready(std::size_t number, const BodyUses& uses, BufferId id, std::size_t place,
                Rewriting& rewriting) {
    const auto maker = uses.maker(id);
    if (!maker || is_there(number, *maker, place)) return true;
    if (const auto moved = rewriting.moved_to(*maker)) return *moved <= place;
    must_see_ |= number == at_hand_ && made_.drops(*maker);
    if (must_see_ || rewriting.drops(*maker)) return false;
    const Instruction& later = body(number).instructions[*maker];
    if (later.kind == Instruction::Kind::loop || !make_ready(number, uses, later, place, rewriting))
      return false;
    rewriting.move(*maker, place, later);
    return true;
  }

  /// What was moved already cannot be moved once more.
  bool is_there(std::size_t number, std::size_t maker, std::size_t place) {
    const auto moved = number == at_hand_ ? made_.moved_to(maker) : std::nullopt;
    if (moved && *moved > place) must_see_ = true;
    return moved ? *moved <= place : maker < place;
  }

  /// It is a loop that sums products and hands out no points.
  bool is_sound(const Instruction& made) const {
    std::vector<TensorType> operands;
    for (const BufferId id : made.operands) operands.push_back(program_.buffer(id).type);
    const FusedFormResult form = fused_form(operands, made.steps);
    const FusedForm* const found = std::get_if<FusedForm>(&form);
    if (found == nullptr || found->sums.empty()) return false;
    return std::all_of(made.outputs.begin(), made.outputs.end(), [&](int output) {
      const std::vector<int>& sums = found->sums;
      return std::find(sums.begin(), sums.end(), output) != sums.end() ||
             found->is_by_row(found->values[static_cast<std::size_t>(output)].shape);
    });
  }

  /// The body hands out points only for the gradient in another body.
  static bool is_dropped(const ScoreRegion& region, const Others& others, BufferId id) {
    return others.gradient != nullptr && !others.is_same_body && region.has_points(id);
  }

  Program& program_;
  std::set<BufferId> tried_;
  FusedWriter writer_{0};
  std::size_t at_hand_ = 0;  ///< the body that is looked through
  Rewriting made_;           ///< of that body, since it was indexed
  bool must_see_ = false;    ///< nothing more can be said before that is written
};

}  // namespace

bool fuse_attention(Program& program) { return AttentionFuser(program).run(); }

}  // namespace shard::spmd
