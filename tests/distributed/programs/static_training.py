"""Static programs that train with fleet: prints losses and weights of each case as JSON. A process computes
with its rows of the batches; the losses of all processes together are those of one."""

import json
import tempfile

import numpy as np

import paddle_jax as paddle
from paddle_jax.distributed import fleet
from paddle_jax.distributed.communication.group import default_group
from paddle_jax.distributed.data_parallel import averaged
from tests.distributed.programs import divided

STEPS = 6
CASES = {
    "adam": {},
    "momentum, clipped": {"optimizer": "momentum", "clip": 0.1},
    "scheduled": {"scheduler": True},
    "lamb": {"lamb": {"lamb_weight_decay": 0.02}},
    "lars": {"optimizer": "momentum", "lars": {"lars_coeff": 0.01}},
    "merged": {"gradient_merge": {"k_steps": 3, "avg": True}},
    "added": {"gradient_merge": {"k_steps": 2, "avg": False}},
    "synchronized": {"sync_batch_norm": True},
    "sharded": {"clip": 0.1, "scheduler": True, "sharding": {"sharding_degree": "all"}},
    "sharded, bfloat16": {
        "amp": {"use_pure_bf16": True, "use_fp16_guard": False},
        "sharding": {"sharding_degree": "all", "stage": 2},
    },
    "sharded, merged": {
        "gradient_merge": {"k_steps": 2, "avg": True},
        "sharding": {"sharding_degree": "all"},
    },
    "bfloat16": {"amp": {"use_pure_bf16": True, "use_fp16_guard": False}},
    "recomputed": {"recompute": {"checkpoints": ["first", "second"]}},
    "lars, sharded, recomputed": {
        "optimizer": "momentum",
        "lars": {"lars_coeff": 0.01},
        "sharding": {"sharding_degree": "all"},
        "recompute": {"checkpoints": ["second"]},
    },
    "lamb, sharded, merged, recomputed, float16": {
        "lamb": {"lamb_weight_decay": 0.02},
        "amp": {"init_loss_scaling": 1024.0},
        "gradient_merge": {"k_steps": 2, "avg": True},
        "sharding": {"sharding_degree": "all"},
        "recompute": {"checkpoints": ["first"]},
        "fp16_allreduce": True,
    },
}


def optimizer_of(case):
    clip = paddle.nn.ClipGradByGlobalNorm(case["clip"]) if "clip" in case else None
    rate = paddle.optimizer.lr.StepDecay(0.05, 2) if "scheduler" in case else 0.05
    if case.get("optimizer") == "momentum":
        return paddle.optimizer.Momentum(rate, 0.9, grad_clip=clip)
    return paddle.optimizer.Adam(rate, grad_clip=clip)


def trained(case):
    rank = fleet.worker_index()
    size = fleet.worker_num()
    strategy = fleet.DistributedStrategy()
    strategy.fp16_allreduce = "fp16_allreduce" in case
    for name in ("lamb", "lars", "gradient_merge", "amp"):
        if name in case:
            setattr(strategy, name, True)
            setattr(strategy, f"{name}_configs", case[name])
    if "sharding" in case:
        strategy.sharding = True
        strategy.sharding_configs = case["sharding"] | {"sharding_degree": size}
    main, startup = paddle.static.Program(), paddle.static.Program()
    paddle.seed(5 + rank)  # the parameters of the first process count
    scope = paddle.static.Scope()
    with paddle.static.scope_guard(scope), paddle.static.program_guard(main, startup):
        with paddle.utils.unique_name.guard():
            x = paddle.static.data("x", [None, 4])
            y = paddle.static.data("y", [None, 1])
            hidden = paddle.static.nn.fc(x, 8, activation="tanh")
            if "sync_batch_norm" in case:
                strategy.sync_batch_norm = True
                hidden = paddle.nn.BatchNorm1D(8)(hidden)
            if "recompute" in case:
                named = {"first": hidden.name}
                # a layer that only cases with checkpoints name has weights of its own
                hidden = paddle.nn.functional.tanh(hidden)
                named["second"] = hidden.name
                strategy.recompute = True
                chosen = [named[name] for name in case["recompute"]["checkpoints"]]
                strategy.recompute_configs = {"checkpoints": chosen}
            result = paddle.static.nn.fc(hidden, 1)
            loss = ((result - y) ** 2).mean()
            base = optimizer_of(case)
            optimizer = fleet.distributed_optimizer(base, strategy)
            optimizer.minimize(loss)
            test = main.clone(for_test=True)
        exe = paddle.static.Executor()
        exe.run(startup)
        if "amp" in case:
            fleet.fleet.amp_init(paddle.CPUPlace())
        random = np.random.default_rng(0)
        losses = []
        for _ in range(STEPS):
            rows = random.normal(size=[8, 4]).astype("float32")
            feed = {"x": rows[rank::size], "y": rows.sum(1, keepdims=True)[rank::size]}
            losses.append(float(exe.run(main, feed=feed, fetch_list=[loss])[0]))
            if "scheduler" in case:
                base._learning_rate.step()
        whole = {"x": rows, "y": rows.sum(1, keepdims=True)}
        after = float(exe.run(test, feed=whole, fetch_list=[loss])[0])
        name = main.all_parameters()[0].name
        weight = exe.run(test, feed=whole, fetch_list=[name])[0].astype("float32").tolist()
        saved = saved_loss(main, x, result, whole)
        states = sorted(main_name for main_name in main.state_dict("opt") if "learning_rate" not in main_name)
        # what a training run fetches of a Parameter is its new value, too
        fetched = exe.run(main, feed=feed, fetch_list=[name])[0].astype("float32").tolist()
    return {
        "losses": losses,
        "after": after,
        "weight": weight,
        "saved": saved,
        "states": states,
        "fetched": fetched,
    }


def saved_loss(program, x, result, batch):
    """The loss of the trained network, saved and loaded."""
    exe = paddle.static.Executor()
    with tempfile.TemporaryDirectory() as folder:
        paddle.static.save_inference_model(f"{folder}/net", [x], [result], exe, program=program)
        program, _, fetched = paddle.static.load_inference_model(f"{folder}/net", exe)
        (found,) = exe.run(program, feed={"x": batch["x"]}, fetch_list=fetched)
    return float(((found - batch["y"]) ** 2).mean())


def refused():
    strategy = fleet.DistributedStrategy()
    strategy.pipeline = strategy.sharding = True
    try:
        fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy)
    except NotImplementedError as error:
        return str(error)
    return ""


def half_means():
    """Means of gradients that travel in float16."""
    rank = fleet.worker_index()
    gradients = [paddle.to_tensor((1 + rank) / 7), paddle.to_tensor(60000.0)]
    averaged(gradients, default_group(), in_half=True)
    return [float(one) for one in gradients]


def refused_degrees():
    """The messages of `sharding_configs` that two processes cannot follow."""
    messages = []
    for configs in ({}, {"sharding_degree": 2, "stage": 3}, {"sharding_degree": 1}, {"mp_degree": 2}):
        strategy = fleet.DistributedStrategy()
        strategy.sharding = True
        strategy.sharding_configs = configs
        try:
            fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy)
        except (NotImplementedError, ValueError) as error:
            messages.append(str(error))
    return messages


def refused_layer():
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        try:
            paddle.nn.SyncBatchNorm(4)(paddle.static.data("x", [None, 4]))
        except NotImplementedError as error:
            return str(error)
    return ""


def refused_norm():
    clip = paddle.nn.ClipGradByGlobalNorm(1.0)
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        _, loss = divided.network(fleet.worker_num(), fleet.worker_num())
        try:
            paddle.optimizer.SGD(0.1, grad_clip=clip).minimize(loss)
        except NotImplementedError as error:
            return str(error)
    return ""


if __name__ == "__main__":
    fleet.init(is_collective=True)
    half = half_means() if fleet.worker_num() > 1 else None
    paddle.enable_static()
    results = {name: trained(case) for name, case in CASES.items()}
    size = fleet.worker_num()
    split = [divided.trained(size), divided.trained(size, gathers=False, distributed=False)]
    print(
        json.dumps(
            {
                "results": results,
                "refused": refused(),
                "degrees": refused_degrees(),
                "half": half,
                "split": split,
                "norm": refused_norm(),
                "layer": refused_layer(),
            }
        ),
        flush=True,
    )
