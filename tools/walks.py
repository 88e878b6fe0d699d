"""Counts the Python calls of the package that common lines of Paddle code make.

    python tools/walks.py           a table: calls, source files, returns
    python tools/walks.py item      the calls of one walk, indented, as a debugger would meet them

Each walk is a line that a newcomer may follow in a debugger. It is warmed up first, so that what is counted
is what every later run does. `sys.setprofile` counts calls of Python functions of this package; calls of C
functions and of libraries are left out.
"""

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = str(ROOT / "paddle_jax")
sys.path.insert(0, str(ROOT))
WARM = 40  # repeated steps are compiled by then


class Walk:
    """The calls of one run.

    Attributes:
        calls: (depth, file, function) of each call, in order.
        files: how many calls went into each source file.
    """

    def __init__(self):
        self.calls = []
        self.files = Counter()
        self._depth = 0

    def __call__(self, frame, event, argument):
        code = frame.f_code
        module = frame.f_globals.get("__name__") or ""
        if module != "paddle_jax" and not module.startswith("paddle_jax."):
            return
        if event == "call":
            file = code.co_filename.removeprefix(PACKAGE + "/")  # "<string>": made from a declaration
            self.calls.append((self._depth, file, code.co_name))
            self.files[file] += 1
            self._depth += 1
        elif event == "return":
            self._depth -= 1

    def run(self, function):
        """Counts the calls of one run of a function without arguments."""
        sys.setprofile(self)
        try:
            function()
        finally:
            sys.setprofile(None)
        return self


def walks():
    """{name: function} of the walks; each is called WARM times before it is counted."""
    import paddle_jax as paddle

    paddle.seed(0)
    x = paddle.rand([8, 3])
    net = paddle.nn.Linear(3, 2)
    adam = paddle.optimizer.Adam(0.01, parameters=net.parameters())
    compiled = paddle.jit.to_static(lambda x: (paddle.tanh(x) * 2).sum())
    losses = {}

    def step():
        losses["loss"] = net(x).sum()
        losses["loss"].backward()
        adam.step()
        adam.clear_grad()

    def before_backward():
        losses["loss"] = net(x).sum()

    def before_step():
        net(x).sum().backward()

    def nothing():
        pass

    return {
        "tanh": (nothing, lambda: paddle.tanh(x)),
        "backward": (before_backward, lambda: losses["loss"].backward()),
        "step": (before_step, adam.step),
        "item": (step, lambda: float(losses["loss"])),
        "to_static": (nothing, lambda: compiled(x)),
    }


def measured(prepare, function):
    """The Walk of a function after WARM rounds of preparing and running it."""
    for _ in range(WARM):
        prepare()
        function()
    prepare()
    return Walk().run(function)


def main(names):
    found = {name: measured(*walk) for name, walk in walks().items() if not names or name in names}
    if names:
        for walk in found.values():
            for depth, file, function in walk.calls:
                print(f"{'  ' * depth}{function}  {file}")
    print(f"{'walk':12}{'calls':>7}{'files':>7}")
    for name, walk in found.items():
        print(f"{name:12}{len(walk.calls):7}{len(walk.files):7}")


if __name__ == "__main__":
    main(sys.argv[1:])
