"""Reads rows of drawn digits: augmentations, batches padded by a function of its own, a convolutional
recurrent network, CTC and edit distances."""

import numpy as np
import paddle
import paddle.nn.functional as F
from common import settled, written
from paddle import nn
from paddle.vision import transforms as T
from PIL import Image

DIGITS = ["111101101101111", "010110010010111", "111001111100111", "111001111001111", "101101111001001"]
HEIGHT, BLANK = 16, 0


class Rows(paddle.io.Dataset):
    """(image [1, 16, width], digits counted from 1, width before padding)."""

    def __init__(self, count, augment):
        self.rng, self.augment = np.random.default_rng(3), augment
        self.texts = [self.rng.integers(0, len(DIGITS), self.rng.integers(2, 6)) for _ in range(count)]
        self.turns = self.rng.uniform(-4, 4, count)
        self.noise = [self.rng.normal(0, 12, [HEIGHT, 12 * len(text), 3]) for text in self.texts]
        self.prepare = T.Compose(
            [T.Resize((HEIGHT, 40)), T.Grayscale(), T.ToTensor(), T.Normalize([0.5], [0.25])]
        )

    def __len__(self):
        return len(self.texts)

    def drawn(self, at):
        image = np.full([HEIGHT, 12 * len(self.texts[at]), 3], 40.0)
        for place, digit in enumerate(self.texts[at]):
            shape = np.kron(np.array([int(c) for c in DIGITS[digit]]).reshape(5, 3), np.ones([2, 2]))
            image[3:13, 12 * place + 3 : 12 * place + 9][shape > 0] = 220
        return Image.fromarray(np.clip(image + self.noise[at], 0, 255).astype("uint8"))

    def __getitem__(self, at):
        image = self.drawn(at)
        if self.augment:
            image = T.rotate(image, float(self.turns[at]))
            image = T.adjust_contrast(T.adjust_brightness(image, 1 + self.turns[at] / 20), 1.2)
            image = T.pad(T.crop(image, 1, 0, HEIGHT - 1, image.width), (0, 1, 0, 0), padding_mode="edge")
        return self.prepare(image), self.texts[at] + 1, min(40, image.width)


def padded(samples):
    """Images side by side, labels with -1 behind them, and both lengths."""
    images, texts, widths = zip(*samples, strict=True)
    label = np.full([len(texts), max(map(len, texts))], -1, "int32")
    for row, text in zip(label, texts, strict=True):
        row[: len(text)] = text
    return (
        paddle.stack(list(images)),
        paddle.to_tensor(label),
        paddle.to_tensor([len(t) for t in texts]),
        paddle.to_tensor(widths),
    )


class Reader(nn.Layer):
    def __init__(self, width=8, hidden=12):
        super().__init__()
        attr = paddle.ParamAttr(regularizer=paddle.regularizer.L2Decay(1e-4))
        self.body = nn.Sequential(
            nn.Conv2D(1, width, 3, padding=1, weight_attr=attr),
            nn.BatchNorm2D(width),
            nn.Hardswish(),
            nn.MaxPool2D(2, 2),
            nn.Conv2D(width, 2 * width, 3, padding=1, weight_attr=attr),
            nn.BatchNorm2D(2 * width),
            nn.Hardswish(),
            nn.MaxPool2D((2, 1), (2, 1)),
            nn.Conv2D(2 * width, 2 * width, (4, 1), weight_attr=attr),
            nn.ReLU(),
        )
        self.rnn = nn.LSTM(2 * width, hidden, num_layers=2, direction="bidirect")
        self.out = nn.Linear(2 * hidden, len(DIGITS) + 1)

    def forward(self, image):
        x = self.body(image)
        assert x.shape[2] == 1
        x, _ = self.rnn(x.squeeze(2).transpose([0, 2, 1]))
        x = self.out(x)
        return x if self.training else F.softmax(x, axis=2)


def read(chances):
    """The digits of each row: the likeliest at each place, repetitions and blanks left out."""
    best, texts = chances.argmax(-1).numpy(), []
    for row in best:
        kept = np.insert(row[1:] != row[:-1], 0, True) & (row != BLANK)
        texts.append(row[kept].tolist())
    return texts


def distance(one, other):
    """Insertions, deletions and exchanges that lead from one text to the other."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


def main():
    data = Rows(24, augment=True)
    sampler = paddle.io.BatchSampler(data, batch_size=8, drop_last=True)
    loader = paddle.io.DataLoader(data, batch_sampler=sampler, collate_fn=padded, use_buffer_reader=False)
    net, losses = settled(Reader()), []
    recurrent = [parameter for name, parameter in net.named_parameters() if "rnn" in name]
    others = [parameter for name, parameter in net.named_parameters() if "rnn" not in name]
    rate = paddle.optimizer.lr.OneCycleLR(0.02, 30, end_learning_rate=1e-4, phase_pct=0.3)
    groups = [{"params": recurrent, "learning_rate": 0.5}, {"params": others}]
    optimizer = paddle.optimizer.Adam(rate, parameters=groups, grad_clip=nn.ClipGradByNorm(2.0))
    for _ in range(10):
        for image, label, length, _ in loader:
            scores = net(image).transpose([1, 0, 2])
            lengths = paddle.full([image.shape[0]], scores.shape[0], "int64")
            loss = F.ctc_loss(scores, label, lengths, length, blank=BLANK, reduction="none")
            focal = (1 - paddle.exp(-loss)).square() * loss
            focal.mean().backward()
            optimizer.step()
            optimizer.clear_grad()
            rate.step()
            losses.append([float(loss.mean()), float(focal.mean())])
    net.eval()
    image, label, length, widths = padded([data[i] for i in range(8)])
    with paddle.no_grad():
        chances = net(image)
    distances = [
        distance(found, wanted[: int(count)].tolist())
        for found, wanted, count in zip(read(chances), label.numpy(), length, strict=True)
    ]
    written(losses=losses, image=image, widths=widths, chances=chances, distances=distances)


main()
