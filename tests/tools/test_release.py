"""tools/check_release.py refuses a wheel whose addresses or versions are missing."""

import importlib.util
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BESIDE = {
    "CITATION.cff": "version: 1.0\nrepository-code: https://example.org/p\n",
    "conda/recipe.yaml": "version: 1.0\nhomepage: https://example.org\n",
    "mkdocs.yml": "site_url: https://example.org\nrepo_url: https://example.org/p\n",
    "CHANGELOG.md": "## [1.0] - 2026-12-01\n",
}
LABELS = ("Homepage", "Documentation", "Issues", "Changelog")


@pytest.fixture
def tool():
    spec = importlib.util.spec_from_file_location("check_release", ROOT / "tools/check_release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def problems(tool, folder, labels=LABELS, address="https://example.org/blob/v1.0/docs/a.md", **changes):
    """The problems of a wheel of version 1.0 with these addresses."""
    urls = "".join(f"Project-URL: {label}, https://example.org\n" for label in labels)
    with zipfile.ZipFile(folder / "p.whl", "w") as archive:
        archive.writestr("p-1.0.dist-info/METADATA", f"Name: p\nVersion: 1.0\n{urls}\n[a]({address})\n")
    for name, text in (BESIDE | changes).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return tool.problems_of(tool.metadata_of(folder / "p.whl"), folder)


def test_a_wheel_that_has_all(tool, tmp_path):
    assert problems(tool, tmp_path) == []


def test_what_is_missing_is_named(tool, tmp_path):
    assert problems(tool, tmp_path, labels=["Homepage", "Issues", "Changelog"]) == [
        "pyproject.toml: [project.urls] has no Documentation; add it"
    ]
    (link,) = problems(tool, tmp_path, address="docs/a.md")
    assert "files that the README links have no address" in link
    (version,) = problems(tool, tmp_path, **{"CHANGELOG.md": "## [Unreleased]\n"})
    assert version == "CHANGELOG.md: has no `## [1.0]`; add it"
    (candidate,) = problems(tool, tmp_path, **{"conda/recipe.yaml": "version: 1.0rc1\nhomepage: a\n"})
    assert candidate == "conda/recipe.yaml: has no `version: 1.0`; add it"
