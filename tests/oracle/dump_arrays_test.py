"""States of Linen and NNX through dump_arrays and `shard-plan plan`, against the shardings that Flax builds.

  python dump_arrays_test.py SHARD_PLAN FOLDER

Needs eight CPU devices (XLA_FLAGS=--xla_force_host_platform_device_count=8).
"""
import json
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax import nnx
from flax.core import spmd
from flax.training import train_state
from jax.sharding import NamedSharding, PartitionSpec

from dump_arrays import dump_arrays

RULES = (('batch', 'data'), ('hidden', 'model'), ('embed', None))
PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])


class Block(nn.Module):
  logical: bool

  @nn.compact
  def __call__(self, x):
    wrap = nn.with_logical_partitioning if self.logical else nn.with_partitioning
    names = ('embed', 'hidden') if self.logical else (None, 'model')
    x = nn.Dense(32, kernel_init=wrap(nn.initializers.xavier_normal(), names))(x)
    return nn.Dense(16, use_bias=False, kernel_init=wrap(nn.initializers.xavier_normal(), names[::-1]))(nn.relu(x)), None


class Model(nn.Module):
  logical: bool
  scan: bool

  @nn.compact
  def __call__(self, x):
    if not self.scan:
      return Block(self.logical)(Block(self.logical)(x)[0])[0]
    stack = nn.scan(Block, length=2, variable_axes={'params': 0}, split_rngs={'params': True},
                    metadata_params={'partition_name': None})
    return stack(self.logical)(x)[0]


def linen_state(logical, scan):
  model = Model(logical, scan)
  tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.constant_schedule(1e-3)))

  def create(key):
    params = model.init(key, jnp.ones((8, 16)))['params']
    return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=tx)
  state = jax.eval_shape(create, jax.random.key(0))
  specs = nn.get_partition_spec(state)
  return state, nn.logical_to_mesh(specs, RULES) if logical else specs


class NnxModel(nnx.Module):
  def __init__(self, rngs):
    init = nnx.with_partitioning(nnx.initializers.xavier_normal(), ('embed', 'hidden'))
    self.layers = nnx.List([nnx.Linear(16, 32, kernel_init=init, rngs=rngs) for _ in range(2)])


def nnx_state():
  class Both(nnx.Module):
    def __init__(self):
      self.model = NnxModel(nnx.Rngs(0))
      self.optimizer = nnx.Optimizer(self.model, optax.adam(1e-3), wrt=nnx.Param)
  with nnx.use_eager_sharding(False), spmd.logical_axis_rules(RULES):
    state = nnx.state(nnx.eval_shape(Both))
    return state, nnx.get_partition_spec(state)


def leaves(tree, kind):
  """Paths as dump_arrays has them, with the leaf."""
  is_leaf = lambda leaf: isinstance(leaf, kind)
  for path, leaf in jax.tree_util.tree_leaves_with_path(tree, is_leaf=is_leaf):
    yield '/'.join(str(getattr(k, 'key', getattr(k, 'name', getattr(k, 'idx', k)))) for k in path), leaf


def expected_shapes(state, specs, mesh):
  """The shape of each array's shard by path, from Flax's specs alone."""
  spec_of = {}
  for path, leaf in leaves(specs, (PartitionSpec, nnx.Variable)):
    spec_of[path] = leaf.get_value() if isinstance(leaf, nnx.Variable) else leaf
  shapes = {}
  for path, leaf in leaves(state, (nn.meta.AxisMetadata, nnx.Variable)):
    value = leaf.get_value() if isinstance(leaf, nnx.Variable) else getattr(leaf, 'value', leaf)
    shapes[path] = list(NamedSharding(mesh, spec_of[path]).shard_shape(value.shape))
  return shapes


def planned_shapes(name, state):
  dump, rules = FOLDER / f'{name}.json', FOLDER / 'rules.yaml'
  dump_arrays(state, dump)
  rules.write_text('mesh: {data: 2, model: 4}\nrules: [[batch, data], [hidden, model], [embed, null]]\n')
  answer = subprocess.run([PROGRAM, 'plan', str(dump), str(rules), '--json'], capture_output=True, text=True)
  assert answer.returncode == 0, answer.stderr
  return {row['path']: row['local_shape'] for row in json.loads(answer.stdout)['state']['arrays']}


def main():
  mesh = jax.make_mesh((2, 4), ('data', 'model'))
  cases = {f'linen-{"logical" if logical else "placed"}-{"scan" if scan else "loop"}': linen_state(logical, scan)
           for logical in (True, False) for scan in (True, False)}
  cases['nnx'] = nnx_state()
  failed = 0
  for name, (state, specs) in cases.items():
    expected, found = expected_shapes(state, specs, mesh), planned_shapes(name, state)
    print(f'dump_arrays {name}: {len(expected)} arrays, {"equal" if found == expected else "differ"}')
    if found == expected:
      continue
    failed += 1
    for path in sorted(expected.keys() | found.keys()):
      if expected.get(path) != found.get(path):
        print(f'  {path}: {found.get(path)}, Flax has {expected.get(path)}')
  print(f'[doctest] test cases: {len(cases)} | {len(cases) - failed} passed | {failed} failed | 0 skipped')
  return 1 if failed else 0


if __name__ == '__main__':
  sys.exit(main())
