"""Checks how the package's modules import each other.

    python tools/check_imports.py

1. No import cycle: the graph of module-level imports, read from the source, has no loop.
2. Imports run downwards: `_core` -> `tensor` -> `nn.attention` -> `nn.functional` -> the rest.
3. Every module imports, and no import starts a JAX backend. A module that `import paddle_jax` loads anyway is
   covered by that one import, because importing it alone runs exactly the same code; each of the others is
   imported alone in a forked child.
"""

import ast
import importlib
import os
import sys
import traceback
import warnings
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = "paddle_jax"
ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("_core", "tensor", "nn.attention", "nn.functional")


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


def import_graph(modules):
    graph = {}
    for module, path in modules.items():
        nodes = toplevel_imports(ast.parse(path.read_text(encoding="utf-8")))
        found = {
            name for node in nodes for name in targets(node, module, path.name == "__init__.py", modules)
        }
        graph[module] = found - {module}
    return graph


def layer(module):
    """Rank in the import order; what belongs to no named layer comes last, private top-level files first."""
    rest = module.removeprefix(PACKAGE).removeprefix(".")
    if rest.startswith("_"):
        return 0
    return next(
        (rank for rank, name in enumerate(LAYERS) if rest == name or rest.startswith(name + ".")), len(LAYERS)
    )


def static_problems(modules):
    graph = import_graph(modules)
    problems = [
        f"{a} imports {b}: imports run downwards only" for a in graph for b in graph[a] if layer(a) < layer(b)
    ]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        problems.append("import cycle: " + " -> ".join(reversed(error.args[1])))
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
    print(
        "\n".join(problems) or f"{len(modules)} modules: no cycle, imports run downwards, no device touched"
    )
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
