"""What a captured run is afterwards: a function of Tensors, and what else each call of it does."""


class Captured:
    """A function of Tensors after its run.

    fn: `(*arrays of inputs) -> tuple of arrays`: results, then new values of what it changes. jaxpr: what it
    computes; parts: constants that it begins with, and places in `inputs` of its other operands. structs:
    shapes and dtypes of the results. inputs: what is passed, the arguments first. rebuild: makes what the
    function returned from a list of its Tensors. results: for each of those (stop_gradient, whether gradients
    flow into it or None for a leaf, the input that it is, or None). changes: list of
    Change. grads: [(Tensor, what its grad must be like)]. relations: of those it changes, at the end. draws:
    [(Generator, how many)]. host_reads: [(input, value)]. host_guards, effects, steps: see Capture.
    again: why the code was run more than once, a text for each further run.
    """

    __slots__ = (
        "again",
        "changes",
        "draws",
        "effects",
        "fn",
        "grads",
        "host_guards",
        "inputs",
        "jaxpr",
        "host_reads",
        "parts",
        "rebuild",
        "relations",
        "results",
        "steps",
        "structs",
    )


class Change:
    """Something outside that changes. kind: "value", "grad", "flag", "attribute" of an object, "rows" for
    marks of the rows of a table that are looked up, or "checks" for their outcome. target: the Tensor or
    object. count: how many arrays it takes. flows: whether gradients flow through it.

    For a value: stop_gradient as in Captured, steps the versions it goes on by, shares: its views change with
    it. For a flag: stop_gradient, its new setting. For a gradient: to is "none", "zero", "array" or "rows"
    (then their marks follow); anew: it is another object afterwards. For an attribute: key is (number of the
    store, name), rebuild makes its value, gone tells that it is removed.
    """

    __slots__ = (
        "anew",
        "checks",
        "count",
        "flows",
        "gone",
        "key",
        "kind",
        "rebuild",
        "shares",
        "steps",
        "stop_gradient",
        "target",
        "to",
    )

    def __init__(self, kind, target, count, **more):
        self.kind, self.target, self.count, self.flows = kind, target, count, False
        for name, value in more.items():
            setattr(self, name, value)
