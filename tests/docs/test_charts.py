"""Charts, pictures of the gallery and the index of messages, all made by tools."""

import functools
import importlib.util
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import paddle_jax as paddle

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="the wheel has no documentation")


@functools.cache
def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_charts_show_the_tables():
    charts = tool("charts")
    made = charts.charts()
    assert {path.name for path in charts.CHARTS.iterdir()} == set(made)
    for name, content in made.items():
        assert (charts.CHARTS / name).read_text(encoding="utf-8") == content, "run python tools/charts.py"
        root = ET.fromstring(content)
        tags = {element.tag.partition("}")[2] for element in root.iter()}
        assert tags == {"svg", "style", "text", "line", "rect", "title"}
        width = float(root.get("width"))
        for bar in root.iter("{http://www.w3.org/2000/svg}rect"):
            assert (
                charts.LABELS <= float(bar.get("x")) < float(bar.get("x")) + float(bar.get("width")) <= width
            )
    # two rows of the page, by hand
    page = charts.TABLES.read_text(encoding="utf-8")
    assert "| LeNet, batch 64 | 2.34 ms | 9.69 ms | 0.24 |" in page
    assert "| topk, cumsum | 3.13, 0.74 us | 3.00, 3.27 us | 1.04, 0.23 |" in page
    assert ("LeNet, batch 64", 0.24) in charts.rows_of("One training step, eager, undecorated")
    assert charts.rows_of("One operation")[0] == ("cumsum", 0.23)


def test_pictures_of_the_gallery():
    pictures = sorted((ROOT / "docs" / "gallery").iterdir())
    examples = {path.stem for path in (ROOT / "examples").iterdir()}
    assert len(pictures) >= 10 and {path.stem for path in pictures} <= examples
    for path in pictures:
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG") and len(content) < 100_000


MISTAKES = [
    lambda: paddle.nn.functional.conv2d(paddle.ones([1, 3, 8, 8]), paddle.ones([2, 4, 3, 3])),
    lambda: paddle.scatter(paddle.ones([3]), paddle.ones([2, 2], "int64"), paddle.ones([2])),
    lambda: paddle.load("nothing.pdparams"),
    lambda: paddle.optimizer.lr.StepDecay(0.1, step_size="a"),
    lambda: paddle.io.DataLoader([1], batch_size=0),
    lambda: paddle.nn.functional.cross_entropy(
        paddle.ones([2, 3]), paddle.zeros([2], "int64"), reduction="x"
    ),
]


def test_every_message_is_in_the_index():
    found = tool("message_index").messages()
    patterns = [
        re.compile(".*".join(map(re.escape, re.split("…", f"{m.text}; {m.remedy}" if m.remedy else m.text))))
        for m in found
    ]
    for mistake in MISTAKES:
        with pytest.raises(Exception) as caught:  # noqa: B017, PT011  each has its own class
            mistake()
        said = " ".join(str(caught.value).split())
        rows = [m for m, pattern in zip(found, patterns, strict=True) if pattern.match(said)]
        assert any(set(m.kind.split(", ")) & _names(caught.value) for m in rows), said


def _names(error):
    return {"", *(kind.__name__ for kind in type(error).__mro__)}


def test_parts_of_a_message():
    index = tool("message_index")
    source = 'def f(x):\n    raise ValueError(f"scale: x: got {x}; it must be "\n        "positive")\n'
    ((kind, text),) = index.raised(index.ast.parse(source))
    made = index.message("tensor", kind, text)
    assert made == ("tensor", "scale", "scale: x: got …", "it must be positive", "ValueError")
    page = index.pages()["index.md"]
    assert "[functions of tensors](tensor.md)" in page and "[paddle.nn.layer](nn.layer.md)" in page
