"""The Python of the user pages runs as it stands there."""

import pathlib
import re
import runpy

import pytest

DOCS = pathlib.Path(__file__).parents[2] / "docs"
NEEDS = {"control-flow": ("malt",), "interop": ("optax", "flax"), "model-files": ("onnx",)}


@pytest.mark.parametrize("name", ["amp", "control-flow", "func", "interop", "model-files", "static", "to_static"])
def test_snippets(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = DOCS / f"{name}.md"
    if not page.is_file():
        pytest.skip("the documentation is not part of the wheel")
    for module in NEEDS.get(name, ()):
        pytest.importorskip(module)
    script = tmp_path / "page.py"  # a file, so that the source of its functions can be read
    script.write_text("\n".join(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)), encoding="utf-8")
    runpy.run_path(str(script))
