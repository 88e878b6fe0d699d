"""Compiles training steps for chips that are not there: memory, work, 64-bit instructions, time to compile.

    python benchmarks/aot_steps.py [--target h100] [NAME ...]

Prints a row of docs/aot.md for each step, and its 64-bit instructions. The compilers must be installed
(docs/aot.md).
"""

import argparse

import paddle_jax as paddle
from paddle_jax import aot, nn
from paddle_jax._core.base.report_text import size_text
from paddle_jax.aot.report import count_text, time_text
from paddle_jax.static import InputSpec

F = nn.functional


def trained(net, loss_of):
    """A training step of a network."""
    adam = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())

    def step(*batch):
        loss = loss_of(net, *batch)
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    return step


def resnet50():
    net = paddle.vision.models.resnet50()
    batch = InputSpec([256, 3, 224, 224], "float32"), InputSpec([256], "int64")
    return trained(net, lambda net, x, y: F.cross_entropy(net(x), y)), batch


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


def bert():
    batch = InputSpec([8, 128], "int64"), InputSpec([8, 128], "int64")
    return trained(Bert(), lambda net, x, y: F.cross_entropy(net(x).flatten(0, 1), y.flatten())), batch


class RmsNorm(nn.Layer):
    """Division by the root of the mean square."""

    def __init__(self, width):
        super().__init__()
        self.scale = self.create_parameter([width])

    def forward(self, x):
        wide = x.astype("float32")
        return (wide * paddle.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)).astype(x.dtype) * self.scale


class Llama(nn.Layer):
    """One block of a Llama of 8 billion parameters, with the embedding and the head."""

    def __init__(self, width=4096, heads=32, shared=8, inner=14336, words=32000):
        super().__init__()
        self.heads, self.shared, self.size = heads, shared, width // heads
        self.words = nn.Embedding(words, width)
        self.norms = nn.LayerList([RmsNorm(width) for _ in range(3)])
        self.q = nn.Linear(width, width, bias_attr=False)
        self.kv = nn.Linear(width, 2 * shared * self.size, bias_attr=False)
        self.out = nn.Linear(width, width, bias_attr=False)
        self.up = nn.Linear(width, 2 * inner, bias_attr=False)
        self.down = nn.Linear(inner, width, bias_attr=False)
        self.head = nn.Linear(width, words, bias_attr=False)

    def rotated(self, x):
        """Rotary embeddings of the positions."""
        rates = 10000.0 ** (-paddle.arange(0, self.size, 2, dtype="float32") / self.size)
        angles = paddle.arange(x.shape[1]).astype("float32").unsqueeze(1) * rates
        cos = paddle.cos(angles).astype(x.dtype).unsqueeze(1)
        sin = paddle.sin(angles).astype(x.dtype).unsqueeze(1)
        a, b = x.chunk(2, axis=-1)
        return paddle.concat([a * cos - b * sin, b * cos + a * sin], axis=-1)

    def forward(self, ids):
        x = self.words(ids)
        h = self.norms[0](x)
        q = self.q(h).reshape([*ids.shape, self.heads, self.size])
        k, v = self.kv(h).reshape([*ids.shape, 2 * self.shared, self.size]).chunk(2, axis=2)
        mixed = F.scaled_dot_product_attention(self.rotated(q), self.rotated(k), v, is_causal=True)
        x = x + self.out(mixed.flatten(2))
        gate, up = self.up(self.norms[1](x)).chunk(2, axis=-1)
        x = x + self.down(F.silu(gate) * up)
        return self.head(self.norms[2](x))


def llama():
    batch = InputSpec([1, 2048], "int64"), InputSpec([1, 2048], "int64")
    net = Llama().bfloat16()
    return trained(net, lambda net, x, y: F.cross_entropy(net(x).flatten(0, 1), y.flatten())), batch


class Lstm(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10000, 256)
        self.lstm = nn.LSTM(256, 256, 2)
        self.head = nn.Linear(256, 10000)

    def forward(self, ids):
        return self.head(self.lstm(self.words(ids))[0])


def lstm():
    batch = InputSpec([32, 64], "int64"), InputSpec([32, 64], "int64")
    return trained(Lstm(), lambda net, x, y: F.cross_entropy(net(x).flatten(0, 1), y.flatten())), batch


def pinn():
    net = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))

    def loss_of(net, x):
        x.stop_gradient = False
        u = net(x)
        first = paddle.grad(u.sum(), x, create_graph=True)[0]
        second = paddle.grad(first[:, 0].sum(), x, create_graph=True)[0]
        return (first[:, 1] - second[:, 0] + u[:, 0] * first[:, 0]).square().mean()

    return trained(net, loss_of), (InputSpec([4096, 2], "float32"),)


def gnn():
    net = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 8))

    def loss_of(net, x, source, target, y):
        gathered = paddle.geometric.send_u_recv(net[0](x), source, target, "mean", out_size=2048)
        return F.cross_entropy(net[1](F.relu(gathered)), y)

    edges = InputSpec([16384], "int64")
    batch = InputSpec([2048, 64], "float32"), edges, edges, InputSpec([2048], "int64")
    return trained(net, loss_of), batch


STEPS = {"resnet50": resnet50, "bert": bert, "llama": llama, "lstm": lstm, "pinn": pinn, "gnn": gnn}


def row(name, target):
    """The row of a step on a target."""
    step, batch = STEPS[name]()
    report = aot.compile(step, *batch, target=target)
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
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*STEPS, []], default=list(STEPS))
    parser.add_argument("--target", action="append")
    options = parser.parse_args()
    for name in options.names:
        for target in options.target or ["h100", "v5e"]:
            print(row(name, target), flush=True)


if __name__ == "__main__":
    main()
