"""Random expressions of lengths as texts of Python."""

import random


class Numbers:
    """Makes expressions. `wholes`, `fractions` and `answers` are the names that a program has so far.

    Attributes:
        rng: random.Random.
        axes: list of texts of the lengths of the tensor `x`.
    """

    def __init__(self, rng: random.Random, axes: list):
        self.rng = rng
        self.axes = axes
        self.wholes = []
        self.fractions = []
        self.answers = []

    def pick(self, *texts):
        """One of several texts."""
        return self.rng.choice(texts)

    def small(self):
        """A small constant above zero."""
        return str(self.rng.choice((1, 2, 2, 3, 3, 4, 5, 7, 8, 16)))

    # whole numbers ------------------------------------------------------------------------------------------

    def leaf(self):
        """A length, a name, or rarely a constant."""
        kinds = [*self.axes, *self.axes, *self.wholes, *self.wholes, self.small()]
        return self.rng.choice(kinds)

    def whole(self, depth=2):
        """A whole number."""
        if depth <= 0 or self.rng.random() < 0.15:
            return self.leaf()
        return self.rng.choice(_WHOLES)(self, depth - 1)

    def above_zero(self, depth=1):
        """A whole number above zero."""
        inner = self.whole(depth)
        return self.pick(
            f"max({inner}, 1)",
            f"({inner} % {self.small()} + 1)",
            f"(abs({inner}) + 1)",
            f"max(1, {inner})",
            self.small(),
        )

    def size(self, least=0, depth=1):
        """A whole number from `least` to about 20, or a length."""
        inner = self.whole(depth)
        if self.rng.random() < 0.3:
            axis = self.rng.choice(self.axes)
            return self.pick(
                f"max({axis}, {least})",
                f"max({axis} // 2, {least})",
                f"({axis} + {least})",
                f"(({axis} + 1) // 2 + {least})",
                f"max({axis} - 1, {least})",
            )
        return self.pick(
            f"min(max({inner}, {least}), 12)",
            f"({inner} % {self.rng.randint(2, 9)} + {least})",
            f"max({least}, min({inner}, {self.rng.choice(self.axes)}))",
        )

    def bound(self, length):
        """A bound of a slice of an axis of that length; also negative ones and ones beyond the end."""
        inner = self.whole(1)
        return self.pick(
            self.small(),
            "-" + self.small(),
            f"{length} // {self.small()}",
            f"{length} - 1",
            f"-({length} // 2)",
            inner,
            f"-({inner} % 5)",
            f"({inner} % 6)",
            f"max({inner}, 1)",
            f"{length} - {self.small()}",
            "0",
            "None",
        )

    def index(self, length):
        """An index that an axis of that length has; the length is above zero."""
        inner = self.whole(1)
        return self.pick(
            "0",
            "-1",
            f"({inner}) % {length}",
            f"{length} // 2",
            f"{length} - 1",
            f"min({inner} % 7, {length} - 1)",
            f"-({inner} % {length} + 1)",
        )

    # fractions ----------------------------------------------------------------------------------------------

    def fraction(self, depth=2):
        """A float of moderate size."""
        if depth <= 0 or self.rng.random() < 0.1:
            kinds = [*self.fractions, str(round(self.rng.uniform(0.1, 4), 2)), f"{self.leaf()} / 4"]
            return self.rng.choice(kinds)
        return self.rng.choice(_FRACTIONS)(self, depth - 1)

    def number(self, depth=2):
        """A whole number or a float, small enough to be added to a tensor."""
        if self.rng.random() < 0.5:
            return f"({self.whole(depth)} % {self.rng.randint(3, 40)})"
        return self.fraction(depth)

    # answers ------------------------------------------------------------------------------------------------

    def answer(self, depth=2):
        """A truth value."""
        if depth <= 0 and self.answers and self.rng.random() < 0.3:
            return self.rng.choice(self.answers)
        if depth <= 0 or self.rng.random() < 0.4:
            return self.rng.choice(_QUESTIONS)(self)
        return self.rng.choice(_ANSWERS)(self, depth - 1)


_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")

_WHOLES = (
    lambda n, d: f"({n.whole(d)} + {n.whole(d)})",
    lambda n, d: f"({n.whole(d)} - {n.whole(d)})",
    lambda n, d: f"({n.leaf()} * {n.whole(d)})",
    lambda n, d: f"({n.small()} * {n.whole(d)})",
    lambda n, d: f"({n.whole(d)} // {n.small()})",
    lambda n, d: f"({n.whole(d)} // {n.above_zero(d)})",
    lambda n, d: f"({n.whole(d)} // -{n.small()})",
    lambda n, d: f"({n.whole(d)} % {n.small()})",
    lambda n, d: f"({n.whole(d)} % {n.above_zero(d)})",
    lambda n, d: f"({n.whole(d)} % -{n.small()})",
    lambda n, d: f"(-{n.whole(d)})",
    lambda n, d: f"(-({n.whole(d)}) // {n.small()})",
    lambda n, d: f"abs({n.whole(d)})",
    lambda n, d: f"min({n.whole(d)}, {n.whole(d)})",
    lambda n, d: f"max({n.whole(d)}, {n.whole(d)})",
    lambda n, d: f"max([{n.whole(d)}, {n.small()}, {n.leaf()}])",
    lambda n, d: f"({n.leaf()} ** 2)",
    lambda n, d: f"2 ** ({n.whole(d)} % 5)",
    lambda n, d: f"pow({n.leaf()} % 6, 2)",
    lambda n, d: f"divmod({n.whole(d)}, {n.small()})[{n.pick('0', '1')}]",
    lambda n, d: f"int({n.fraction(d)})",
    lambda n, d: f"round({n.fraction(d)})",
    lambda n, d: f"int({n.whole(d)} / {n.small()})",
    lambda n, d: f"int({n.answer(d)})",
    lambda n, d: f"({n.answer(d)}) * {n.small()}",
    lambda n, d: f"math.ceil({n.whole(d)} / {n.small()})",
    lambda n, d: f"math.floor({n.fraction(d)})",
    lambda n, d: f"math.trunc({n.fraction(d)})",
    lambda n, d: f"int(np.ceil({n.whole(d)} / {n.small()}))",
    lambda n, d: f"int(np.floor({n.fraction(d)}))",
    lambda n, d: f"({n.whole(d)} if {n.answer(d)} else {n.whole(d)})",
    lambda n, d: f"sum([{n.whole(d)}, {n.leaf()}])",
    lambda n, d: f"sum({n.leaf()} // k for k in (1, 2, 3))",
    lambda n, d: f"math.prod([{n.leaf()}, {n.leaf()}])",
    lambda n, d: f"int(np.prod([{n.leaf()}, {n.small()}]))",
    lambda n, d: f"({n.whole(d)} >> 1)",
    lambda n, d: f"({n.whole(d)} << 1)",
    lambda n, d: f"({n.whole(d)} & {n.pick('1', '3', '7', '6')})",
    lambda n, d: f"({n.whole(d)} | {n.pick('1', '4')})",
    lambda n, d: f"({n.whole(d)} ^ {n.pick('1', '5')})",
    lambda n, d: f"(~{n.whole(d)})",
    lambda n, d: f"math.gcd({n.whole(d)}, {n.whole(d)})",
    lambda n, d: f"math.isqrt(abs({n.whole(d)}))",
    lambda n, d: f"[1, 4, 2][({n.whole(d)}) % 3]",
    lambda n, d: f"[{n.leaf()}, {n.leaf()}][({n.whole(d)}) % 2]",
    lambda n, d: f"({n.leaf()}, {n.small()}, 5)[-(({n.whole(d)}) % 3) - 1]",
    lambda n, d: f"sorted([{n.leaf()}, {n.leaf()}])[0]",
    lambda n, d: f"x.shape[({n.whole(d)}) % 3]",
    lambda n, d: f"len([{n.leaf()}, 2])",
    lambda n, d: f"(lambda a, b=2: a * b - 1)({n.whole(d)})",
    lambda n, d: f"int(P.shape(x)[{n.pick('0', '1', '2')}])",
    lambda n, d: f"int('3') * {n.whole(d)}",
    lambda n, d: "x.size // max(x.shape[0], 1)",
    lambda n, d: f"({n.whole(d)}).bit_length()",
)

_FRACTIONS = (
    lambda n, d: f"({n.whole(d)} / {n.small()})",
    lambda n, d: f"({n.leaf()} / {n.above_zero(d)})",
    lambda n, d: f"(abs({n.whole(d)}) ** 0.5)",
    lambda n, d: f"math.sqrt(abs({n.whole(d)}))",
    lambda n, d: f"math.log(abs({n.whole(d)}) + 1)",
    lambda n, d: f"math.log2({n.above_zero(d)})",
    lambda n, d: f"math.exp(-({n.leaf()} % 5))",
    lambda n, d: f"float(np.sqrt({n.leaf()}))",
    lambda n, d: f"np.log({n.leaf()} + 1.0)",
    lambda n, d: f"float({n.leaf()})",
    lambda n, d: f"({n.fraction(d)} + {n.fraction(d)})",
    lambda n, d: f"({n.fraction(d)} - {n.leaf()})",
    lambda n, d: f"({n.fraction(d)} * {n.pick('0.5', '0.25', '-1.5')})",
    lambda n, d: f"({n.fraction(d)} // {n.pick('2', '0.5')})",
    lambda n, d: f"({n.fraction(d)} % {n.pick('3', '1.5')})",
    lambda n, d: f"(-{n.fraction(d)})",
    lambda n, d: f"abs({n.fraction(d)})",
    lambda n, d: f"max({n.fraction(d)}, 1.0)",
    lambda n, d: f"min({n.fraction(d)}, {n.leaf()} * 0.5)",
    lambda n, d: f"round({n.fraction(d)}, 1)",
    lambda n, d: f"({n.fraction(d)} if {n.answer(d)} else {n.fraction(d)})",
    lambda n, d: f"(1.0 / ({n.leaf()} + 1))",
    lambda n, d: f"math.sin({n.leaf()})",
    lambda n, d: f"math.hypot({n.leaf()}, 3)",
    lambda n, d: f"math.pow({n.leaf()} + 1, -0.5)",
    lambda n, d: f"(math.pi * {n.leaf()} / 8)",
    lambda n, d: f"({n.leaf()} + 1) ** -1",
    lambda n, d: f"math.atan({n.leaf()} / 4)",
    lambda n, d: f"np.tanh({n.leaf()} / 4)",
    lambda n, d: f"math.fmod({n.leaf()}, 2.5)",
    lambda n, d: f"np.float32({n.leaf()}) * 0.5",
    lambda n, d: f"np.mean([{n.leaf()}, {n.leaf()}])",
    lambda n, d: f"float(f'{{{n.leaf()}:d}}.5')",
    lambda n, d: f"len(f'{{{n.leaf()}}}') * 1.5",
    lambda n, d: f"len(str({n.leaf()})) * 0.5",
)

_QUESTIONS = (
    lambda n: f"{n.whole(1)} {n.pick(*_COMPARISONS)} {n.whole(1)}",
    lambda n: f"{n.leaf()} {n.pick(*_COMPARISONS)} {n.leaf()}",
    lambda n: f"{n.leaf()} {n.pick(*_COMPARISONS)} {n.small()}",
    lambda n: f"{n.leaf()} % 2 == {n.pick('0', '1')}",
    lambda n: f"{n.fraction(1)} {n.pick('<', '>', '<=', '>=')} {n.fraction(1)}",
    lambda n: f"1 < {n.leaf()} <= {n.small()}",
    lambda n: f"bool({n.leaf()} % 3)",
    lambda n: f"{n.leaf()} in (1, 4, {n.leaf()})",
    lambda n: f"{n.leaf()} not in [2, 5]",
    lambda n: f"x.shape[1] == x.shape[2]",  # noqa: F541
    lambda n: "x.shape[1:] == [4, 4]",
    lambda n: "x.shape != [2, 8, 3]",
    lambda n: f"({n.leaf()}, {n.leaf()}) < (4, {n.small()})",
    lambda n: f"({n.leaf()} / 2).is_integer()",
    lambda n: f"isinstance({n.leaf()}, int)",
    lambda n: f"{n.leaf()} is None",
)

_ANSWERS = (
    lambda n, d: f"({n.answer(d)} and {n.answer(d)})",
    lambda n, d: f"({n.answer(d)} or {n.answer(d)})",
    lambda n, d: f"(not {n.answer(d)})",
    lambda n, d: f"any([{n.answer(d)}, {n.answer(d)}])",
    lambda n, d: f"all([{n.answer(d)}, {n.answer(d)}])",
    lambda n, d: f"all(s > 1 for s in x.shape)",  # noqa: F541
    lambda n, d: f"(({n.answer(d)}) == ({n.answer(d)}))",
    lambda n, d: f"(({n.answer(d)}) & ({n.answer(d)}))",
    lambda n, d: f"(({n.answer(d)}) ^ ({n.answer(d)}))",
    lambda n, d: f"({n.answer(d)} if {n.answer(d)} else {n.answer(d)})",
)
