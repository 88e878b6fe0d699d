"""A small GPT that stops and goes on with another split, as JSON: a list of losses for each case.

`python resumes.py CASE...`. A case is JSON: {"degrees": {"mp": 2, "pp": 2}, "steps": [first, end], "read":
folder or null, "write": folder or null, "pieces": whether an optimizer updates pieces of parameters}. Without
stages the model is a pipeline of one.
"""

import json
import sys

import paddle_jax as paddle
import paddle_jax.distributed as dist
from paddle_jax.distributed import fleet
from tests.distributed import gpt

BLOCKS = 2


def parts(net, optimizer):
    """All that training changes, as the parts that this process holds."""
    weights = net.sharded_state_dict()
    return {"weights": weights, "states": optimizer.sharded_state_dict(weights)}


def make_states(net, optimizer):
    """One step, whose effect is overwritten: states are there after it."""
    for parameter in net.parameters():
        parameter.grad = paddle.zeros_like(parameter)
    optimizer.step()
    optimizer.clear_grad()


def check_refusal(net, folder):
    """Parts without their place in the whole are refused: one would be taken for all."""
    if any(getattr(parameter, "is_distributed", False) for parameter in net.parameters()):
        try:
            dist.save_state_dict(net.state_dict(), folder)
        except ValueError as error:
            assert "sharded_state_dict" in str(error)
        else:
            raise AssertionError("parts were saved as if they were whole")


def run(case):
    degrees = case["degrees"]
    copies = degrees.get("dp", 1) * degrees.get("sharding", 1)
    sizes = {"accumulate_steps": 2, "micro_batch_size": gpt.ROWS // 2 // copies}
    strategy = gpt.start(degrees, split_param=case.get("pieces", False), **sizes)
    net, model = gpt.pipeline(strategy, BLOCKS)
    clip = paddle.nn.ClipGradByGlobalNorm(0.5)
    inner = paddle.optimizer.AdamW(0.01, parameters=net.parameters(), grad_clip=clip)
    optimizer = fleet.distributed_optimizer(inner)
    if case["read"]:
        make_states(net, optimizer)
        dist.load_state_dict(parts(net, optimizer), case["read"])
    losses = []
    for step in range(*case["steps"]):
        batch = gpt.own_rows(paddle.to_tensor(gpt.tokens(step)))
        losses.append(float(model.train_batch([batch[:, :-1], batch[:, 1:]], optimizer)))
    if case["write"]:
        check_refusal(net, case["write"])
        dist.save_state_dict(parts(net, optimizer), case["write"])
    return losses


print(json.dumps([run(json.loads(case)) for case in sys.argv[1:]]), flush=True)
