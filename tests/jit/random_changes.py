"""Random functions that read random parts of a random state, and random changes of that state."""

import importlib.util
import random
import types


class Box:
    """A plain object."""


def state(rng, depth):
    """Containers and objects within each other, with numbers at the end."""
    if depth == 0 or rng.random() < 0.15:
        return round(rng.uniform(0.5, 1.5), 3)
    items = [state(rng, depth - 1) for _ in range(rng.randint(1, 3))]
    kind = rng.choice(("list", "tuple", "dict", "object", "namespace"))
    if kind in ("list", "tuple"):
        return items if kind == "list" else tuple(items)
    named = {f"k{i}": item for i, item in enumerate(items)}
    if kind == "dict":
        return named
    made = Box() if kind == "object" else types.SimpleNamespace()
    made.__dict__.update(named)
    return made


def children(thing):
    """(text that reads a part, the part, function that puts another one in its place or None)."""
    if isinstance(thing, dict):
        return [(f"[{k!r}]", v, lambda new, k=k: thing.__setitem__(k, new)) for k, v in thing.items()]
    if isinstance(thing, list):
        return [(f"[{i}]", v, lambda new, i=i: thing.__setitem__(i, new)) for i, v in enumerate(thing)]
    if isinstance(thing, tuple):
        return [(f"[{i}]", v, None) for i, v in enumerate(thing)]
    if isinstance(thing, float):
        return []
    return [(f".{k}", v, lambda new, k=k: setattr(thing, k, new)) for k, v in vars(thing).items()]


def leaves(root, text):
    """(text, number, setter) of all numbers that can be replaced by themselves."""
    work, found = [(text, root, None)], []
    while work:
        text, thing, put = work.pop()
        if isinstance(thing, float):
            found += [(text, put)] if put else []
        else:
            work += [(text + more, part, setter) for more, part, setter in children(thing)]
    return found


FORMS = (
    "    x = x * {0}",
    "    x = x + {0} if {0} > 1.0 else x - {0}",
    "    for i in range(2):\n        x = x * {0} + i",
    "    x = x * (lambda: {0})()",
    "    x = x * sum([v * {0} for v in (1.0, 0.5)])",
    "    x = helper{1}(x, {0})",
    "    try:\n        x = x * {0}\n    except AttributeError:\n        x = x * 2",
    "    if {0} > 1.0 and {2} > 1.0:\n        x = x * 1.25\n    else:\n        x = x * 0.75",
    "    if x.sum() > 1e9:\n        x = x * 0\n    else:\n        x = x * {0}",
    "    total = 0.0\n    while total < {0}:\n        total += 0.4\n    x = x * total",
    "    x = x * float(str({0}).strip())",
    "    x = x * max({0}, {2})",
    "    x = x + paddle.full([], {0})",
    "    x = x * next(v for v in ({0}, 1.0))",
    "    x = x * {{**{{'a': 1.0}}, **dict(a={0})}}['a']",
    "    x = x * [0.5, 1.5][int({0} > 1.0)]",
    "    x = x * (1.25 if isinstance({0}, float) and callable(helper{1}) else {0})",
    "    x = x * (s if (s := {0}) > 1.0 else {2})",
    "    x = x * {{'a': {0}}}.get('a', 1.0)",
    "    a, *b = [{0}, {2}, 1.0]\n    x = x * a * len(b)",
    '    x = x * float(f"{{{0}:.2f}}")',
)


def program(seed, folder):
    """(function, setters of what it may read) of a module written for a seed."""
    rng = random.Random(seed)
    kept, held = state(rng, rng.randint(2, 6)), state(rng, rng.randint(2, 6))
    places = leaves(kept, "GLOBAL") + leaves(held, "held")
    if not places:
        return None
    lines = ["import paddle_jax as paddle", "GLOBAL = None", ""]
    for i in range(3):
        text = rng.choice([p for p, _ in places if p.startswith("GLOBAL")] or ["1.0"])
        inner = f"helper{i + 1}(x, y)" if i < 2 else "x * y"
        lines += [f"def helper{i}(x, y):", f"    return {inner} + {text} * y", ""]
    lines += ["def make(held):", "  def run(x):"]
    for _ in range(rng.randint(1, 4)):
        one, two = rng.choice(places)[0], rng.choice(places)[0]
        lines += ["  " + line for line in rng.choice(FORMS).format(one, rng.randint(0, 2), two).split("\n")]
    lines += ["      return x", "  return run"]
    path = folder / f"random_{seed}.py"
    path.write_text("\n".join(lines) + "\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.GLOBAL = kept
    return module.make(held), [put for _, put in places], rng
