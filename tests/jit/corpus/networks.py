"""Small networks of the kinds that people deploy, for either engine."""


def vit(paddle):
    nn = paddle.nn

    class ViT(nn.Layer):
        """Patches, attention written out with lengths taken from shapes."""

        def __init__(self):
            super().__init__()
            self.patches, self.qkv, self.out, self.norm = (
                nn.Conv2D(3, 16, 4, 4),
                nn.Linear(16, 48),
                nn.Linear(16, 16),
                nn.LayerNorm(16),
            )
            self.token, self.drop = self.create_parameter([1, 1, 16]), nn.Dropout(0.1)

        def forward(self, x):
            x = self.patches(x)
            b, c, h, w = x.shape
            x = x.reshape([b, c, h * w]).transpose([0, 2, 1])
            x = paddle.concat([self.token.expand([b, -1, -1]), x], 1)
            b, n, c = x.shape
            q, k, v = self.qkv(self.norm(x)).reshape([b, n, 3, 4, c // 4]).transpose([2, 0, 3, 1, 4])
            weights = nn.functional.softmax(
                paddle.matmul(q, k.transpose([0, 1, 3, 2])) * (c // 4) ** -0.5, -1
            )
            x = x + self.drop(self.out(paddle.matmul(weights, v).transpose([0, 2, 1, 3]).reshape([b, n, c])))
            return x[:, 0], x[:, 1:].mean(1)

    return ViT()


def bert(paddle):
    nn = paddle.nn

    class Bert(nn.Layer):
        """Embeddings, a mask made of the ids, two encoder layers, a pooler."""

        def __init__(self):
            super().__init__()
            self.words, self.places, self.norm = (
                nn.Embedding(50, 16, padding_idx=0),
                nn.Embedding(40, 16),
                nn.LayerNorm(16),
            )
            self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, activation="gelu"), 2)
            self.pool = nn.Linear(16, 16)

        def forward(self, ids):
            places = paddle.arange(ids.shape[1]).unsqueeze(0)
            h = self.norm(self.words(ids) + self.places(places))
            mask = ((ids == 0).astype("float32") * -1e4).unsqueeze([1, 2])
            h = self.encoder(h, mask)
            return h, paddle.tanh(self.pool(h[:, 0]))

    return Bert()


def lstm(paddle):
    nn = paddle.nn

    class Tagger(nn.Layer):
        """Embedding, two bidirectional LSTM layers, scores."""

        def __init__(self):
            super().__init__()
            self.words, self.rnn, self.scores = (
                nn.Embedding(50, 8),
                nn.LSTM(8, 6, 2, direction="bidirect"),
                nn.Linear(12, 5),
            )

        def forward(self, ids):
            h, (last, _) = self.rnn(self.words(ids))
            return nn.functional.log_softmax(self.scores(h), -1), last[-1]

    return Tagger()


def detector(paddle):
    nn = paddle.nn

    class Detector(nn.Layer):
        """Two scales joined by resizing, and a head that decodes boxes on a grid, without
        non-maximum suppression."""

        def __init__(self):
            super().__init__()
            self.stem, self.norm, self.down, self.head = (
                nn.Conv2D(3, 8, 3, 2, 1),
                nn.BatchNorm2D(8),
                nn.Conv2D(8, 8, 3, 2, 1),
                nn.Conv2D(16, 6, 1),
            )

        def forward(self, x):
            fine = nn.functional.hardswish(self.norm(self.stem(x)))
            coarse = nn.functional.interpolate(self.down(fine), size=paddle.shape(fine)[2:])
            out = self.head(paddle.concat([fine, coarse], 1))
            h, w = paddle.shape(out)[2], paddle.shape(out)[3]
            rows, columns = paddle.meshgrid(paddle.arange(h), paddle.arange(w))
            grid = paddle.stack([columns, rows], -1).reshape([1, -1, 2]).astype("float32")
            out = out.flatten(2).transpose([0, 2, 1])
            centres = (nn.functional.sigmoid(out[..., :2]) + grid) * 2
            scores, classes = paddle.topk(nn.functional.softmax(out[..., 4:], -1).max(-1), 5)
            return paddle.concat([centres, paddle.clip(out[..., 2:4].exp(), max=100.0)], -1), scores, classes

    return Detector()


def resnet(paddle):
    return paddle.vision.models.resnet18(num_classes=10)


# name -> (factory, dtype, shape of the input spec, two shapes)
NETWORKS = {
    "vit": (vit, "float32", [None, 3, None, None], [2, 3, 8, 8], [5, 3, 12, 16]),
    "bert": (bert, "int64", [None, None], [2, 5], [3, 9]),
    "lstm": (lstm, "int64", [None, None], [2, 5], [3, 9]),
    "detector": (detector, "float32", [None, 3, None, None], [2, 3, 16, 16], [1, 3, 18, 22]),
    "resnet18": (resnet, "float32", [None, 3, 32, 32], [2, 3, 32, 32], [3, 3, 32, 32]),
}


def example(dtype, shape, seed=0):
    import numpy as np

    rng = np.random.RandomState(seed)
    return rng.randint(0, 50, shape) if dtype == "int64" else rng.randn(*shape).astype("float32")
