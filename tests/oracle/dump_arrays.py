import json, jax
from flax import linen as nn, nnx
from flax.core import meta

def dump_arrays(state, file):
  """Writes the arrays of a Flax state (jax.eval_shape, nnx.state) with their logical axes, for shard-plan."""
  is_box = lambda leaf: isinstance(leaf, (meta.AxisMetadata, nnx.Variable))
  rows = []
  for path, leaf in jax.tree_util.tree_leaves_with_path(state, is_leaf=is_box):
    variable = isinstance(leaf, nnx.Variable)
    value = leaf.get_value() if variable else getattr(leaf, 'value', leaf)
    names = leaf.get_metadata('out_sharding', None) if variable else getattr(leaf, 'names', None)
    key = 'partition_spec' if type(leaf) is nn.Partitioned else 'logical_axes'  # mesh axes, or names for the rules
    name = '/'.join(str(getattr(k, 'key', getattr(k, 'name', getattr(k, 'idx', k)))) for k in path)
    rows.append({'name': name, 'shape': value.shape, 'dtype': str(value.dtype), key: names})
  json.dump(rows, open(file, 'w'), indent=1)
