"""Writes which names the real Paddle has in which module: `paddle_jax/_paths.txt` and the facts its test
reads, `tests/data/paddle_paths.json.gz`.

    python tools/paddle_paths.py            from the kept facts: run it when something new was written
                                            that Paddle has under several paths
    python tools/paddle_paths.py --oracle   asks the real Paddle first (half a minute)

A line of `_paths.txt` is a module and, by tabs, groups `where: name name>other +name`: what the module calls
`name` is `name` (or `other`) of our module `where`; a dot is the package itself. `*where:` is a group of what
the module defines (`__module__`), `+` marks what is in its `__all__`. The group `modules:` has modules it
knows under another name; a module marked with `!` stands behind a function or class of the same name, one
marked with `~` defines nothing itself. Only objects are listed that are for users or written here.
"""

import argparse
import collections
import gzip
import importlib
import json
import pkgutil
import subprocess
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE, FACTS = ROOT / "paddle_jax/_paths.txt", ROOT / "tests/data/paddle_paths.json.gz"
RUNS = ("paddle.distributed.launch.__main__",)  # a module that runs a program when it is imported
FILES = (
    "tensor.ops",
    "tensor.math",
    "tensor.linalg",
    "tensor.logic",
    "tensor.",
    "nn.functional.activation",
    "nn.functional.",
)
KERNELS, PATCHED = "paddle.base.libpaddle.pir.ops", "paddle.base.dygraph.generated_tensor_methods_patch"


# the real Paddle, in a process of its own -------------------------------------------------------------------


def walk(package):
    """Imports every module of a package that can be imported on this machine."""
    for info in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        if info.name in RUNS:
            continue
        try:
            module = importlib.import_module(info.name)
        except (Exception, SystemExit):
            continue
        if info.ispkg:
            walk(module)


def kind(value):
    """What is kept of a name: None for what is not Paddle's."""
    if isinstance(value, types.ModuleType):
        return "module" if value.__name__.split(".")[0] == "paddle" else None
    if isinstance(value, type):
        return "class"
    if isinstance(value, types.FunctionType | types.BuiltinFunctionType | types.MethodType):
        return "function"
    return "dtype" if type(value).__name__ == "DataType" else None


def asked():
    """{module: {"all": [...] or None, "names": {name: [kind, number of the object or name of the module, its
    module, its name]}}}."""
    import paddle

    walk(paddle)
    numbers, alive, found = {}, [], {}
    modules = {
        path: m
        for path, m in sys.modules.items()
        if path.split(".")[0] == "paddle" and isinstance(m, types.ModuleType)
    }
    path_of = {id(modules[path]): path for path in sorted(modules, key=len, reverse=True)}
    for path, module in sorted(modules.items()):
        if path.endswith("_pb2"):
            continue
        names = {}
        for name, value in vars(module).items():
            what = None if name.startswith("__") else kind(value)
            if what == "module":
                if id(value) in path_of:
                    names[name] = [what, path_of[id(value)]]
            elif what:
                alive.append(value)
                where = [str(getattr(value, key, None)) for key in ("__module__", "__qualname__")]
                if where[0].split(".")[0] == "paddle" or what == "dtype":
                    names[name] = [what, numbers.setdefault(id(value), len(numbers)), *where]
        exported = getattr(module, "__all__", None)
        found[path] = {"all": list(exported) if exported is not None else None, "names": names}
    return found


# the table --------------------------------------------------------------------------------------------------


def objects(facts):
    """{key of an object: [(module, name)]}: what Paddle made several kernels of counts as one function."""
    paths = collections.defaultdict(list)
    for path, module in facts.items():
        for name, row in module["names"].items():
            if (key := key_of(facts, path, name, row)) is not None:
                paths[key].append((path, name))
    return paths


def key_of(facts, path, name, row):
    if row[0] == "module" or path.startswith("paddle.base.libpaddle.pir"):
        return None
    if row[2] == KERNELS:  # functions that were moved into C++: the public name is the one with all arguments
        tops = (
            ("paddle", "paddle.nn.functional")
            if path.startswith("paddle.tensor")
            else ("paddle.nn.functional", "paddle")
        )
        twin = next((facts[top]["names"][name] for top in tops if name in facts[top]["names"]), None)
        return twin[1] if twin and path.startswith(("paddle.tensor", "paddle.nn.functional")) else None
    return row[1]


def here(path):
    """Our module of a name, if there is a file of it."""
    try:
        module = importlib.import_module("paddle_jax" + path.removeprefix("paddle"))
    except ModuleNotFoundError:
        return None
    return module if getattr(module, "__file__", None) else None


def exported(facts):
    """The names that Paddle says are for users: {module.name}."""
    return {f"{path}.{name}" for path, module in facts.items() for name in module["all"] or ()}


def chosen(paths, modules, public, called):
    """The path under which we have an object, or would have it: (module, name); `called` is the
    object's own name."""
    ours = [(m, n) for m, n in paths if modules[m] is not None and n in vars(modules[m])]
    known = [(m, n) for m, n in ours or paths if f"{m}.{n}" in public]
    if not (ours or known):
        return None
    return min(
        known or ours,
        key=lambda p: (
            f"{p[0]}.{p[1]}" not in public,
            p[0].count("."),
            len(p[0]),
            p[1] != called,
            p[1].startswith("_"),
            p,
        ),
    )


def homes(facts, paths):
    """{key of an object: (module, name) where Paddle says it is defined}; of a function moved into C++, its
    file of tensor functions."""
    found = {}
    for key, known in paths.items():
        rows = [(path, name, facts[path]["names"][name]) for path, name in known]
        own = [(path, name) for path, name, row in rows if row[2:] == [path, name] and path != PATCHED]
        files = [(path, name) for path, name, row in rows if row[2] == KERNELS and path.count(".") > 1]
        files = [place for prefix in FILES for place in files if place[0].startswith("paddle." + prefix)]
        if rows[0][2][0] != "dtype" and (own or files):
            found[key] = (own or files)[0]
    return found


def lines(facts):
    paths, public, behind = objects(facts), exported(facts), hidden(facts)
    modules, home = {path: here(path) for path in facts}, homes(facts, paths)
    called = {
        key: home[key][1] if key in home else facts[found[0][0]]["names"][found[0][1]][3]
        for key, found in paths.items()
    }
    targets = {key: chosen(found, modules, public, called[key]) for key, found in paths.items()}
    keep_one_home(home, targets, modules, public)
    for path, module in facts.items():
        groups = groups_of(facts, path, home, targets)
        if groups:
            marks = "!" * (path in behind) + "~" * all(
                row[0] == "module" or row[2] != path for row in module["names"].values()
            )
            words = (f"{where}: {' '.join(names)}" for where, names in sorted(groups.items()))
            yield "\t".join([f"{short(path)} {marks}".rstrip(), *words])


def keep_one_home(home, targets, modules, public):
    """Where several objects of Paddle are one here: it says that it is one of them."""
    twice = collections.defaultdict(list)
    for key in home:
        if (value := ours(modules, targets[key])) is not None:
            twice[id(value)].append(key)
    for same in twice.values():
        same.sort(
            key=lambda k: (
                home[k][1] != ours(modules, targets[k]).__name__,
                f"{targets[k][0]}.{targets[k][1]}" not in public,
                home[k],
            )
        )
        for key in same[1:]:
            del home[key]


def groups_of(facts, path, home, targets):
    """{module of ours: words} of what Paddle has in a module."""
    module = facts[path]
    groups, users = collections.defaultdict(list), set(module["all"] or ())
    for name, row in module["names"].items():
        if row[0] == "module":
            if row[1] != f"{path}.{name}" and row[1] in facts:
                groups["modules"].append(f"{name}>{short(row[1])}")
        elif (target := targets.get(key := key_of(facts, path, name, row))) is not None:
            own, mark = home.get(key) == (path, name), "+" * (name in users)
            if own or mark or target != (path, name):
                other = "" if target[1] == name else ">" + target[1]
                groups["*" * own + short(target[0])].append(mark + name + other)
    return groups


def ours(modules, place):
    """Our class or function at (module, name), if there is one."""
    value = vars(modules[place[0]]).get(place[1]) if place and modules[place[0]] else None
    return value if isinstance(value, type | types.FunctionType) else None


def short(path):
    """A module without the package; a dot stands for the package itself."""
    return path.removeprefix("paddle").lstrip(".") or "."


def hidden(facts):
    """Modules whose name in their package is that of a function or class."""
    found = set()
    for path in facts:
        package, _, name = path.rpartition(".")
        if package in facts and facts[package]["names"].get(name, ["module"])[0] != "module":
            found.add(path)
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--oracle", action="store_true", help="ask the real Paddle again")
    parser.add_argument("--ask", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask:
        sys.argv[1:] = []
        options.ask.write_bytes(gzip.compress(json.dumps(asked(), separators=(",", ":")).encode(), mtime=0))
        return
    if options.oracle:
        subprocess.run(
            [sys.executable, __file__, "--ask", str(FACTS)], check=True, capture_output=True, timeout=600
        )
    facts = json.loads(gzip.decompress(FACTS.read_bytes()))
    sys.path.insert(0, str(ROOT))
    text = "\n".join(sorted(lines(facts))) + "\n"
    TABLE.write_text(text)
    print(f"{TABLE.name}: {text.count(chr(10))} modules, {len(text)} characters")


if __name__ == "__main__":
    main()
