"""A character-level Transformer that learns to write like the Python reference manual.

    python -m paddle_jax examples/char_transformer.py  # on JAX
    python examples/char_transformer.py                # the same file with the real Paddle

The text is the help that Python ships for `help("for")` and its like (module `pydoc_data.topics`); nothing is
downloaded. The program trains a small causal Transformer to foretell the next character and prints a sample.
"""

import argparse
import math
import time
from pydoc_data.topics import topics

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn


class CharTransformer(nn.Layer):
    """Token and position embeddings, a causal Transformer encoder, and a linear layer that scores
    every next character."""

    def __init__(self, characters, context, width=64, heads=4, layers=2):
        super().__init__()
        self.context = context
        self.token = nn.Embedding(characters, width)
        self.position = nn.Embedding(context, width)
        block = nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout=0.0, activation="gelu", normalize_before=True
        )
        self.blocks = nn.TransformerEncoder(block, layers, norm=nn.LayerNorm(width))
        self.head = nn.Linear(width, characters)
        # Position i may look at positions 0..i only: what lies behind gets minus infinity before the softmax.
        self.register_buffer(
            "mask", paddle.triu(paddle.full([context, context], float("-inf")), diagonal=1), persistable=False
        )

    def forward(self, tokens):
        length = tokens.shape[1]
        x = self.token(tokens) + self.position(paddle.arange(length))
        return self.head(self.blocks(x, self.mask[:length, :length]))


def read_text():
    """The help topics as one ASCII string."""
    return "\n\n".join(topics[name] for name in sorted(topics)).encode("ascii", "ignore").decode()


def batches(codes, context, batch_size, steps, rng):
    """Random windows of the text: inputs and the same windows one character later."""
    for _ in range(steps):
        starts = rng.integers(0, len(codes) - context - 1, (batch_size, 1))
        window = codes[starts + np.arange(context + 1)]
        yield paddle.to_tensor(window[:, :-1]), paddle.to_tensor(window[:, 1:])


def train(model, codes, steps, batch_size, learning_rate, seed):
    """AdamW with warm-up, cosine decay and gradient clipping."""
    cosine = paddle.optimizer.lr.CosineAnnealingDecay(learning_rate, T_max=steps)
    schedule = paddle.optimizer.lr.LinearWarmup(
        cosine, warmup_steps=max(1, steps // 20), start_lr=0.0, end_lr=learning_rate
    )
    optimizer = paddle.optimizer.AdamW(
        schedule, parameters=model.parameters(), weight_decay=0.01, grad_clip=nn.ClipGradByGlobalNorm(1.0)
    )
    start, mean = time.perf_counter(), None
    for step, (inputs, targets) in enumerate(
        batches(codes, model.context, batch_size, steps, np.random.default_rng(seed)), 1
    ):
        scores = model(inputs)
        loss = F.cross_entropy(scores.reshape([-1, scores.shape[-1]]), targets.reshape([-1]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()
        mean = float(loss) if mean is None else 0.9 * mean + 0.1 * float(loss)
        if step % max(1, steps // 10) == 0:
            pace = (time.perf_counter() - start) / step * 1e3
            print(
                f"step {step:5d}/{steps}  loss {mean:.3f}  ({mean / math.log(2):.2f} bits per character)  "
                f"{pace:.1f} ms per step",
                flush=True,
            )
    return mean


@paddle.no_grad()
def write(model, start, length, temperature=0.7):
    """Continues the codes `start` by `length` characters, each drawn from the model's distribution."""
    model.eval()
    codes = list(start)
    for _ in range(length):
        recent = codes[-model.context :]
        # Filled up on the right, where the causal mask hides it: every call has the same shape, which
        # compilers like.
        window = paddle.to_tensor([recent + [0] * (model.context - len(recent))], dtype="int64")
        chances = F.softmax(model(window)[0, len(recent) - 1] / temperature)
        codes.append(int(paddle.multinomial(chances, 1)))
    model.train()
    return codes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--context", type=int, default=64, help="characters the model can see")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--learning-rate", type=float, default=3e-3)
    parser.add_argument("--sample", type=int, default=400, help="characters to write in the end")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    paddle.seed(args.seed)

    text = read_text()
    alphabet = sorted(set(text))
    code_of = {character: code for code, character in enumerate(alphabet)}
    codes = np.array([code_of[character] for character in text], dtype="int64")
    model = CharTransformer(len(alphabet), args.context, args.width, layers=args.layers)
    size = sum(int(np.prod(p.shape)) for p in model.parameters())
    print(
        f"{len(text)} characters, {len(alphabet)} different ones, {size} parameters, "
        f"device {paddle.get_device()}"
    )

    loss = train(model, codes, args.steps, args.batch_size, args.learning_rate, args.seed)
    print(
        f"final loss {loss:.3f}; knowing only how often each character occurs would give {entropy(codes):.3f}"
    )
    written = write(model, [code_of[c] for c in "The "], args.sample)
    print("-" * 40, "".join(alphabet[code] for code in written), "-" * 40, sep="\n")


def entropy(codes):
    """Loss of the best guess that ignores the context."""
    share = np.bincount(codes) / len(codes)
    return float(-(share * np.log(share, where=share > 0, out=np.zeros_like(share))).sum())


if __name__ == "__main__":
    main()
