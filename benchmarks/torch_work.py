"""The workloads of `paddle_work.py` in PyTorch, eager: same sizes, same layers."""

import functools as ft

import measure
import torch
import torch.nn.functional as F
from measure import Work
from torch import nn

OPS = 100

operations = {
    "add": lambda x, y: x + y,
    "add_number": lambda x, y: x + 1.5,
    "matmul": lambda x, y: x @ y,
    "tanh": lambda x, y: torch.tanh(x),
    "sum": lambda x, y: x.sum(),
    "reshape": lambda x, y: x.reshape(16, 4),
    "get": lambda x, y: x[3],
    "slice": lambda x, y: x[1:5, 2],
}


@ft.cache
def places():
    return (
        torch.tensor([5, 1, 3]),
        torch.arange(64).reshape(8, 8) % 3 == 0,
        torch.arange(16).reshape(8, 2) % 8,
    )


indexing = {
    "get_step": lambda x, y: x[::2],
    "get_new_axis": lambda x, y: x[:, None, 1],
    "get_array": lambda x, y: x[places()[0]],
    "get_pairs": lambda x, y: x[places()[0], places()[0]],
    "get_mask": lambda x, y: x[places()[1]],
    "index_select": lambda x, y: torch.index_select(x, 1, places()[0]),
    "along_axis": lambda x, y: torch.take_along_dim(x, places()[2], 1),
    "scatter": lambda x, y: torch.index_copy(x, 0, places()[0], y[:3]),
    "sort": lambda x, y: torch.sort(x)[0],
    "argsort": lambda x, y: torch.argsort(x),
    "topk": lambda x, y: torch.topk(x, 3)[0],
    "cumsum": lambda x, y: torch.cumsum(x, 0),
}
setting = {
    "set_slice": lambda: (slice(1, 5), 2),
    "set_array": lambda: places()[0],
    "set_mask": lambda: places()[1],
}


def read_array(out):
    return out.detach().cpu().numpy()


def operation(function, grad):
    x, y = (torch.randn(8, 8, requires_grad=grad) for _ in range(2))

    def step():
        for _ in range(OPS):
            out = function(x, y)
        return out

    return Work(step, read_array, OPS)


def set_item(key, value):
    x, y = torch.randn(8, 8), torch.randn(8, 8)
    at, value = key(), y[:3] if value is None else value

    def step():
        out = x * 1.0
        for _ in range(OPS):
            out[at] = value
        return out

    return Work(step, read_array, OPS)


def set_through():
    x = torch.randn(8, 8)

    def step():
        out = x * 1.0
        for _ in range(OPS):
            out[3][1] = 0.0
        return out

    return Work(step, read_array, OPS)


def get_each():
    x = torch.randn(8, 8)

    def step():
        for number in range(OPS):
            out = x[number % 8]
        return out

    return Work(step, read_array, OPS)


def chained_add():
    x, y = torch.randn(8, 8), torch.randn(8, 8)

    def step():
        out = x
        for _ in range(OPS):
            out = out + y
        return out

    return Work(step, read_array, OPS)


def set_row(grad):
    x, row = torch.randn(8, 8, requires_grad=grad), torch.randn(8)

    def step():
        out = x * 1.0
        for _ in range(OPS):
            out[3] = row
        return out

    return Work(step, read_array, OPS)


def item():
    x = torch.randn(8, 8)

    def step():
        for _ in range(OPS):
            out = x[0, 0].item()
        return out

    return Work(step, float, OPS)


def chain20():
    x, y = (torch.randn(8, 8, requires_grad=True) for _ in range(2))

    def step():
        x.grad = y.grad = None
        out = x
        for _ in range(10):
            out = torch.tanh(out * y)
        loss = out.sum()
        loss.backward()
        return loss

    return Work(step, torch.Tensor.item)


def third():
    x = torch.randn(8, 8, requires_grad=True)

    def step():
        out = torch.tanh(x * x) * torch.sin(x)
        for order in range(3):
            (out,) = torch.autograd.grad(out.sum(), x, create_graph=order < 2)
        return out.sum()

    return Work(step, torch.Tensor.item)


def training(layers, loss_of, optimizer=torch.optim.Adam):
    parameters = [p for layer in layers for p in layer.parameters()]
    update = optimizer(parameters, lr=1e-3)

    def step():
        loss = loss_of()
        loss.backward()
        update.step()
        update.zero_grad()
        return loss

    return Work(step, torch.Tensor.item, parameters=sum(p.numel() for p in parameters))


def labels(count, classes=10):
    return torch.arange(count) % classes


def tanh_net(inputs, width, depth):
    sizes = [inputs] + [width] * depth
    hidden = [part for a, b in zip(sizes, sizes[1:], strict=False) for part in (nn.Linear(a, b), nn.Tanh())]
    return nn.Sequential(*hidden, nn.Linear(width, 1))


def mlp():
    net, x, y = tanh_net(64, 64, 2), torch.randn(32, 64), torch.randn(32, 1)
    return training([net], lambda: F.mse_loss(net(x), y))


def lenet():
    features = [
        nn.Conv2d(1, 6, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
    ]
    net = nn.Sequential(*features, nn.Flatten(), nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10))
    x, y = torch.randn(64, 1, 28, 28), labels(64)
    return training([net], lambda: F.cross_entropy(net(x), y))


def conv_norm(inputs, outputs, size, stride=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False), nn.BatchNorm2d(outputs)
    )


class Block(nn.Module):
    """The basic residual block of ResNet-18."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.main = nn.Sequential(
            conv_norm(inputs, outputs, 3, stride), nn.ReLU(), conv_norm(outputs, outputs, 3)
        )
        self.side = nn.Identity() if inputs == outputs else conv_norm(inputs, outputs, 1, stride)

    def forward(self, x):
        return F.relu(self.main(x) + self.side(x))


def resnet18():
    stages = [(64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)]
    blocks = [block for a, b, stride in stages for block in (Block(a, b, stride), Block(b, b, 1))]
    stem = [conv_norm(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    net = nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))
    x, y = torch.randn(8, 3, 64, 64), labels(8)
    return training([net], lambda: F.cross_entropy(net(x), y))


def transformer():
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True), 4)
    head, x, y = nn.Linear(128, 10), torch.randn(8, 64, 128), labels(8)
    return training([net, head], lambda: F.cross_entropy(head(net(x).mean(dim=1)), y), torch.optim.AdamW)


def lstm():
    net, head = nn.LSTM(32, 64, num_layers=2, batch_first=True), nn.Linear(64, 5)
    x, y = torch.randn(16, 50, 32), labels(16, 5)
    return training([net, head], lambda: F.cross_entropy(head(net(x)[0][:, -1]), y))


def derivative(u, x):
    return torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]


def burgers():
    net, x = tanh_net(2, 32, 3), torch.rand(2000, 2, requires_grad=True)

    def loss():
        u = net(x)
        du = derivative(u, x)
        u_x, u_t = du[:, 0:1], du[:, 1:2]
        u_xx = derivative(u_x, x)[:, 0:1]
        return ((u_t + u * u_x - 0.01 * u_xx) ** 2).mean()

    return training([net], loss)


def beam():
    net, x = tanh_net(1, 20, 3), torch.rand(500, 1, requires_grad=True)

    def loss():
        u = net(x)
        for _ in range(4):
            u = derivative(u, x)
        return ((u + 1.0) ** 2).mean()

    return training([net], loss)


def adam1000():
    parameters = [nn.Parameter(torch.randn(32)) for _ in range(1000)]
    for p in parameters:
        p.grad = torch.randn(32)
    update = torch.optim.Adam(parameters, lr=1e-3)

    def step():
        update.step()
        return parameters[-1]

    return Work(step, read_array, parameters=32000)


def heat():
    start = torch.rand(64, 64)

    def step():
        u = start
        for _ in range(10_000):
            u = u + 0.1 * (
                torch.roll(u, 1, 0)
                + torch.roll(u, -1, 0)
                + torch.roll(u, 1, 1)
                + torch.roll(u, -1, 1)
                - 4.0 * u
            )
        return u.sum()

    return Work(step)


WORKLOADS = {name: ft.partial(operation, function, False) for name, function in operations.items()}
WORKLOADS |= {name + "_grad": ft.partial(operation, function, True) for name, function in operations.items()}
WORKLOADS |= {"set": ft.partial(set_row, False), "set_grad": ft.partial(set_row, True)}
WORKLOADS |= {name: ft.partial(operation, function, False) for name, function in indexing.items()} | {
    "get_each": get_each
}
WORKLOADS["set_through"] = set_through
WORKLOADS |= {
    name: ft.partial(set_item, key, None if name == "set_array" else 0.0) for name, key in setting.items()
}
WORKLOADS |= {
    work.__name__: work
    for work in (
        chained_add,
        item,
        chain20,
        third,
        mlp,
        lenet,
        resnet18,
        transformer,
        lstm,
        burgers,
        beam,
        adam1000,
        heat,
    )
}


def set_device(name):
    torch.set_default_device("cuda" if name == "gpu" else name)


if __name__ == "__main__":
    measure.main(WORKLOADS, set_device)
