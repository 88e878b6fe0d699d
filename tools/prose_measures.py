"""Words a sentence in the pages of the documentation.

    python tools/prose_measures.py [--long WORDS]

Code, tables, headings and addresses of links are left out. With --long, sentences with more words are listed.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
# code blocks, comments of HTML, and front matter
_BLOCKS = re.compile(r"```.*?```|~~~.*?~~~|<!--.*?-->|\A---\n.*?\n---\n", re.S)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_CODE = re.compile(r"`[^`]*`")
# a full stop ends a sentence before a capital letter, a figure or the end
_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z0-9`*(\"])")
_ABBREVIATIONS = re.compile(r"\b(e\.g|i\.e|vs|etc|cf|No|Fig|al)\.")


def sentences(text: str) -> list[str]:
    """The sentences of a page, list items included."""
    text = _LINK.sub(r"\1", _BLOCKS.sub("\n\n", text))
    # A piece of code counts as one word.
    text = _CODE.sub("Code", text)
    found = []
    for paragraph in _paragraphs(text):
        plain = _ABBREVIATIONS.sub(r"\1", paragraph)
        found += [one for one in _END.split(plain) if len(one.split()) > 1]
    return found


def _paragraphs(text: str) -> list[str]:
    paragraphs: list[str] = [""]
    for line in text.splitlines():
        stripped = line.strip()
        # Tables, headings, quotes of settings and markup are no sentences.
        if not stripped or stripped[0] in "|#<{!" or line.startswith("    "):
            paragraphs.append("")
            continue
        if re.match(r"([-*+]|\d+\.)\s", stripped):
            paragraphs.append("")
            stripped = re.sub(r"^([-*+]|\d+\.)\s+", "", stripped)
        paragraphs[-1] = f"{paragraphs[-1]} {stripped}".strip()
    return [one for one in paragraphs if one]


def pages() -> list[Path]:
    """The README and the pages below docs/ that people write."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", type=int, help="list sentences with more words")
    arguments = parser.parse_args()
    words = count = longer = 0
    for page in pages():
        for sentence in sentences(page.read_text()):
            length = len(sentence.split())
            count += 1
            words += length
            longer += length > 25
            if arguments.long and length > arguments.long:
                print(f"{page.relative_to(ROOT)}: {length}: {sentence}")
    print(f"{len(pages())} pages, {count} sentences, {words / count:.1f} words a sentence, {longer} above 25")


if __name__ == "__main__":
    main()
