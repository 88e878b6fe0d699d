"""Compiles training steps for chips that are not there: memory, work, 64-bit instructions, time to compile.

    python benchmarks/aot_steps.py [--target h100] [--target v5e:2x4] [--limit 600] [NAME ...]

Prints a row of docs/aot.md for each step, its 64-bit instructions, and what several devices send. The
compilers must be installed (docs/aot.md). With several devices the batch is cut, and AdamW's states are
(ShardingStage1); those of a Llama also have their gradients and parameters cut (ShardingStage3). Parameters
take no memory here (LazyGuard).
"""

import argparse
import os

# stand-ins for the devices of a target, set before JAX is imported
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")

import numpy as np  # noqa: E402

import paddle_jax as paddle  # noqa: E402
from paddle_jax import aot, nn  # noqa: E402
from paddle_jax._core.base.report_text import size_text  # noqa: E402
from paddle_jax.aot.report import count_text, time_text  # noqa: E402
from paddle_jax.aot.target import parse  # noqa: E402
from paddle_jax.static import InputSpec  # noqa: E402

F = nn.functional
dist = paddle.distributed


def trained(net, loss_of, batch, mesh=None, level=1, multi_precision=False):
    """(training step of a network, its batch). Both are cut over a mesh, if there is one."""
    adam = paddle.optimizer.AdamW(1e-3, parameters=net.parameters(), multi_precision=multi_precision)
    if mesh is not None:
        net, adam = dist.parallelize(net, adam, mesh, {"dp_config": {"sharding_level": level}})
        if level == 3:
            dist.gather_weights(net)
        batch = [cut(spec, mesh) for spec in batch]

    def step(*batch):
        loss = loss_of(net, *batch)
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    return step, batch


def cut(spec, mesh):
    """A Tensor of zeros for an InputSpec, with its first axis cut over a mesh."""
    return dist.shard_tensor(paddle.zeros(spec.shape, spec.dtype), mesh, [dist.Shard(0)])


def resnet50(mesh):
    net = paddle.vision.models.resnet50()
    batch = InputSpec([256, 3, 224, 224], "float32"), InputSpec([256], "int64")
    return trained(net, lambda net, x, y: F.cross_entropy(net(x), y), batch, mesh)


def loss_of_words(net, ids, labels):
    """The loss of a network that gives scores of all words at each position."""
    return F.cross_entropy(net(ids).flatten(0, 1), labels.flatten())


def sentences(count, length):
    """Word numbers and labels."""
    return [InputSpec([count, length], "int64")] * 2


class Bert(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(30522, 768)
        self.places = nn.Embedding(512, 768)
        layer = nn.TransformerEncoderLayer(768, 12, 3072, dropout=0.1, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 12)
        self.head = nn.Linear(768, 30522)

    def forward(self, ids):
        places = paddle.arange(ids.shape[1])
        return self.head(self.encoder(self.words(ids) + self.places(places)))


def bert(mesh):
    return trained(Bert(), loss_of_words, sentences(8, 128), mesh)


class RmsNorm(nn.Layer):
    """Division by the root of the mean square."""

    def __init__(self, width):
        super().__init__()
        self.scale = self.create_parameter([width])

    def forward(self, x):
        wide = x.astype("float32")
        return (wide * paddle.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)).astype(x.dtype) * self.scale


class LlamaBlock(nn.Layer):
    """Attention with rotary positions and shared heads of keys, and a gated network."""

    def __init__(self, width, heads, shared, inner):
        super().__init__()
        self.heads, self.shared, self.size = heads, shared, width // heads
        self.norms = nn.LayerList([RmsNorm(width) for _ in range(2)])
        self.q = nn.Linear(width, width, bias_attr=False)
        self.kv = nn.Linear(width, 2 * shared * self.size, bias_attr=False)
        self.out = nn.Linear(width, width, bias_attr=False)
        self.up = nn.Linear(width, 2 * inner, bias_attr=False)
        self.down = nn.Linear(inner, width, bias_attr=False)

    def rotated(self, x):
        """Rotary embeddings of the positions."""
        rates = 10000.0 ** (-paddle.arange(0, self.size, 2, dtype="float32") / self.size)
        angles = paddle.arange(x.shape[1]).astype("float32").unsqueeze(1) * rates
        cos = paddle.cos(angles).astype(x.dtype).unsqueeze(1)
        sin = paddle.sin(angles).astype(x.dtype).unsqueeze(1)
        a, b = x.chunk(2, axis=-1)
        return paddle.concat([a * cos - b * sin, b * cos + a * sin], axis=-1)

    def forward(self, x):
        h = self.norms[0](x)
        q = self.q(h).reshape([*x.shape[:2], self.heads, self.size])
        k, v = self.kv(h).reshape([*x.shape[:2], 2 * self.shared, self.size]).chunk(2, axis=2)
        mixed = F.scaled_dot_product_attention(self.rotated(q), self.rotated(k), v, is_causal=True)
        x = x + self.out(mixed.flatten(2))
        gate, up = self.up(self.norms[1](x)).chunk(2, axis=-1)
        return x + self.down(F.silu(gate) * up)


class Llama(nn.Layer):
    """Blocks with the embedding and the head. With several blocks each is computed again in the backward
    pass."""

    def __init__(self, layers=1, width=4096, heads=32, shared=8, inner=14336, words=32000):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.LayerList([LlamaBlock(width, heads, shared, inner) for _ in range(layers)])
        self.norm = RmsNorm(width)
        self.head = nn.Linear(width, words, bias_attr=False)

    def forward(self, ids):
        x = self.words(ids)
        for block in self.blocks:
            x = dist.fleet.utils.recompute(block, x) if len(self.blocks) > 1 else block(x)
        return self.head(self.norm(x))


def llama(mesh, layers=1, multi_precision=False, **sizes):
    paddle.set_default_dtype("bfloat16")
    net = Llama(layers, **sizes)
    paddle.set_default_dtype("float32")
    batch = sentences(1 if mesh is None else mesh.size, 2048)
    return trained(net, loss_of_words, batch, mesh, level=3, multi_precision=multi_precision)


def llama7b(mesh):
    """Llama 2 of 7 billion parameters, with float32 copies of the weights."""
    return llama(
        mesh, layers=int(os.environ.get("LAYERS", "32")), multi_precision=True, shared=32, inner=11008
    )


class Lstm(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10000, 256)
        self.lstm = nn.LSTM(256, 256, 2)
        self.head = nn.Linear(256, 10000)

    def forward(self, ids):
        return self.head(self.lstm(self.words(ids))[0])


def lstm(mesh):
    return trained(Lstm(), loss_of_words, sentences(32, 64), mesh)


def pinn(mesh):
    net = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))

    def loss_of(net, x):
        x.stop_gradient = False
        u = net(x)
        first = paddle.grad(u.sum(), x, create_graph=True)[0]
        second = paddle.grad(first[:, 0].sum(), x, create_graph=True)[0]
        return (first[:, 1] - second[:, 0] + u[:, 0] * first[:, 0]).square().mean()

    return trained(net, loss_of, [InputSpec([4096, 2], "float32")], mesh)


def gnn(mesh):
    net = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 8))

    def loss_of(net, x, source, target, y):
        gathered = paddle.geometric.send_u_recv(net[0](x), source, target, "mean", out_size=2048)
        return F.cross_entropy(net[1](F.relu(gathered)), y)

    edges = InputSpec([16384], "int64")
    batch = InputSpec([2048, 64], "float32"), edges, edges, InputSpec([2048], "int64")
    return trained(net, loss_of, batch, mesh)


STEPS = {"resnet50": resnet50, "bert": bert, "llama": llama, "lstm": lstm, "pinn": pinn, "gnn": gnn}
LARGE = {"llama7b": llama7b}  # these run when they are named


def row(name, target, limit):
    """The row of a step on a target."""
    count = parse(target).devices
    mesh = dist.ProcessMesh(np.arange(count), dim_names=["dp"]) if count > 1 else None
    with paddle.LazyGuard():
        step, batch = (STEPS | LARGE)[name](mesh)
    report = aot.compile(step, *batch, target=target, timeout=limit)
    if not report.compiles:
        return f"| {name} | {target} | {report.error} | | | | | |"
    wide = sum(each[4] for each in report.wide)
    cells = [
        name,
        target,
        size_text(report.peak),
        count_text(report.flops),
        size_text(report.bytes),
        time_text(report.seconds or 0.0),
        f"{report.wide_instructions} ({size_text(wide)})",
        f"{report.compile_seconds:.0f} s",
    ]
    lines = [f"| {' | '.join(cells)} |", *[f"    {each}" for each in report.wide]]
    lines += [f"    {each.count} {each.kind}: {size_text(each.nbytes)}" for each in report.collectives[:8]]
    lines += [f"    {each}" for each in report.warnings]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*STEPS, *LARGE, []], default=list(STEPS))
    parser.add_argument("--target", action="append")
    parser.add_argument("--limit", type=float, help="seconds after which a compiler is stopped")
    options = parser.parse_args()
    for name in options.names:
        for target in options.target or ["h100", "v5e"]:
            print(row(name, target, options.limit), flush=True)


if __name__ == "__main__":
    main()
