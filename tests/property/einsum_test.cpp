// Einsums with random letters, run on one device and on eight, against the sum over all letters
// that their equation says.

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

#include "exec/cluster.h"
#include "support/pipeline.h"

using namespace shard;
using namespace shard::test;

namespace einsum_runs {
namespace {

using Sizes = std::map<char, std::int64_t>;

struct Case {
  std::vector<std::string> inputs;
  std::string result;
  Sizes sizes;

  std::string equation() const {
    std::string text;
    for (const std::string& input : inputs) text += (text.empty() ? "" : ",") + input;
    return text + "->" + result;
  }
};

bool holds_letter(const std::string& letters, char letter) {
  return letters.find(letter) != letters.npos;
}

/// Up to four inputs of up to three dims each, letters repeated within them now and then.
Case random_case(std::mt19937_64& rng) {
  Case made;
  for (const char letter : std::string("abcd")) {
    made.sizes[letter] = 2 + static_cast<std::int64_t>(rng() % 4);
  }
  const std::size_t count = 1 + rng() % 4;
  std::string used;
  for (std::size_t k = 0; k < count; ++k) {
    std::string letters;
    for (std::size_t dim = 0, rank = 1 + rng() % 3; dim < rank; ++dim) letters += "abcd"[rng() % 4];
    made.inputs.push_back(letters);
    used += letters;
  }
  for (const char letter : used) {
    if (!holds_letter(made.result, letter) && rng() % 2 == 0) {
      made.result.insert(rng() % (made.result.size() + 1), 1, letter);
    }
  }
  return made;
}

Shape shape_of(const Case& one, const std::string& letters) {
  Shape shape;
  for (const char letter : letters) shape.push_back(one.sizes.at(letter));
  return shape;
}

std::size_t offset_in(const Case& one, const std::string& letters, const Sizes& at) {
  std::int64_t offset = 0;
  for (const char letter : letters) offset = offset * one.sizes.at(letter) + at.at(letter);
  return static_cast<std::size_t>(offset);
}

HostTensor filled_with(std::mt19937_64& rng, Shape shape) {
  HostTensor tensor = zeros({DType::f32, std::move(shape)});
  const std::int64_t count = element_count(tensor.type.shape);
  // Small whole numbers: every order of adding gives the same sums.
  for (std::int64_t i = 0; i < count; ++i) {
    tensor.data<float>()[i] = static_cast<float>(static_cast<int>(rng() % 7) - 3);
  }
  return tensor;
}

/// The sum over all positions of all letters.
HostTensor summed(const Case& one, const std::vector<HostTensor>& inputs) {
  HostTensor result = zeros({DType::f32, shape_of(one, one.result)});
  Sizes used;
  for (const std::string& letters : one.inputs) {
    for (const char letter : letters) used[letter] = one.sizes.at(letter);
  }
  std::int64_t points = 1;
  for (const auto& [letter, size] : used) points *= size;
  for (std::int64_t point = 0; point < points; ++point) {
    Sizes at;
    std::int64_t rest = point;
    for (const auto& [letter, size] : used) {
      at[letter] = rest % size;
      rest /= size;
    }
    float product = 1;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      product *= inputs[k].data<float>()[offset_in(one, one.inputs[k], at)];
    }
    result.data<float>()[offset_in(one, one.result, at)] += product;
  }
  return result;
}

/// The dims are labelled by their letters, so that rules split them.
std::string model_of(const Case& one) {
  std::string inputs, names;
  for (std::size_t k = 0; k < one.inputs.size(); ++k) {
    const std::string name = "in" + std::to_string(k);
    std::string dims, before;
    for (const char letter : one.inputs[k]) {
      // A name stands once in an array: `a`, `aa`, `aaa`.
      before += letter;
      const auto times = std::count(before.begin(), before.end(), letter);
      dims += (dims.empty() ? "" : ", ") + std::string(static_cast<std::size_t>(times), letter) +
              "=" + std::to_string(one.sizes.at(letter));
    }
    inputs += (k == 0 ? "" : ", ") + name + ": \"f32[" + dims + "]\"";
    names += (k == 0 ? "" : ", ") + name;
  }
  return "inputs: {" + inputs + "}\nlayers: [einsum: {of: [" + names + "], equation: \"" +
         one.equation() + "\"}]\noutputs: {y: null}\n";
}

HostTensor run_on(const Case& one, const std::string& rules,
                  const std::vector<HostTensor>& inputs) {
  const Planned planned = plan_texts(model_of(one), rules, false);
  Cluster cluster(planned.program, {});
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const std::size_t at = input_at(planned.program, "in" + std::to_string(k));
    cluster.write_input(at, inputs[k]);
  }
  cluster.run();
  return cluster.read_output(output_at(planned.program, "y"));
}

}  // namespace

TEST_CASE("an einsum is the sum over the letters of its equation on any mesh") {
  const std::string whole = "mesh: {m: 1}\nrules: []\n";
  const std::string split =
      "mesh: {m: 2, n: 4}\nmisfit: pad\nrules: [[a, m], [b, n], [c, [n, m]], [d, m], [aa, n], [bb, "
      "m],"
      " [dd, n]]\n";
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 rng(seed);
    const Case one = random_case(rng);
    CAPTURE(seed);
    CAPTURE(one.equation());
    std::vector<HostTensor> inputs;
    for (const std::string& letters : one.inputs) {
      inputs.push_back(filled_with(rng, shape_of(one, letters)));
    }
    const HostTensor wanted = summed(one, inputs);
    CHECK(run_on(one, whole, inputs) == wanted);
    CHECK(run_on(one, split, inputs) == wanted);
  }
}

}  // namespace einsum_runs
