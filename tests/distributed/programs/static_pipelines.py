"""Static programs in stages: prints losses and weights of each case as JSON. A process alone trains the same
network with whole batches, too."""

import json

import numpy as np

import paddle_jax as paddle
from paddle_jax.distributed import fleet

STEPS = 3
CASES = {
    "adam": {"stages": 2},
    "clipped, two micro-batches": {"stages": 2, "steps": 2, "clip": 0.5},
    "skips a stage, tied": {"stages": 2, "tied": True, "momentum": True, "copies": 2},
    "low precision": {"stages": 2, "amp": True},
    "four stages": {"stages": 4},
}


def fits(case, size):
    """Whether a number of processes can run a case."""
    return size in (1, case["stages"], case["stages"] * case.get("copies", 1))


def network(case, x, y):
    """(loss, result): layers in stages, a value that skips one, and a weight that two stages use."""
    last = case["stages"] - 1
    tied = paddle.static.create_parameter(
        [6, 6], "float32", name="tied", default_initializer=paddle.nn.initializer.Constant(0.1)
    )
    with paddle.static.device_guard("gpu:0"):
        first = paddle.static.nn.fc(x, 6, activation="tanh")
        hidden = paddle.matmul(first, tied) if "tied" in case else first
    for stage in range(1, last):
        with paddle.static.device_guard(f"gpu:{stage}"):
            hidden = paddle.static.nn.fc(hidden, 6, activation="tanh")
    with paddle.static.device_guard(f"gpu:{last}"):
        hidden = paddle.static.nn.fc(hidden, 6, activation="tanh")
        if "tied" in case:
            hidden = paddle.matmul(hidden, tied) + first
        result = paddle.static.nn.fc(hidden, 1)
        return ((result - y) ** 2).mean(), result


def optimizer_of(case):
    clip = paddle.nn.ClipGradByGlobalNorm(case["clip"]) if "clip" in case else None
    if "momentum" in case:
        return paddle.optimizer.Momentum(0.05, 0.9, grad_clip=clip)
    return paddle.optimizer.Adam(0.05, grad_clip=clip)


def trained(case, in_parts=True):
    size, rank = fleet.worker_num(), fleet.worker_index()
    strategy = fleet.DistributedStrategy()
    strategy.pipeline = in_parts
    strategy.pipeline_configs = {"accumulate_steps": case.get("steps", 4), "micro_batch_size": 2}
    if "amp" in case:
        strategy.amp = strategy.fp16_allreduce = True
        strategy.amp_configs = {"init_loss_scaling": 128.0}
    main, startup = paddle.static.Program(), paddle.static.Program()
    paddle.seed(5 + rank)
    with paddle.static.scope_guard(paddle.static.Scope()), paddle.static.program_guard(main, startup):
        with paddle.utils.unique_name.guard():
            x, y = paddle.static.data("x", [None, 4]), paddle.static.data("y", [None, 1])
            loss, result = network(case, x, y)
            fleet.distributed_optimizer(optimizer_of(case), strategy).minimize(loss)
        exe = paddle.static.Executor()
        exe.run(startup)
        random = np.random.default_rng(0)
        # Several pipelines have a part of the batch each.
        copies = max(size // case["stages"], 1)
        losses = []
        for _ in range(STEPS):
            rows = random.normal(size=[16, 4]).astype("float32")
            own = rows[rank // case["stages"] :: copies]
            feed = {"x": own, "y": own.sum(1, keepdims=True)}
            found = exe.run(main, feed=feed, fetch_list=[loss, result])
            assert found[1].shape == (16 // copies, 1)
            losses.append(float(found[0]))
        test = main.clone(for_test=True)
        weights = [one.tolist() for one in exe.run(test, feed=feed, fetch_list=main.all_parameters())]
    return {"losses": losses, "weights": weights, "result": found[1].tolist()}


def dropped():
    """(loss, weight after a step of 1): the loss is a multiple of the weight, which is 1 at first."""
    strategy = fleet.DistributedStrategy()
    strategy.pipeline = True
    strategy.pipeline_configs = {"accumulate_steps": 2}
    main, startup = paddle.static.Program(), paddle.static.Program()
    paddle.seed(3)
    with paddle.static.scope_guard(paddle.static.Scope()), paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 64])
        one = paddle.nn.initializer.Constant(1.0)
        weight = paddle.static.create_parameter([1], "float32", default_initializer=one)
        with paddle.static.device_guard("gpu:0"):
            normal = paddle.static.nn.batch_norm(
                x, param_attr=False, bias_attr=False, moving_mean_name="mean"
            )
            hidden = paddle.nn.functional.dropout(normal.detach() * weight, 0.5)
        with paddle.static.device_guard("gpu:1"):
            loss = hidden.mean()
        fleet.distributed_optimizer(paddle.optimizer.SGD(1.0), strategy).minimize(loss)
        exe = paddle.static.Executor()
        exe.run(startup)
        rows = np.random.default_rng(1).normal(size=[8, 64]).astype("float32")
        found = exe.run(main, feed={"x": rows}, fetch_list=[loss, weight])
        mean = np.array(paddle.static.global_scope().find_var("mean").get_tensor())
    return float(found[0]), float(found[1][0]), mean[:4].tolist(), rows[:, :4].tolist()


def refused():
    """The messages of programs that cannot run in stages."""
    messages = []
    for stages, rows, order in ((3, 4, [0, 1]), (2, 3, [0, 1]), (2, 4, [1, 0])):
        strategy = fleet.DistributedStrategy()
        strategy.pipeline = True
        strategy.pipeline_configs = {"accumulate_steps": 2}
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            hidden = paddle.static.data("x", [None, 4])
            for stage in [*order, *range(2, stages)]:
                with paddle.static.device_guard(f"gpu:{stage}"):
                    hidden = paddle.static.nn.fc(hidden, 4)
            fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy).minimize(hidden.mean())
            exe = paddle.static.Executor()
            exe.run(paddle.static.default_startup_program())
            try:
                exe.run(feed={"x": np.ones([rows, 4], "float32")})
            except ValueError as error:
                messages.append(str(error))
    return messages


if __name__ == "__main__":
    fleet.init(is_collective=True)
    paddle.enable_static()
    size = fleet.worker_num()
    found = {"results": {name: trained(case) for name, case in CASES.items() if fits(case, size)}}
    if size == 1:
        found["whole"] = {name: trained(case, in_parts=False) for name, case in CASES.items()}
    if size < 4:
        found["dropped"] = dropped()
    if size == 2:
        found["refused"] = refused()
    print(json.dumps(found), flush=True)
