"""The notebooks run from the first cell to the last in a fresh kernel."""

import json
import os
import warnings
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NOTEBOOKS = {  # what is printed, number of figures
    "pinn_burgers": ("relative L2 error", 2),
    "derivatives": ("gradient of the initialisation", 1),
    "shardings": ("bytes on each device: {'none': 912, 'stage 1': 624", 6),
}
each = pytest.mark.parametrize("name", NOTEBOOKS)


def test_all_are_known():
    assert {path.stem for path in EXAMPLES.glob("*.ipynb")} == set(NOTEBOOKS)


@each
def test_notebook_is_stored_with_outputs(name):
    text = (EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8")
    code = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    printed, figures = NOTEBOOKS[name]
    outputs = [output for cell in code for output in cell["outputs"]]
    assert any(printed in "".join(output.get("text", "")) for output in outputs)
    assert sum("image/png" in output.get("data", {}) for output in outputs) == figures
    assert str(EXAMPLES.parent) not in text and "/tmp/" not in text


@each
def test_notebook_starts_with_the_alias(name):
    first = json.loads((EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"][0]
    assert "paddle_jax.install_as_paddle()" in "".join(first["source"])


@each
@pytest.mark.filterwarnings("ignore")
def test_notebook_runs(name, tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
        environment = os.environ | {
            "PINN_STEPS": "4",
            "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        }
        client = nbclient.NotebookClient(
            notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
        )
        client.execute(env=environment)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    printed, figures = NOTEBOOKS[name]
    assert any(printed in output.get("text", "") for output in outputs)
    assert sum("image/png" in output.get("data", {}) for output in outputs) == figures
