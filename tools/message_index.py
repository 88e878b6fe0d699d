"""The index of error messages, from the lines of the package that raise and warn.

    python tools/message_index.py  # counts by group

`tools/docs_site.py` writes its pages. A message has the form `function: argument: what was got; what is
allowed or what to do`. The part after the first semicolon is the remedy; `…` stands for what a call puts in.
"""

import ast
import builtins
import collections
import functools
import html
import pathlib
import re
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "paddle_jax"
# functions of the package that raise the text they get
HELPERS = re.compile(r"_?(need|check|require|refuse|fail)\w*")
TITLES = {
    "_core": "tensors, gradients and devices",
    "_program": "compiled functions",
    "_launch": "paddle.distributed.launch",
    "tensor": "functions of tensors",
    "framework": "paddle.save and paddle.load",
    "hapi": "paddle.Model, callbacks and hub",
    "": "paddle",
}


class Message(NamedTuple):
    """A text that the package raises.

    Attributes:
        group: str, the folder of the package.
        function: str, the name before the first colon, or "".
        text: str, the message up to its remedy.
        remedy: str, or "".
        kind: str, the exception class.
    """

    group: str
    function: str
    text: str
    remedy: str
    kind: str


def text_of(node: ast.expr | None) -> str | None:
    """The text of a literal, with `…` for each value in it; None for other expressions."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = text_of(node.left), text_of(node.right)
        if left is None and right is None:
            return None
        return (left or "…") + (right or "…")
    return None


def public_classes() -> dict[str, str]:
    """{name of an exception class: the built-in class that a user catches}."""
    found = {
        name: name
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    known = found | {
        # classes of the package that reach users, by the class that they derive from
        "CheckError": "AssertionError",
        "ArgumentError": "ValueError, TypeError",
        "CorruptFileError": "ValueError",
        "CorruptModelError": "ValueError",
    }
    return known


def raised(tree: ast.AST) -> list[tuple[str, str]]:
    """(class, text) of each text that a file raises or warns with."""
    classes = public_classes()
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            name = _name_of(node.exc.func)
            kind = classes.get(name)
            text = text_of(node.exc.args[0])
            if kind and text:
                found.append((kind, text))
            elif name.islower() and text:  # a function that makes the exception
                found.append(("", text))
        elif isinstance(node, ast.FunctionDef) and "message" in node.name:
            found += [("", text) for text in map(text_of, _returned(node)) if text]
        elif isinstance(node, ast.Call):
            found += _passed(node)
    return found


def _name_of(function: ast.expr) -> str:
    """The last name of what is called: "warn" for `warnings.warn`; "" for other expressions."""
    if isinstance(function, ast.Call):  # `type(error)(text)`
        return _name_of(function.func)
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _returned(function: ast.FunctionDef) -> list[ast.expr | None]:
    """What a function returns."""
    return [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]


def _passed(call: ast.Call) -> list[tuple[str, str]]:
    """The texts that a call of a helper, or of `warnings.warn`, gets."""
    name = _name_of(call.func)
    texts = [text for text in map(text_of, call.args) if text and ": " in text]
    if name == "warn":
        return [("warning", text) for text in texts[:1]]
    if HELPERS.fullmatch(name):
        return [("", text) for text in texts if ";" in text]
    return []


def message(group: str, kind: str, text: str) -> Message:
    """A raised text, taken apart."""
    text = " ".join(text.split())
    said, _, remedy = text.partition("; ")
    head = re.match(r"(?:\(\w+\) )?([A-Za-z_][\w.]*): ", said)
    return Message(group, head[1] if head else "", said, remedy.rstrip("."), kind)


def group_of(path: pathlib.Path) -> str:
    """The group of a file: its folder; two levels for `nn` and `distributed`, which have most."""
    parts = path.relative_to(PACKAGE).parts[:-1]
    if parts and parts[0] in ("nn", "incubate"):
        return ".".join(parts[:2])
    return parts[0] if parts else ""


@functools.cache
def messages() -> list[Message]:
    """All messages of the package, each once in its group."""
    found = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        group = group_of(path)
        for kind, text in raised(ast.parse(path.read_text(encoding="utf-8"))):
            if re.search(r"[a-z]{2}", text) and " " in text:
                found.add(message(group, kind, text))
    return sorted(found, key=lambda m: (m.group, m.function.lower(), m.text, m.kind))


def title(group: str) -> str:
    """The heading of a group."""
    return TITLES.get(group, f"paddle.{group}")


def cell(text: str) -> str:
    """A text within a table of Markdown."""
    escaped = html.escape(text, quote=False).replace("|", "&#124;")
    return re.sub(r"([*_`\[\]~])", r"\\\1", escaped)


def pages() -> dict[str, str]:
    """{name of a page: its text}: an index, and a page for each group."""
    groups = collections.defaultdict(list)
    for found in messages():
        groups[found.group].append(found)
    index = ["# Messages", "", "All errors and warnings of the package, from its source."]
    index += ["`…` stands for what your call puts in: search for the words around it.", ""]
    index += ["| part of the package | messages |", "| --- | --- |"]
    made = {}
    for group, members in sorted(groups.items(), key=lambda item: title(item[0])):
        name = f"{group.strip('_') or 'paddle'}.md"
        index.append(f"| [{title(group)}]({name}) | {len(members)} |")
        rows = [f"# Messages of {title(group)}", "", "| message | remedy | class |", "| --- | --- | --- |"]
        rows += [f"| {cell(m.text)} | {cell(m.remedy)} | {m.kind} |" for m in members]
        made[name] = "\n".join(rows) + "\n"
    return {"index.md": "\n".join(index) + "\n", **made}


def main() -> None:
    found = messages()
    for group, number in sorted(collections.Counter(m.group for m in found).items()):
        print(f"{number:5}  {title(group)}")
    with_remedy = sum(bool(m.remedy) for m in found)
    print(f"{len(found):5}  messages, {with_remedy / len(found):.0%} with a remedy")


if __name__ == "__main__":
    main()
