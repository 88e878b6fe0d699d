"""Static programs whose weights are in parts: `trained` gives losses, results and whole weights."""

import numpy as np

import paddle_jax as paddle
from paddle_jax.distributed import fleet

ROWS, WORDS, WIDTH, HIDDEN = 4, 8, 6, 8
BIASES = {"bias": [HIDDEN], "end_bias": [WIDTH]}
SHAPES = {"words": (WORDS, WIDTH), "columns": (WIDTH, HIDDEN), "rows": (HIDDEN, WIDTH)} | BIASES
CUT = {"words": 0, "columns": 1, "bias": 0, "rows": 0}  # the axis of each weight that is cut
STEPS = 4


def whole_weights():
    random = np.random.default_rng(3)
    return {name: random.normal(size=shape).astype("float32") for name, shape in SHAPES.items()}


def attribute(name, part, parts):
    """The initial value of a weight, or the part of this process."""
    value = whole_weights()[name]
    if name in CUT:
        value = np.split(value, parts, CUT[name])[part]
    return paddle.ParamAttr(name=name, initializer=paddle.nn.initializer.Assign(value))


def network(parts, own_parts, gathers=True):
    """own_parts: in how many parts a process has weights."""
    part = fleet.worker_index() % own_parts
    attr = lambda name: attribute(name, part, own_parts)  # noqa: E731
    x = paddle.static.data("x", [None, 3], "int64")
    split = lambda *args, **more: paddle.distributed.split(*args, num_partitions=parts, **more)  # noqa: E731
    found = split(x, (WORDS, WIDTH), "embedding", weight_attr=attr("words"))
    hidden = split(
        found,
        (WIDTH, HIDDEN),
        "linear",
        axis=1,
        gather_out=gathers,
        weight_attr=attr("columns"),
        bias_attr=attr("bias"),
    )
    ended = split(
        paddle.tanh(hidden),
        (HIDDEN, WIDTH),
        "linear",
        axis=0,
        weight_attr=attr("rows"),
        bias_attr=attr("end_bias"),
    )
    return ended, ((ended - found) ** 2).mean()


def trained(parts, own_parts=None, gathers=True, distributed=True):
    """Each copy of the weights trains with its rows of the batches."""
    own_parts = own_parts or parts
    copies = fleet.worker_num() // own_parts
    copy = fleet.worker_index() // own_parts
    main, startup, scope = paddle.static.Program(), paddle.static.Program(), paddle.static.Scope()
    with paddle.static.scope_guard(scope), paddle.static.program_guard(main, startup):
        result, loss = network(parts, own_parts, gathers)
        test = main.clone(for_test=True)
        optimizer = paddle.optimizer.Adam(0.05)
        if distributed:
            optimizer = fleet.distributed_optimizer(optimizer, fleet.DistributedStrategy())
        optimizer.minimize(loss)
        exe = paddle.static.Executor()
        exe.run(startup)
        random = np.random.default_rng(0)
        losses = []
        for _ in range(STEPS):
            numbers = random.integers(0, WORDS, [ROWS, 3])
            losses.append(float(exe.run(main, {"x": numbers[copy::copies]}, [loss])[0]))
        out = exe.run(test, {"x": np.arange(6).reshape(2, 3)}, [result, *CUT])
    return {"losses": losses, "result": out[0].tolist(), "weights": [value.tolist() for value in out[1:]]}


def check(found, alone):
    """Losses, results and weights of the processes, a list in the order of ranks, are those of one."""
    parts = len(whole_weights()["words"]) // len(found[0]["weights"][0])
    losses = np.mean([one["losses"] for one in found], axis=0)
    np.testing.assert_allclose(losses, alone["losses"], rtol=1e-5)
    for one in found:
        np.testing.assert_allclose(one["result"], alone["result"], rtol=1e-4, atol=1e-5)
    for number, axis in enumerate(CUT.values()):
        for start in range(0, len(found), parts):
            joined = np.concatenate([one["weights"][number] for one in found[start : start + parts]], axis)
            np.testing.assert_allclose(joined, alone["weights"][number], rtol=1e-4, atol=1e-5)
