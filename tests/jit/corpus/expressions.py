"""Expressions of `expression_tables.py` and `decomposed_tables.py`: one program for each kind of inputs.

The message of a failure begins with the expression.
"""

import functools
import linecache

import numpy as np

from tests.jit.corpus.decomposed_tables import DECOMPOSED, GCD
from tests.jit.corpus.expression_tables import BOTH, LAYERS, MORE, READ, VALUES, WRITE
from tests.jit.corpus.outcome import flat
from tests.jit.corpus.program import Program, add

_DTYPES = {"f": "float32", "i": "int64", "b": "bool", "c": "complex64"}
# lengths of the open axes of an input in two calls, by the position of the axis
_LENGTHS = ([2, 4, 6, 8], [5, 3, 7, 9])


def split(text):
    """The expressions of a table's cell, sorted as Paddle sorts the keys of a dict."""
    return sorted({" ".join(part.split()) for part in text.split(";;") if part.strip()})


def shapes(text):
    """(letter of the dtype, shape) of each input of a description such as `f(-1,3) i(-1,1)`."""
    return [(one[0], list(eval(one[1:]))) for one in text.split()]  # noqa: S307


def specs(P, text):
    """InputSpecs of a description."""
    named = zip(shapes(text), "xyz", strict=False)
    return [P.static.InputSpec(shape, _DTYPES[letter], name) for (letter, shape), name in named]


def arrays(text, lengths):
    """Random inputs, with `lengths` for the open axes by position."""
    rng = np.random.RandomState(0)
    made = []
    for letter, shape in shapes(text):
        size = [lengths[axis] if length == -1 else length for axis, length in enumerate(shape)]
        real = rng.randn(*size)
        if letter == "i":
            made.append(rng.randint(0, 4, size))
        elif letter == "b":
            made.append(real > 0)
        elif letter == "c":
            made.append((real + 1j * rng.randn(*size)).astype("complex64"))
        else:
            made.append(real.astype("float32"))
    return made


def calls(text, lengths=_LENGTHS):
    """The inputs of the calls of a program."""
    if "-1" not in text:
        lengths = lengths[:1]
    return [arrays(text, one) for one in lengths]


def tensors_in(value):
    """The Tensors, or Variables, of a result."""
    return [one for one in flat(value) if hasattr(one, "numpy")]


def function_of(texts, name, parameters="x, y=None, z=None, w=None"):
    """A function of the engine and the parameters that gives {expression: Tensors}; its source is known.

    Args:
        texts: {expression: its code}.
    """
    lines = [f"        {text!r}: tensors_in({code})," for text, code in texts.items()]
    code = [
        f"def expressions(P, {parameters}):",
        "    paddle, F, V = P, P.nn.functional, P.vision.ops",
        "    return {",
        *lines,
        "    }",
    ]
    file = f"<{name}>"
    source = [f"{line}\n" for line in code]
    linecache.cache[file] = sum(map(len, source)), None, source, file
    scope = {"np": np, "tensors_in": tensors_in, "__name__": __name__}
    exec(compile("".join(source), file, "exec"), scope)  # noqa: S102
    return scope["expressions"]


def body(P, texts, name="expressions"):
    """A Layer that gives what all expressions give, by their texts."""
    function = function_of({text: text for text in texts}, name)

    class Body(P.nn.Layer):
        def forward(self, x, y=None, z=None, w=None):
            return function(P, x, y, z, w)

    return Body()


def stack(P, inputs):
    """All layers for one kind of input as one Layer in evaluation mode, which gives their results."""
    texts = split(LAYERS[inputs])

    class Stack(P.nn.Layer):
        def __init__(self):
            super().__init__()
            self.parts = P.nn.LayerList([eval(text, {"nn": P.nn}) for text in texts])  # noqa: S307

        def forward(self, x):
            results = {}
            for text, part in zip(texts, self.parts):  # noqa: B905  Paddle converts no `strict`
                out = part(x)
                results[text] = out[0] if isinstance(out, tuple) else out
            return results

    made = Stack()
    made.eval()
    return made


def add_table(kind, table, lengths=_LENGTHS, **special):
    """Adds a program for each cell of a table."""
    for inputs, text in table.items():
        name = f"expressions.{kind} {inputs}"
        build = functools.partial(body, texts=split(text), name=name)
        add_program(name, build, inputs, lengths, special)


def add_program(name, build, inputs, lengths, special):
    """Adds a program of random inputs. tests/ops compares gradients."""
    open_shapes = [[None if n == -1 else n for n in shape] for _, shape in shapes(inputs)]
    add(
        Program(
            name,
            build,
            calls(inputs, lengths),
            gradients=False,
            shapes=open_shapes,
            precision=(1e-4, 5e-5),
            **special,
        )
    )


_TWICE = {"to_static": "full_graph compiles the same"}
_FROM_PADDLE = ("loaded_from_paddle",)
_ONE_WAY = _TWICE | {
    "loaded": "has no form of Paddle's for some",
    "loaded_by_paddle": "has no form of Paddle's for some",
}
# `xla_cpu_use_fusion_emitters=false`, see `quick_options`; test_flags_of_users.py compiles without it.
_NOT_COMPILED = _TWICE | {"full_graph": "XLA computes wrong values with the flags of the tests"}
_LINEAR_ALGEBRA = ("f(3,3)", "f(4,4)")
_NO_CALL = {"eager": "see GCD", "full_graph": "see GCD"}
# The real Paddle saves `x + 1` as `x`, and no `log_target` of `kl_div`.
_DIFFER = ("f(-1,3)", "f(-1,3) f(-1,3)")


def rows(table, chosen, others=False):
    """The rows of a table for the chosen inputs, or those for the others."""
    return {inputs: text for inputs, text in table.items() if (inputs in chosen) is not others}


_USUAL = rows(BOTH, _DIFFER + _LINEAR_ALGEBRA, others=True)
add_table("both", _USUAL, without=_TWICE, more=_FROM_PADDLE)
add_table("both", rows(BOTH, _DIFFER), without=_TWICE, more=_FROM_PADDLE, files_differ=True)
add_table("both", rows(BOTH, _LINEAR_ALGEBRA), without=_NOT_COMPILED, more=_FROM_PADDLE)
add_table("read", READ, without=_ONE_WAY, more=_FROM_PADDLE)
# the lengths of some expressions are numbers
add_table("more", MORE, [[2, 5, 7, 9]], without=_ONE_WAY | _NOT_COMPILED, more=_FROM_PADDLE)
add_table("written", WRITE, without=_TWICE)
add_table("decomposed", rows(DECOMPOSED, _LINEAR_ALGEBRA, others=True), without=_TWICE)
add_table("decomposed", rows(DECOMPOSED, _LINEAR_ALGEBRA), without=_NOT_COMPILED)
add_table("gcd", {"f(-1,3,4)": GCD}, without=_TWICE | _NO_CALL)
add_table("values", {"f(-1,3,4)": VALUES}, op_by_op="op by op", more=_FROM_PADDLE)
_BUFFERS = _TWICE | {
    "eager": "the real Paddle has the weights of an LSTM in a buffer, too",
    "full_graph": "the real Paddle has the weights of an LSTM in a buffer, too",
}
for _inputs in LAYERS:
    _build = functools.partial(stack, inputs=_inputs)
    _without = _BUFFERS if _inputs == "f(-1,-1,8)" else _TWICE
    _special = {"without": _without, "more": _FROM_PADDLE, "random_weights": True}
    add_program(f"expressions.layers {_inputs}", _build, _inputs, _LENGTHS, _special)
