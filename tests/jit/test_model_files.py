"""Model files between the engines: what the real Paddle saves runs here with the same numbers, and what is
saved here runs there.

Many expressions make one model, which is compiled once; each is compared on its own. Unknown lengths are
tried with two values.
"""

import warnings

import numpy as np
import pytest

import paddle_jax
from paddle_jax.jit import load, save
from tests.jit.model_cases import BOTH, LAYERS, MORE, READ, VALUES, WRITE

pytestmark = pytest.mark.own_process
DTYPES = {"f": "float32", "i": "int64", "b": "bool", "c": "complex64"}


def split(text):
    return [" ".join(part.split()) for part in text.split(";;") if part.strip()]


def specs(engine, text):
    """InputSpecs from descriptions such as `f(-1,3) i(-1,1)`."""
    return [
        engine.static.InputSpec(list(shape(one)), DTYPES[one[0]], name)
        for one, name in zip(text.split(), "xyz", strict=False)
    ]


def shape(one):
    return eval(one[1:])  # noqa: S307


def arrays(text, lengths):
    """Random inputs, with `lengths` for the unknown axes by position."""
    rng = np.random.RandomState(0)
    found = []
    for one in text.split():
        size = [lengths[i] if n == -1 else n for i, n in enumerate(shape(one))]
        real = rng.randn(*size)
        found.append(
            {
                "f": lambda r=real: r.astype("float32"),
                "i": lambda s=size: rng.randint(0, 4, s),
                "b": lambda r=real: r > 0,
                "c": lambda r=real, s=size: (r + 1j * rng.randn(*s)).astype("complex64"),
            }[one[0]]()
        )
    return found


def flat(value):
    if isinstance(value, list | tuple):
        return [x for v in value for x in flat(v)]
    return [value] if hasattr(value, "numpy") else []


def body(engine, expressions):
    """A Layer that returns what all expressions give, and the number of results of each."""

    class Body(engine.nn.Layer):
        def __init__(self):
            super().__init__()
            self.functions = [eval(f"lambda paddle, F, np, x, y=None, z=None: {e}") for e in expressions]  # noqa: S307
            self.counts = []

        def run(self, *inputs):
            parts = [flat(f(engine, engine.nn.functional, np, *inputs)) for f in self.functions]
            self.counts = [len(part) for part in parts]
            return [one for part in parts for one in part]

        def forward(self, x, y=None, z=None):
            return self.run(*[v for v in (x, y, z) if v is not None])

    return Body()


def check(expressions, counts, got, want):
    got, want = [g.numpy() for g in got], [w.numpy() for w in want]
    assert len(got) == len(want) == sum(counts)
    at = 0
    for expression, count in zip(expressions, counts, strict=True):
        for g, w in zip(got[at : at + count], want[at : at + count], strict=True):
            assert (g.shape, g.dtype) == (w.shape, w.dtype), expression
            np.testing.assert_allclose(g, w, rtol=1e-4, atol=5e-5, err_msg=expression)
        at += count


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def tensors(engine, values):
    return [engine.to_tensor(v) for v in values]


def joined(*tables):
    """One table of expressions by inputs."""
    found = {}
    for table in tables:
        for inputs, text in table.items():
            found.setdefault(inputs, []).extend(split(text))
    return found


@pytest.mark.parametrize("inputs", joined(BOTH, READ))
def test_reads_what_paddle_writes(oracle, tmp_path, inputs):
    expressions = joined(BOTH, READ)[inputs]
    model = body(oracle, expressions)
    oracle.jit.save(model, str(tmp_path / "m"), input_spec=specs(oracle, inputs))
    ours, theirs = load(str(tmp_path / "m")), oracle.jit.load(str(tmp_path / "m"))
    values = arrays(inputs, [3, 5, 7, 9])
    check(
        expressions,
        model.counts,
        flat(ours(*tensors(paddle_jax, values))),
        flat(theirs(*tensors(oracle, values))),
    )


@pytest.mark.slow
@pytest.mark.parametrize("inputs", MORE)
def test_reads_more(oracle, tmp_path, inputs):
    expressions = split(MORE[inputs])
    model = body(oracle, expressions)
    oracle.jit.save(model, str(tmp_path / "m"), input_spec=specs(oracle, inputs))
    values = arrays(inputs, [2, 5, 7, 9])
    want = model(*tensors(oracle, values))
    check(
        expressions, model.counts, flat(load(str(tmp_path / "m"))(*tensors(paddle_jax, values))), flat(want)
    )


@pytest.mark.parametrize("inputs", joined(BOTH, WRITE))
def test_paddle_reads_what_is_written_here(oracle, tmp_path, inputs):
    expressions = joined(BOTH, WRITE)[inputs]
    save(body(paddle_jax, expressions), str(tmp_path / "m"), input_spec=specs(paddle_jax, inputs))
    theirs, eager = oracle.jit.load(str(tmp_path / "m")), body(oracle, expressions)
    for lengths in ([2, 4, 6, 8], [5, 3, 7, 9]) if "-1" in inputs else ([],):
        values = tensors(oracle, arrays(inputs, lengths))
        want = eager.run(*values)
        check(expressions, eager.counts, flat(theirs(*values)), want)


def test_shapes_that_hang_on_values(oracle, tmp_path):
    """Such a model runs operation by operation."""
    expressions, inputs = split(VALUES), "f(-1,3,4)"
    model = body(oracle, expressions)
    oracle.jit.save(model, str(tmp_path / "m"), input_spec=specs(oracle, inputs))
    ours, theirs = load(str(tmp_path / "m")), oracle.jit.load(str(tmp_path / "m"))
    for seed in (2, 3):
        values = arrays(inputs, [seed])
        check(
            expressions,
            model.counts,
            flat(ours(*tensors(paddle_jax, values))),
            flat(theirs(*tensors(oracle, values))),
        )


def stack(engine, inputs):
    """All layers for one kind of input as one Layer that returns a list."""

    class Stack(engine.nn.Layer):
        def __init__(self):
            super().__init__()
            self.parts = engine.nn.LayerList(
                [
                    eval(text, {"nn": engine.nn})  # noqa: S307
                    for text in split(LAYERS[inputs])
                ]
            )

        def forward(self, x):
            out = []
            for part in self.parts:
                found = part(x)
                out.append(found[0] if isinstance(found, tuple) else found)
            return out

    return Stack()


@pytest.mark.parametrize("inputs", LAYERS)
def test_layers_both_ways(oracle, tmp_path, inputs):
    theirs, ours = stack(oracle, inputs), stack(paddle_jax, inputs)
    ours.set_state_dict(
        {name: paddle_jax.to_tensor(value.numpy()) for name, value in theirs.state_dict().items()}
    )
    theirs.eval()
    oracle.jit.save(theirs, str(tmp_path / "theirs"), input_spec=specs(oracle, inputs))
    save(ours, str(tmp_path / "ours"), input_spec=specs(paddle_jax, inputs))
    assert ours.training  # saving leaves the mode as it was
    read, written, again = (
        load(str(tmp_path / "theirs")),
        oracle.jit.load(str(tmp_path / "ours")),
        load(str(tmp_path / "ours")),
    )
    names = split(LAYERS[inputs])
    for lengths in ([2, 4, 6, 8], [3, 6, 7, 9]):
        values = arrays(inputs, lengths)
        want = theirs(*tensors(oracle, values))
        check(names, [1] * len(names), flat(written(*tensors(oracle, values))), want)
    for model in (read, again):
        check(names, [1] * len(names), flat(model(*tensors(paddle_jax, values))), want)
