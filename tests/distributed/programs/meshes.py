"""Groups along the dimensions of a mesh, parts of Tensors in checkpoints; what the environment has told.
Prints JSON in its last line."""

import importlib
import json
import os
import sys

import numpy as np


def main(engine, folder=None):
    p = importlib.import_module(engine)
    dist, found = p.distributed, {}
    dist.init_parallel_env()
    rank = dist.get_rank()
    line, table = dist.ProcessMesh([0, 1], ["x"]), dist.ProcessMesh([[0, 1]], ["x", "y"])
    for name, ask in {
        "whole": lambda: line.get_group(),
        "named": lambda: line.get_group("x"),
        "row": lambda: table.get_group("y"),
        "alone": lambda: table.get_group("x"),
        "unnamed": lambda: table.get_group(),
        "unknown": lambda: line.get_group("q"),
    }.items():
        try:
            group = ask()
            found[name] = [group.ranks, group.rank, group.nranks]
        except Exception as error:
            found[name] = type(error).__name__
    summed = p.full([2], rank + 1.0)
    dist.all_reduce(summed, group=table.get_group("y"))
    found["sum"] = summed.tolist()
    part = dist.shard_weight("w", p.full([2, 3], rank + 1.0), 1, dist.get_group())
    found["part"] = [list(part.local_shape), list(part.global_shape), list(part.global_offset)]
    if folder:
        dist.save_state_dict({"w": part, "b": p.ones([2])}, folder)
        read = p.zeros([2, 3])
        dist.load_state_dict({"w": dist.ShardedWeight("w", read, (2, 3), (2, 6), (0, 2))}, folder)
        whole = dist.load_merged_state_dict(folder)
        assert np.array_equal(whole["w"].numpy(), np.repeat([[1.0, 2.0]], 3, axis=1).repeat(2, axis=0)), whole
        assert whole["w"][:, 2:5].tolist() == read.tolist()
    print(json.dumps(found))


def scheduled():
    """A process that a scheduler has started."""
    import paddle_jax as p

    dist = p.distributed
    dist.init_parallel_env()
    summed = p.full([2], dist.get_rank() + 1.0)
    dist.all_reduce(summed)
    print(
        json.dumps(
            [dist.get_rank(), dist.get_world_size(), summed.tolist(), os.environ["PADDLE_TRAINERS_NUM"]]
        )
    )


if __name__ == "__main__":
    scheduled() if sys.argv[1] == "scheduled" else main(*sys.argv[1:])
