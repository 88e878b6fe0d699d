"""The Viterbi decoder against the real Paddle, and against all paths."""

import itertools

import numpy as np
import pytest

GENERATOR = np.random.RandomState(0)
POTENTIALS, TRANSITIONS = GENERATOR.randn(3, 5, 6), GENERATOR.randn(6, 6)


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("lengths", [[5, 5, 5], [3, 1, 4], [1, 1, 1], [0, 2, 3]])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_decode(paddle, oracle, lengths, bounded, dtype):
    def run(p):
        arguments = (
            p.to_tensor(POTENTIALS.astype(dtype)),
            p.to_tensor(TRANSITIONS.astype(dtype)),
            p.to_tensor(np.array(lengths)),
        )
        layer = p.text.ViterbiDecoder(arguments[1], bounded)
        assert (
            layer(arguments[0], arguments[2])[1].tolist()
            == p.text.viterbi_decode(*arguments, bounded)[1].tolist()
        )
        return p.text.viterbi_decode(*arguments, bounded)

    ours, theirs = run(paddle), run(oracle)
    np.testing.assert_allclose(ours[0].numpy(), theirs[0].numpy(), rtol=1e-5)
    assert ours[1].tolist() == theirs[1].tolist()
    assert [str(each.dtype) for each in ours] == [str(each.dtype) for each in theirs]


def test_the_best_of_all_paths(paddle):
    tags, steps = 3, 4
    potentials, transitions = GENERATOR.randn(2, steps, tags), GENERATOR.randn(tags, tags)
    scores, paths = paddle.text.viterbi_decode(
        *map(paddle.to_tensor, (potentials, transitions)), paddle.to_tensor([steps, steps - 1]), False
    )
    for row, length in enumerate((steps, steps - 1)):

        def score(path, row=row):
            return sum(potentials[row, i, tag] for i, tag in enumerate(path)) + sum(
                transitions[a, b] for a, b in itertools.pairwise(path)
            )

        best = max(itertools.product(range(tags), repeat=length), key=score)
        assert paths[row].tolist()[:length] == list(best)
        assert scores[row].item() == pytest.approx(score(best))


REFUSED = {
    "tags": lambda p: (p.zeros([1, 2, 3]), p.zeros([2, 2]), p.to_tensor([2])),
    "batch": lambda p: (p.zeros([2, 2, 3]), p.zeros([3, 3]), p.to_tensor([2])),
    "axes": lambda p: (p.zeros([2, 3]), p.zeros([3, 3]), p.to_tensor([2, 2])),
    "long": lambda p: (p.zeros([1, 2, 3]), p.zeros([3, 3]), p.to_tensor([9])),
    "negative": lambda p: (p.zeros([1, 2, 3]), p.zeros([3, 3]), p.to_tensor([-1])),
    "integers": lambda p: (p.zeros([1, 2, 3], "int64"), p.zeros([3, 3], "int64"), p.to_tensor([2])),
    "arrays": lambda p: (np.zeros([1, 2, 3], "float32"), np.zeros([3, 3], "float32"), np.array([2])),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(paddle, oracle, name):
    def outcome(p):
        with pytest.raises(Exception) as caught:  # noqa: PT011
            p.text.viterbi_decode(*REFUSED[name](p))
        return next(kind for kind in caught.type.__mro__ if kind.__module__ == "builtins")

    assert outcome(paddle) is outcome(oracle)


def test_nothing_to_decode(paddle):
    scores, paths = paddle.text.viterbi_decode(
        paddle.zeros([2, 3, 4]), paddle.zeros([4, 4]), paddle.to_tensor([0, 0])
    )
    assert scores.tolist() == [0.0, 0.0] and paths.shape == [2, 0]
