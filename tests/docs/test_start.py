"""The notebooks of docs/start run in a fresh kernel, and give the outputs that are stored in them."""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "start").glob("*.ipynb"))
SLOW = ("notebook", "training")
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")
# numbers of a process: addresses of objects, and of JAX's version: frames
VARIES = re.compile(r"\x1b\[[0-9;]*m|0x[0-9a-f]+|\d+ frames")


def text_of(output):
    """What a reader sees of an output: text, or the end of a traceback."""
    if output["output_type"] == "error":
        return output["evalue"]
    found = output.get("text") or output.get("data", {}).get("text/plain", "")
    return VARIES.sub("", "".join(found))


def outline(cell):
    """[(kind, forms)] of the outputs of a cell."""
    return [(output["output_type"], sorted(output.get("data", ()))) for output in cell["outputs"]]


@pytest.mark.skipif(not NOTEBOOKS, reason="the documentation is not part of the wheel")
def test_notebooks_are_stored_with_outputs():
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
        assert sum(bool(cell["outputs"]) for cell in code) > len(code) / 2
        assert str(ROOT) not in path.read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stem in SLOW else [])
        for path in NOTEBOOKS
    ],
)
def test_outputs_are_those_of_a_run(path):
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "tools" / "notebooks.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    stored = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for old, new in zip(stored, tool.executed(path).cells, strict=True):
        if new.cell_type != "code":
            continue
        assert outline(old) == outline(new), new.source
        if "varies" in new.metadata.get("tags", ()):
            continue
        before, after = ("\n".join(map(text_of, cell["outputs"])) for cell in (old, new))
        assert NUMBER.sub("0", before) == NUMBER.sub("0", after), new.source
        # other processors round otherwise
        np.testing.assert_allclose(
            [float(number) for number in NUMBER.findall(before)],
            [float(number) for number in NUMBER.findall(after)],
            rtol=1e-3,
            atol=1e-5,
        )
