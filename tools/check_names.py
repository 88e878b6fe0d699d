"""Checks that modules, classes and functions have no names of the old vocabulary, that code outside `_core`
does not reach into Tensors, and that only unit tests use private names.

    python tools/check_names.py

WORDS are refused as a part of a name (`_settle`, `settled_value`), NAMES as whole names. docs/design/house.md
says which words are used. Names of Paddle's API are exempt: they are in `_paths.txt`.

A test file uses private modules where its docstring has a line "Unit tests of `_core.kernels.reverse`", with
one or more modules or packages. Functions that Paddle has, such as `hapi.model._all_gather`, are not private.
`known_private_names.txt` lists the other files, with reasons. It may only shrink.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "paddle_jax"
TESTS = ROOT / "tests"
KNOWN_TESTS = ROOT / "tools" / "known_private_names.txt"
# A private module in an import, or in the text of a program that a test runs.
PRIVATE = re.compile(r"\bpaddle_jax\.((?:\w+\.)*_[a-z]\w*(?:\.\w+)*)")
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


def unit_tested(tree):
    """The modules whose unit tests a file says that it has."""
    docstring = ast.get_docstring(tree) or ""
    line = re.search(r"^Unit tests of ((?:`[\w.]+`(?:,\s|\sand\s)?)+)", docstring, re.MULTILINE)
    return re.findall(r"`([\w.]+)`", line.group(1)) if line else []


def private_modules(tree):
    """(line, what is used) for each use of a private module or function of the package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            texts = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            texts = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # also programs that another process runs
            texts = re.sub(r"from (paddle_jax[\w.]*) import (\w+)", r"\1.\2", node.value).splitlines()
        elif isinstance(node, ast.Attribute):
            # not the private names of Paddle, such as `_C_ops`
            text = re.sub(r"^(ours|paddle)\.", "paddle_jax.", ast.unparse(node))
            texts = [text] if re.match(r"paddle_jax\._(core|program|launch)\b", text) else []
        else:
            texts = []
        for text in texts:
            for match in PRIVATE.finditer(text):
                yield node.lineno, match.group(1)


def known_tests():
    """{file: reason} of the test files that may use private names."""
    lines = KNOWN_TESTS.read_text(encoding="utf-8").splitlines()
    pairs = [line.partition(": ") for line in lines if line and not line.startswith("#")]
    return {file: reason for file, _, reason in pairs}


def is_allowed(used, unit_tested_modules, public):
    """Whether a test may use a private name: of a module that it tests, or of Paddle."""
    module, _, name = used.rpartition(".")
    if name in public and "_" not in [part[:1] for part in module.split(".")]:
        return True
    # A use may name only the package of the module.
    return any(f"{used}.".startswith(f"{one}.") or one.startswith(f"{used}.") for one in unit_tested_modules)


def test_problems():
    """A line for each use of a private name in a test that is no unit test of its module."""
    known = known_tests()
    unused = set(known)
    public = public_names()
    for path in sorted(TESTS.rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        modules = unit_tested(tree)
        refused_uses = [use for use in private_modules(tree) if not is_allowed(use[1], modules, public)]
        if refused_uses and file in known:
            unused.discard(file)
            continue
        for line, used in refused_uses:
            yield (
                f"{file}:{line}: {used} is private: assert what users see, or say in the docstring "
                f'"Unit tests of `MODULE`"'
            )
    for file in sorted(unused):
        yield f"{file}: listed in known_private_names.txt, and not needed there"


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
    found = [*problems(), *test_problems()]
    print(
        "\n".join(found)
        or "no word of the old vocabulary, no `_raw` outside _core, private names in unit tests only"
    )
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
