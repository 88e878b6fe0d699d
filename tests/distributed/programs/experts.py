"""A model of four experts, as JSON: {name: value}. Each process has some of them and a part of the batch."""

import json
import os

import numpy as np

import paddle_jax as paddle
from paddle_jax.distributed import fleet
from paddle_jax.distributed.utils import moe_utils
from paddle_jax.incubate.distributed.models import moe
from tests.distributed.programs import divided

nn = paddle.nn
COUNT = int(os.environ["PADDLE_TRAINERS_NUM"])
EXPERTS, WIDTH = 4, 6
FOUND = {}


def expert(number):
    """The same weights wherever it is."""
    paddle.seed(100 + number)
    return nn.Sequential(nn.Linear(WIDTH, 8), nn.Tanh(), nn.Linear(8, WIDTH))


def rank():
    return paddle.distributed.get_rank()


def exchanges(group):
    """The example of Paddle's documentation of `global_scatter`."""
    x = paddle.to_tensor([[1.0, 2], [3, 4], [5, 6], [7, 8], [9, 10]], stop_gradient=False)
    counts = paddle.to_tensor([[2, 1, 1, 1], [1, 1, 2, 1]][rank()])
    out = moe_utils.global_scatter(x, counts, counts, group)
    FOUND["scattered"] = out.tolist()
    (out * out).sum().backward()
    FOUND["gradient"] = x.grad.tolist()
    FOUND["back"] = moe_utils.global_gather(out, counts, counts, group).tolist() == x.tolist()
    for bad in (paddle.to_tensor([1, 1, 1]), paddle.to_tensor([1, 1, 1, 1])):
        try:
            moe_utils.global_scatter(x, bad, bad, group)
        except ValueError as error:
            FOUND.setdefault("refused", []).append(str(error))


def trains(kind, group):
    """A few steps; the loss of each process is its part of the mean."""
    paddle.seed(3)
    gate = {"naive": moe.NaiveGate, "switch": moe.SwitchGate}[kind]
    own = range(rank() * EXPERTS // COUNT, (rank() + 1) * EXPERTS // COUNT)
    experts = nn.LayerList([expert(number) for number in own])
    paddle.seed(5)
    choice = gate(WIDTH, EXPERTS // COUNT, COUNT, **({"group": group} if kind == "switch" else {}))
    layer = moe.MoELayer(WIDTH, experts, gate=choice, moe_group=group)
    layer.eval() if kind == "switch" else layer.train()  # a switch is noisy in training
    clip = moe.ClipGradForMOEByGlobalNorm(
        0.2, is_expert_param_func=lambda p: getattr(p, "no_sync", False), moe_group=group
    )
    optimizer = paddle.optimizer.SGD(0.5, parameters=layer.parameters(), grad_clip=clip)
    losses = []
    for step in range(4):
        x = np.random.RandomState(step).randn(4, 5, WIDTH).astype("float32")
        mine = paddle.to_tensor(x[rank() * 4 // COUNT : (rank() + 1) * 4 // COUNT])
        loss = ((layer(mine) - mine) ** 2).sum() / x.size
        loss.backward()
        if COUNT > 1:
            for parameter in choice.parameters():
                if parameter.grad is not None:
                    paddle.distributed.all_reduce(parameter.grad)
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    FOUND[kind] = losses
    FOUND[kind + " weights"] = {
        str(number): float(one[0].weight.sum()) for number, one in zip(own, experts, strict=True)
    }
    FOUND["marked"] = [bool(getattr(p, "no_sync", False)) for p in experts.parameters()][:1]


group = None
if COUNT > 1:
    paddle.distributed.init_parallel_env()
    group = paddle.distributed.new_group(list(range(COUNT)))
    if COUNT == 2:
        exchanges(group)
for kind in ("naive", "switch") if COUNT < 4 else ("switch",):
    trains(kind, group)
if COUNT != 2:  # test_static_training.py has two processes
    paddle.enable_static()
    fleet.init(is_collective=True)
    FOUND["split"] = divided.trained(min(COUNT, 2))
print(json.dumps(FOUND), flush=True)
