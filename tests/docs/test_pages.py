"""The Python of the user pages runs as it stands there."""

import pathlib
import re
import runpy
import tomllib

import pytest

DOCS = pathlib.Path(__file__).parents[2] / "docs"
NEEDS = {"interop": ("optax", "flax"), "model-files": ("onnx",)}


def test_claimed_versions_agree():
    """README, classifiers and the lower bound name the same Python versions."""
    root = DOCS.parent
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    minors = sorted(
        int(c.rpartition(".")[2])
        for c in project["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", c)
    )
    assert (
        minors == list(range(minors[0], minors[-1] + 1)) and project["requires-python"] == f">=3.{minors[0]}"
    )
    claimed = re.findall(r"Python (3\.\d+) to (3\.\d+)", (root / "README.md").read_text(encoding="utf-8"))
    assert claimed == [(f"3.{minors[0]}", f"3.{minors[-1]}")]


@pytest.mark.parametrize(
    "name",
    [
        "amp",
        "control-flow",
        "custom-ops",
        "func",
        "interop",
        "memory",
        "metrics",
        "model-files",
        "nan",
        "notebooks",
        "slow",
        "static",
        "to_static",
    ],
)
def test_snippets(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = DOCS / f"{name}.md"
    if not page.is_file():
        pytest.skip("the documentation is not part of the wheel")
    for module in NEEDS.get(name, ()):
        pytest.importorskip(module)
    script = tmp_path / "page.py"  # a file, so that the source of its functions can be read
    script.write_text(
        "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)),
        encoding="utf-8",
    )
    runpy.run_path(str(script))
