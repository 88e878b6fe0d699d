"""What training in a pipeline of one process needs besides: a Llama, a scaler, checkpoints."""

import numpy as np

import paddle_jax as paddle
import paddle_jax.distributed as dist
from paddle_jax.distributed import fleet
from tests.distributed import gpt, llama


def test_a_llama_of_tensor_pipeline_and_sharding_degrees():
    wanted, _ = llama.train({}, 4)
    losses, net = llama.train({"mp": 2, "pp": 2, "sharding": 2}, 4)
    np.testing.assert_allclose(losses, wanted, rtol=1e-5)
    losses, _ = llama.train({"pp": 2}, 2, "ZBH1")
    np.testing.assert_allclose(losses, wanted[:2], rtol=1e-5)
    assert net.run_function[1].self_attn.k_proj.weight.placements == [
        dist.Replicate(),
        dist.Replicate(),
        dist.Shard(1),
    ]


def test_a_scaler_skips_a_step_on_all_stages():
    found = []
    for degrees, mode in (({}, "1F1B"), ({"pp": 2}, "1F1B"), ({"pp": 2}, "ZBH1")):
        scaler = paddle.amp.GradScaler(init_loss_scaling=2.0**24, incr_every_n_steps=2)
        losses, _, _ = gpt.train_pipeline(degrees, 4, 2, mode, scaler, blocks=2)
        found.append((losses, scaler.state_dict()["scale"].item()))
    for losses, scale in found[1:]:
        np.testing.assert_allclose(losses, found[0][0], rtol=1e-4)
        assert scale == found[0][1] < 2.0**24


def test_checkpoints_resume_with_another_split(tmp_path):
    """Three steps with one split, and three with another, are six of one device."""

    def state(net, optimizer):
        return {"model": net.state_dict(), "states": optimizer.state_dict()}

    def steps(degrees, numbers, change):
        sizes = {"accumulate_steps": 2, "micro_batch_size": 4}
        net, model = gpt.pipeline(gpt.start(degrees, **sizes), 2)
        for name, parameter in net.named_parameters():
            parameter.name = name
        optimizer = fleet.distributed_optimizer(paddle.optimizer.AdamW(0.01, parameters=net.parameters()))
        change(net, optimizer)
        losses = []
        for step in numbers:
            batch = paddle.to_tensor(gpt.tokens(step))
            losses.append(float(model.train_batch([batch[:, :-1], batch[:, 1:]], optimizer)))
        return losses, net, optimizer

    wanted, _, _ = steps({}, range(6), lambda net, optimizer: None)
    _, net, optimizer = steps({"pp": 2}, range(3), lambda net, optimizer: None)
    dist.save_state_dict(state(net, optimizer), str(tmp_path))

    def restore(net, optimizer):
        # one step makes the states that are to be read
        for parameter in net.parameters():
            parameter.grad = paddle.zeros_like(parameter)
        optimizer.step()
        optimizer.clear_grad()
        target = state(net, optimizer)
        dist.load_state_dict(target, str(tmp_path))
        net.set_state_dict(target["model"])
        optimizer.set_state_dict(target["states"])

    for degrees in ({"mp": 2}, {}):
        losses, _, _ = steps(degrees, range(3, 6), restore)
        np.testing.assert_allclose(losses, wanted[3:], rtol=1e-5)
