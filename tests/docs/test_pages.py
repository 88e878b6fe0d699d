"""The Python of the user pages runs as it stands there."""

import pathlib
import re
import runpy
import tomllib

import jax
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


def test_requirements_agree():
    """JAX has an upper bound that admits the one installed; the conda recipe has the same requirements."""
    root = DOCS.parent
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.split(r"[<>=]", line)[0]: line for line in project["dependencies"]}
    installed = tuple(map(int, jax.__version__.split(".")[:2]))
    for name in ("jax", "jaxlib"):
        low, high = re.fullmatch(rf"{name}>=([\d.]+),<([\d.]+)", needed[name]).groups()
        assert tuple(map(int, low.split("."))) <= installed < tuple(map(int, high.split(".")))
    recipe = root / "conda" / "recipe.yaml"
    if not recipe.is_file():
        pytest.skip("the recipe is not part of the wheel")
    found = pytest.importorskip("yaml").safe_load(recipe.read_text(encoding="utf-8"))
    assert found["context"]["version"] == project["version"]
    python, *others = (line.replace(" ", "") for line in found["requirements"]["run"])
    built_with = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["build-system"][
        "requires"
    ]
    assert built_with == [line.replace(" ", "") for line in found["requirements"]["host"][2:]]
    assert python == f"python{project['requires-python']}" and sorted(others) == sorted(needed.values())
    commands = {f"{name} = {place}" for name, place in project["scripts"].items()}
    assert set(found["build"]["python"]["entry_points"]) == commands
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {project['version']}\n" in citation


def test_readme_of_the_index():
    """It has no link to a file, and keeps its words and addresses."""
    root = DOCS.parent
    text = (root / "README.md").read_text(encoding="utf-8")
    hooks = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["metadata"]
    shown = text
    for rule in hooks["hooks"]["fancy-pypi-readme"]["substitutions"]:
        shown = re.sub(rule["pattern"], rule["replacement"], shown)
    link = re.compile(r"\]\(([^)]*)\)")
    addresses = [target for target in link.findall(text) if target.startswith("https://")]
    assert addresses and link.findall(shown) == addresses
    words = re.compile(r"\[([^\]]*)\]\(")
    assert len(words.findall(text)) > len(addresses)
    assert all(found in shown for found in words.findall(text))


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
