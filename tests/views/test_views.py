"""Views of notebooks: well-formed, escaped, with the numbers that NumPy finds. No browser."""

import collections
import contextlib
import html.parser
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax import views
from paddle_jax.views import markup, statistics
from paddle_jax.views.statistics import sample, statistics_of
from paddle_jax.views.training import next_rates

ROOT = Path(__file__).resolve().parents[2]
NASTY = '<b onclick="x">&\'"</b>'


class Parser(html.parser.HTMLParser):
    """Collects the elements of a view.

    Attributes:
        open: list of the names of the elements that are open.
        elements: list of (name, attributes) of all.
        texts: list of the texts outside `style` and `title`.
        rows: list of the texts of the cells of each row.
        wrong: list of what does not fit.
    """

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.texts, self.rows, self.wrong = [], [], [], [], []
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.elements.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        if self.open and self.open[-1] in ("style", "title"):
            return
        self.texts.append(data)
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data

    def text(self):
        return " ".join(self.texts)


def parsed(value):
    """The parsed view of a value, after checks that hold for each."""
    text = views.html(value)
    page = Parser(text)
    assert page.wrong == []
    assert {tag for tag, _ in page.elements}.isdisjoint({"script", "link", "img", "iframe", "b"})
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert set(re.findall(r"https?://[^\"' ]+", text)) <= {"http://www.w3.org/2000/svg"}
    return page


def a_model():
    model = paddle.Model(paddle.nn.Linear(3, 2))
    optimizer = paddle.optimizer.Adam(0.01, parameters=model.parameters())
    model.prepare(optimizer, paddle.nn.CrossEntropyLoss(), paddle.metric.Accuracy())
    data = paddle.io.TensorDataset([paddle.randn([8, 3]), paddle.randint(0, 2, [8, 1])])
    return model, data


def a_function():
    compiled = paddle.jit.to_static(lambda x, factor=1.0: x * factor)
    compiled(paddle.ones([2, 3]))
    compiled(paddle.ones([2, 3]), factor=3.0)
    return compiled


def a_program():
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            paddle.static.nn.fc(paddle.static.data("features", [None, 8]), 16).mean()
        return main
    finally:
        paddle.disable_static()


def a_recording():
    profiler = paddle.profiler.Profiler(on_trace_ready=lambda p: None)
    with profiler:
        paddle.tanh(paddle.ones([3, 3])).numpy()
        profiler.step()
    return profiler


VALUES = {
    "Tensor": (lambda: paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), "shape [2, 2]"),
    "Parameter": (lambda: paddle.nn.Linear(3, 4).weight, "Parameter"),
    "empty": (lambda: paddle.zeros([0, 3]), "no elements"),
    "scalar": (lambda: paddle.to_tensor(3.5), "mean 3.5"),
    "complex": (lambda: paddle.to_tensor([3 + 4j]), "mean 5"),
    "bool": (lambda: paddle.to_tensor([True, False, True]), "True 2 False 1"),
    "bfloat16": (lambda: paddle.to_tensor([1.5, 2.5]).astype("bfloat16"), "mean 2 "),
    "all NaN": (lambda: paddle.to_tensor([float("nan")]), "no finite elements"),
    "sparse": (
        lambda: paddle.sparse.sparse_coo_tensor([[0, 1], [1, 2]], [1.0, 2.0], [3, 3]),
        "2 elements",
    ),
    "Layer": (lambda: paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.ReLU()), "16 parameters"),
    "empty Layer": (paddle.nn.Identity, "0 parameters"),
    "state": (lambda: paddle.nn.Linear(3, 4).state_dict(), "2 Tensors"),
    "scheduler": (lambda: paddle.optimizer.lr.StepDecay(0.5, 3), "rate 0.5"),
    "plateau": (lambda: paddle.optimizer.lr.ReduceOnPlateau(0.5), "no curve"),
    "optimizer": (
        lambda: paddle.optimizer.Adam(0.25, parameters=paddle.nn.Linear(3, 4).parameters()),
        "rate 0.25",
    ),
    "Model": (lambda: a_model()[0], "Linear"),
    "function": (a_function, "2 signatures"),
    "new function": (lambda: paddle.jit.to_static(lambda x: x), "not called yet"),
    "Program": (a_program, "input features [-1, 8]"),
    "mesh": (lambda: paddle.distributed.ProcessMesh([[0, 1], [2, 3]], ["dp", "mp"]), "dp=2"),
    "mesh of three": (
        lambda: paddle.distributed.ProcessMesh(np.arange(8).reshape(2, 2, 2), ["pp", "dp", "mp"]),
        "pp=1",
    ),
    "explain": (paddle.explain, "segment"),
    "live": (paddle.live_tensors, "kept by the tape"),
    "Profiler": (a_recording, "where the time went"),
    "new Profiler": (paddle.profiler.Profiler, "no recording yet"),
}


@pytest.mark.parametrize("name", VALUES)
def test_views_are_well_formed(name):
    make, expected = VALUES[name]
    assert expected in parsed(make()).text() + " "


def test_values_without_a_view():
    with pytest.raises(TypeError, match="got int, which has no view"):
        views.html(3)
    with pytest.raises(TypeError, match="got dict"):
        views.html({"a": 3})


RNG = np.random.default_rng(0)
ARRAYS = {
    "float32": RNG.normal(size=(40, 30)).astype(np.float32),
    "bad": np.array([[np.nan, 1.0, -np.inf], [np.inf, 5.0, np.nan]], np.float32),
    "huge": np.array([-1.7e308, 1.7e308, 0.0]),
    "same": np.full([5], 0.25),
    "close": np.array([1.0, np.nextafter(1.0, 2.0)]),
    "int64": np.array([[-3, 7], [2, 2]]),
    "large int64": np.array([2**62, -(2**62)]),
    "uint8": np.arange(256, dtype=np.uint8),
    "bfloat16": RNG.normal(size=50).astype(ml_dtypes.bfloat16),
    "float16": RNG.normal(size=50).astype(np.float16),
    "scalar": np.array(2.5),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_statistics_are_numpys(name):
    array = ARRAYS[name]
    wide = array.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    found = statistics_of(array)
    assert (found.size, found.read, found.is_sample) == (array.size, array.size, False)
    assert (found.nan, found.infinite) == (np.isnan(wide).sum(), np.isinf(wide).sum())
    np.testing.assert_allclose([found.low, found.high], [finite.min(), finite.max()])
    np.testing.assert_allclose(found.mean, finite.mean(), rtol=1e-12, atol=1e-12)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(found.deviation, finite.std(), rtol=1e-12)
    assert sum(found.counts) == found.binned == finite.size
    assert len(found.edges) == len(found.counts) + 1
    assert found.edges[0] <= finite.min() and finite.max() <= found.edges[-1]


def test_complex_and_bool_statistics():
    found = statistics_of(np.array([3 + 4j, 0j, complex(np.nan, 1)]))
    assert (found.what, found.mean, found.high, found.nan) == ("absolute values", 2.5, 5.0, 1)
    found = statistics_of(np.array([True, False, True, True]))
    assert (found.what, found.mean) == ("ones", 0.75)


def test_samples_say_so(monkeypatch):
    monkeypatch.setattr(statistics, "_MOST_READ", 100)
    monkeypatch.setattr(statistics, "_SAMPLE", 50)
    page = parsed(paddle.arange(1000))
    assert "of a sample: 48 of 1,000 elements" in page.text()  # every 21st: 21 and 1000 have no common factor
    assert parsed({"weight": paddle.arange(1000)}).rows[1][-1] == "sample of 48"
    monkeypatch.setattr(statistics, "_MOST_BINNED", 10)
    assert "histogram of 10 elements" in parsed(paddle.arange(100)).text()


def test_samples_meet_every_column():
    flat = np.tile(np.arange(8), 512)
    assert set(sample(flat, 64)) == set(range(8))


def test_pending_work_is_computed_without_a_tape():
    x = paddle.ones([2, 2])
    x.stop_gradient = False
    y = paddle.tanh(x) * 2
    assert f"mean {np.tanh(1.0) * 2:.5g}" in parsed(y).text()
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * (1 - np.tanh(1.0) ** 2) * np.ones([2, 2]), rtol=1e-5)


def test_texts_are_escaped():
    parameter = paddle.nn.Linear(2, 2).weight
    parameter.name = NASTY
    assert NASTY in parsed(parameter).texts
    state = {NASTY: paddle.ones([2])}
    assert parsed(state).rows[1][0] == NASTY

    class Layer(paddle.nn.Layer):
        def extra_repr(self):
            return NASTY

    net = paddle.nn.Layer()
    net.add_sublayer(NASTY, Layer())
    assert parsed(net).text().count(NASTY) == 2
    function = paddle.jit.to_static(lambda x, text: x)
    function(paddle.ones([2]), NASTY)
    assert NASTY in parsed(function).text().replace("\\", "")


def test_state_dicts_show_numpys_numbers():
    state = paddle.nn.Linear(30, 40).state_dict()
    head, weight, bias = parsed(state).rows
    assert head == ["name", "shape", "dtype", "mean", "std", "min", "max", ""]
    array = state["weight"].numpy().astype(np.float64)
    numbers = [f"{v:.5g}" for v in (array.mean(), array.std(), array.min(), array.max())]
    assert weight == ["weight", "[30, 40]", "float32", *numbers, ""]
    assert bias == ["bias", "[40]", "float32", "0", "0", "0", "0", ""]


def test_layers_count_shared_parameters_once():
    shared = paddle.nn.Linear(3, 4)
    net = paddle.nn.Sequential(shared, shared, paddle.nn.Embedding(5, 2))
    net[2].weight.stop_gradient = True
    text = parsed(net).text()
    assert "26 parameters" in text and "10 frozen" in text  # 3 * 4 + 4 and 5 * 2


def test_large_layers_are_cut():
    net = paddle.nn.LayerList([paddle.nn.Identity() for _ in range(1010)])
    page = parsed(net)
    assert "10 more layers" in page.text()
    assert sum(attributes.get("class") == "leaf" for _, attributes in page.elements) == 1000


lr = paddle.optimizer.lr
SCHEDULES = {
    "cosine": lambda: lr.CosineAnnealingDecay(0.1, 50),
    "one cycle": lambda: lr.OneCycleLR(0.1, 20),
    "warm-up": lambda: lr.LinearWarmup(lr.CosineAnnealingDecay(0.1, 50), 20, 0.0, 0.1),
    "product": lambda: lr.MultiplicativeDecay(0.1, lambda epoch: 0.9),
    "verbose": lambda: lr.StepDecay(0.1, 3, verbose=True),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_curves_are_what_steps_give(name):
    scheduler = SCHEDULES[name]()
    scheduler.step()
    with contextlib.redirect_stdout(None):
        state = scheduler.state_dict()
        steps, rates = next_rates(scheduler, 30)
        assert scheduler.state_dict() == state
        expected = [scheduler()]
        for _ in steps[1:]:
            scheduler.step()
            expected.append(scheduler())
    assert steps == [float(n) for n in range(1, len(steps) + 1)]
    assert rates == expected


def test_functions_say_why_they_were_compiled():
    scale = {"factor": 2.0}
    function = paddle.jit.to_static(lambda x: x * scale["factor"])
    function(paddle.ones([2, 3]))
    scale["factor"] = 3.0
    function(paddle.ones([2, 3]))
    rows = [row for row in parsed(function).rows if row[0].startswith("float32")]
    assert [row[0] for row in rows] == ["float32[2, 3]"] * 2
    assert "factor" in rows[0][3] and "was 2.0 and is 3.0" in rows[0][3]
    assert rows[1][3] == "the first call"
    assert all(float(row[1]) >= 0 and "test_views.py:" in row[4] for row in rows)


def test_functions_that_run_op_by_op():
    function = paddle.jit.to_static(lambda x: x + int(paddle.to_tensor(x.numpy()).sum()))
    with pytest.warns(UserWarning, match="runs op by op"):
        function(paddle.ones([2]))
    assert "runs op by op: `explain()` says why" in parsed(function).text()


def test_a_model_has_its_history():
    model, data = a_model()

    class Losses(paddle.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.found = []

        def on_epoch_end(self, epoch, logs=None):
            self.found.append(f"{logs['loss'][0]:.5g}")

    losses = Losses()
    model.fit(data, data, batch_size=4, epochs=3, verbose=0, callbacks=losses)
    page = parsed(model)
    assert page.rows[0] == ["epoch", "loss", "acc", "eval loss", "eval acc"]
    assert [row[:2] for row in page.rows[1:4]] == [[str(n), loss] for n, loss in enumerate(losses.found)]
    assert sum(tag == "path" for tag, _ in page.elements) == 2


def attributes(page, tag):
    return [found for name, found in page.elements if name == tag]


def test_graphs_have_boxes_and_lines():
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            x = paddle.static.data("x", [4])
            y = paddle.static.data("y", [4])
            (paddle.tanh(x) * paddle.exp(x) + y).sum()
    finally:
        paddle.disable_static()
    page = parsed(main)
    boxes = attributes(page, "rect")
    assert len(boxes) == 2 + 5  # tanh, exp, multiply, add, sum
    # x to tanh and exp, both to multiply; that and y to add; add to sum
    assert len(attributes(page, "path")) == 2 + 2 + 2 + 1
    tops = [float(box["y"]) for box in boxes]
    x_top, y_top, tanh, exp, multiply, add, total = tops
    assert x_top == y_top < tanh == exp < multiply < add < total
    for one in boxes:
        for other in boxes:
            if one is not other and one["y"] == other["y"]:
                first, second = sorted((one, other), key=lambda box: float(box["x"]))
                assert float(first["x"]) + float(first["width"]) < float(second["x"])


def test_large_graphs_are_not_drawn():
    paddle.enable_static()
    try:
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            x = paddle.static.data("x", [4])
            for _ in range(151):
                x = paddle.tanh(x)
    finally:
        paddle.disable_static()
    page = parsed(main)
    assert not attributes(page, "rect") and "more than 150 operations are not drawn" in page.text()


def test_tables_in_several_orders():
    rows = [["b", 2, 0.5], ["a", 1, 3.0], ["c", 3, 1.0]]
    page = Parser(markup.sorted_tables("things", ("name", "count", "ms"), rows, (2, 1, 0), most=2))
    names = [row[0] for row in page.rows if row[0] != "name"]
    assert names == ["a", "c", "c", "b", "a", "b"]
    folds = attributes(page, "details")
    assert ["open" in fold for fold in folds] == [True, False, False]
    assert len({fold["name"] for fold in folds}) == 1
    assert [text for text in page.texts if text.startswith("things")] == [
        "things by ms",
        "things by count",
        "things by name",
    ]


def test_timelines_have_a_bar_for_each_event():
    profiler = a_recording()
    page = parsed(profiler)
    events = profiler.profiler_result.events
    bars = attributes(page, "rect")
    assert len(bars) == len(events)
    for bar in bars:
        assert float(bar["x"]) >= 0 and float(bar["x"]) + float(bar["width"]) <= 700.01
    start, end = profiler.profiler_result.span
    widest = max(events, key=lambda event: event.duration)
    expected = 700 * (min(widest.end_ns, end) - widest.start_ns) / (end - start)
    assert max(float(bar["width"]) for bar in bars) == pytest.approx(expected, abs=1)


def test_recordings_name_operations():
    rows = parsed(a_recording()).rows
    assert any(row[0] == "tanh" for row in rows)


@pytest.fixture
def installed():
    views.install()
    yield
    views.remove()


def test_repr_stays(installed):
    x = paddle.ones([2])
    assert "<div" in x._repr_html_() and repr(x).startswith("Tensor(shape=[2]")
    views.remove()
    assert not hasattr(x, "_repr_html_")


def test_a_view_that_fails_is_none(installed, caplog):
    class Broken(paddle.nn.Layer):
        def extra_repr(self):
            raise KeyError("gone")

    views.errors.clear()
    with caplog.at_level(logging.WARNING, "paddle_jax.views"):
        assert paddle.nn.Sequential(Broken())._repr_html_() is None
    assert [(name, type(error)) for name, error in views.errors] == [("Sequential", KeyError)]
    assert "the view of Sequential failed: KeyError" in caplog.text


def test_subclasses_keep_their_own(installed):
    class Own(paddle.nn.Layer):
        def _repr_html_(self):
            return "mine"

    assert Own()._repr_html_() == "mine"


CELLS = """
from IPython.core.interactiveshell import InteractiveShell
import sys
shell = InteractiveShell.instance(colors="nocolor")
show = lambda value: shell.display_formatter.format(value)[0]
shell.run_cell("%load_ext paddle_jax", store_history=True)
shell.run_cell("import collections\\nimport paddle\\nx = paddle.ones([2])", store_history=True)
shell.run_cell("f = paddle.jit.to_static(lambda x: x * 2)\\n\\nf(x);", store_history=True)
names = shell.user_ns
x = names["x"]
print("alias", names["paddle"] is sys.modules["paddle_jax"])
print("html", "shape [2]" in show(x)["text/html"], show(x)["text/plain"] == repr(x))
layer = names["paddle"].nn.Linear(2, 2)
print("state", "2 Tensors" in show(layer.state_dict())["text/html"])
print("dicts", [sorted(show(d)) for d in ({"a": x}, names["collections"].OrderedDict(a=1))])
print("line", names["f"].program_cache[0].record.where)
refused = "@paddle.jit.to_static(full_graph=True)\\ndef g(x):\\n  if x > 0:\\n    x = 'a'\\n  return x\\n"
refused += "g(x.sum())"
print("refused", "(In [4], line 3)" in str(shell.run_cell(refused, store_history=True).error_in_exec))
shell.run_cell("%unload_ext paddle_jax")
print("unloaded", "text/html" in show(x))
"""


def test_ipython(tmp_path):
    pytest.importorskip("IPython")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path)}
    (tmp_path / "program.py").write_text(CELLS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    words = ("alias", "html", "state", "dicts", "line", "refused", "unloaded")
    lines = [line for line in done.stdout.splitlines() if line.startswith(words)]  # and a traceback
    assert lines == [
        "alias True",
        "html True True",
        "state True",
        "dicts [['text/plain'], ['text/plain']]",
        "line In [3], line 3",
        "refused True",
        "unloaded False",
    ], done.stderr


def test_state_dicts_are_ordered_dicts():
    """The class for which IPython is given the table."""
    assert type(paddle.nn.Linear(2, 2).state_dict()) is collections.OrderedDict


FRAMES = """
from IPython.core.interactiveshell import InteractiveShell
import pandas
shell = InteractiveShell.instance(colors="nocolor")
shell.run_cell("%load_ext paddle_jax")
shell.run_cell("import paddle, pandas\\nloss = paddle.to_tensor(0.5)\\n"
    "frame = pandas.DataFrame({'step': [1, 2], 'loss': [loss, loss * 3], 'row': [paddle.ones([2])] * 2})")
frame = shell.user_ns["frame"]

shown = shell.display_formatter.format(frame)[0]["text/html"]
print("<td>0.5</td>" in shown, "<td>1.5</td>" in shown, frame.dtypes["loss"], "Tensor(shape=[2]" in shown)
"""


def test_frames_show_numbers(tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("IPython")
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"}
    (tmp_path / "program.py").write_text(FRAMES, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=environment | {"IPYTHONDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.splitlines()[-1:] == ["True True object True"], done.stderr
