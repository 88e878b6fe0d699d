"""Measures of the package's code: density, comments, annotations, imports.

    python tools/code_measures.py [FOLDER]    default: the package of this checkout

A line of code has a token that is no comment and no docstring. docs/design/house.md has figures of peers.
"""

import ast
import io
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}


def docstring_lines(tree):
    """Numbers of the lines of docstrings."""
    lines = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if ast.get_docstring(node) is not None:
                lines |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return lines


def is_annotated(function):
    """Whether a function has types for its arguments (but self and cls) and its result."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    arguments = [one for one in arguments if one.arg not in ("self", "cls")]
    return function.returns is not None and all(one.annotation is not None for one in arguments)


def measures(text):
    """{name: count} of one file."""
    tree = ast.parse(text)
    documented = docstring_lines(tree)
    code_lines, tokens, comments = set(), 0, 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments += 1
        elif token.type not in _NO_CODE and token.start[0] not in documented:
            tokens += 1
            code_lines |= set(range(token.start[0], token.end[0] + 1))
    nodes = list(ast.walk(tree))
    assignments = [node for node in nodes if isinstance(node, ast.Assign)]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    several = [
        a for a in assignments if isinstance(a.targets[0], ast.Tuple) and isinstance(a.value, ast.Tuple)
    ]
    return {
        "lines": len(text.splitlines()),
        "code lines": len(code_lines),
        "tokens": tokens,
        "comments": comments,
        "assignments": len(assignments),
        "of tuples": len(several),
        "conditional expressions": sum(isinstance(node, ast.IfExp) for node in nodes),
        "functions": len(functions),
        "annotated": sum(map(is_annotated, functions)),
    }


def main(folder):
    groups = {}
    for path in sorted(folder.rglob("*.py")):
        first, *rest = path.relative_to(folder).parts
        group = f"{first}/{rest[0]}" if first in ("_core", "_program") and len(rest) > 1 else first
        group = group if rest else "(top)"
        total = groups.setdefault(group, {})
        for name, count in measures(path.read_text(encoding="utf-8")).items():
            total[name] = total.get(name, 0) + count
    groups["all"] = {name: sum(group[name] for group in groups.values()) for name in groups["(top)"]}
    columns = ("tok/line", "if-expr", "tuples %", "comments", "typed %")
    print(f"{'':28}{'lines':>8}{'tokens':>9}" + "".join(f"{name:>9}" for name in columns))
    for name, group in groups.items():
        code = max(group["code lines"], 1)
        shares = (
            group["tokens"] / code,
            1000 * group["conditional expressions"] / code,
            100 * group["of tuples"] / max(group["assignments"], 1),
            100 * group["comments"] / code,
            100 * group["annotated"] / max(group["functions"], 1),
        )
        counts = f"{group['lines']:8}{group['tokens']:9}"
        print(f"{name:28}{counts}" + "".join(f"{share:9.1f}" for share in shares))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "paddle_jax")
