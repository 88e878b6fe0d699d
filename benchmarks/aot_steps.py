"""Compiles training steps for chips that are not there: memory, work, 64-bit instructions, time to compile.

    python benchmarks/aot_steps.py [--target h100] [NAME ...]

Prints a row of docs/aot.md for each step. The compilers must be installed (docs/aot.md).
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


STEPS = {"resnet50": resnet50, "bert": bert, "lstm": lstm, "pinn": pinn, "gnn": gnn}


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
    return f"| {' | '.join(cells)} |"


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
