"""The notebook runs from its first cell to its last in a fresh kernel."""

import json
import os
import warnings
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "pinn_burgers.ipynb"


def test_notebook_is_stored_without_outputs():
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert [cell["id"] for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []


def test_notebook_starts_with_the_alias():
    first = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"][0]
    assert "paddle_jax.install_as_paddle()" in "".join(first["source"])


@pytest.mark.filterwarnings("ignore")
def test_notebook_runs(tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        environment = os.environ | {"PINN_STEPS": "4", "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
        client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
        client.execute(env=environment)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("relative L2 error" in output.get("text", "") for output in outputs)
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2
