#include <algorithm>
#include <memory>

#include "exec/element.h"
#include "exec/fourier.h"
#include "exec/kernel.h"
#include "ops/complex_ops.h"

namespace shard {
namespace {

using Complex = FourierLine::Complex;

/// The transform of one batch element, of `sizes` numbers on the side of the complex ones.
struct FftPlan {
  FftKind kind;
  std::vector<std::shared_ptr<const FourierLine>> lines;  ///< by transformed dim
  std::size_t batch = 1;
  std::size_t in_points = 1, out_points = 1;
  std::size_t space = 0;

  std::size_t last() const { return lines.back()->length(); }
};

FftPlan plan_fft(const KernelSite& site) {
  const std::vector<std::int64_t>& lengths = site.attributes.integers("lengths");
  FftPlan plan{*fft_kind(site.attributes.text("kind")), {}};
  for (const std::int64_t length : lengths) {
    plan.lines.push_back(std::make_shared<const FourierLine>(static_cast<std::size_t>(length)));
    plan.space = std::max(plan.space, plan.lines.back()->space());
  }
  const Shape &in = site.operands[0].shape, &out = site.results[0].shape;
  for (std::size_t dim = 0; dim < in.size(); ++dim) {
    const auto from = static_cast<std::size_t>(in[dim]), to = static_cast<std::size_t>(out[dim]);
    if (dim + lengths.size() < in.size()) {
      plan.batch *= from;
    } else {
      plan.in_points *= from;
      plan.out_points *= to;
    }
  }
  return plan;
}

struct FftRoom {
  Complex* numbers;
  Complex* line;
  Complex* space;
};

/// Transforms every line along dim `dim` of `points` numbers whose last dim has `last` of them.
void transform_lines(const FftPlan& plan, std::size_t dim, std::size_t points, std::size_t last,
                     const FftRoom& room) {
  const FourierLine& line = *plan.lines[dim];
  std::size_t stride = 1;
  for (std::size_t after = dim + 1; after < plan.lines.size(); ++after) {
    stride *= after + 1 == plan.lines.size() ? last : plan.lines[after]->length();
  }
  const std::size_t count = line.length();
  for (std::size_t outer = 0; outer < points; outer += stride * count) {
    for (std::size_t inner = 0; inner < stride; ++inner) {
      Complex* const first = room.numbers + outer + inner;
      for (std::size_t i = 0; i < count; ++i) room.line[i] = first[i * stride];
      line.run(room.line, room.space, plan.kind.is_inverse);
      for (std::size_t i = 0; i < count; ++i) first[i * stride] = room.line[i];
    }
  }
}

/// From the first half of a line, whose other half is its mirror image, to real numbers.
void real_line(const FftPlan& plan, const Complex* half, float* out, const FftRoom& room) {
  const std::size_t count = plan.last();
  for (std::size_t i = 0; i < count; ++i) {
    room.line[i] = 2 * i <= count ? half[i] : std::conj(half[count - i]);
  }
  room.line[0] = room.line[0].real();
  if (count % 2 == 0) room.line[count / 2] = room.line[count / 2].real();
  plan.lines.back()->run(room.line, room.space, true);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(room.line[i].real());
}

void run_to_real(const FftPlan& plan, const float* in, float* out, const FftRoom& room) {
  const std::size_t half = plan.last() / 2 + 1;
  to_doubles(DType::c64, reinterpret_cast<const std::byte*>(in),
             reinterpret_cast<double*>(room.numbers), 2 * plan.in_points);
  for (std::size_t dim = 0; dim + 1 < plan.lines.size(); ++dim) {
    transform_lines(plan, dim, plan.in_points, half, room);
  }
  for (std::size_t line = 0; line * half < plan.in_points; ++line) {
    real_line(plan, room.numbers + line * half, out + line * plan.last(), room);
  }
}

void run_to_complex(const FftPlan& plan, const float* in, float* out, const FftRoom& room) {
  const std::size_t points = plan.in_points;
  for (std::size_t i = 0; i < points; ++i) {
    room.numbers[i] = plan.kind.takes_real ? Complex(static_cast<double>(in[i]))
                                           : Complex(static_cast<double>(in[2 * i]),
                                                     static_cast<double>(in[2 * i + 1]));
  }
  for (std::size_t dim = plan.lines.size(); dim-- > 0;) {
    transform_lines(plan, dim, points, plan.last(), room);
  }
  const std::size_t kept = plan.kind.takes_real ? plan.last() / 2 + 1 : plan.last();
  for (std::size_t i = 0; i < plan.out_points; ++i) {
    const Complex x = room.numbers[i / kept * plan.last() + i % kept];
    out[2 * i] = static_cast<float>(x.real());
    out[2 * i + 1] = static_cast<float>(x.imag());
  }
}

}  // namespace

KernelResult make_fft(const KernelSite& site) {
  return [plan = plan_fft(site)](const KernelCall& call) {
    const auto longest =
        std::max_element(plan.lines.begin(), plan.lines.end(),
                         [](const auto& a, const auto& b) { return a->length() < b->length(); });
    const FftRoom room = {call.scratch.take_array<Complex>(plan.in_points),
                          call.scratch.take_array<Complex>((*longest)->length()),
                          call.scratch.take_array<Complex>(plan.space)};
    const auto* in = reinterpret_cast<const float*>(call.operands[0]);
    auto* out = reinterpret_cast<float*>(call.results[0]);
    for (std::size_t i = 0; i < plan.batch; ++i) {
      (plan.kind.gives_real ? run_to_real : run_to_complex)(plan, in, out, room);
      in += plan.in_points * (plan.kind.takes_real ? 1 : 2);
      out += plan.out_points * (plan.kind.gives_real ? 1 : 2);
    }
  };
}

}  // namespace shard
