"""Refuses a wheel that is not ready to be published (RELEASING.md).

python tools/check_release.py dist/*.whl
"""

import argparse
import email
import re
import sys
import zipfile
from email.message import Message
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
URLS = ("Homepage", "Documentation", "Issues", "Changelog")


def metadata_of(wheel: Path) -> Message:
    """The METADATA of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith(".dist-info/METADATA")]
        return email.message_from_bytes(archive.read(name))


def problems_of(metadata: Message, root: Path) -> list[str]:
    """What a wheel, or a file beside it, lacks."""
    version = metadata["Version"]
    labels = {entry.partition(",")[0] for entry in metadata.get_all("Project-URL") or ()}
    found = [
        f"pyproject.toml: [project.urls] has no {label}; add it" for label in URLS if label not in labels
    ]
    if f"/blob/v{version}/" not in str(metadata.get_payload()):
        found.append("pyproject.toml: files that the README links have no address; set `replacement`")
    if ".dev" in version:
        found.append(f"pyproject.toml: version is {version}; take .dev away")
    for name, text in (
        ("CITATION.cff", f"version: {version}"),
        ("CITATION.cff", "repository-code:"),
        ("conda/recipe.yaml", f"version: {version}"),
        ("conda/recipe.yaml", "homepage:"),
        ("mkdocs.yml", "site_url:"),
        ("mkdocs.yml", "repo_url:"),
        ("CHANGELOG.md", f"## [{version}]"),
    ):
        # The line of a release candidate begins with that of its release.
        pattern = rf"^\s*{re.escape(text)}(?![\w.])"
        if not re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE):
            found.append(f"{name}: has no `{text}`; add it")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheels", nargs="+", type=Path)
    found = [
        problem for wheel in parser.parse_args().wheels for problem in problems_of(metadata_of(wheel), ROOT)
    ]
    for problem in found:
        print(problem)
    if not found:
        print("ready to be published")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
