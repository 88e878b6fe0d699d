"""The programs of medium.py: each takes a paddle and gives the step that `medium.py` repeats."""

import numpy as np


def _numbers(*shape):
    return np.random.RandomState(0).uniform(-1, 1, shape).astype("float32")


def _labels(count, classes):
    return np.arange(count) % classes


def _trainer(paddle, parameters, loss_of, rate=1e-3, read=1):
    """A training step with Adam; the loss is read at every `read`-th step, else 0.0 is returned."""
    optimizer = paddle.optimizer.Adam(rate, parameters=parameters)

    def step(i):
        loss = loss_of(i)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return float(loss) if i % read == 0 else 0.0

    return step


def mlp(paddle):
    """A perceptron; another batch at each step."""
    nn = paddle.nn
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    data, labels = _numbers(512, 64), _labels(512, 10)

    def loss_of(i):
        rows = slice(64 * (i % 8), 64 * (i % 8) + 64)
        return nn.functional.cross_entropy(net(paddle.to_tensor(data[rows])), paddle.to_tensor(labels[rows]))

    return _trainer(paddle, net.parameters(), loss_of, read=10)


def lenet(paddle):
    """LeNet on pictures of digits."""
    net = paddle.vision.models.LeNet()
    data, labels = _numbers(256, 1, 28, 28), _labels(256, 10)

    def loss_of(i):
        rows = slice(64 * (i % 4), 64 * (i % 4) + 64)
        outputs = net(paddle.to_tensor(data[rows]))
        return paddle.nn.functional.cross_entropy(outputs, paddle.to_tensor(labels[rows]))

    return _trainer(paddle, net.parameters(), loss_of)


def conv_lstm(paddle):
    """A convolution over time, then an LSTM."""
    nn = paddle.nn
    conv, lstm, head = nn.Conv1D(8, 32, 3, padding=1), nn.LSTM(32, 64), nn.Linear(64, 4)
    net = nn.LayerList([conv, lstm, head])
    x, y = paddle.to_tensor(_numbers(16, 8, 40)), paddle.to_tensor(_labels(16, 4))

    def loss_of(i):
        hidden = nn.functional.relu(conv(x)).transpose([0, 2, 1])
        return nn.functional.cross_entropy(head(lstm(hidden)[0][:, -1]), y)

    return _trainer(paddle, net.parameters(), loss_of)


def transformer(paddle):
    """A small language model."""
    nn = paddle.nn
    body = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, dropout=0.1), 2)
    embed, head = nn.Embedding(100, 64), nn.Linear(64, 100)
    words = paddle.to_tensor(np.arange(8 * 32).reshape(8, 32) % 100)
    net = nn.LayerList([body, embed, head])

    def loss_of(i):
        return nn.functional.cross_entropy(head(body(embed(words))), words)

    return _trainer(paddle, net.parameters(), loss_of)


def lengths(paddle):
    """A recurrent classifier whose batches all have other lengths."""
    nn = paddle.nn
    embed, gru, head = nn.Embedding(100, 32), nn.GRU(32, 32), nn.Linear(32, 2)
    net = nn.LayerList([embed, gru, head])
    y = paddle.to_tensor(_labels(8, 2))

    def loss_of(i):
        length = 10 + (i * 7) % 50
        words = paddle.to_tensor(np.arange(8 * length).reshape(8, length) % 100)
        return nn.functional.cross_entropy(head(gru(embed(words))[0].mean(axis=1)), y)

    return _trainer(paddle, net.parameters(), loss_of)


def pinn(paddle):
    """Burgers' equation by a network."""
    nn = paddle.nn
    net = nn.Sequential(
        nn.Linear(2, 20),
        nn.Tanh(),
        nn.Linear(20, 20),
        nn.Tanh(),
        nn.Linear(20, 20),
        nn.Tanh(),
        nn.Linear(20, 1),
    )
    points = paddle.to_tensor(_numbers(500, 2), stop_gradient=False)

    def loss_of(i):
        u = net(points)
        first = paddle.grad(u.sum(), points, create_graph=True)[0]
        u_x, u_t = first[:, :1], first[:, 1:]
        u_xx = paddle.grad(u_x.sum(), points, create_graph=True)[0][:, :1]
        return ((u_t + u * u_x - 0.01 * u_xx) ** 2).mean()

    return _trainer(paddle, net.parameters(), loss_of)


def gan(paddle):
    """Two networks that train against each other."""
    nn = paddle.nn
    make = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Linear(128, 64), nn.Tanh())
    judge = nn.Sequential(nn.Linear(64, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))
    makes = paddle.optimizer.Adam(2e-4, beta1=0.5, parameters=make.parameters())
    judges = paddle.optimizer.Adam(2e-4, beta1=0.5, parameters=judge.parameters())
    measure = nn.BCEWithLogitsLoss()
    real = paddle.to_tensor(_numbers(64, 64))
    ones, zeros = paddle.ones([64, 1]), paddle.zeros([64, 1])

    def step(i):
        made = make(paddle.randn([64, 16]))
        judged = measure(judge(real), ones) + measure(judge(made.detach()), zeros)
        judged.backward()
        judges.step()
        judges.clear_grad()
        loss = measure(judge(made), ones)
        loss.backward()
        makes.step()
        makes.clear_grad()
        return float(judged) + float(loss)

    return step


def _pictures(paddle, net, size, batch, classes):
    x, y = paddle.to_tensor(_numbers(batch, 3, size, size)), paddle.to_tensor(_labels(batch, classes))

    def loss_of(i):
        return paddle.nn.functional.cross_entropy(net(x), y)

    return _trainer(paddle, net.parameters(), loss_of)


def resnet18(paddle):
    """ResNet-18 on small pictures."""
    return _pictures(paddle, paddle.vision.models.resnet18(num_classes=10), 64, 8, 10)


def mobilenet(paddle):
    """MobileNetV3 on small pictures."""
    return _pictures(paddle, paddle.vision.models.mobilenet_v3_small(num_classes=10), 64, 8, 10)


def unet(paddle):
    """A U-Net with two levels."""
    nn = paddle.nn

    def block(inside, outside):
        return nn.Sequential(
            nn.Conv2D(inside, outside, 3, padding=1), nn.BatchNorm2D(outside), nn.ReLU(),
            nn.Conv2D(outside, outside, 3, padding=1), nn.BatchNorm2D(outside), nn.ReLU(),
        )  # fmt: skip

    first, second, third = block(1, 16), block(16, 32), block(32, 64)
    up2, up1 = nn.Conv2DTranspose(64, 32, 2, stride=2), nn.Conv2DTranspose(32, 16, 2, stride=2)
    back2, back1, head = block(64, 32), block(32, 16), nn.Conv2D(16, 1, 1)
    net = nn.LayerList([first, second, third, up2, up1, back2, back1, head])
    x = paddle.to_tensor(_numbers(4, 1, 64, 64))
    y = paddle.to_tensor((_numbers(4, 1, 64, 64) > 0).astype("float32"))
    pool = nn.functional.max_pool2d

    def loss_of(i):
        a = first(x)
        b = second(pool(a, 2))
        c = third(pool(b, 2))
        b = back2(paddle.concat([up2(c), b], axis=1))
        a = back1(paddle.concat([up1(b), a], axis=1))
        return nn.functional.binary_cross_entropy_with_logits(head(a), y)

    return _trainer(paddle, net.parameters(), loss_of)


def seq2seq(paddle):
    """A recurrent translator whose decoder attends to the source, word by word."""
    nn = paddle.nn
    embed, encoder, cell = nn.Embedding(60, 32), nn.GRU(32, 64), nn.GRUCell(32 + 64, 64)
    head = nn.Linear(64, 60)
    net = nn.LayerList([embed, encoder, cell, head])
    source = paddle.to_tensor(np.arange(16 * 12).reshape(16, 12) % 60)
    target = paddle.to_tensor(np.arange(16 * 10).reshape(16, 10) * 7 % 60)

    def loss_of(i):
        memory, state = encoder(embed(source))
        state, total = state[0], 0.0
        for word in range(9):
            weights = nn.functional.softmax((memory @ state.unsqueeze(-1)).squeeze(-1), axis=-1)
            seen = (weights.unsqueeze(1) @ memory).squeeze(1)
            out, state = cell(paddle.concat([embed(target[:, word]), seen], axis=-1), state)
            total = total + nn.functional.cross_entropy(head(out), target[:, word + 1])
        return total / 9

    return _trainer(paddle, net.parameters(), loss_of)


def graph(paddle):
    """A graph network: messages along edges."""
    nn, nodes = paddle.nn, 300
    random = np.random.RandomState(1)
    start, end = (paddle.to_tensor(random.randint(0, nodes, 2000)) for _ in range(2))
    first, second = nn.Linear(32, 64), nn.Linear(64, 7)
    net = nn.LayerList([first, second])
    x, y = paddle.to_tensor(_numbers(nodes, 32)), paddle.to_tensor(_labels(nodes, 7))

    def loss_of(i):
        hidden = nn.functional.relu(first(paddle.geometric.send_u_recv(x, start, end, "mean")))
        hidden = nn.functional.dropout(hidden, 0.5)
        return nn.functional.cross_entropy(
            second(paddle.geometric.send_u_recv(hidden, start, end, "mean")), y
        )

    return _trainer(paddle, net.parameters(), loss_of)


def graphs(paddle):
    """A graph network whose graphs all have other sizes."""
    nn = paddle.nn
    first, second = nn.Linear(16, 32), nn.Linear(32, 1)
    net = nn.LayerList([first, second])
    random = np.random.RandomState(1)

    def loss_of(i):
        nodes = 20 + (i * 7) % 50
        start, end = (paddle.to_tensor(random.randint(0, nodes, 3 * nodes + i % 5)) for _ in range(2))
        x = paddle.to_tensor(_numbers(nodes, 16))
        hidden = nn.functional.relu(paddle.geometric.send_u_recv(first(x), start, end, "mean"))
        return (second(paddle.geometric.send_u_recv(hidden, start, end, "sum")).mean() - 1) ** 2

    return _trainer(paddle, net.parameters(), loss_of)


def texts(paddle):
    """A Transformer whose batches all have other lengths."""
    nn = paddle.nn
    embed, head = nn.Embedding(100, 32), nn.Linear(32, 2)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0), 2)
    net = nn.LayerList([embed, encoder, head])
    y = paddle.to_tensor(_labels(8, 2))

    def loss_of(i):
        length = 10 + (i * 7) % 50
        words = paddle.to_tensor(np.arange(8 * length).reshape(8, length) % 100)
        return nn.functional.cross_entropy(head(encoder(embed(words)).mean(axis=1)), y)

    return _trainer(paddle, net.parameters(), loss_of)


def fit(paddle):
    """`Model.fit` with a LeNet: 64 steps an epoch, each step here is an epoch of 16."""
    model = paddle.Model(paddle.vision.models.LeNet())
    optimizer = paddle.optimizer.Adam(1e-3, parameters=model.parameters())
    model.prepare(optimizer, paddle.nn.CrossEntropyLoss(), paddle.metric.Accuracy())
    data = paddle.io.TensorDataset(
        [paddle.to_tensor(_numbers(512, 1, 28, 28)), paddle.to_tensor(_labels(512, 10))]
    )

    def step(i):
        result = model.fit(data, batch_size=32, epochs=1, verbose=0)
        return float(result["loss"][0]) if isinstance(result, dict) else 0.0

    return step


def runge_kutta(paddle):
    """An oscillator over 300 steps of Runge-Kutta, and the gradient of where it ends."""
    rate = paddle.to_tensor(0.7, stop_gradient=False)
    start = paddle.to_tensor([1.0, 0.0])

    def slope(state):
        return paddle.stack([state[1], -rate * state[0] - 0.1 * state[1]])

    def step(i):
        state, h = start, 0.01
        for _ in range(300):
            a = slope(state)
            b = slope(state + h / 2 * a)
            c = slope(state + h / 2 * b)
            d = slope(state + h * c)
            state = state + h / 6 * (a + 2 * b + 2 * c + d)
        loss = (state**2).sum()
        gradient = paddle.grad(loss, rate)[0]
        return float(loss) + float(gradient)

    return step


STEPS = {
    "mlp": 300, "lenet": 100, "conv_lstm": 100, "transformer": 60, "lengths": 60, "pinn": 200, "gan": 100,
    "resnet18": 20, "mobilenet": 20, "unet": 20, "seq2seq": 60, "graph": 100, "fit": 6, "runge_kutta": 5,
    "graphs": 60, "texts": 60,
}  # fmt: skip
