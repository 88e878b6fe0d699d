"""`callbacks.LivePlot`: the numbers of `fit`, and pictures in cells and files."""

import sys
import types

import pytest

pytest.importorskip("matplotlib")


@pytest.fixture
def fit(paddle):
    """A function that trains with a callback, two epochs of two batches."""
    model = paddle.Model(paddle.nn.Linear(3, 2))
    optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
    model.prepare(optimizer, paddle.nn.CrossEntropyLoss(), paddle.metric.Accuracy())
    data = paddle.io.TensorDataset([paddle.randn([8, 3]), paddle.randint(0, 2, [8, 1])])

    class Losses(paddle.callbacks.Callback):
        found: list = []

        def on_train_batch_end(self, step, logs=None):
            self.found.append(logs["loss"][0])

    def run(plot):
        Losses.found.clear()
        model.fit(data, data, batch_size=4, epochs=2, verbose=0, callbacks=[Losses(), plot])
        return list(Losses.found)

    return run


def ipython(shell):
    """A module with a shell, and with the version that matplotlib looks at for its first figure."""
    return types.SimpleNamespace(get_ipython=lambda: shell, version_info=(8, 24))


def test_a_file(paddle, fit, tmp_path):
    path = tmp_path / "losses.png"
    plot = paddle.callbacks.LivePlot(str(path))
    losses = fit(plot)
    assert plot.curves["loss"] == ([1, 2, 3, 4], losses)
    assert sorted(plot.curves) == ["acc", "eval acc", "eval loss", "loss"]
    assert plot.curves["eval loss"][0] == [2, 4]
    assert path.read_bytes()[:4] == b"\x89PNG"


def test_a_notebook(paddle, fit, monkeypatch):
    """One picture that is updated, and bars of tqdm where it is installed."""
    from IPython import display as ipython_display

    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", ipython(shell))
    shown = []

    def display(image, display_id):
        shown.append(image.data[:4])
        return types.SimpleNamespace(update=lambda image: shown.append("update"))

    monkeypatch.setitem(
        sys.modules,
        "IPython.display",
        types.SimpleNamespace(Image=ipython_display.Image, display=display),
    )
    fit(paddle.callbacks.LivePlot(every=0.0))
    assert shown == [b"\x89PNG", *["update"] * 4]


def test_what_it_refuses(paddle, fit):
    with pytest.raises(RuntimeError, match="give a file"):
        fit(paddle.callbacks.LivePlot())
    with pytest.raises(ValueError, match="every: got -1"):
        paddle.callbacks.LivePlot(every=-1)


def test_bars_in_notebooks(paddle, monkeypatch, capsys):
    """tqdm gets the numbers; without it the bar is drawn as in terminals."""
    from paddle_jax.hapi.progressbar import ProgressBar

    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", ipython(shell))
    calls = []

    class Bar:
        def __init__(self, total, unit):
            calls.append((total, unit))

        def set_postfix_str(self, text, refresh):
            calls.append(text)

        def refresh(self):
            calls.append(self.n)

        def close(self):
            calls.append("close")

    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace())
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    bar = ProgressBar(num=2)
    bar.update(1, [("loss", 0.5)])
    bar.update(2, [("loss", 0.25)])
    assert calls == [(2, "step"), "loss: 0.5000", 1, "loss: 0.2500", 2, "close"]
    assert capsys.readouterr().out == ""
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    ProgressBar(num=2).update(1, [("loss", 0.5)])
    assert "step 1/2" in capsys.readouterr().out
