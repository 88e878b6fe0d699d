"""What `paddle.distributed.plan` says of a training step of a Llama-style model on meshes of 64 and 256
devices, none of which is there.

    python benchmarks/plan_scale.py      # 8 x 8 and 32 x 8, each in a process of its own
    python benchmarks/plan_scale.py --mesh 8x8 --hidden 512 --layers 4
    python benchmarks/plan_scale.py --mesh 8x8 --json            # one mesh, for a test

Data parallelism with everything cut (ShardingStage3) along the first dimension, tensor parallelism along the
second; AdamW, one sequence for each of the first dimension, float32. Prints seconds to build and to plan, MiB
on each device, and of each kind of collective how often it runs in a step and the MiB that each
device receives.
"""

import argparse
import collections
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np

import paddle_jax as paddle
from paddle_jax import nn


class Norm(nn.Layer):
    """Root mean square normalisation."""

    def __init__(self, width):
        super().__init__()
        self.weight = self.create_parameter([width], default_initializer=nn.initializer.Constant(1.0))

    def forward(self, x):
        return x * paddle.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * self.weight


class Block(nn.Layer):
    """Attention with grouped queries and rotary positions, SwiGLU."""

    def __init__(self, args):
        super().__init__()
        self.heads, self.kept, self.size = args.heads, args.heads // 2, args.hidden // args.heads
        narrow, wide = self.kept * self.size, args.hidden * 8 // 3 // 64 * 64
        self.before, self.between = Norm(args.hidden), Norm(args.hidden)
        shapes = {
            "q": (args.hidden, args.hidden),
            "k": (args.hidden, narrow),
            "v": (args.hidden, narrow),
            "o": (args.hidden, args.hidden),
            "gate": (args.hidden, wide),
            "up": (args.hidden, wide),
            "down": (wide, args.hidden),
        }
        for name, shape in shapes.items():
            setattr(self, name, nn.Linear(*shape, bias_attr=False))

    def forward(self, x, cos, sin):
        h, (b, s) = self.before(x), x.shape[:2]
        q, k, v = (layer(h).reshape([b, s, -1, self.size]) for layer in (self.q, self.k, self.v))
        q, k = _turned(q, cos, sin), _turned(k, cos, sin)
        k, v = (paddle.repeat_interleave(each, self.heads // self.kept, axis=2) for each in (k, v))
        x = x + self.o(
            nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).reshape([b, s, -1])
        )
        h = self.between(x)
        return x + self.down(nn.functional.silu(self.gate(h)) * self.up(h))


class Llama(nn.Layer):
    """Logits [batch, length, vocabulary] of tokens [batch, length]."""

    def __init__(self, args):
        super().__init__()
        self.size = args.hidden // args.heads
        self.embedding, self.norm = nn.Embedding(args.vocabulary, args.hidden), Norm(args.hidden)
        self.blocks, self.head = (
            nn.LayerList([Block(args) for _ in range(args.layers)]),
            nn.Linear(args.hidden, args.vocabulary, bias_attr=False),
        )

    def forward(self, tokens):
        turns = 10000.0 ** (-paddle.arange(0, self.size, 2, dtype="float32") / self.size)
        angles = paddle.outer(paddle.arange(tokens.shape[1], dtype="float32"), turns)
        x, cos, sin = (
            self.embedding(tokens),
            paddle.cos(angles)[None, :, None, :],
            paddle.sin(angles)[None, :, None, :],
        )
        for block in self.blocks:
            x = block(x, cos, sin)
        return self.head(self.norm(x))


def _turned(x, cos, sin):
    a, b = x.chunk(2, axis=-1)
    return paddle.concat([a * cos - b * sin, b * cos + a * sin], axis=-1)


def adamw(net):
    """The optimizer of a model."""
    return paddle.optimizer.AdamW(
        1e-3, parameters=net.parameters(), grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0)
    )


def cut(stage):
    """What `dist.parallelize` is told: tensor parallelism, and the stage of dividing states,
    gradients and parameters."""
    cols, rows = paddle.distributed.ColWiseParallel(), paddle.distributed.RowWiseParallel()
    layers = {"embedding": rows, "head": cols} | {
        rf"blocks\.\d+\.{n}": cols for n in ("q", "k", "v", "gate", "up")
    }
    layers |= {rf"blocks\.\d+\.{n}": rows for n in ("o", "down")}
    return {"mp_config": {"parallelize_plan": layers}, "dp_config": {"sharding_level": stage}}


def stepping(net, optimizer, args):
    """A function of tokens that makes a step and gives the loss."""

    def step(tokens):
        logits = net(tokens[:, :-1])
        loss = paddle.nn.functional.cross_entropy(
            logits.reshape([-1, args.vocabulary]), tokens[:, 1:].reshape([-1])
        )
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return step


def planned(args):
    """What the plan says, as a dict."""
    dist, shape, start = paddle.distributed, [int(n) for n in args.mesh.split("x")], time.perf_counter()
    mesh = dist.ProcessMesh(np.arange(np.prod(shape)).reshape(shape), dim_names=["dp", "mp"])
    paddle.seed(0)
    net = Llama(args)
    net, optimizer = dist.parallelize(net, adamw(net), mesh, cut(3))
    if args.gather:
        dist.gather_weights(net)
    tokens = dist.shard_tensor(np.zeros((shape[0], args.length + 1), "int64"), mesh, [dist.Shard(0)])

    built = time.perf_counter()
    found, kinds = dist.plan(stepping(net, optimizer, args), tokens), collections.defaultdict(lambda: [0, 0])
    for each in found.collectives:
        kinds[each.kind][0] += each.count
        kinds[each.kind][1] += each.nbytes
    return {
        "mesh": args.mesh,
        "devices": found.devices,
        "parameters": sum(p.size for p in net.parameters()),
        "build": built - start,
        "plan": time.perf_counter() - built,
        "arguments": found.arguments,
        "temporaries": found.temporaries,
        "peak": found.peak,
        "moved": found.moved,
        "kinds": kinds,
        "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "warnings": found.warnings,
    }


def row(found):
    """A line of the table."""
    kinds = ", ".join(
        f"{count} {kind} {moved / 2**20:.1f}" for kind, (count, moved) in sorted(found["kinds"].items())
    )
    mib = [f"{found[name] / 2**20:.1f}" for name in ("arguments", "temporaries", "peak", "moved")]
    seconds = [f"{found[name]:.0f}" for name in ("build", "plan")]
    cells = [
        found["mesh"],
        f"{found['parameters'] / 1e6:.1f}",
        *seconds,
        *mib,
        kinds,
        f"{found['rss'] / 2**30:.1f}",
    ]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mesh", help="like 8x8; default: 8x8 and 32x8")
    for name, value in {"layers": 2, "hidden": 256, "heads": 16, "vocabulary": 4096, "length": 256}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--gather", action="store_true", help="with gather_weights")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.mesh and os.environ.get("PLAN_SCALE") == args.mesh:
        print(json.dumps(planned(args)))
        return
    lines = []
    for mesh in [args.mesh] if args.mesh else ["8x8", "32x8"]:
        first, second = mesh.split("x")
        flags = (
            f"{os.environ.get('XLA_FLAGS', '')} "
            f"--xla_force_host_platform_device_count={int(first) * int(second)}"
        )
        given = [
            f"--{name}={getattr(args, name)}"
            for name in ("layers", "hidden", "heads", "vocabulary", "length")
        ]
        env = os.environ | {"XLA_FLAGS": flags, "NPROC": "64", "JAX_PLATFORMS": "cpu", "PLAN_SCALE": mesh}
        command = [
            sys.executable,
            "-W",
            "ignore",
            __file__,
            "--mesh",
            mesh,
            *given,
            *["--gather"] * args.gather,
        ]
        out = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
        lines.append(json.loads(out.stdout.splitlines()[-1]))
    if args.json:
        print(json.dumps(lines[0]))
        return
    print(
        "| mesh | 10^6 parameters | s to build | s to plan | arguments | temporaries | peak | received | "
        "collectives | GiB on the host |"
    )
    print("| --- " * 10 + "|")
    print("\n".join(map(row, lines)))


if __name__ == "__main__":
    main()
