"""The programs of cold.py: each takes a paddle and gives a number that can be compared."""

import numpy as np

PROGRAMS = ["mlp", "lenet", "lstm", "transformer", "pinn", "lengths", "calls", "gradients"]
STEPS = 10


def _trained(paddle, model, loss_of, rate=1e-3):
    optimizer = paddle.optimizer.Adam(rate, parameters=model.parameters())
    for _ in range(STEPS):
        loss = loss_of()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        last = float(loss)
    return last


def _numbers(*shape):
    return np.random.RandomState(0).uniform(-1, 1, shape).astype("float32")


def mlp(paddle):
    nn = paddle.nn
    net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 5))
    x, y = paddle.to_tensor(_numbers(32, 20)), paddle.to_tensor(np.arange(32) % 5)
    return _trained(paddle, net, lambda: nn.functional.cross_entropy(net(x), y))


def lenet(paddle):
    nn = paddle.nn
    net = nn.Sequential(
        nn.Conv2D(1, 6, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2D(2, 2),
        nn.Conv2D(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2D(2, 2),
        nn.Flatten(),
        nn.Linear(400, 120),
        nn.Linear(120, 84),
        nn.Linear(84, 10),
    )
    x, y = paddle.to_tensor(_numbers(16, 1, 28, 28)), paddle.to_tensor(np.arange(16) % 10)
    return _trained(paddle, net, lambda: nn.functional.cross_entropy(net(x), y))


def lstm(paddle):
    nn = paddle.nn
    net, head = nn.LSTM(8, 32), nn.Linear(32, 1)
    x, y = paddle.to_tensor(_numbers(8, 20, 8)), paddle.to_tensor(_numbers(8, 1))
    return _trained(paddle, nn.LayerList([net, head]), lambda: ((head(net(x)[0][:, -1]) - y) ** 2).mean())


def transformer(paddle):
    nn = paddle.nn
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.1)
    body, embed, head = nn.TransformerEncoder(layer, 2), nn.Embedding(50, 64), nn.Linear(64, 50)
    words = paddle.to_tensor(np.arange(8 * 16).reshape(8, 16) % 50)
    net = nn.LayerList([body, embed, head])
    return _trained(paddle, net, lambda: nn.functional.cross_entropy(head(body(embed(words))), words))


def pinn(paddle):
    nn = paddle.nn
    net = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))
    points = paddle.to_tensor(_numbers(100, 2), stop_gradient=False)

    def residual():
        u = net(points)
        first = paddle.grad(u.sum(), points, create_graph=True)[0]
        u_x, u_t = first[:, :1], first[:, 1:]
        u_xx = paddle.grad(u_x.sum(), points, create_graph=True)[0][:, :1]
        return ((u_t + u * u_x - 0.01 * u_xx) ** 2).mean()

    return _trained(paddle, net, residual)


def lengths(paddle):
    """Inference over ten lengths of sequences."""
    nn = paddle.nn
    body, embed = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128), 2), nn.Embedding(50, 64)
    body.eval()
    total = 0.0
    with paddle.no_grad():
        for length in range(5, 55, 5):
            words = paddle.to_tensor(np.arange(2 * length).reshape(2, length) % 50)
            total += float(body(embed(words)).mean())
    return total


CALLS = """x + y|x * 2.5|x @ y.t()|x.sum()|x.mean(axis=1)|paddle.concat([x, y])|paddle.stack([x, y])
x.reshape([-1])|x.transpose([1, 0])|x[1]
x[:, 2:4]|x[x > 0]|paddle.where(x > 0, x, y)|paddle.argmax(x, axis=1)|paddle.sort(x)|paddle.topk(x, 2)[0]
paddle.cumsum(x, 1)
paddle.exp(x)|paddle.tanh(x)|paddle.clip(x, -0.5, 0.5)|F.softmax(x)|F.relu(x)|F.gelu(x)|paddle.linalg.norm(x)
paddle.einsum('ij,kj->ik', x, y)|paddle.unique(i)
x.astype('float64')|x.std()|paddle.median(x)|paddle.max(x, axis=0)|paddle.prod(x)|paddle.floor(x)
paddle.abs(x)
paddle.sign(x)|paddle.flip(x, [0])|paddle.roll(x, 1)
paddle.gather(x, i)|paddle.tile(x, [2, 1])|paddle.expand(x[:1], [3, 6])|x.unsqueeze(0)
paddle.squeeze(x[:1])|paddle.split(x, 2, 1)[1]|paddle.eye(4)
paddle.linspace(0, 1, 7)|paddle.tril(x)|paddle.logsumexp(x, 1)|F.layer_norm(x, [6])|F.mse_loss(x, y)
F.one_hot(i, 5)|paddle.isfinite(x)"""


def calls(paddle):
    """Fifty calls, each of them looked at."""
    names = {
        "paddle": paddle,
        "F": paddle.nn.functional,
        "x": paddle.to_tensor(_numbers(4, 6)),
        "y": paddle.to_tensor(_numbers(4, 6)[::-1].copy()),
        "i": paddle.to_tensor([0, 2, 1, 2]),
    }
    return sum(
        float(np.asarray(eval(text, names).numpy(), "float64").sum())  # noqa: S307
        for text in CALLS.replace("\n", "|").split("|")
    )


FUNCTIONS = """x.sin()|x * x.exp()|paddle.tanh(x) ** 3|F.softmax(x)|F.log_softmax(x)|F.gelu(x)|x.cumsum(0)
paddle.sqrt(x * x + 1)|x @ x.t()
x.max(axis=1)|paddle.concat([x, x * 2])|x.sort()|x[1:] * 2|F.layer_norm(x, [6])|paddle.logsumexp(x, 1)
x.var(axis=0)|F.softplus(x)|x.transpose([1, 0])
paddle.erf(x)|paddle.where(x > 0, x, x * x)"""


def gradients(paddle):
    """Gradients of twenty functions."""
    functional, total = paddle.nn.functional, 0.0
    for text in FUNCTIONS.replace("\n", "|").split("|"):
        x = paddle.to_tensor(_numbers(4, 6), stop_gradient=False)
        out = (eval(text, {"paddle": paddle, "F": functional, "x": x}) ** 2).sum()  # noqa: S307
        total += float(paddle.grad(out, x)[0].sum())
    return total
