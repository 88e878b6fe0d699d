"""docs/model-file-operations.md says what is read and written; it is made by tools/model_file_table.py."""

import importlib.util
import pathlib

import pytest

HOME = pathlib.Path(__file__).resolve().parents[2]


def tool():
    """The module of the tool."""
    spec = importlib.util.spec_from_file_location("model_file_table", HOME / "tools/model_file_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def table():
    return tool()


def test_the_page_says_what_is_read(table):
    rows = table.rows()
    missing = [name for name in table.counterparts() if name not in rows]
    assert not missing, f"run python tools/model_file_table.py; the page lacks {', '.join(missing)}"
    assert {name: read for name, (read, _, _) in rows.items()} == {name: table.is_read(name) for name in rows}


def test_the_page_is_as_the_tool_writes_it(table):
    written = {name for name, (_, written, _) in table.rows().items() if written}
    assert table.PAGE.read_text() == table.page(written)
    assert [name for name, (read, made, why) in table.rows().items() if not (read and made or why)] == []


def test_what_is_said_to_be_written_is_named_by_the_code(table):
    sources = "".join(path.read_text() for path in (HOME / "paddle_jax/framework/model_files").rglob("*.py"))
    known = table.declared()
    written = [name for name, (_, written, _) in table.rows().items() if written]
    assert len(written) > 300
    assert [
        name
        for name in written
        if name not in known
        and f'"{name}"' not in sources
        and f'"{name.replace("2d", "{n}d").replace("3d", "{n}d")}"' not in sources
    ] == []


def test_a_model_has_what_the_page_says_is_written(table):
    import paddle_jax

    def model(x):
        return paddle_jax.quantile(x, 0.5, 1), paddle_jax.rot90(x), paddle_jax.median(x, 1)

    made = table.saved(model, [paddle_jax.static.InputSpec([None, 3], "float32", "x")]) - {"data", "fetch"}
    assert {"take_along_axis", "lerp", "flip", "median"} <= made
    assert all(table.rows()[name][1] for name in made)
