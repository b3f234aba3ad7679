"""Imports an exported module and compares its shardings with what `shard-plan show --json` says.

    export_check.py MODULE.py SHOWN.json

Every array of the module is asked, through JAX, which device holds which part of it. Prints how many agree and
exits with 1 when one does not.
"""

import importlib.util
import json
import sys


def load(path):
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pieces_of(sharding, shape):
    """Start of each piece to the ids of the devices that hold it."""
    pieces = {}
    for device, index in sharding.devices_indices_map(tuple(shape)).items():
        start = tuple(one.start or 0 for one in index)
        pieces.setdefault(start, set()).add(device.id)
    return pieces


def main(module_path, shown_path):
    module = load(module_path)
    with open(shown_path) as file:
        shown = {array["path"]: array for array in json.load(file)["arrays"]}
    shardings = module.shardings(module.make_mesh())
    agreed = 0
    for path, (shape, dtype) in module.shapes.items():
        ours = {tuple(piece["start"]): set(piece["devices"]) for piece in shown[path]["pieces"]}
        theirs = pieces_of(shardings[path], shape)
        if ours == theirs:
            agreed += 1
        else:
            print(f"{path} {dtype}{shape}: exported {theirs}, planned {ours}")
    total = len(module.shapes)
    nested = module.tree(shardings)
    if "params" in nested and not isinstance(nested["params"], dict):
        print("the tree has no folder params")
        return 1
    print(f"{agreed}/{total} arrays")
    return 0 if agreed == total and total > 0 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
