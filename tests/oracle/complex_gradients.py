#!/usr/bin/env python3
"""Asks JAX for the gradients of real losses of complex parameters, and optax for the steps that
follow. Prints tests/property/complex_gradients.json; each case says the same in our words (`ours`:
layers that end in a value `y`) and in JAX's."""

import json
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import optax

warnings.filterwarnings("ignore")

random = np.random.default_rng(20)


def complex_array(*shape):
    return (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(np.complex64)


VALUES = {
    "w": complex_array(4, 6),  # parameters
    "p": complex_array(6, 2),
    "r": random.normal(size=(4, 6)).astype(np.float32),
    "c": complex_array(4, 6),  # inputs
    "k": random.normal(size=(4, 6)).astype(np.float32),
    "n": np.array([2, 0, 2, 3], np.int32),
}


def real(name, ours, function):
    """The loss is the real part of a sum weighted by c."""
    return name, f"  - let: y = real(reduce_sum(({ours}) * c))\n", lambda a: jnp.real(
        jnp.sum(function(a) * a["c"]))


def weighted(name, ours, function):
    """The loss is a sum of real numbers weighted by k."""
    return name, f"  - let: y = reduce_sum(({ours}) * k)\n", lambda a: jnp.sum(function(a) * a["k"])


def abs2(x):
    return jnp.abs(x) ** 2


CASES = [
    weighted("abs_squared", "square(abs(w))", lambda a: abs2(a["w"])),
    weighted("abs", "abs(w)", lambda a: jnp.abs(a["w"])),
    weighted("real", "real(w)", lambda a: jnp.real(a["w"])),
    weighted("imag", "imag(w)", lambda a: jnp.imag(a["w"])),
    weighted("angle", "angle(w)", lambda a: jnp.angle(a["w"])),
    weighted("imag_of_conjugate", "imag(conjugate(w) * c)",
         lambda a: jnp.imag(jnp.conj(a["w"]) * a["c"])),
    real("conjugate", "conjugate(w)", lambda a: jnp.conj(a["w"])),
    real("multiply", "w * w * c", lambda a: a["w"] * a["w"] * a["c"]),
    real("by_its_conjugate", "w * conjugate(w)", lambda a: a["w"] * jnp.conj(a["w"])),
    real("divide", "w / c", lambda a: a["w"] / a["c"]),
    real("divide_by", "c / w", lambda a: a["c"] / a["w"]),
    real("add_subtract", "w + c - w * 0.5", lambda a: a["w"] + a["c"] - a["w"] * 0.5),
    real("negate", "-w", lambda a: -a["w"]),
    real("square", "square(w)", lambda a: jnp.square(a["w"])),
    real("sqrt", "sqrt(w)", lambda a: jnp.sqrt(a["w"])),
    real("exp", "exp(w)", lambda a: jnp.exp(a["w"])),
    real("log", "log(w)", lambda a: jnp.log(a["w"])),
    real("tanh", "tanh(w)", lambda a: jnp.tanh(a["w"])),
    real("sin", "sin(w)", lambda a: jnp.sin(a["w"])),
    real("cos", "cos(w)", lambda a: jnp.cos(a["w"])),
    real("fft", "fft(w)", lambda a: jnp.fft.fft(a["w"])),
    real("ifft", "ifft(w)", lambda a: jnp.fft.ifft(a["w"])),
    real("fft_of_two_dims", "fft(w, dims=[a, b])", lambda a: jnp.fft.fft2(a["w"])),
    real("fft_of_product", "ifft(fft(w) * fft(c))",
         lambda a: jnp.fft.ifft(jnp.fft.fft(a["w"]) * jnp.fft.fft(a["c"]))),
    real("cumsum", "cumsum(w)", lambda a: jnp.cumsum(a["w"], 1)),
    real("reverse", "reverse(w, dims=b)", lambda a: a["w"][:, ::-1]),
    real("where", "where(gt(k, 0), w, c)", lambda a: jnp.where(a["k"] > 0, a["w"], a["c"])),
    real("complex_of_real", "complex(r, r * k)",
         lambda a: jax.lax.complex(a["r"], a["r"] * a["k"])),
    real("real_to_complex", "r * w", lambda a: a["r"] * a["w"]),
    real("take", "take(w, n, dim=a)", lambda a: a["w"][a["n"]]),
    real("stop_gradient", "w * stop_gradient(w)", lambda a: a["w"] * jax.lax.stop_gradient(a["w"])),
    weighted("irfft_of_rfft", "irfft(rfft(real(w * c)), length=b)",
         lambda a: jnp.fft.irfft(jnp.fft.rfft(jnp.real(a["w"] * a["c"])), 6)),
    weighted("real_complex_real", "abs(fft(complex(r, imag(w))))",
         lambda a: jnp.abs(jnp.fft.fft(jax.lax.complex(a["r"], jnp.imag(a["w"]))))),
    ("mean_of_abs_squared", "  - let: y = reduce_mean(square(abs(w)))\n",
     lambda a: jnp.mean(abs2(a["w"]))),
    ("matmul", "  - let: y = reduce_sum(square(abs(w @ p)))\n",
     lambda a: jnp.sum(abs2(a["w"] @ a["p"]))),
    ("product", "  - let: y = abs(reduce_prod(w))\n", lambda a: jnp.abs(jnp.prod(a["w"]))),
    ("irfft", "  - let: y = reduce_sum(square(irfft(w, length=10)))\n",
     lambda a: jnp.sum(jnp.fft.irfft(a["w"], 10) ** 2)),
    ("slice",
     "  - slice: {of: w, dim: b, start: 1, limit: 6, stride: 2, name: s}\n"
     "  - let: y = reduce_sum(square(imag(s * s)))\n",
           lambda a: jnp.sum(jnp.imag(a["w"][:, 1:6:2] ** 2) ** 2)),
    ("pad",
     "  - pad: {of: w, dim: b, low: 1, high: -1, name: s}\n"
     "  - let: y = reduce_sum(square(abs(s + c)))\n",
           lambda a: jnp.sum(abs2(jnp.pad(a["w"], ((0, 0), (1, 0)))[:, :-1] + a["c"]))),
    ("concatenate",
     "  - concatenate: {of: [w, c, w], dim: b, name: s}\n"
     "  - let: y = abs(reduce_sum(s * s))\n",
           lambda a: jnp.abs(jnp.sum(jnp.concatenate([a["w"], a["c"], a["w"]], 1) ** 2))),
    ("convert",
     "  - convert: {of: r, dtype: c64, name: s}\n"
     "  - let: y = real(reduce_sum(s * s * c))\n",
           lambda a: jnp.real(jnp.sum(a["r"].astype(jnp.complex64) ** 2 * a["c"]))),
]

OPTIMIZERS = [
    ("sgd", "sgd: 0.1", optax.sgd(0.1)),
    ("momentum", "sgd: {learning_rate: 0.1, momentum: 0.9}", optax.sgd(0.1, 0.9)),
    ("nesterov", "sgd: {learning_rate: 0.1, momentum: 0.9, nesterov: true}",
     optax.sgd(0.1, 0.9, True)),
    ("adam", "adam: 0.1", optax.adam(0.1)),
    ("adam_nesterov", "adam: {learning_rate: 0.1, nesterov: true}", optax.adam(0.1, nesterov=True)),
    ("adamw", "adamw: {learning_rate: 0.1, weight_decay: 0.1}", optax.adamw(0.1, weight_decay=0.1)),
    ("lion", "lion: 0.1", optax.lion(0.1)),
    ("adafactor", "adafactor: {learning_rate: 0.1, min_dim_size_to_factor: 2}",
     optax.adafactor(0.1, min_dim_size_to_factor=2)),
    ("adafactor_unfactored", "adafactor: {learning_rate: 0.1, momentum: 0.9, dtype_momentum: c64}",
     optax.adafactor(0.1, momentum=0.9, dtype_momentum=jnp.complex64)),
    ("rmsprop", "rmsprop: 0.1", optax.rmsprop(0.1)),
    ("adagrad", "adagrad: 0.1", optax.adagrad(0.1)),
    ("lamb", "lamb: {learning_rate: 0.1, weight_decay: 0.1}", optax.lamb(0.1, weight_decay=0.1)),
    ("clipped", "chain: [clip_by_global_norm: 0.5, sgd: 0.1]",
     optax.chain(optax.clip_by_global_norm(0.5), optax.sgd(0.1))),
    ("clipped_by_block", "chain: [clip_by_block_rms: 0.5, sgd: 0.1]",
     optax.chain(optax.clip_by_block_rms(0.5), optax.sgd(0.1))),
]

PARAMETERS = ("p", "r", "w")
INPUTS = {name: VALUES[name] for name in ("c", "k", "n")}


def numbers(array):
    """Row-major; of complex ones the real and the imaginary part of each."""
    array = np.ascontiguousarray(array)
    flat = array.view(np.float32) if array.dtype == np.complex64 else array
    return [float(f"{x:.9g}") for x in flat.ravel().tolist()]


def trained_loss(parameters):
    a = {**INPUTS, **parameters}
    return jnp.mean(abs2(a["w"] @ a["p"])) + jnp.mean(a["r"] * jnp.real(a["w"] * a["c"]))


def main():
    parameters = {name: VALUES[name] for name in PARAMETERS}
    cases = []
    for name, ours, function in CASES:
        loss, grads = jax.value_and_grad(lambda p: function({**INPUTS, **p}))(parameters)
        cases.append({"name": name, "layers": ours, "loss": float(loss),
                      "grads": {k: numbers(v) for k, v in grads.items() if np.any(v != 0)}})
    steps = []
    for name, ours, optimizer in OPTIMIZERS:
        moved, state = parameters, optimizer.init(parameters)
        for _ in range(2):
            updates, state = optimizer.update(jax.grad(trained_loss)(moved), state, moved)
            moved = optax.apply_updates(moved, updates)
        steps.append({"name": name, "optimizer": ours,
                      "params": {k: numbers(v) for k, v in moved.items()}})
    print("{\"jax\": %s, \"optax\": %s,\n\"values\": %s,\n\"cases\": [" % (
        json.dumps(jax.__version__), json.dumps(optax.__version__),
        json.dumps({k: numbers(v) for k, v in VALUES.items()})))
    print(",\n".join(json.dumps(case) for case in cases))
    print("],\n\"steps\": [")
    print(",\n".join(json.dumps(step) for step in steps))
    print("]}")


main()
