"""Writes docs/derivatives.md: the rows of tests/autograd/derivatives at order 1 to 4, in forward mode and
mixed, beside what the real Paddle reaches.

    python tools/derivative_table.py             runs all rows and writes the page
    python tools/derivative_table.py NAME        only prints the rows that contain the name
    python tools/derivative_table.py --oracle    asks the real Paddle first, each row in a child process,
                                                 since some of its gradients end it

What the real Paddle reached is kept in tests/autograd/derivatives/oracle.json by the text of the row.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import signal
import sys
import time
import warnings

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("GLOG_minloglevel", "3")
os.environ.setdefault("FLAGS_compile_cache", "off")
# As the tests do: most of the time goes into compiling, and nothing here runs long.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
)
HOME = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HOME))

import numpy as np  # noqa: E402

from tests.autograd.derivatives import engine  # noqa: E402
from tests.autograd.derivatives.table import REASONS, ROWS  # noqa: E402

KEPT = HOME / "tests/autograd/derivatives/oracle.json"
PAGE = HOME / "docs/derivatives.md"
ORDERS = 4
LIMIT = 60  # seconds for a row of the real Paddle


# the real Paddle --------------------------------------------------------------------------------------------


class Theirs(engine.Problem):
    """A row on the real Paddle."""

    def leaves(self, t):
        made = [
            self.p.to_tensor(np.asarray(b + t * d)) for b, d in zip(self.base, self.direction, strict=True)
        ]
        for leaf in made:
            leaf.stop_gradient = False
        return made

    def at(self, t, order):
        """phi_order at x + t v; only the gradients that are differentiated again are recorded."""
        leaves = self.leaves(t)
        outs, weights = self.outs(leaves), self.covectors
        for k in range(1, order + 1):
            kept = [(o, w) for o, w in zip(outs, weights, strict=True) if not o.stop_gradient and o.size]
            if not kept:
                return 0.0
            weights = [self.p.to_tensor(w) for _, w in kept]
            grads = self.p.grad(
                [o for o, _ in kept], leaves, grad_outputs=weights, create_graph=k < order, allow_unused=True
            )
            live = [(g, d) for g, d in zip(grads, self.direction, strict=True) if g is not None]
            outs, weights = [g for g, _ in live], [d for _, d in live]
        return float(sum((o.numpy() * w).sum() for o, w in zip(outs, weights, strict=True)))


def reached(paddle, row, report):
    """Reports for order 0, 1, 2...: that it begins, then 'right', 'wrong' or the exception; stops where
    it is not right."""
    report("begins 0")
    problem = Theirs(paddle, row)
    problem.start()
    table = [[problem.at(t * row.step, 0) for t in engine.POINTS]]
    for order in range(1, ORDERS + 1):
        report(f"begins {order}")
        table.append([problem.at(t * row.step, order) for t in engine.POINTS])
        # some of its float64 kernels compute in float32
        wrong = engine.judged(dataclasses.replace(row, rtol=1e-4), np.array(table).T)
        if str(order) in wrong:
            return report(f"ends {order} wrong")
        report(f"ends {order} right")


def asked(paddle, row):
    """The verdict on a row: {"order": highest right order, "then": what happens at the next: "", "wrong",
    "crash", "time" or the exception}."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        os.close(out)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.alarm(LIMIT)
        try:
            reached(paddle, row, lambda text: os.write(into, (text + "\n").encode()))
        except Exception as error:
            os.write(into, f"raises {type(error).__name__}\n".encode())
        os._exit(0)
    os.close(into)
    with os.fdopen(out) as pipe:
        lines = pipe.read().splitlines()
    status = os.waitpid(child, 0)[1]
    right = sum(line.endswith("right") for line in lines)
    last = lines[-1] if lines else ""
    if os.WIFSIGNALED(status):
        then = "time" if os.WTERMSIG(status) == signal.SIGALRM else "crash"
    else:
        then = last.split()[1] if last.startswith("raises") else "wrong" if last.endswith("wrong") else ""
    return {"order": right, "then": then, "value": "begins 1" in lines}


def ask_all(rows):
    """Asks the real Paddle about rows and keeps the answers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import paddle
    paddle.set_device("cpu")
    paddle.disable_signal_handler()
    known = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    known |= {row.key: asked(paddle, row) for row in rows}
    keys = {row.key for row in ROWS}
    lines = [f"{json.dumps(key)}: {json.dumps(known[key])}" for key in sorted(known) if key in keys]
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n")


# ours and the page ------------------------------------------------------------------------------------------


def told(verdict):
    """The verdict on the real Paddle in words."""
    if verdict is None:
        return "not asked"
    order, then = verdict["order"], verdict["then"]
    if not verdict["value"]:
        return "no value: " + (then or "crash")
    ends = {
        "": "",
        "wrong": f", wrong at {order + 1}",
        "crash": f", crash at {order + 1}",
        "time": f", hangs at {order + 1}",
    }
    return f"{order or 'none'}" + ends.get(then, f", {then} at {order + 1}")


def cells(row, wrong):
    """What the page says about a row of ours: order 1..4, forward, mixed."""
    said = [
        "**" + wrong[str(k)].split(",")[0] + "**" if str(k) in wrong else "yes"
        for k in range(1, row.most + 1)
    ]
    orders = said + ["not run"] * (ORDERS - row.most)
    modes = ["eager" if row.eager else "**no**" if name in wrong else "yes" for name in ("forward", "mixed")]
    return [*orders, *modes]


def page(results, known):
    """The text of docs/derivatives.md."""
    ops = {row.op for row in ROWS}
    right, theirs = [], []
    for k in range(1, ORDERS + 1):
        run = [(row, wrong) for row, wrong in results if row.most >= k]
        right.append(
            f"{sum(not any(str(j) in wrong for j in range(k + 1)) for _, wrong in run)} of {len(run)}"
        )
        theirs.append(
            f"{sum(known.get(row.key, {'order': 0})['order'] >= k for row, _ in run)} of {len(run)}"
        )
    traced = [(row, wrong) for row, wrong in results if not row.eager]
    modes = [
        f"{sum(name not in wrong for _, wrong in traced)} of {len(traced)}" for name in ("forward", "mixed")
    ]
    lines = [
        INTRO.format(rows=len(ROWS), ops=len(ops), traced=len(traced)),
        "| | order 1 | 2 | 3 | 4 | forward | mixed |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        f"| paddle_jax | {' | '.join(right + modes)} |",
        f"| Paddle 3.3.1 | {' | '.join(theirs)} | | |",
        "",
        NOTES,
        "## The rows",
        "",
        "| op | expression | 1 | 2 | 3 | 4 | forward | mixed | Paddle 3.3.1 |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row, wrong in sorted(results, key=lambda pair: (pair[0].op.rsplit(".", 1)[-1], pair[0].text)):
        text = row.text.replace("|", "\\|")
        note = f" ({row.note})" if row.note else ""
        lines.append(
            f"| {row.op} | `{text}`{note} | {' | '.join(cells(row, wrong))} | {told(known.get(row.key))} |"
        )
    lines += ["", "## Ops without a row", "", "| op | why |", "| --- | --- |"]
    lines += [f"| {', '.join(sorted(names.split()))} | {why} |" for why, names in REASONS.items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "words",
        nargs="*",
        help="only rows that contain one of these; nothing is written but what the real Paddle says",
    )
    parser.add_argument("--oracle", action="store_true", help="ask the real Paddle again")
    parser.add_argument(
        "--keep", type=pathlib.Path, help="a file of results; a run that was interrupted goes on from it"
    )
    options = parser.parse_args()
    rows = [row for row in ROWS if not options.words or any(word in row.key for word in options.words)]
    if options.oracle:
        ask_all(rows)
    known = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    import paddle_jax

    done, began = kept(options.keep), time.process_time()
    for row in rows:
        if row.key not in done:
            done[row.key] = engine.problems(paddle_jax, row, row.most)
            keep(options.keep, row.key, done[row.key])
        if done[row.key] or options.words:
            print(row.key, done[row.key] or "right", "| Paddle:", told(known.get(row.key)), flush=True)
    results = [(row, done[row.key]) for row in rows]
    if not options.words:
        PAGE.write_text(page(results, known))
    print(
        f"{len(rows)} rows, {sum(bool(w) for _, w in results)} with problems, "
        f"{time.process_time() - began:.0f} s of CPU time"
    )


def kept(path):
    """The results that an interrupted run left in a file."""
    return dict(json.loads(line) for line in path.read_text().splitlines()) if path and path.exists() else {}


def keep(path, key, wrong):
    """Adds a result to the file."""
    if path:
        with path.open("a") as file:
            file.write(json.dumps([key, wrong]) + "\n")


INTRO = """# Derivatives

Every differentiable op, at order 1 to 4, in forward mode and mixed. Beside it is the highest order that the
real Paddle 3.3.1 reaches with the same expression on a CPU.

    python tools/derivative_table.py            runs all rows and writes this page (ten minutes on one core)
    python tools/derivative_table.py --oracle   asks the real Paddle again first (half a minute)

The page has {rows} expressions of {ops} ops, in float64. x is a point, v a direction and w covectors, all
random. The function is phi(t) = <w, f(x + t v)>.

- *Orders*: the derivative of order k comes from `paddle.grad(..., create_graph=True)` nested k times and
  contracted with v each time. It must be the difference quotient over seven points of the derivative before.
- *Forward*: `jax.jvp` nested 1 to 4 times over the same Paddle code, inside a trace, gives the same numbers.
- *Mixed*: `jax.jvp` over the reverse-mode derivatives of order 1 and 2 does.

A complex number counts as its real and imaginary part. {traced} of the rows run inside one JAX trace. The
rest needs values on the host. *Not run*: the same op has another row that is run at order 4. These are
decompositions of complex and of wide matrices, whose programs take long to compile.

The numbers of expressions that are right up to each order:
"""
NOTES = """The column of the real Paddle has the highest order that is right, and the result of the next one:

- *RuntimeError* and the like: it says that there is no such gradient.
- *Wrong*: it gives other numbers, or 0, without a message.
- *No value*: its CPU build has no such kernel for float64.

The tolerance is 1e-4 for its rows, since some of its float64 kernels compute in float32. Ours is 1e-6.

`pytest tests/autograd/derivatives` runs the same rows. Some rows take seconds to compile at order 4 (`THREE`
and `TWO` in `tests/autograd/derivatives/table.py`). For these it stops at order 3 or 2.

Inputs keep away from kinks. `tests/autograd/test_delicate_points.py` tests the kinks: |x| at 0, ties, clip
bounds, NaN in the branch not taken and others. The first order is the real Paddle's there, the orders beyond
are those of the mathematics.

These cases have no derivative:

- Eigenvectors of equal eigenvalues and singular vectors of equal singular values: any rotation of them is as
  good. Their gradient is NaN or infinite (`eigh`, `eig`, `svd`). Eigenvalues and singular values alone
  (`eigvalsh`, `svdvals`) have a first derivative there, as Paddle gives it, and no second one.
- Eigenvectors and singular vectors are determined up to a sign, complex ones up to a phase. Derivatives are
  those of the choice whose change is orthogonal to the vector (`eig`: of unit length). With
  full_matrices=True the surplus vectors of `svd` span a space in which any rotation is as good; those turn as
  little as possible.
- Where a matrix changes its rank `pinv`, `lstsq` and singular vectors jump.
- Labels are constants, as in Paddle: no gradient flows to the label of `cross_entropy`,
  `binary_cross_entropy`, `kl_div` or `log_loss`.
"""

if __name__ == "__main__":
    main()
