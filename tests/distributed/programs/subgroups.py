"""Collectives of four processes and of groups of some of them, as JSON."""

import json

import numpy as np

import paddle_jax as paddle

dist = paddle.distributed
dist.init_parallel_env()
rank, found = dist.get_rank(), {}
odd, even, three = dist.new_group([3, 1]), dist.new_group([0, 2]), dist.new_group([1, 2, 3])
mine = odd if rank % 2 else even


def after(call, *numbers, dtype="float32"):
    t = paddle.to_tensor(np.array(numbers), dtype=dtype)
    call(t)
    return t.astype("float32").tolist()


for op in ("SUM", "MAX", "MIN", "PROD", "AVG"):
    found[op] = after(lambda t, op=op: dist.all_reduce(t, getattr(dist.ReduceOp, op)), rank + 1, 2)
    found[op, "of three"] = after(
        lambda t, op=op: dist.all_reduce(t, getattr(dist.ReduceOp, op), group=three), rank + 1, 2
    )
found["bool"] = after(dist.all_reduce, rank == 2, False, dtype="bool")
for src in range(4):
    found["broadcast", src] = after(lambda t, src=src: dist.broadcast(t, src), rank, 7)
found["broadcast", "of three"] = after(lambda t: dist.broadcast(t, 3, group=three), rank, 7)
found["group"] = after(lambda t: dist.all_reduce(t, group=mine), rank, 1)
found["group"] += [mine.rank, mine.get_group_rank(3 if rank % 2 else 2), repr(mine)]
out = []
dist.alltoall(out, [paddle.to_tensor([10.0 * rank + k]) for k in range(4)])
found["alltoall"] = [t.tolist() for t in out]
found["reduce_scatter"] = after(
    lambda t: dist.reduce_scatter(
        t, [paddle.to_tensor([float(k * rank)]) for k in range(4)], dist.ReduceOp.MAX
    ),
    0,
)
found["scatter"] = after(
    lambda t: dist.scatter(t, [paddle.to_tensor([float(k)]) for k in range(4)] if rank == 2 else None, src=2),
    0,
)
objects = []
dist.all_gather_object(objects, {"rank": rank})
found["objects"] = [each["rank"] for each in objects]
ring = paddle.zeros([1])
sent = paddle.to_tensor([float(rank)])
tasks = dist.batch_isend_irecv(
    [dist.P2POp(dist.isend, sent, (rank + 1) % 4), dist.P2POp(dist.irecv, ring, (rank - 1) % 4)]
)
[task.wait() for task in tasks]
found["ring"] = ring.tolist()
dist.barrier(mine)
print(
    json.dumps(
        {" ".join(map(str, key)) if isinstance(key, tuple) else key: value for key, value in found.items()}
    )
)
