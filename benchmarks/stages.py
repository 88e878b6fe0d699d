"""What a device holds at each stage of dividing states, gradients and parameters (ZeRO), and whether
training stays the same.

    python benchmarks/stages.py    # on 8 stand-ins for devices in one process, then in 2 processes
    python benchmarks/stages.py --layers 2 --hidden 256

A Llama-style model (that of plan_scale.py) with AdamW and clipping by the global norm, 20 steps of 8
sequences. In one process: KiB on each device by `dist.plan`, and the largest relative difference of a loss
from that of one device. In two processes (`group_sharded_parallel`): KiB that a process holds after a
backward pass and a step, and the same difference from data parallel training.
"""

import argparse
import os
import subprocess
import sys

import numpy as np
from plan_scale import Llama, adamw, cut, stepping

import paddle_jax as paddle

dist = paddle.distributed
STEPS, BATCH = 20, 8


def made(args):
    """A model and its optimizer, always the same."""
    paddle.seed(0)
    net = Llama(args)
    return net, lambda: adamw(net)


def batches(args):
    """Tokens of all steps."""
    return np.random.RandomState(1).randint(0, args.vocabulary, (STEPS, BATCH, args.length + 1))


def on_devices(args):
    """Rows of the first table."""
    net, optimizer = made(args)
    step = stepping(net, optimizer(), args)
    want = np.array([float(step(paddle.to_tensor(tokens))) for tokens in batches(args)])
    for shape in ((8, 1), (2, 4)):
        mesh = dist.ProcessMesh(np.arange(8).reshape(shape), dim_names=["dp", "mp"])
        for stage in (0, 1, 2, 3) if shape == (8, 1) else (0, 3):
            net, optimizer = made(args)
            net, optimizer = dist.parallelize(net, optimizer(), mesh, cut(stage))
            step = paddle.jit.to_static(stepping(net, optimizer, args))
            shards = [
                dist.shard_tensor(tokens, mesh, [dist.Shard(0), dist.Replicate()]) for tokens in batches(args)
            ]
            plan = dist.plan(step, shards[0])
            far = np.abs(np.array([float(step(tokens)) for tokens in shards]) / want - 1).max()
            held = sum(size for name, *_, size in plan.tensors if name in {p.name for p in net.parameters()})
            cells = [held, plan.arguments - held, plan.temporaries, plan.peak, plan.moved]
            print(
                (
                    f"| {shape[0]} x {shape[1]} | {stage or 'none'} | "
                    + " | ".join(f"{n / 1024:.0f}" for n in cells)
                    + f" | {far:.1e} |"
                ),
                flush=True,
            )


def in_processes(args):
    """Rows of the second table; one of two processes."""
    dist.init_parallel_env()
    rank, want = dist.get_rank(), None
    for level in (None, "os", "os_g", "p_g_os"):
        net, optimizer = made(args)
        model, optimizer = paddle.DataParallel(net), optimizer()
        if level is not None:
            net, inner = made(args)
            model, optimizer, _ = dist.sharding.group_sharded_parallel(net, inner(), level)
        step, losses = stepping(model, optimizer, args), []
        for tokens in batches(args):
            loss = step(paddle.to_tensor(tokens[rank * BATCH // 2 : (rank + 1) * BATCH // 2])).detach()
            dist.all_reduce(loss, dist.ReduceOp.AVG)
            losses.append(float(loss))
        want = losses if want is None else want
        states = sum(value.size * 4 for name, value in optimizer.state_dict().items() if "moment" in name)
        held = sum(p.size * 4 for p in net.parameters())
        tokens = paddle.to_tensor(batches(args)[0][:4])
        model(tokens[:, :-1]).mean().backward()
        gradients = sum(p.grad.size * 4 for p in net.parameters() if p.grad is not None)
        far = np.abs(np.array(losses) / want - 1).max()
        everyone = []
        dist.all_gather_object(everyone, [held, gradients, states])
        found = np.array(everyone).max(0)
        if rank == 0:
            print(
                (
                    f"| {level or 'DataParallel'} | "
                    + " | ".join(f"{n / 1024:.0f}" for n in found)
                    + f" | {far:.1e} |"
                ),
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in {"layers": 1, "hidden": 128, "heads": 8, "vocabulary": 1024, "length": 32}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--devices", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.devices:
        on_devices(args)
        return
    print(
        (
            "| mesh dp x mp | stage | parameters | states, data | between | at most | received "
            "| difference |\n" + "| --- " * 8 + "|"
        ),
        flush=True,
    )
    env = os.environ | {
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
        "NPROC": "64",
        "JAX_PLATFORMS": "cpu",
    }
    given = [f"--{name}={value}" for name, value in vars(args).items() if name != "devices"]
    subprocess.run([sys.executable, "-W", "ignore", __file__, "--devices", *given], env=env, check=True)
    print(
        "\n| two processes | parameters | gradients | states | difference |\n" + "| --- " * 5 + "|",
        flush=True,
    )
    dist.spawn(in_processes, (args,), nprocs=2, backend="gloo")


if __name__ == "__main__":
    main()
