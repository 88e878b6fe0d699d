"""Checks that modules, classes and functions have no names of the old vocabulary, and that code outside
`_core` does not reach into Tensors.

    python tools/check_names.py

WORDS are refused as a part of a name (`_settle`, `settled_value`), NAMES as whole names. docs/design/house.md
says which words are used. Names of Paddle's API are exempt: they are in `_paths.txt`.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "paddle_jax"
# Words with a meaning of their own in this project: a reader from elsewhere has to ask.
WORDS = {
    "anew",
    "heard",
    "judge",
    "judged",
    "kin",
    "mine",
    "noted",
    "ride",
    "settle",
    "settled",
    "stragglers",
    "theirs",
    "told",
    "unmade",
}
# Words that are fine in a longer name, and say nothing alone.
NAMES = {
    "again",
    "apart",
    "arrived",
    "asked",
    "at",
    "found",
    "fresh",
    "gate",
    "given",
    "here",
    "kept",
    "look",
    "looked",
    "made",
    "met",
    "moving",
    "own",
    "part",
    "several",
    "spread",
    "taken",
    "watch",
}


def parts(name):
    """The words of a name, in lower case."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)}


def refused(name):
    """The words of a name that are refused."""
    whole = name.strip("_").lower()
    return (parts(name) & WORDS) | ({whole} & NAMES)


def names_in(tree):
    """(line, kind, name) of the classes and functions that a module defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.lineno, "class", node.name
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, "function", node.name


def public_names():
    """Names that Paddle has: they are not ours to choose."""
    return set(re.findall(r"[\w]+", (PACKAGE / "_paths.txt").read_text(encoding="ascii")))


def reads_inside_tensors(tree):
    """Lines that read or assign `_raw` of a Tensor."""
    return [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "_raw"]


def problems():
    """A line for each name that is refused."""
    public = public_names()
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(ROOT)
        for word in sorted(refused(path.stem)):
            if path.stem not in public:
                yield f"{file}: the module's name has {word!r}"
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if PACKAGE / "_core" not in path.parents:
            for line in reads_inside_tensors(tree):
                yield f"{file}:{line}: `_raw`: use what _core/tensors/held_values.py has for the purpose"
        for line, kind, name in names_in(tree):
            for word in sorted(refused(name)):
                if name not in public:
                    yield f"{file}:{line}: {kind} {name}: {word!r}"


def main():
    found = list(problems())
    print("\n".join(found) or "no name has a word of the old vocabulary, no code outside _core reads `_raw`")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
