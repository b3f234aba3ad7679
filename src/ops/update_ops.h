#pragma once
// The optimizer update ops: what they compute, for kernels and for the layers of an optimizer.
// All are elementwise over the parameter; arithmetic is in the parameter's dtype, each result is
// rounded to its own. Source: google-deepmind/optax, optax/_src/transform.py (scale_by_adam,
// trace, add_decayed_weights, scale_by_learning_rate).
//
// sgd_update(param, grad) -> (param')         attributes learning_rate
//   param' = param - learning_rate * grad
//
// momentum_update(param, trace, grad) -> (param', trace')
//                                             attributes learning_rate, decay, nesterov (0 or 1)
//   trace' = grad + decay * trace
//   param' = param - learning_rate * (nesterov ? grad + decay * trace' : trace')
//
// adam_update(param, mu, nu, grad, count) -> (param', mu', nu')
//                               attributes learning_rate, b1, b2, eps, eps_root, weight_decay
//   mu' = b1 * mu + (1 - b1) * grad
//   nu' = b2 * nu + (1 - b2) * grad * grad
//   m   = mu' / (1 - b1^count)                count: scalar i32, *after* the step's increment, so
//   v   = nu' / (1 - b2^count)                1 in the first step
//   param' = param - learning_rate * (m / (sqrt(v + eps_root) + eps) + weight_decay * param)
// With weight_decay > 0 this is adamw. All attributes are doubles but nesterov, an integer.
//
// A further operand, a scalar f32, is a learning rate that changes: the rate is then the attribute
// times it.
