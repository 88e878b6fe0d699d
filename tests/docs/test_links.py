"""Links of the pages lead somewhere, and the files that they name exist."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
if not (ROOT / "docs" / "design").is_dir():
    pytest.skip("the documentation is not part of the wheel", allow_module_level=True)
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").rglob("*.md")]
OLD_NAMES = {"CHANGELOG.md", "history.md"}  # pages that name files of their time


def prose(page: pathlib.Path) -> str:
    """The text of a page without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page: pathlib.Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    texts = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", text).replace(" ", "-") for text in texts}


def leads_somewhere(page: pathlib.Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    return target.exists() and (not anchor or target.suffix != ".md" or anchor in anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links(page):
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)) if not link.startswith("http")]
    assert [link for link in links if not leads_somewhere(page, link)] == []


def test_named_files_exist():
    folders = ("paddle_jax", "tests", "tools", "benchmarks", "examples")
    files = {f"/{path.relative_to(ROOT)}" for folder in folders for path in (ROOT / folder).rglob("*.py")}
    named = {
        (page.name, name)
        for page in PAGES
        if page.name not in OLD_NAMES
        for name in re.findall(r"`([\w/]*/[\w/]+\.py)`", prose(page))
    }
    assert len(named) > 100
    assert [
        (page, name) for page, name in sorted(named) if not any(f.endswith(f"/{name}") for f in files)
    ] == []


def test_every_design_note_is_listed():
    folder = ROOT / "docs" / "design"
    listed = set(re.findall(r"\]\(([\w-]+\.md)\)", (folder / "README.md").read_text(encoding="utf-8")))
    assert {note.name for note in folder.glob("*.md")} - {"README.md"} == listed
