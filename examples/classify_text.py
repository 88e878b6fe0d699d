"""Text classification: is a sentence from Python's help on statements or on special methods? A bidirectional
LSTM over words.

    python -m paddle_jax examples/classify_text.py  # on JAX
    python examples/classify_text.py                # the same file with the real Paddle

The sentences are those of the help that Python ships (module `pydoc_data.topics`); nothing is downloaded.
Batches are padded to the longest sentence in them by a collate function, and the lengths tell the LSTM
where each one ends.
"""

import argparse
import re
import tempfile
from collections import Counter
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.io import DataLoader, Dataset

KINDS = {
    "statements": [
        "assert",
        "assignment",
        "class",
        "compound",
        "del",
        "for",
        "function",
        "global",
        "if",
        "import",
        "return",
        "try",
        "while",
        "with",
    ],
    "special methods": [
        "attribute-access",
        "customization",
        "callable-types",
        "numeric-types",
        "sequence-types",
        "specialnames",
        "context-managers",
    ],
}


def sentences():
    """(words, number of the kind) of each sentence of at least four words, each once."""
    samples = {}
    for number, names in enumerate(KINDS.values()):
        for name in names:
            for sentence in re.split(r"(?<=[.:;])\s+", topics.get(name, "")):
                words = tuple(re.findall(r"[a-z_]+", sentence.lower()))
                if len(words) >= 4:
                    samples.setdefault(words, number)
    return list(samples.items())


class Sentences(Dataset):
    """Sentences as numbers of words; 0 fills up, 1 stands for a rare word."""

    def __init__(self, samples, vocabulary, longest=40):
        self.samples = [
            ([vocabulary.get(word, 1) for word in words[:longest]], kind) for words, kind in samples
        ]

    def __getitem__(self, index):
        return self.samples[index]

    def __len__(self):
        return len(self.samples)


def padded(samples):
    """A batch: word numbers filled up with 0, lengths, kinds."""
    longest = max(len(words) for words, _ in samples)
    filled = np.array([words + [0] * (longest - len(words)) for words, _ in samples], np.int64)
    return (
        filled,
        np.array([len(words) for words, _ in samples], np.int64),
        np.array([kind for _, kind in samples], np.int64),
    )


class Classifier(nn.Layer):
    """Embedded words, a bidirectional LSTM, the mean of its outputs over the words of the sentence,
    and a linear layer."""

    def __init__(self, words, width=32):
        super().__init__()
        self.embedding = nn.Embedding(words, width, padding_idx=0)
        self.lstm = nn.LSTM(width, width, direction="bidirect")
        self.head = nn.Linear(2 * width, len(KINDS))

    def forward(self, words, lengths):
        outputs, _ = self.lstm(self.embedding(words), sequence_length=lengths)  # zero behind the end
        return self.head(outputs.sum(1) / lengths.unsqueeze(1).astype(outputs.dtype))


def accuracy(model, loader):
    """The share of sentences whose kind the model finds."""
    model.eval()
    with paddle.no_grad():
        right = sum(
            float((model(words, lengths).argmax(1) == kinds).astype("float32").sum())
            for words, lengths, kinds in loader
        )
    model.train()
    return right / len(loader.dataset)


def main():
    """Trains, saves, loads and evaluates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--samples", type=int, default=1200, help="sentences to use")
    options = parser.parse_args()
    paddle.seed(0)
    order = np.random.default_rng(0)
    samples = sentences()
    samples = [samples[i] for i in order.permutation(len(samples))[: options.samples]]
    common = [
        word
        for word, count in Counter(word for words, _ in samples for word in words).most_common()
        if count > 1
    ]
    vocabulary = {word: number for number, word in enumerate(common, 2)}
    split = len(samples) * 4 // 5
    parts = [Sentences(part, vocabulary) for part in (samples[:split], samples[split:])]
    training, testing = (
        DataLoader(part, batch_size=32, shuffle=part is parts[0], collate_fn=padded) for part in parts
    )
    print(f"{len(parts[0])} sentences to learn from, {len(parts[1])} to test with, {len(vocabulary)} words")

    model = Classifier(len(vocabulary) + 2)
    optimizer = paddle.optimizer.Adam(5e-3, parameters=model.parameters())
    for epoch in range(options.epochs):
        losses = []
        for words, lengths, kinds in training:
            loss = F.cross_entropy(model(words, lengths), kinds)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(loss))
        print(
            f"epoch {epoch + 1}: loss {np.mean(losses):.3f}, accuracy {accuracy(model, testing):.3f}",
            flush=True,
        )

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "classifier.pdparams")
        paddle.save(model.state_dict(), path)
        again = Classifier(len(vocabulary) + 2)
        again.set_state_dict(paddle.load(path))
    print(f"saved and loaded: accuracy {accuracy(again, testing):.3f}")


if __name__ == "__main__":
    main()
