// The reference of the optimizers' updates, as ops/update_ops.h defines them.

#include <cmath>

#include "exec/reference_rows.h"

namespace shard::reference {
namespace {

using Call = ReferenceCall;

/// `fixed` operands come before the rate.
double learning_rate(const Call& c, std::size_t fixed) {
  const double rate = c.attributes.number("learning_rate");
  return c.operands.size() > fixed ? rate * c.values(fixed)[0] : rate;
}

}  // namespace

void sgd_update(const Call& c) {
  const double rate = learning_rate(c, 2);
  for (std::size_t i = 0; i < c.values(0).size(); ++i) {
    c.results[0].values[i] = c.values(0)[i] - rate * c.values(1)[i];
  }
}

void momentum_update(const Call& c) {
  const double rate = learning_rate(c, 3), decay = c.attributes.number("decay");
  const bool nesterov = c.attributes.integer("nesterov") == 1;
  for (std::size_t i = 0; i < c.values(0).size(); ++i) {
    const double gradient = c.values(2)[i];
    const double trace = gradient + decay * c.values(1)[i];
    c.results[0].values[i] = c.values(0)[i] - rate * (nesterov ? gradient + decay * trace : trace);
    c.results[1].values[i] = trace;
  }
}

void adam_update(const Call& c) {
  const Attributes& a = c.attributes;
  const double b1 = a.number("b1"), b2 = a.number("b2"), count = c.values(4)[0];
  const double eps = a.number("eps"), eps_root = a.number("eps_root");
  const double rate = learning_rate(c, 5), weight_decay = a.number("weight_decay");
  const double left1 = 1 - std::pow(b1, count), left2 = 1 - std::pow(b2, count);
  for (std::size_t i = 0; i < c.values(0).size(); ++i) {
    const double p = c.values(0)[i], gradient = c.values(3)[i];
    const double mu = b1 * c.values(1)[i] + (1 - b1) * gradient;
    const double nu = b2 * c.values(2)[i] + (1 - b2) * gradient * gradient;
    const double direction = (mu / left1) / (std::sqrt(nu / left2 + eps_root) + eps);
    c.results[0].values[i] = p - rate * (direction + weight_decay * p);
    c.results[1].values[i] = mu;
    c.results[2].values[i] = nu;
  }
}

}  // namespace shard::reference
