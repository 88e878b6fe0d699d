"""Static programs of two processes that exchange something else than all gradients: prints the losses and the
weights of each case as JSON. The network is one product, so that the test can follow it by formulas."""

import json

import numpy as np

import paddle_jax as paddle
from paddle_jax.distributed import fleet

STEPS = 12
RATE = 0.05
CASES = {
    "localsgd": {"localsgd": {"k_steps": 2, "begin_step": 3}},
    "localsgd, momentum": {"localsgd": {"k_steps": 3, "begin_step": 1}, "momentum": 0.9},
    "localsgd, low precision": {
        "localsgd": {"k_steps": 2, "begin_step": 1},
        "amp": {"init_loss_scaling": 64.0},
    },
    "adaptive_localsgd": {"adaptive_localsgd": {"init_k_steps": 4, "begin_step": 2}},
    "dgc": {
        "dgc": {"rampup_begin_step": 2, "rampup_step": 4, "sparsity": [0.75, 0.9]},
        "momentum": 0.9,
        "width": 4096,
        "weight_decay": 0.1,
    },
    "dgc, nesterov": {
        "dgc": {"rampup_begin_step": 0, "rampup_step": 1, "sparsity": [0.99]},
        "momentum": 0.5,
        "use_nesterov": True,
        "width": 4096,
    },
    "dgc, small": {
        "dgc": {"rampup_begin_step": 0, "rampup_step": 1, "sparsity": [0.75]},
        "momentum": 0.9,
    },
}


def batches(width=1):
    """(rows, labels) of each step for both processes."""
    random = np.random.default_rng(0)
    goal = random.normal(size=[4, width]).astype("float32")
    steps = []
    for _ in range(STEPS):
        rows = random.normal(size=[2, 6, 4]).astype("float32")
        steps.append((rows, rows @ goal))
    return steps


def trained(case):
    rank = fleet.worker_index()
    strategy = fleet.DistributedStrategy()
    for name in case.keys() & {"localsgd", "adaptive_localsgd", "dgc", "amp"}:
        setattr(strategy, name, True)
        setattr(strategy, f"{name}_configs", case[name])
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.scope_guard(paddle.static.Scope()), paddle.static.program_guard(main, startup):
        width = case.get("width", 1)
        x = paddle.static.data("x", [6, 4])
        y = paddle.static.data("y", [6, width])
        start = paddle.nn.initializer.Assign(np.full([4, width], 0.5 + rank, "float32"))
        weight = paddle.static.create_parameter([4, width], "float32", default_initializer=start)
        loss = ((x @ weight - y) ** 2).sum(1).mean()
        if "momentum" in case:
            base = paddle.optimizer.Momentum(
                RATE,
                case["momentum"],
                use_nesterov=case.get("use_nesterov", False),
                weight_decay=case.get("weight_decay"),
            )
        else:
            base = paddle.optimizer.SGD(RATE)
        fleet.distributed_optimizer(base, strategy).minimize(loss)
        exe = paddle.static.Executor()
        exe.run(startup)
        losses, weights = [], []
        for rows, labels in batches(width):
            found = exe.run(main, feed={"x": rows[rank], "y": labels[rank]}, fetch_list=[loss, weight])
            losses.append(float(found[0]))
            # the columns that the test compares
            weights.append(found[1][:, :16].ravel().tolist())
        saved = sorted(main.state_dict("opt"))
    return {"losses": losses, "weights": weights, "saved": saved}


def refused():
    """The messages of strategies that static programs of several processes do not follow."""
    messages = []
    for switches, optimizer in (
        (["localsgd"], paddle.optimizer.Adam(0.1)),
        (["localsgd", "adaptive_localsgd"], paddle.optimizer.SGD(0.1)),
        (["localsgd", "gradient_merge"], paddle.optimizer.SGD(0.1)),
        (["dgc"], paddle.optimizer.SGD(0.1)),
        (["dgc", "amp"], paddle.optimizer.Momentum(0.1)),
        (["dgc"], paddle.optimizer.Momentum(0.1, grad_clip=paddle.nn.ClipGradByNorm(1.0))),
    ):
        strategy = fleet.DistributedStrategy()
        for name in switches:
            setattr(strategy, name, True)
        try:
            fleet.distributed_optimizer(optimizer, strategy)
        except (NotImplementedError, ValueError) as error:
            messages.append(str(error))
    return messages


if __name__ == "__main__":
    fleet.init(is_collective=True)
    paddle.enable_static()
    results = {name: trained(case) for name, case in CASES.items()}
    print(json.dumps({"results": results, "refused": refused()}), flush=True)
