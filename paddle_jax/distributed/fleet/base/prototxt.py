"""Settings as text, in the text format of protocol buffers: `name: value` and `name { ... }`."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

__all__ = []

_TOKEN = re.compile(
    r"""(?P<skipped>\s+|\#[^\n]*|[,;])
    | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<word>[\w.+-]+)
    | (?P<mark>[{}:\[\]])""",
    re.VERBOSE,
)
Fields = dict[str, list[Any]]


def text_of(fields: dict[str, Any], indent: str = "") -> str:
    """Fields as text: a dict is a message, a list is a field that occurs several times."""
    lines = []
    for name, value in fields.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if isinstance(one, dict):
                lines.append(f"{indent}{name} {{\n{text_of(one, indent + '  ')}{indent}}}\n")
            else:
                lines.append(f"{indent}{name}: {_scalar_text(one)}\n")
    return "".join(lines)


def _scalar_text(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return str(value).lower()


def fields_of(text: str) -> Fields:
    """What a text says: for each name the values in their order; a message is a dict of the same kind.

    Raises:
        ValueError: the text is not in this format.
    """
    tokens = list(_tokens(text))
    fields, rest = _message(tokens, 0)
    if rest < len(tokens):
        raise ValueError(f"got {tokens[rest][1]!r} outside of a message")
    return fields


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            line = text.count("\n", 0, position) + 1
            raise ValueError(f"line {line}: got {text[position : position + 20]!r}")
        position = found.end()
        if found.lastgroup is not None and found.lastgroup != "skipped":
            yield found.lastgroup, found.group()


def _message(tokens: list[tuple[str, str]], i: int) -> tuple[Fields, int]:
    """The fields from a position to the end of their message, and where that is."""
    fields: Fields = {}
    while i < len(tokens) and tokens[i] != ("mark", "}"):
        kind, name = tokens[i]
        if kind != "word":
            raise ValueError(f"got {name!r}; it must be the name of a field")
        i += 1
        if tokens[i : i + 1] == [("mark", ":")]:
            i += 1
        values, i = _values(tokens, i, name)
        fields.setdefault(name, []).extend(values)
    return fields, i


def _values(tokens: list[tuple[str, str]], i: int, name: str) -> tuple[list[Any], int]:
    """The values of a field, and the position behind them."""
    if i >= len(tokens):
        raise ValueError(f"{name}: a value is missing")
    if tokens[i] == ("mark", "{"):
        message, i = _message(tokens, i + 1)
        if i >= len(tokens):
            raise ValueError(f"{name}: the closing brace is missing")
        return [message], i + 1
    if tokens[i] == ("mark", "["):
        end = tokens.index(("mark", "]"), i)
        return [_scalar(*token, name) for token in tokens[i + 1 : end]], end + 1
    return [_scalar(*tokens[i], name)], i + 1


def _scalar(kind: str, token: str, name: str) -> Any:
    """A bool, a number or a str; the name of a constant stays a str."""
    if kind == "text":
        return ast.literal_eval(token)
    if kind != "word":
        raise ValueError(f"{name}: got {token!r}; it must be a value")
    if token in ("true", "false"):
        return token == "true"
    for number in (int, float):
        try:
            return number(token)
        except ValueError:
            continue
    return token
