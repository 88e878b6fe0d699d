"""What the collectives give on this process, as JSON: {name: value or [class of the exception, its text]}.
Both engines can run it."""

# ruff: noqa: B023  every check runs before the loop goes on

import json
import sys
import time
import traceback

import numpy as np

DTYPES = [
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "bool",
    "complex64",
    "complex128",
]
FOUND = {}


def check(name, function):
    try:
        FOUND[name] = shown(function())
    except Exception as error:
        FOUND[name] = [type(error).__name__, str(error)]
        traceback.print_exc()


def shown(value):
    if hasattr(value, "numpy") and hasattr(value, "dtype"):
        array = value.numpy() if "bfloat16" not in str(value.dtype) else value.astype("float32").numpy()
        return array.astype("complex128").real.tolist()
    if isinstance(value, list | tuple):
        return [shown(each) for each in value]
    return value if isinstance(value, int | float | str | type(None)) else type(value).__name__


def everywhere(P, D, rank):
    """Checks that both engines pass."""

    def T(*numbers, dtype="float32"):
        return P.to_tensor(np.array(numbers), dtype=dtype)

    def after(call, tensor):
        call(tensor)
        return tensor

    def listed(call, start=()):
        tensors = list(start)
        call(tensors)
        return tensors

    check("group", lambda: repr(D.get_group()))
    check("again", lambda: D.init_parallel_env() is D.get_group(0))
    check("asked", lambda: [D.get_rank(), D.get_world_size(), D.is_initialized(), D.get_backend()])
    for op in ("SUM", "MAX", "MIN", "PROD"):
        check(
            f"all_reduce {op}",
            lambda op=op: after(lambda t: D.all_reduce(t, getattr(D.ReduceOp, op)), T(rank + 1, 5, -rank)),
        )
    check("all_reduce task", lambda: D.all_reduce(T(1)).wait())
    check("all_reduce later", lambda: after(lambda t: D.all_reduce(t, sync_op=False).wait(), T(rank, 2)))
    check("all_reduce 0-d", lambda: after(D.all_reduce, P.to_tensor(float(rank + 1))))
    check("all_reduce op", lambda: D.all_reduce(T(1), op=7))
    check("all_reduce list", lambda: D.all_reduce([1]))
    check("all_gather", lambda: listed(lambda out: D.all_gather(out, T(rank, 5))))
    check("all_gather into", lambda: listed(lambda out: D.all_gather(out, T(rank, 5)), [T(0, 0), T(0, 0)]))
    check(
        "all_gather object",
        lambda: listed(lambda out: D.all_gather_object(out, {"rank": rank, "text": "a" * (10 * rank)}))[1][
            "text"
        ],
    )
    check("broadcast", lambda: after(lambda t: D.broadcast(t, src=1), T(rank, -0.0)))
    check("broadcast outside", lambda: D.broadcast(T(1), src=5))
    check(
        "broadcast objects",
        lambda: listed(lambda out: D.broadcast_object_list(out, src=1), [rank, "x" * rank]),
    )
    check(
        "reduce",
        lambda: (
            after(lambda t: D.reduce(t, 0), T(rank + 1)) if rank == 0 else D.reduce(T(rank + 1), 0).wait()
        ),
    )
    check(
        "scatter",
        lambda: after(lambda t: D.scatter(t, [T(1, 2), T(3, 4)] if rank == 1 else None, src=1), T(0, 0)),
    )
    check(
        "scatter objects",
        lambda: listed(lambda out: D.scatter_object_list(out, ["a", "bcd"] if rank == 1 else None, src=1)),
    )
    check("gather", lambda: listed(lambda out: D.gather(T(rank, 7), out, dst=0)))
    check(
        "send, recv",
        lambda: D.send(T(3, 4), 1).wait() if rank == 0 else after(lambda t: D.recv(t, 0), T(0, 0)),
    )
    check(
        "isend, irecv",
        lambda: D.isend(T(3, 5), 1).wait() if rank == 0 else after(lambda t: D.irecv(t, 0).wait(), T(0, 0)),
    )
    alone, both = D.new_group([0]), D.new_group([1, 0])
    check(
        "alone",
        lambda: [
            repr(alone),
            alone.is_member(),
            alone.world_size,
            D.get_rank(alone),
            alone.get_group_rank(1),
        ],
    )
    check("alone: wire", lambda: alone.process_group is None)
    check(
        "alone: calls",
        lambda: [D.all_reduce(T(1), group=alone), D.broadcast(T(1), src=1, group=alone), D.barrier(alone)],
    )
    check("alone: all_gather", lambda: D.all_gather([], T(1), group=alone))
    check("both", lambda: [repr(both), both.ranks, both.get_group_rank(1)])
    check("both: all_gather", lambda: listed(lambda out: D.all_gather(out, T(rank), group=both)))
    check("found", lambda: [repr(D.get_group(10)), D.get_group(99)])
    check("backend", lambda: D.new_group(backend="other"))
    check("barrier", lambda: D.barrier())
    check("message", lambda: D.P2POp(D.all_reduce, T(1), 1))
    check("messages", lambda: D.batch_isend_irecv([1]))
    check("no messages", lambda: D.batch_isend_irecv([]))
    for dtype in ("float32", "float64", "int8", "int32", "int64", "uint8"):
        check(f"all_reduce {dtype}", lambda dtype=dtype: after(D.all_reduce, T(rank, 3, dtype=dtype)))
        check(
            f"all_gather {dtype}",
            lambda dtype=dtype: listed(lambda out: D.all_gather(out, T(rank, 3, dtype=dtype))),
        )


def here(P, D, rank):
    """Checks of what the real Paddle does not have on CPUs."""

    def T(*numbers, dtype="float32"):
        return P.to_tensor(np.array(numbers), dtype=dtype)

    for dtype in DTYPES:
        for op in ("SUM", "MAX", "MIN", "PROD", "AVG"):
            t = T(rank, 3, 2 * rank, dtype=dtype)
            check(
                f"{dtype} all_reduce {op}",
                lambda t=t, op=op: D.all_reduce(t, getattr(D.ReduceOp, op)) and [str(t.dtype)] + shown(t),
            )
            out, pieces = T(0, dtype=dtype), [T(rank, dtype=dtype), T(3, dtype=dtype)]
            if dtype[:7] != "complex" or op in ("SUM", "PROD", "AVG"):
                check(
                    f"{dtype} reduce_scatter {op}",
                    lambda: D.reduce_scatter(out, pieces, getattr(D.ReduceOp, op)) and out,
                )
        rows, got, sent, b = [], T(0, 0, dtype=dtype), T(rank, 1, dtype=dtype), T(rank, 1, dtype=dtype)
        check(f"{dtype} all_gather", lambda: D.all_gather(rows, T(rank, 1, dtype=dtype)) and rows)
        check(f"{dtype} broadcast", lambda: D.broadcast(b, 1) and b)
        check(f"{dtype} alltoall_single", lambda: D.alltoall_single(got, sent) and got)
        pair = [D.P2POp(D.isend, sent, 1 - rank), D.P2POp(D.irecv, got, 1 - rank)]
        check(f"{dtype} messages", lambda: [task.wait() for task in D.batch_isend_irecv(pair)] and got)
    out, empty = [], P.zeros([0, 2])
    check("alltoall", lambda: D.alltoall(out, [T(rank, 0), T(rank, 1)]) and out)
    uneven, sizes = P.zeros([3, 2]), [1, 2] if rank == 0 else [2, 1]
    given = P.arange(6, dtype="float32").reshape([3, 2]) + 10 * rank
    check("uneven", lambda: D.alltoall_single(uneven, given, sizes, sizes) and uneven)
    check("uneven: sizes", lambda: D.alltoall_single(uneven, P.zeros([3, 2]), sizes, sizes[::-1]))
    moved = P.zeros([2 + 2 * rank, 2])
    check(
        "stream: sizes",
        lambda: D.stream.alltoall_single(moved, given, [1 + rank, 1 + rank], [1, 2]) and moved,
    )
    check("empty", lambda: D.all_reduce(empty) and empty.shape)
    whole = P.zeros([4])
    check("stream all_gather", lambda: D.stream.all_gather(whole, T(rank, 9)) and whole)
    check("stream later", lambda: D.stream.all_reduce(T(1), sync_op=False, use_calc_stream=True))
    crossed = [P.to_tensor(0.0) for _ in range(3)]
    sent = [P.to_tensor(10.0 * rank + k) for k in range(3)]
    check(
        "crossed",
        lambda: [D.send(t, 1 - rank) for t in sent] and [D.recv(t, 1 - rank) for t in crossed] and crossed,
    )
    large, back = P.full([1 << 20], float(rank)), P.zeros([1 << 20])
    check("crossed, large", lambda: D.send(large, 1 - rank) and D.recv(back, 1 - rank) and float(back.sum()))
    check("objects", lambda: D.send_object_list([1, "a"], dst=1) if rank == 0 else _received(D))
    check("itself", lambda: D.send(T(1), rank))
    check("other size", lambda: D.send(T(1, 2), 1).wait() if rank == 0 else D.recv(T(0), 0))
    check("complex order", lambda: D.all_reduce(T(1, dtype="complex64"), D.ReduceOp.MAX))
    check("shapes", lambda: D.all_reduce(P.zeros([3 + rank])))
    check("dtypes", lambda: D.all_reduce(P.zeros([3], "float32" if rank else "int32")))
    check("kinds", lambda: D.broadcast(P.zeros([3]), 0) if rank else D.all_reduce(P.zeros([3])))
    check("compiled", lambda: P.jit.to_static(lambda t: D.all_reduce(t) and t, full_graph=True)(P.ones([2])))
    leaf = P.ones([2])
    leaf.stop_gradient = False
    (leaf * 3).sum().backward()
    check("gradient", lambda: D.all_reduce(leaf.grad) and leaf.grad)
    check("waits", lambda: _waits(P, D, rank))
    group = D.new_group([0, 1])
    D.destroy_process_group(group)
    check("destroyed", lambda: D.get_group(group.id))
    check(
        "place",
        lambda: [str(P.ones([1]).place), str(P.to_tensor([1.0], place=P.CPUPlace()).place), P.get_device()],
    )
    D.destroy_process_group()
    check("over", lambda: [D.is_initialized(), repr(D.init_parallel_env())])


def _waits(P, D, rank):
    """What is counted while rank 1 is late: [calls, seconds]."""
    D.barrier()
    before = P.metrics.snapshot()["collectives"]
    time.sleep(1.0 * rank)
    D.barrier()
    after = P.metrics.snapshot()["collectives"]
    return [after[key] - before[key] for key in ("count", "wait_seconds")]


def _received(D):
    objects = [None, None]
    D.recv_object_list(objects, src=0)
    return objects


def main(engine):
    if engine == "paddle_jax":
        import paddle_jax as P
    else:
        import paddle as P
    D = P.distributed
    P.ones([2]).numpy()  # as programs do, before the group exists
    D.init_parallel_env()
    everywhere(P, D, D.get_rank())
    if engine == "paddle_jax":
        here(P, D, D.get_rank())
    print(json.dumps(FOUND))


if __name__ == "__main__":
    main(sys.argv[1])
