"""Random programs with the body of their loop as a compiled function: `python -m tests.jit.explore 0 200`.

The programs are those of the deferred tier's fuzzer. The body becomes a function of the variables it assigns;
it returns what it looked at and the new variables. Where it cannot be compiled it runs eagerly, so the
comparison holds for every program.
"""

import argparse
import ast
import dataclasses
import sys
import textwrap
import time
import warnings

import paddle_jax
from tests.deferred import differential
from tests.deferred.programs import generate

# in bodies that are left out: the state of the host
HOST = ("repr(", "np.random", "gc.", "threading", "weakref")


def assigned(tree):
    """Names that statements assign (not those inside functions)."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in found:
            found.append(node.id)
        if isinstance(node, ast.FunctionDef) and node.name not in found:
            found.append(node.name)
    return found


@dataclasses.dataclass
class Rewritten:
    """A program whose loop body is a function; it has what `differential.run` needs."""

    program: object
    compiled: bool
    mixed: bool = False
    tainted: bool = False
    seed: int = 0

    def text(self, noise=False):
        p = self.program
        body = "\n".join(u.text for u in p.body) or "pass"
        names = assigned(ast.parse(body))
        own = ast.parse(body)
        for node in ast.walk(own):  # what was seen is returned
            if isinstance(node, ast.Name) and node.id == "see":
                node.id = "look"
        lines = [
            "def body(k, given):",
            "    seen = []",
            "    look = lambda tag, *values: seen.extend((tag, v) for v in values)",
        ]
        lines += [f"    if {n!r} in given: {n} = given[{n!r}]" for n in names]
        lines += [textwrap.indent(ast.unparse(own), "    ")]
        lines += ["    new, here = {}, locals()"]
        lines += [f"    if {n!r} in here: new[{n!r}] = here[{n!r}]" for n in names]
        lines += ["    return seen, new"]
        wrap = "body = paddle.jit.to_static(body)" if self.compiled else ""
        loop = [
            f"for k in range({p.repeats}):",
            (
                f"    given = {{n: globals()[n] for n in {names!r} if n in globals() and not "
                "callable(globals()[n])}"
            ),
            f"    found, new = body(k if {'k' in body.split()!r} else 0, given)",
            "    globals().update(new)",
            "    for tag, v in found: see(tag, v)",
        ]
        parts = [
            f"paddle.seed({p.seed})",
            *[u.text for u in p.setup],
            *lines,
            wrap,
            *loop,
            *[u.text for u in p.last],
        ]
        return "\n".join(parts) + "\n"


def differs(program):
    """The difference between the body run as it is and compiled, as text; None if there is none."""
    plain, compiled = (
        Rewritten(program, way, program.mixed, program.tainted, program.seed) for way in (False, True)
    )
    with differential.flags(paddle_jax, deferred="off"):
        want = differential.run(plain, paddle_jax)
    got = differential.run(compiled, paddle_jax)
    found = differential.disagreement(got, want, differential.OWN, mixed=program.mixed)
    return found and found[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    began, bad, eager, left = time.monotonic(), [], 0, 0
    for seed in range(options.first, options.end):
        program = generate(seed, short=True, randomness=False)
        if any(word in unit.text for unit in program.body for word in HOST):
            left += 1
            continue
        paddle_jax.explain(reset=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = differs(program)
        fell = [e for e in paddle_jax.explain().events if "runs op by op" in e]
        eager += bool(fell)
        if options.verbose and fell:
            print(seed, fell[0][:300])
        if found:
            bad.append(seed)
            print(f"=== seed {seed}: {found}\n{Rewritten(program, True).text()}", flush=True)
    count = options.end - options.first - left
    print(
        f"{count} programs, {eager} of them run eagerly, {len(bad)} differ: "
        f"{bad}, {time.monotonic() - began:.0f} s"
    )
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
