"""Runs the notebooks of docs/start and examples, and stores their outputs in them.

    python tools/notebooks.py           # all
    python tools/notebooks.py training  # those named

`tests/docs/test_start.py` runs those of docs/start, too, and compares. A cell with the tag `varies`
prints something else in each run.
"""

import os
import pathlib
import sys
import tempfile
import warnings

import nbclient
import nbformat

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOTEBOOKS = [*sorted((ROOT / "docs" / "start").glob("*.ipynb")), *sorted((ROOT / "examples").glob("*.ipynb"))]
ENVIRONMENT = {
    "JAX_PLATFORMS": "cpu",
    "FLAGS_compile_cache": "off",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "PYTHONHASHSEED": "0",
    "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
}


def executed(path: pathlib.Path) -> nbformat.NotebookNode:
    """A notebook with the outputs of a run in a fresh kernel and an empty folder."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        client = nbclient.NotebookClient(
            notebook,
            timeout=600,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
        )
        places = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        client.execute(env=os.environ | ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(places)})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata = nbformat.from_dict({"kernelspec": kernel, "language_info": {"name": "python"}})
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    return notebook


def main() -> None:
    names = sys.argv[1:]
    for path in NOTEBOOKS:
        if not names or path.stem in names:
            nbformat.write(executed(path), path)
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size >> 10} KiB")


if __name__ == "__main__":
    main()
