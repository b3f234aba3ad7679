// Attention as one instruction, and its gradient as another, against the ops one by one.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "exec/cluster.h"
#include "numbers.h"
#include "program_maker.h"
#include "spmd/fuse.h"
#include "spmd/fused_form.h"
#include "spmd/partition.h"

using namespace shard;
using namespace shard::test;

namespace {

enum class Mask { none, causal, given };

/// Heads of the keys, queries, query heads per key head, keys, size of a head; per device.
struct AttentionCase {
  DType dtype = DType::f32;
  std::int64_t batch = 1, heads = 1, queries = 1, groups = 1, keys = 1, size = 1;
  Mask mask = Mask::none;
  bool has_gradient = false;
  std::int64_t devices = 1;
  int layers = 1;  ///< one after another, each with arrays of its own; a causal mask is made once
  double hidden = -1e30;   ///< the score of what a mask hides
  double divisor = 1;      ///< of the weights' gradient
  bool is_hiding = false;  ///< the mask says what is hidden, not what is seen
};

using Dims = std::vector<std::int64_t>;

Attributes shape_of(const Shape& shape, Dims dims) {
  return {{"shape", shape}, {"dims", std::move(dims)}};
}

/// The ops of an attention layer, one by one, over a batch that is split over the devices.
class AttentionMaker {
 public:
  explicit AttentionMaker(const AttentionCase& c)
      : c_(c),
        maker_(make_mesh_of({{"data", c.devices}})),
        points_{c.batch, c.heads, c.queries, c.groups, c.keys} {}

  Program make() {
    for (layer_ = 0; layer_ < c_.layers; ++layer_) add_layer();
    return finished(std::move(maker_));
  }

 private:
  void add_layer() {
    const Shape keys{c_.batch, c_.keys, c_.heads, c_.size};
    query_ = input("q", {c_.batch, c_.queries, c_.heads, c_.groups, c_.size});
    key_ = input("k", keys);
    value_ = input("v", keys);
    const BufferId scores = masked(
        wide(maker_.compute(Op::dot, {query_, key_}, dot_attributes({0, 2}, {0, 2}, {4}, {3}))));
    powers_ = maker_.compute(
        Op::exp, {maker_.compute(Op::subtract, {scores, rows(Op::reduce_max, scores)})});
    sums_ = rows(Op::reduce_sum, powers_);
    weights_ = maker_.compute(Op::divide, {powers_, sums_});
    narrow_ = narrow(weights_);
    output("mixed",
           maker_.compute(Op::dot, {narrow_, value_}, dot_attributes({0, 1}, {0, 2}, {4}, {1})));
    if (c_.has_gradient) add_gradient();
  }

  Sharding split(std::size_t rank) const {
    std::vector<std::vector<AxisRef>> dims(rank);
    dims[0] = {maker_.program.mesh.full(0)};
    return sharding_of(dims);
  }
  Shape whole(Shape shape) const {
    shape[0] *= c_.devices;
    return shape;
  }
  std::string numbered(const std::string& name) const {
    return layer_ == 0 ? name : name + std::to_string(layer_);
  }
  BufferId input(const std::string& name, const Shape& shape) {
    return maker_.input(numbered(name), {c_.dtype, whole(shape)}, split(shape.size()));
  }
  void output(const std::string& name, BufferId id) {
    const TensorType type = maker_.type(id);
    maker_.output(numbered(name), id, {type.dtype, whole(type.shape)}, split(type.shape.size()));
  }
  BufferId converted(BufferId id, DType dtype) {
    if (c_.dtype == DType::f32) return id;
    return maker_.compute(Op::convert, {id}, {{"dtype", std::string(info(dtype).name)}});
  }
  BufferId wide(BufferId id) { return converted(id, DType::f32); }
  BufferId narrow(BufferId id) { return converted(id, c_.dtype); }
  /// Of each row, at all its points.
  BufferId rows(Op op, BufferId id) {
    const BufferId each = maker_.compute(op, {id}, {{"dims", Dims{4}}});
    return maker_.compute(Op::broadcast, {each}, shape_of(points_, {0, 1, 2, 3}));
  }
  BufferId number(double value) {
    return maker_.compute(Op::constant, {},
                          {{"shape", Dims{}}, {"value", value}, {"dtype", std::string("f32")}});
  }

  BufferId masked(BufferId scores) {
    if (c_.mask == Mask::none) return scores;
    const Shape square{c_.queries, c_.keys};
    if (c_.mask == Mask::given) {
      const BufferId numbers =
          maker_.input(numbered("mask"), {DType::f32, square}, sharding_of({{}, {}}));
      sees_ = maker_.compute(Op::ge, {numbers, number(0)});
    } else if (layer_ == 0) {
      const auto along = [&](std::int64_t dim) {
        return maker_.compute(Op::iota, {},
                              {{"shape", square}, {"dim", dim}, {"dtype", std::string("i32")}});
      };
      const BufferId first = along(0), second = along(1);
      sees_ = maker_.compute(c_.is_hiding ? Op::lt : Op::ge, {first, second});
    }
    wide_sees_ = maker_.compute(Op::broadcast, {sees_}, shape_of(points_, {2, 4}));
    return seen(scores, number(c_.hidden));
  }
  BufferId seen(BufferId numbers, BufferId else_this) {
    if (c_.is_hiding) std::swap(numbers, else_this);
    return maker_.compute(Op::select, {wide_sees_, numbers, else_this});
  }

  void add_gradient() {
    const std::size_t forward = maker_.program.bodies[0].instructions.size();
    const BufferId g = input("g", {c_.batch, c_.heads, c_.queries, c_.groups, c_.size});
    const BufferId of_weights =
        wide(maker_.compute(Op::dot, {g, value_}, dot_attributes({0, 1}, {0, 2}, {4}, {3})));
    const BufferId of_value =
        maker_.compute(Op::dot, {g, narrow_}, dot_attributes({0, 1}, {0, 1}, {2, 3}, {2, 3}));
    // Reads of it come before the rest of the gradient is made.
    const BufferId turned =
        maker_.compute(Op::transpose, {of_value}, {{"order", Dims{0, 3, 1, 2}}});
    BufferId quotient = maker_.compute(Op::divide, {of_weights, sums_});
    if (c_.divisor != 1) quotient = maker_.compute(Op::divide, {quotient, number(c_.divisor)});
    const BufferId negative =
        maker_.compute(Op::negate, {maker_.compute(Op::multiply, {quotient, weights_})});
    BufferId of_scores = maker_.compute(
        Op::multiply,
        {maker_.compute(Op::add, {quotient, rows(Op::reduce_sum, negative)}), powers_});
    if (c_.mask != Mask::none) of_scores = seen(of_scores, number(0));
    of_scores = narrow(of_scores);
    output("of_query",
           maker_.compute(Op::dot, {of_scores, key_}, dot_attributes({0, 1}, {0, 2}, {4}, {1})));
    output("of_key", maker_.compute(Op::dot, {of_scores, query_},
                                    dot_attributes({0, 1}, {0, 2}, {2, 3}, {1, 3})));
    output("of_value", turned);
    std::vector<Instruction>& list = maker_.program.bodies[0].instructions;
    for (std::size_t i = forward; i < list.size(); ++i) list[i].phase = Phase::backward;
  }

  const AttentionCase c_;
  ProgramMaker maker_;
  const Shape points_;
  int layer_ = 0;
  BufferId query_{}, key_{}, value_{}, sees_{}, wide_sees_{}, powers_{}, sums_{}, weights_{},
      narrow_{};
};

Program attention_program(const AttentionCase& c) { return AttentionMaker(c).make(); }

/// A number put in the place of one that an input has.
struct Odd {
  std::string input;
  std::size_t element = 0;
  double value = 0;
};

std::vector<HostTensor> attention_outputs(const Program& program, int workers = 2,
                                          const std::vector<Odd>& odd = {}) {
  verify(program);
  Cluster cluster(program, {workers});
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    std::vector<double> numbers = numbers_of(random_tensor(program.inputs[i].global, i + 1));
    for (const Odd& one : odd) {
      if (program.inputs[i].path == one.input) numbers.at(one.element) = one.value;
    }
    cluster.write_input(i, tensor(program.inputs[i].global, numbers));
  }
  cluster.run();
  CHECK(cluster.counters().peak.front() == program.memory.peak);
  std::vector<HostTensor> outputs;
  for (std::size_t i = 0; i < program.outputs.size(); ++i)
    outputs.push_back(cluster.read_output(i));
  return outputs;
}

std::vector<std::string> fused_names(const Program& program) {
  std::vector<std::string> names;
  for (const Instruction& one : program.main().instructions) {
    if (one.kind == Instruction::Kind::fused && one.steps.size() > 3)
      names.push_back(fused_name(one));
  }
  return names;
}

double score_bytes(const AttentionCase& c) {
  return 4.0 * static_cast<double>(c.batch * c.heads * c.queries * c.groups * c.keys);
}

}  // namespace

TEST_CASE("attention in one instruction gives what its ops give within rounding") {
  // Whole blocks; rows and columns that fill no block; few keys and many; grouped heads.
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    for (const Mask mask : {Mask::none, Mask::causal, Mask::given}) {
      for (const AttentionCase& sizes :
           {AttentionCase{dtype, 2, 2, 128, 1, 128, 16}, AttentionCase{dtype, 1, 3, 77, 2, 150, 8},
            AttentionCase{dtype, 3, 1, 601, 1, 37, 5},
            AttentionCase{dtype, 1, 1, 33, 1, 2111, 3}}) {
        for (const bool has_gradient : {false, true}) {
          if (has_gradient && sizes.keys < 1024) continue;
          AttentionCase c = sizes;
          c.mask = mask;
          c.has_gradient = has_gradient;
          CAPTURE(info(dtype).name);
          CAPTURE(static_cast<int>(mask));
          CAPTURE(c.keys);
          CAPTURE(has_gradient);
          const Program plain = attention_program(c);
          const Program loop = fused(plain);
          std::vector<std::string> names = {"fused attention"};
          if (has_gradient) names.push_back("fused attention gradient");
          CHECK(fused_names(loop) == names);
          const std::vector<HostTensor> expected = attention_outputs(plain);
          const std::vector<HostTensor> found = attention_outputs(loop);
          // A product adds `size` or `keys` numbers in another order; a 16-bit result that is
          // rounded the other way differs by one unit in the last place.
          for (std::size_t i = 0; i < expected.size(); ++i)
            CHECK(distance(found[i], expected[i]) <
                  (dtype == DType::f32 ? 32 : 4) * epsilon(dtype));
        }
      }
    }
  }
}

TEST_CASE(
    "attentions one after another are one instruction each, with and without what they share") {
  for (const Mask mask : {Mask::none, Mask::causal, Mask::given}) {
    for (const bool has_gradient : {false, true}) {
      AttentionCase c{DType::f32, 1, 2, 40, 1, 1030, 8, mask, has_gradient};
      c.layers = 3;
      CAPTURE(static_cast<int>(mask));
      CAPTURE(has_gradient);
      const Program plain = attention_program(c);
      const Program loop = fused(plain);
      std::vector<std::string> names;
      for (int layer = 0; layer < c.layers; ++layer) {
        names.emplace_back("fused attention");
        if (has_gradient) names.emplace_back("fused attention gradient");
      }
      CHECK(fused_names(loop) == names);
      const std::vector<HostTensor> expected = attention_outputs(plain);
      const std::vector<HostTensor> found = attention_outputs(loop);
      for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK(distance(found[i], expected[i]) < 32 * epsilon(DType::f32));
    }
  }
}

TEST_CASE("what a mask hides at the ends of rows is left out where that changes nothing") {
  // Rows of every width, in several tiles and groups; `size` numbers of each query, key and value.
  AttentionCase c{DType::f32, 1, 2, 300, 1, 1100, 4, Mask::causal};
  c.has_gradient = true;
  const auto last = [&](std::int64_t position) {
    return static_cast<std::size_t>(position * c.heads * c.size);
  };
  const auto row = [&](std::int64_t position) {
    return static_cast<std::size_t>(position * c.size);
  };
  const std::vector<std::vector<Odd>> cases = {
      {},
      // Of hidden keys and of queries, it is in scores that are thrown away.
      {{"k", last(1000), nan_value}},
      {{"k", last(1000), inf}, {"k", last(3), -inf}},
      {{"q", last(20), inf}},
      // A weight of 0 does not hide what is no number, neither in the values nor in gradients.
      {{"v", last(1000), nan_value}},
      {{"v", last(1099), -inf}},
      {{"g", row(50), inf}},
      {{"g", row(50), 1e38}, {"v", last(1000), 1e38}},
      {{"g", row(50), 1e25}, {"v", last(1000), 1e25}},
      {{"q", last(20), 1e25}, {"k", last(1000), 1e25}},
  };
  for (const bool is_hiding : {false, true}) {
    for (const double hidden : {-1e30, -inf, -9.0}) {
      c.is_hiding = is_hiding;
      c.hidden = hidden;
      const Program plain = attention_program(c), loop = fused(plain);
      for (std::size_t i = 0; i < cases.size(); ++i) {
        CAPTURE(is_hiding);
        CAPTURE(hidden);
        CAPTURE(i);
        const std::vector<HostTensor> expected = attention_outputs(plain, 2, cases[i]);
        const std::vector<HostTensor> found = attention_outputs(loop, 2, cases[i]);
        for (std::size_t k = 0; k < expected.size(); ++k)
          CHECK(distance(found[k], expected[k]) < 32 * epsilon(DType::f32));
      }
    }
  }
}

TEST_CASE("rows that turn out to be needed whole when a part is summed are summed once") {
  AttentionCase c{DType::f32, 1, 1, 70, 1, 1056, 4, Mask::causal};
  c.has_gradient = true;
  c.divisor = 1e-5;
  const Program plain = attention_program(c), loop = fused(plain);
  CHECK(fused_names(loop) ==
        std::vector<std::string>{"fused attention", "fused attention gradient"});
  const std::vector<HostTensor> expected = attention_outputs(plain),
                                found = attention_outputs(loop);
  for (std::size_t k = 0; k < expected.size(); ++k)
    CHECK(distance(found[k], expected[k]) < 32 * epsilon(DType::f32));
}

TEST_CASE("rows of which a mask hides everything, or other points than their ends") {
  AttentionCase c{DType::f32, 1, 1, 40, 1, 1056, 4, Mask::given};
  c.has_gradient = true;
  const Program plain = attention_program(c), loop = fused(plain);
  const auto mask_of = [&](std::int64_t first_seen, std::int64_t seen, std::int64_t dark_row) {
    std::vector<Odd> odd;
    for (std::int64_t q = 0; q < c.queries; ++q) {
      for (std::int64_t k = 0; k < c.keys; ++k) {
        const bool sees = k >= first_seen && k < seen && q != dark_row;
        odd.push_back({"mask", static_cast<std::size_t>(q * c.keys + k), sees ? 1.0 : -1.0});
      }
    }
    return odd;
  };
  for (const std::vector<Odd>& mask :
       {mask_of(0, 100, -1), mask_of(0, 131, -1), mask_of(0, 132, -1), mask_of(0, 100, 39),
        mask_of(900, 1056, -1), mask_of(50, 51, -1)}) {
    const std::vector<HostTensor> expected = attention_outputs(plain, 2, mask);
    const std::vector<HostTensor> found = attention_outputs(loop, 2, mask);
    for (std::size_t k = 0; k < expected.size(); ++k)
      CHECK(distance(found[k], expected[k]) < 32 * epsilon(DType::f32));
  }
}

TEST_CASE("attention in one instruction gives the same bytes for every count of workers") {
  AttentionCase c{DType::f32, 1, 2, 40, 2, 1030, 16};
  c.mask = Mask::causal;
  c.has_gradient = true;
  c.devices = 5;
  const Program loop = fused(attention_program(c));
  const std::vector<HostTensor> expected = attention_outputs(loop, 1);
  for (const int workers : {2, 3, 8}) CHECK(attention_outputs(loop, workers) == expected);
}

TEST_CASE("a long sequence plans and touches no array of scores") {
  AttentionCase c{DType::f32, 1, 2, 4096, 1, 4096, 4};
  c.has_gradient = true;
  const Program plain = attention_program(c);
  const Program loop = fused(plain);
  CHECK(static_cast<double>(plain.memory.peak.count()) > 3 * score_bytes(c));
  CHECK(static_cast<double>(loop.memory.peak.count()) < 0.05 * score_bytes(c));
  // Its numbers, row by row: every weight is positive and they sum to one, so values that are all
  // alike are mixed to themselves.
  Cluster cluster(loop, {2});
  for (std::size_t i = 0; i < loop.inputs.size(); ++i)
    cluster.write_input(i, random_tensor(loop.inputs[i].global, i));
  const TensorType values = loop.inputs[2].global;
  cluster.write_input(
      2, tensor(values,
                std::vector<double>(static_cast<std::size_t>(element_count(values.shape)), 0.75)));
  cluster.run();
  CHECK(cluster.counters().peak.front() == loop.memory.peak);
  for (const double mixed : numbers_of(cluster.read_output(0)))
    REQUIRE(mixed == doctest::Approx(0.75).epsilon(1e-5));
  CHECK(cluster.counters().scratch.count() > 0);
}

TEST_CASE("attention counts the flops of its ops and its gradient those of the scores again") {
  AttentionCase c{DType::f32, 1, 2, 64, 1, 1024, 32};
  const auto flops = [](const Program& program) {
    Cluster cluster(program, {2});
    cluster.run();
    double sum = 0;
    for (const KindCounter& kind : cluster.counters().kinds) sum += kind.flops;
    return sum;
  };
  const Program plain = attention_program(c);
  CHECK(flops(fused(plain)) == flops(plain));
  c.has_gradient = true;
  const double scores = 2.0 * 2 * 64 * 1024 * 32;
  const Program both = attention_program(c);
  const double more = flops(fused(both)) - flops(both);
  CHECK(more >= scores);
  CHECK(more < 1.5 * scores);
}

TEST_CASE("attention of few keys stays as it is where a gradient reads its weights") {
  AttentionCase c{DType::f32, 1, 1, 256, 1, 1023, 8};
  CHECK(fused_names(fused(attention_program(c))) == std::vector<std::string>{"fused attention"});
  c.has_gradient = true;
  const std::vector<std::string> names = fused_names(fused(attention_program(c)));
  CHECK(std::count(names.begin(), names.end(), "fused attention") == 0);
  CHECK(std::count(names.begin(), names.end(), "fused attention gradient") == 0);
}

TEST_CASE("attention whose weights somebody reads stays as it is, and so do few scores") {
  AttentionCase few{DType::f32, 1, 1, 64, 1, 64, 8};
  CHECK(fused_names(fused(attention_program(few))) == std::vector<std::string>{"fused divide"});
  AttentionCase c{DType::f32, 1, 1, 300, 1, 300, 8};
  Program program = attention_program(c);
  CHECK(fused_names(fused(program)) == std::vector<std::string>{"fused attention"});
  const Instruction& mixing = program.main().instructions.back();
  const BufferId weights = mixing.operands[0];
  const TensorType type = program.buffer(weights).type;
  program.bodies[0].results.push_back(weights);
  program.outputs.push_back(
      {weights, "weights", Role::output, -1, -1, type, sharding_of({{}, {}, {}, {}, {}}), {}});
  plan_memory(program);
  CHECK(fused_names(fused(program)) == std::vector<std::string>{"fused divide"});
}
