"""Writes the pages of the documentation site into build/site_source, for `mkdocs build --strict`.

    python tools/docs_site.py

The pages of docs/ are copied. Added are: the home page from README.md, pages of the project from the root,
the examples, and a reference of all public names from their docstrings. Notebooks are copied with their
outputs. The index of messages comes from tools/message_index.py. Links to files that are no page lose their
target.
"""

import ast
import html
import importlib
import inspect
import json
import os
import pathlib
import re
import shutil
import sys
import warnings

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("FLAGS_compile_cache", "off")
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import message_index  # noqa: E402  of this folder

import paddle_jax  # noqa: E402

SOURCE = ROOT / "build" / "site_source"
PROJECT = {
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
    "RELEASING.md": "releasing",
    "CODE_OF_CONDUCT.md": "conduct",
}
SECTIONS = (
    "Args",
    "Attributes",
    "Returns",
    "Yields",
    "Raises",
    "Example",
    "Examples",
    "See",
    "Differs from Paddle",
)
ONLY_HERE = ("paddle_jax.bounded", "paddle_jax.func", "paddle_jax.interop", "paddle_jax.views")


def pages():
    """{file of the repository: page of the site}."""
    found = {
        f"docs/{p.relative_to(ROOT / 'docs')}": str(p.relative_to(ROOT / "docs"))
        for p in (ROOT / "docs").rglob("*")
        if p.suffix in (".md", ".ipynb", ".svg", ".png")
    }
    found |= {name: f"project/{page}.md" for name, page in PROJECT.items()}
    found |= {f"examples/{p.name}": f"examples/{p.stem}.md" for p in (ROOT / "examples").glob("*.py")}
    found |= {f"examples/{p.name}": f"examples/{p.name}" for p in (ROOT / "examples").glob("*.ipynb")}
    return found | {"README.md": "index.md", "benchmarks/results/history.md": "benchmarks/history.md"}


def with_links(text, file, page, known):
    """A text of a file with links that lead to pages; others become plain text."""

    def replaced(match):
        words, target = match[1], match[2]
        if target.startswith(("http", "#", "mailto:")):
            return match[0]
        path, _, anchor = target.partition("#")
        wanted = os.path.normpath(pathlib.PurePosixPath(file).parent / path)
        if wanted not in known:
            return words
        relative = os.path.relpath(known[wanted], pathlib.PurePosixPath(page).parent)
        relative += "/" * known[wanted].endswith("/")
        return f"[{words}]({relative}{'#' + anchor if anchor else ''})"

    parts = re.split(r"(^ *```.*?^ *```)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(
        part if i % 2 else re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", replaced, part)
        for i, part in enumerate(parts)
    )


def write(page, text):
    path = SOURCE / page
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def folder_of(page):
    """Where the site puts a page: `start/training.ipynb` becomes `start/training/index.html`."""
    path = pathlib.PurePosixPath(page)
    return path.parent if path.stem == "index" else path.with_suffix("")


def write_notebook(file, page, known):
    """Copies a notebook with links that lead to pages; its links are addresses, not files."""
    notebook = json.loads((ROOT / file).read_text(encoding="utf-8"))
    addresses = {name: str(folder_of(other)) + "/" for name, other in known.items()}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            text = with_links("".join(cell["source"]), file, f"{folder_of(page)}/index", addresses)
            cell["source"] = text.splitlines(keepends=True)
    write(page, json.dumps(notebook))


def orders():
    """{name of an op: the highest order of its derivatives that tests check}, from docs/derivatives.md."""
    found = {}
    for line in (ROOT / "docs" / "derivatives.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 9 and cells[3] in ("yes", "no"):
            best = max((order for order in range(1, 5) if cells[2 + order] == "yes"), default=0)
            found[cells[1]] = max(best, found.get(cells[1], 0))
    return found


def platforms():
    """{name of an op: badges of the platforms that it compiles for}, from docs/platforms.md."""
    found = {}
    table = (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8").partition("## The ops")[2]
    for line in table.splitlines():
        cells = [cell.strip(" *") for cell in line.split("|")]
        if len(cells) == 9 and cells[2] in ("yes", "no", "eager"):
            found[cells[1]] = [
                badge(platform, *cells[2 + 2 * number : 4 + 2 * number])
                for number, platform in enumerate(("cuda", "rocm", "tpu"))
            ]
    return found


def badge(platform, forward, gradient):
    """The badge of a platform: plain where all that exists compiles."""
    if forward != "yes":
        return f"{platform}: {forward}"
    return platform if gradient in ("yes", "") else f"{platform}: gradient {gradient}"


def section(name, lines):
    """One section of a docstring as Markdown."""
    text = inspect.cleandoc("\n".join(lines))
    if name.startswith("Example"):
        return f"**{name}**\n\n```pycon\n{text}\n```"
    if name in ("Args", "Attributes", "Raises"):
        items = re.split(r"\n(?=\S)", text)
        return f"**{name}**\n\n" + "\n".join(
            "- " + html.escape(" ".join(i.split()), quote=False) for i in items
        )
    return f"**{name}**: " + html.escape(" ".join(text.split()), quote=False)


def docstring(text):
    """A docstring as Markdown."""
    parts = []
    name, lines = "", []

    def close():
        if name:
            parts.append(section(name, lines))
        elif lines:
            parts.append(html.escape("\n".join(lines), quote=False))

    for line in inspect.cleandoc(text).splitlines():
        match = re.match(rf"({'|'.join(SECTIONS)}):\s*(.*)", line)
        if match:
            close()
            name, lines = match[1], [match[2]] if match[2] else []
        else:
            lines.append(line)
    close()
    return "\n\n".join(parts)


def entry(name, value, namespace, known_orders, known_platforms):
    """One public name."""
    try:
        signature = re.sub(r" at 0x[0-9a-f]+", "", str(inspect.signature(value)))
    except (TypeError, ValueError):
        signature = ""
    badges = []
    if name in known_orders:
        badges.append(f"derivatives to order {known_orders[name]}")
    made = getattr(value, "op", None)
    badges += known_platforms.get(made.name, []) if made else []
    if namespace.startswith(ONLY_HERE):
        badges.append("only here")
    text = inspect.getdoc(value) if not isinstance(value, int | float | str | tuple) else None
    lines = [f"## {name}", f"```python\n{name}{signature}\n```" if signature else ""]
    lines += [" ".join(f"`{badge}`" for badge in badges), docstring(text) if text else ""]
    return "\n\n".join(filter(None, lines))


def namespaces():
    """{public namespace: its public names}."""
    found = {"paddle_jax": sorted(n for n in vars(paddle_jax) if not n.startswith("_"))}
    for name, module in sorted(sys.modules.items()):
        if not name.startswith("paddle_jax."):
            continue
        public = not any(part.startswith("_") for part in name.split("."))
        names = getattr(module, "__all__", None)
        # files deep inside only say again what their package exports
        is_namespace = hasattr(module, "__path__") or name.count(".") == 1
        if public and names and is_namespace:
            found[name] = sorted(names)
    return found


def write_reference():
    known_orders = orders()
    known_platforms = platforms()
    index = ["# Reference", "", "Each page has the public names of one namespace, from their docstrings.", ""]
    index += ["Badges name the platforms that an operation compiles for; on CPUs all run.", ""]
    index += ["| namespace | names |", "| --- | --- |"]
    for extra in ("func", "interop", "views"):
        importlib.import_module(f"paddle_jax.{extra}")
    for namespace, names in namespaces().items():
        module = sys.modules[namespace]
        values = {name: getattr(module, name) for name in names if hasattr(module, name)}
        values = {name: value for name, value in values.items() if not inspect.ismodule(value)}
        if not values:
            continue
        shown = namespace.replace("paddle_jax", "paddle", 1)
        index.append(f"| [{shown}]({namespace}.md) | {len(values)} |")
        entries = [
            entry(name, value, namespace, known_orders, known_platforms) for name, value in values.items()
        ]
        write(f"reference/{namespace}.md", "\n\n".join([f"# {shown}", *entries]) + "\n")
    write("reference/index.md", "\n".join(index) + "\n")


def picture(path):
    """The picture of an example, or nothing."""
    if not (ROOT / "docs" / "gallery" / f"{path.stem}.png").is_file():
        return ""
    return f"![what {path.stem} computes](../gallery/{path.stem}.png){{ width=280 }}"


def write_examples(known):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    said = dict(re.findall(r"\| \[`?([^\]`]*)`?\]\(examples/[^)]*\) \| ([^|\n]*) \|", readme))
    rows = ["# Gallery", "", "| example | shows | picture |", "| --- | --- | --- |"]
    for path in sorted((ROOT / "examples").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        words = (
            (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
        )
        shown = said.get(path.stem) or html.escape(words)
        rows.append(f"| [{path.stem}]({path.stem}.md) | {shown} | {picture(path)} |")
        write(f"examples/{path.stem}.md", f"# {path.stem}\n\n```python\n{text}```\n")
    for path in sorted((ROOT / "examples").glob("*.ipynb")):
        rows.append(f"| [{path.stem}]({path.name}) | a notebook | {picture(path)} |")
        write_notebook(f"examples/{path.name}", f"examples/{path.name}", known)
    write("examples/index.md", "\n".join(rows) + "\n")


def main():
    warnings.simplefilter("ignore")
    shutil.rmtree(SOURCE, ignore_errors=True)
    known = pages()
    for file, page in known.items():
        if not file.startswith("examples/"):
            if file.endswith(".ipynb"):
                write_notebook(file, page, known)
            elif file.endswith((".svg", ".png")):
                (SOURCE / page).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file, SOURCE / page)
            else:
                write(page, with_links((ROOT / file).read_text(encoding="utf-8"), file, page, known))
    write_examples(known)
    write_reference()
    for name, text in message_index.pages().items():
        write(f"messages/{name}", text)
    print(f"{len(list(SOURCE.rglob('*.md')))} pages in {SOURCE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
