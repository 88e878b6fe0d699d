"""A model whose experts have a dimension in the grid of processes: the losses of its trainings, as JSON.

Each process has some of the experts and a part of the batch. With one process it is the same model alone.
"""

import json
import os
import sys

import numpy as np

import paddle_jax as paddle
from paddle_jax.distributed import fleet
from paddle_jax.incubate.distributed.models import moe

nn, sharding = paddle.nn, paddle.distributed.sharding
EXPERTS, WIDTH, ROWS, STEPS, NORM = 4, 6, 8, 4, 3.0
ORDER = ["moe_sharding", "pp", "sharding", "sep", "dp", "ep", "mp"]
LEVELS = ("os", "os_g", "p_g_os")
REFUSED = []
# name: degrees of the grid, whether parameters are updated in pieces, whether `reduce_gradients` averages
GRIDS = {
    "one copy": ({"sharding_degree": 4, "ep_degree": 4}, False, False),
    "two copies": ({"sharding_degree": 4, "ep_degree": 2, "moe_sharding_degree": 2}, False, False),
    "pieces": ({"sharding_degree": 4, "ep_degree": 2, "moe_sharding_degree": 2}, True, False),
    "by hand": ({"sharding_degree": 4, "ep_degree": 2, "moe_sharding_degree": 2}, True, True),
    # Two processes have the same batch, and each sends its rows to the experts.
    "same batch": ({"sharding_degree": 2, "mp_degree": 2, "ep_degree": 4}, False, False),
    "same batch, two copies": (
        {"sharding_degree": 2, "mp_degree": 2, "ep_degree": 2, "moe_sharding_degree": 2},
        True,
        False,
    ),
    # Experts are divided over the group along "sharding", which the clipping rule knows.
    "no dimension": ({"sharding_degree": 4}, False, False),
    "no dimension, pieces": ({"sharding_degree": 4}, True, False),
    "stages": ({"sharding_degree": 2, "ep_degree": 2, "pp_degree": 2}, False, False),
}


def filled(layer, seed):
    draws = np.random.RandomState(seed)
    for parameter in layer.parameters():
        parameter.set_value(draws.normal(scale=0.5, size=parameter.shape).astype("float32"))
    return layer


class Block(nn.Layer):
    """A layer and the experts of this process after it."""

    def __init__(self, seed, place, of, group):
        super().__init__()
        self.line = filled(nn.Linear(WIDTH, WIDTH), seed)
        numbers = range(place * EXPERTS // of, (place + 1) * EXPERTS // of)
        experts = nn.LayerList([filled(nn.Linear(WIDTH, WIDTH), seed + 1 + number) for number in numbers])
        gate = moe.NaiveGate(WIDTH, EXPERTS // of, of)
        self.experts = moe.MoELayer(WIDTH, experts, gate=filled(gate, seed + 9), moe_group=group)

    def forward(self, x):
        return x + self.experts(paddle.tanh(self.line(x)))


def loss_of(out, target):
    return ((out - target) ** 2).mean()


def batch(step):
    return np.random.RandomState(100 + step).normal(size=(ROWS, 3, WIDTH)).astype("float32")


def optimizer_of(parameters, clip, has_states=False):
    if has_states:
        return paddle.optimizer.AdamW(0.05, parameters=parameters, grad_clip=clip)
    return paddle.optimizer.Momentum(0.2, 0.9, parameters=parameters, weight_decay=0.01, grad_clip=clip)


@paddle.no_grad()
def divide_gradients_of_experts(model, count):
    """As trainers do: an expert has the sum of what the processes that divide experts sent it."""
    for parameter in model.parameters():
        if getattr(parameter, "no_sync", False) and parameter.grad is not None:
            parameter.grad.scale_(1 / count)


def parts(model, optimizer):
    """All that training changes, as the parts that this process holds."""
    weights = model.sharded_state_dict()
    return {"weights": weights, "states": optimizer.sharded_state_dict(weights)}


def load(model, optimizer, folder):
    """Takes up a training; one step, whose effect is overwritten, makes the states."""
    for parameter in model.parameters():
        parameter.grad = paddle.zeros_like(parameter)
    optimizer.step()
    optimizer.clear_grad()
    paddle.distributed.load_state_dict(parts(model, optimizer), folder)


def alone(steps=range(STEPS), read=None, has_states=False):
    model = nn.Sequential(*(Block(seed, 0, 1, None) for seed in (1, 20)))
    optimizer = optimizer_of(model.parameters(), nn.ClipGradByGlobalNorm(NORM), has_states)
    if read:
        load(model, optimizer, read)
    losses = []
    for step in steps:
        x = paddle.to_tensor(batch(step))
        loss = loss_of(model(x), x)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    return losses


def check_owners(optimizer, model, grid):
    """Each process updates its experts, and some of the other parameters."""
    owners = optimizer._param2rank
    assert owners.keys() == {parameter.name for parameter in model.parameters()}
    own = {owners[p.name] for p in model.parameters() if getattr(p, "no_sync", False)}
    assert own == {grid.get_sharding_parallel_rank()} and set(owners.values()) != own


def trained(degrees, in_pieces, by_hand, steps=range(STEPS), read=None, write=None):
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {"dp_degree": 1, "mp_degree": 1, **degrees, "order": ORDER}
    if in_pieces:
        strategy.hybrid_configs["sharding_configs"].split_param = True
    strategy.pipeline_configs = {"accumulate_steps": 2, "micro_batch_size": 2}
    fleet.init(is_collective=True, strategy=strategy)
    grid = fleet.get_hybrid_communicate_group()
    if "ep_degree" in degrees:
        group = grid.get_expert_parallel_group()
        clip = nn.ClipGradByGlobalNorm(NORM)
    else:
        group = grid.get_sharding_parallel_group()
        clip = moe.ClipGradForMOEByGlobalNorm(NORM, lambda p: getattr(p, "no_sync", False), group)
    place, count = group.rank, group.nranks
    blocks = [(Block, seed, place, count, group) for seed in (1, 20)]
    stages = grid.get_pipe_parallel_world_size()
    if stages > 1:
        descriptions = [fleet.meta_parallel.LayerDesc(*block) for block in blocks]
        with_stages_of_others = fleet.meta_parallel.PipelineLayer(descriptions, stages, loss_fn=loss_of)
        try:
            fleet.distributed_model(with_stages_of_others)
        except AssertionError as error:
            REFUSED.append(str(error))
        model = fleet.meta_parallel.PipelineLayer(descriptions, topology=grid.topology(), loss_fn=loss_of)
    else:
        model = nn.Sequential(*(kind(*arguments) for kind, *arguments in blocks))
    # Copies of experts begin with the weights of the first process.
    if degrees.get("moe_sharding_degree", 1) > 1 and grid.get_moe_sharding_parallel_rank() > 0:
        filled(model, 77)
    wrapped = fleet.distributed_model(model)
    optimizer = fleet.distributed_optimizer(optimizer_of(model.parameters(), clip, read or write))
    if read:
        load(model, optimizer, read)
    copies = grid.get_sharding_parallel_world_size()
    share, copy = ROWS // copies, grid.get_sharding_parallel_rank()
    rows = slice(share * copy, share * (copy + 1))
    if not in_pieces:
        check_owners(optimizer._inner_opt, model, grid)
    losses = []
    for step in steps:
        x = paddle.to_tensor(batch(step)[rows])
        if stages > 1:
            loss = wrapped.forward_backward_pipeline([x, x])
        else:
            loss = loss_of(wrapped(x), x)
            loss.backward()
        divide_gradients_of_experts(model, count)
        if by_hand:
            inner = optimizer._inner_opt
            inner.reduce_gradients(list(model.parameters()), grid)
            inner.step()
        else:
            optimizer.step()
        optimizer.clear_grad()
        total = loss.detach().clone().reshape([1])
        paddle.distributed.all_reduce(total, group=grid.get_sharding_parallel_group())
        losses.append(float(total) / copies)
    if write:
        paddle.distributed.save_state_dict(parts(model, optimizer), write)
    return losses


def in_a_group(level, folder):
    """A training without a grid: processes divide states, gradients or parameters, but not experts."""
    group = paddle.distributed.get_group(0)
    place, count = group.rank, group.nranks
    layers = nn.Sequential(*(Block(seed, place, count, group) for seed in (1, 20)))
    optimizer = optimizer_of(layers.parameters(), nn.ClipGradByGlobalNorm(NORM))
    model, optimizer, _ = sharding.group_sharded_parallel(layers, optimizer, level)
    share = ROWS // count
    losses = []
    for step in range(STEPS):
        x = paddle.to_tensor(batch(step)[share * place : share * (place + 1)])
        loss = loss_of(model(x), x)
        loss.backward()
        divide_gradients_of_experts(layers, count)
        optimizer.step()
        optimizer.clear_grad()
        total = loss.detach().clone().reshape([1])
        paddle.distributed.all_reduce(total)
        losses.append(float(total) / count)
    try:
        sharding.save_group_sharded_model(model, folder)
    except ValueError as error:
        REFUSED.append(str(error))
    return losses


def resumed(folder):
    """Two steps in each of two grids, the second with other processes for the experts."""
    first, second = f"{folder}/first", f"{folder}/second"
    losses = trained(*GRIDS["pieces"], steps=range(2), write=first)
    return losses + trained(*GRIDS["one copy"], steps=range(2, 4), read=first, write=second)


def main(folder):
    if os.environ["PADDLE_TRAINERS_NUM"] == "1":
        return {
            "alone": alone(),
            "with states": alone(range(6), has_states=True),
            "resumed": alone(range(4, 6), read=f"{folder}/second", has_states=True),
        }
    found = {name: trained(*grid) for name, grid in GRIDS.items()}
    found |= {level: in_a_group(level, folder) for level in LEVELS}
    return {**found, "refused": REFUSED, "resumed": resumed(folder)}


if __name__ == "__main__":
    found = main(sys.argv[1])
    print(json.dumps(found), flush=True)
