"""What `fit`, `summary` and `flops` print and raise, line by line against the real Paddle: the numbers of
training are part of it."""

import contextlib
import io
import re
import warnings

import numpy as np
import pytest

from tests.hapi import scenarios

_TIMES = [
    (r"\d+(us|ms|s)/step", "T/step"),
    (r"(cost: |ips: )[\d.]+", r"\1T"),
    (r"ETA: [\d:]+s?", "ETA"),
    (r"\x08+", ""),
    (r" +$", ""),
]
_NUMBER = re.compile(r"(-?\d+\.\d*(?:e[+-]\d+)?)")


def run(p, scenario):
    """What a scenario prints, returns or raises."""
    out, error = io.StringIO(), None
    with contextlib.redirect_stdout(out), p.utils.unique_name.guard(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.random.seed(0)
        try:
            if (result := scenario(p)) is not None:
                print(result)
        except Exception as raised:
            error = next(kind.__name__ for kind in type(raised).__mro__ if kind.__module__ == "builtins")
    text = out.getvalue().replace("paddle_jax", "paddle").replace("\r", "\n")
    for pattern, by in _TIMES:
        text = re.sub(pattern, by, text, flags=re.MULTILINE)
    return text.splitlines(), error


def _words(line):
    """Without numbers, and without the blanks that fill up those of arrays."""
    return re.sub(r" *# *", "#", _NUMBER.sub("#", line))


def assert_same(ours, theirs):
    assert len(ours) == len(theirs), "\n".join(["ours:", *ours, "", "theirs:", *theirs])
    for mine, other in zip(ours, theirs, strict=True):
        assert _words(mine) == _words(other)
        np.testing.assert_allclose(
            [*map(float, _NUMBER.findall(mine))],
            [*map(float, _NUMBER.findall(other))],
            rtol=2e-4,
            atol=2e-5,
            err_msg=other,
        )


@pytest.mark.own_process
@pytest.mark.parametrize("name", scenarios.FITS)
def test_fit(paddle, oracle, name):
    ours, theirs = (run(p, scenarios.FITS[name]) for p in (paddle, oracle))
    assert ours[1] is theirs[1] is None
    if name.startswith("plateau"):  # Paddle announces the new rate and goes on with the old one
        assert [line for line in ours[0] if line] == [line for line in theirs[0] if line]
    else:
        assert_same(ours[0], theirs[0])


def test_a_compiled_network(paddle, oracle):
    """As one that is not compiled; the real Paddle refuses it."""
    ours = run(paddle, lambda p: scenarios.of_network(p, p.jit.to_static(scenarios.network(p))))
    theirs = run(oracle, lambda p: scenarios.of_network(p, scenarios.network(p)))
    assert ours[1] is theirs[1] is None
    assert_same(ours[0], theirs[0])


@pytest.mark.parametrize("name", scenarios.REFUSED)
def test_refused(paddle, oracle, name):
    ours, theirs = (run(p, scenarios.REFUSED[name])[1] for p in (paddle, oracle))
    assert ours == theirs is not None


@pytest.mark.parametrize(
    "kind, name",
    [*(("SUMMARIES", name) for name in scenarios.SUMMARIES), *(("FLOPS", name) for name in scenarios.FLOPS)],
)
def test_tables(paddle, oracle, kind, name):
    ours, theirs = (run(p, getattr(scenarios, kind)[name]) for p in (paddle, oracle))
    assert ours == theirs
    assert ours[0] or ours[1]


def test_numbers_of_a_bar(paddle, oracle, monkeypatch):
    """Every character, the backspaces too, with a clock that stands still between reports."""
    import importlib
    import time

    def drawn(p, seconds, **settings):
        clock = [100.0]
        monkeypatch.setattr(time, "time", lambda: clock[0])
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            bar = importlib.import_module(p.__name__ + ".hapi.progressbar").ProgressBar(**settings)
            bar.start()
            for step, values in (
                (1, [("a", 0.5), ("b", [1.0, 2]), ("c", "text")]),
                (5, [("a", 1e-5)]),
                (7, [("a", np.float32(0))]),
                (10, {}),
            ):
                clock[0] += seconds
                bar.update(step, values)
        return out.getvalue()

    for seconds in (5e-7, 2e-4, 0.015, 1.5, 75.0, 4000.0):
        for settings in (
            {"num": 10},
            {"num": None},
            {"num": 10, "verbose": 2},
            {"num": 1000, "width": 10, "name": "iter"},
            {"num": 12, "verbose": 0},
        ):
            assert drawn(paddle, seconds, **settings) == drawn(oracle, seconds, **settings)


def test_a_plateau_changes_the_rate(paddle):
    made = scenarios.model(paddle)
    callback = paddle.callbacks.ReduceLROnPlateau(patience=1, min_delta=10, verbose=0, factor=0.5)
    scenarios.fit(paddle, 6, 6, prepared=made, batch_size=3, epochs=3, verbose=0, callbacks=callback)
    assert made._optimizer.get_lr() == 0.0025
    assert not callback.in_cooldown()


ONCE = re.compile("ccache|To copy construct")  # said once in a process
WARNED = {
    "monitor": lambda p: p.callbacks.EarlyStopping("nope"),
    "monitor of rate": lambda p: p.callbacks.ReduceLROnPlateau("nope"),
    "mode": lambda p: p.callbacks.EarlyStopping(mode="bad"),
    "mode of rate": lambda p: p.callbacks.ReduceLROnPlateau(mode="bad"),
}


@pytest.mark.parametrize("name", WARNED)
def test_warnings(paddle, oracle, name):
    def warned(p):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            scenarios.fit(p, 4, 4, verbose=0, callbacks=WARNED[name](p))
        return [(each.category, str(each.message)) for each in found if not ONCE.search(str(each.message))]

    assert warned(paddle) == warned(oracle) != []


@pytest.mark.parametrize("count", ["summary", "flops"])
@pytest.mark.parametrize("training", [True, False])
def test_layers_keep_their_modes(paddle, count, training):
    """The real Paddle puts them into the mode of the network."""
    net = paddle.nn.Sequential(paddle.nn.Linear(2, 2), paddle.nn.Dropout(0.5), paddle.nn.BatchNorm1D(2))
    net.train() if training else net.eval()
    net[2].training = not training
    mean = net[2]._mean.numpy()
    with contextlib.redirect_stdout(io.StringIO()):
        getattr(paddle, count)(net, (1, 2))
    modes = [layer.training for layer in net.sublayers(include_self=True)]
    assert modes == [training, training, training, not training]
    np.testing.assert_array_equal(net[2]._mean.numpy(), mean)
