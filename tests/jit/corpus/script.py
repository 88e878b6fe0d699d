"""The list of scenarios, which the modules beside this one fill, and what they share."""

import numpy as np

import paddle_jax as paddle
from paddle_jax import nn

SCENARIOS = {}


def scenario(function):
    """`function(compile)` -> values; `compile` is to_static or the identity."""
    SCENARIOS[function.__name__] = function
    return function


def data(*shape, seed=0, dtype="float32"):
    return paddle.to_tensor(np.random.default_rng(seed).normal(size=shape).astype(dtype))


def small():
    paddle.seed(3)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def trainer(net, opt):
    """A training step on the sum of a network's outputs."""

    def step(x):
        loss = net(x).sum()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    return step


def see(layer):
    return [value.numpy() for value in layer.state_dict().values()]
