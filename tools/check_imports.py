"""Checks how the package's modules import each other.

    python tools/check_imports.py

1. Imports run downwards through ROOMS, at module level and inside functions.
2. No ring: the graph of all imports, read from the source, has no loop.
3. A function-level import of our own modules has a comment `# lazy: <reason>` on its line or the line above.
4. Every module imports, and no import starts a JAX backend. A module that `import paddle_jax` loads anyway is
   covered by that one import, because importing it alone runs exactly the same code; each of the others is
   imported alone in a forked child.

`tools/known_imports.txt` lists the imports that break rules 1 to 3 still. It may only shrink.
"""

import ast
import importlib
import os
import sys
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple

PACKAGE = "paddle_jax"
ROOT = Path(__file__).resolve().parent.parent
KNOWN = ROOT / "tools" / "known_imports.txt"
# Each room imports only rooms above it.
ROOMS = (
    "version",
    "_launch",
    "_core.base",
    "_core.lazy",
    "_core.kernels",
    "_core.numpy_backend",
    "_core.process_group",
    "_core.process",
    "_core.runner",
    "_core.tensors",
    "_core.tape",
    "_core.execution",
    "_core.ops",
    "_core",
    "tensor",
    "autograd",
    "_program",
    "nn.attention",
    "nn.functional",
)


def module_files():
    """{module name: file} of the package, without `__main__`."""
    names = {}
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if parts[-1] != "__main__":
            names[name] = path
    return names


def toplevel_imports(tree):
    """Import statements that run when the module is imported: not those in functions or
    under TYPE_CHECKING."""
    todo = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            todo += [
                child
                for child in ast.iter_child_nodes(node)
                if isinstance(child, ast.stmt | ast.ExceptHandler)
            ]


def targets(node, module, is_package, modules):
    """Modules of the package that one import statement needs."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names if alias.name in modules]
    base = node.module or ""
    if node.level:
        parents = module.split(".")[: None if is_package and node.level == 1 else -(node.level - is_package)]
        base = ".".join(parents + ([base] if base else []))
    if base not in modules:
        return []
    return [f"{base}.{alias.name}" if f"{base}.{alias.name}" in modules else base for alias in node.names]


class Import(NamedTuple):
    """One import of a module of ours.

    Attributes:
        importer: the module that has the statement.
        imported: the module that it needs.
        lazy: whether the statement is inside a function.
        reason: whether a comment says why it is there.
    """

    importer: str
    imported: str
    lazy: bool
    reason: bool


def has_reason(lines, node):
    """Whether a comment on the line of a statement or above it begins with `lazy:`."""
    return any("# lazy: " in line for line in lines[max(node.lineno - 2, 0) : node.end_lineno])


def all_imports(modules):
    """Every Import of the package, each pair of modules once: at module level if there is one."""
    found = {}
    for module, path in modules.items():
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        tree = ast.parse(text)
        at_import = {id(node) for node in toplevel_imports(tree)}
        checking = {id(node) for node in type_checking_imports(tree)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Import | ast.ImportFrom) or id(node) in checking:
                continue
            lazy = id(node) not in at_import
            reason = has_reason(lines, node)
            for imported in targets(node, module, path.name == "__init__.py", modules):
                if imported == module:
                    continue
                before = found.get((module, imported))
                if before is None or before.lazy and not (lazy and before.reason):
                    found[module, imported] = Import(module, imported, lazy, reason)
    return list(found.values())


def type_checking_imports(tree):
    """Import statements below `if TYPE_CHECKING`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for statement in node.body:
                yield from (n for n in ast.walk(statement) if isinstance(n, ast.Import | ast.ImportFrom))


def room(module):
    """Rank in the import order; what belongs to no room comes last."""
    rest = module.removeprefix(PACKAGE).removeprefix(".")
    for rank, name in enumerate(ROOMS):
        if rest == name or rest.startswith(name + "."):
            return rank
    return len(ROOMS)


def reachable(graph, start):
    """Modules that a module imports, directly or not."""
    found, todo = set(), [start]
    while todo:
        new = graph[todo.pop()] - found
        found |= new
        todo += new
    return found


def rings(graph):
    """Sets of modules that all import each other, directly or not; largest first."""
    reached = {module: reachable(graph, module) for module in graph}
    in_rings = {module for module in graph if module in reached[module]}
    found = {tuple(sorted(m for m in in_rings & reached[one] if one in reached[m])) for one in in_rings}
    return sorted(found, key=len, reverse=True)


def graph_of(modules, imports):
    graph = {module: set() for module in modules}
    for one in imports:
        graph[one.importer].add(one.imported)
    return graph


def problem_of(one):
    """What is wrong with an Import by itself, or None."""
    if room(one.importer) < room(one.imported):
        return f"{one.importer} imports {one.imported}: imports run downwards only"
    if one.lazy and not one.reason:
        return f"{one.importer} imports {one.imported} in a function: say why in a comment `# lazy: ...`"
    return None


def known_imports():
    """Pairs of modules that may still break a rule."""
    if not KNOWN.exists():
        return set()
    lines = KNOWN.read_text(encoding="utf-8").splitlines()
    return {tuple(line.split()) for line in lines if line and not line.startswith("#")}


def static_problems(modules):
    imports = all_imports(modules)
    known = known_imports()
    broken = {(one.importer, one.imported): problem for one in imports if (problem := problem_of(one))}
    problems = [problem for pair, problem in broken.items() if pair not in known]
    followed = [one for one in imports if (one.importer, one.imported) not in known]
    for ring in rings(graph_of(modules, followed)):
        problems.append(f"import ring of {len(ring)}: {', '.join(ring)}")
    problems += [f"{a} {b}: listed in {KNOWN.name}, and not needed there" for a, b in known - broken.keys()]
    return problems


def backend_started():
    from jax._src import xla_bridge

    return xla_bridge.backends_are_initialized()


def import_alone(module):
    """Imports one module in a forked child; returns True when that works and touches no device."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            importlib.import_module(module)
            status = 2 if backend_started() else 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {0: None, 2: f"{module}: importing it starts a JAX backend"}.get(
        status, f"{module}: does not import"
    )


def runtime_problems(modules):
    sys.path.insert(0, str(ROOT))
    importlib.import_module(PACKAGE)
    if backend_started():
        return [f"{PACKAGE}: importing it starts a JAX backend"]
    warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called")
    return [problem for module in modules if module not in sys.modules if (problem := import_alone(module))]


def main():
    modules = module_files()
    problems = static_problems(modules) + runtime_problems(modules)
    print("\n".join(problems) or f"{len(modules)} modules: no ring, imports run downwards, no device touched")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
